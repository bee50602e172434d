package service

import (
	"context"
	"net"
	"testing"
	"time"

	"podium/cmd/podium/config"
)

// TestCanaryToASilentServer_I13: sending ends with its context, whatever the server
// does not say, so that nothing holds up the end of the process.
func TestCanaryToASilentServer_I13(t *testing.T) {
	t.Parallel()
	for _, encryption := range []config.Encryption{config.EncryptionStartTLS, config.EncryptionImplicit, config.EncryptionNone} {
		t.Run(string(encryption), func(t *testing.T) {
			t.Parallel()
			var settings net.ListenConfig
			listener, err := settings.Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			address, _ := listener.Addr().(*net.TCPAddr)
			account := &config.Account{SMTP: config.SMTP{Host: "127.0.0.1", Port: address.Port, TLS: encryption, From: "a@example.org"}}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- canarySender(account, nil)(ctx, "mark") }()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it was sent")
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("it goes on after its context has ended")
			}
		})
	}
}
