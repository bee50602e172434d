package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"podium/agents/mail/smtpsink"
)

// TestHealthTellsThatNoMailGoesOut: while the server of mail that goes out does not answer, the health page says so with its account, as it does of a mailbox
// that cannot be read, and so do the page of agents and podium agents; it is well again once the server is there.
func TestHealthTellsThatNoMailGoesOut(t *testing.T) {
	t.Parallel()
	gone, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	port := gone.Port()
	if err = gone.Close(); err != nil {
		t.Fatal(err)
	}
	_, mailbox, _ := correspondence(t, "desk")
	i := install(t, fmt.Sprintf(filesConfig, "desk", mailbox.Port(), port))
	i.up()
	const name, problem = `{"name":"mail","healthy":false,"problem":"the mail server of account `, " does not answer: "
	within(t, patience, "mail out is not well", func() bool {
		status, body := i.fetch("/healthz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `"ok":false`) && strings.Contains(body, name) && strings.Contains(body, problem)
	})
	for where, said := range map[string]string{"agents": i.podium("agents").succeeds(t).stdout, "health": func() string { _, body := i.fetch("/health"); return body }()} {
		if !strings.Contains(said, "degraded") || !strings.Contains(said, problem) {
			t.Errorf("%s: %s", where, said)
		}
	}
	again, err := smtpsink.Start(t.Context(), smtpsink.Config{Address: fmt.Sprintf("127.0.0.1:%d", port)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	within(t, patience, "it is well again", func() bool { status, _ := i.fetch("/healthz"); return status == http.StatusOK })
	i.stop()
	i.verify()
}
