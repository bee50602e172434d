package mail_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/agents/mail"
	"podium/bus/agent"
)

var _ agent.Checker = (*mail.Agent)(nil)

// TestCheckHearsTheGreeting_G35: a server that greets takes mail; one that refuses, or says nothing, does not. One of
// several accounts is enough.
func TestCheckHearsTheGreeting_G35(t *testing.T) {
	t.Parallel()
	greets := func(line string) int {
		var config net.ListenConfig
		listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = connection.Write([]byte(line))
				go func() { // until it is let go
					_, _ = connection.Read(make([]byte, 16))
					_ = connection.Close()
				}()
			}
		}()
		return listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of TCP
	}
	check := func(limit time.Duration, ports ...int) error {
		t.Helper()
		config := mail.Config{Accounts: map[string]mail.Account{}, Log: zerolog.Nop()}
		for n, port := range ports {
			config.Accounts[string(rune('a'+n))] = mail.Account{Host: "127.0.0.1", Port: port, TLS: mail.TLSNone, From: "desk@example.org"}
		}
		made, err := mail.New(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return made.Check(ctx)
	}
	well, refuses, silent := greets("220-mail.test\r\n220 ready\r\n"), greets("554 no\r\n"), greets("")
	if err := check(time.Minute, well); err != nil {
		t.Errorf("it greets: %v", err)
	}
	if err := check(time.Minute, refuses); err == nil || !strings.Contains(err.Error(), "account a") || !strings.Contains(err.Error(), "554") {
		t.Errorf("it refuses: %v", err)
	}
	if err := check(time.Second, silent); err == nil {
		t.Error("it says nothing, and is taken for well")
	}
	if err := check(time.Minute, refuses, well); err != nil {
		t.Errorf("one of two greets: %v", err)
	}
}
