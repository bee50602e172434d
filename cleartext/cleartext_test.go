package cleartext_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"podium/cleartext"
)

// TestCleartextOfThisMachineByDefault: a name that leads elsewhere by the time of the
// connection is refused, though the configuration named this machine.
func TestCleartextOfThisMachineByDefault(t *testing.T) {
	t.Parallel()
	for address, allowed := range map[string]bool{
		"127.0.0.1:143": true, "[::1]:143": true, "[::ffff:127.0.0.1]:143": true,
		"10.0.0.5:143": false, "203.0.113.7:143": false, "[fe80::1%eth0]:143": false, "mail.example.org:143": false, "": false,
	} {
		if err := cleartext.Control(nil)("tcp", address, nil); (err == nil) != allowed || err != nil && !errors.Is(err, cleartext.ErrForbidden) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if !strings.Contains((&net.OpError{Op: "dial", Err: cleartext.ErrForbidden}).Error(), "cleartext: private") {
		t.Error("the error does not say what to write")
	}
}
