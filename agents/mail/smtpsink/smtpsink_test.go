package smtpsink_test

import (
	"testing"

	"podium/agents/mail/smtpsink"
)

// TestCloseTwice: whoever closes a server once more does not wait for what has ended.
func TestCloseTwice(t *testing.T) {
	t.Parallel()
	server, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err = server.Close(); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
}
