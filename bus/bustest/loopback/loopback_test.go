package loopback_test

import (
	"net"
	"testing"

	"podium/bus/bustest/loopback"
)

func TestReservedForTheTestAlone(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	seen := map[string]bool{}
	t.Run("while it runs", func(t *testing.T) {
		for range 100 {
			address := loopback.Reserve(t)
			if seen[address] {
				t.Fatalf("%s is given twice", address)
			}
			seen[address] = true
			for range 2 { // a server and its successor
				listener, err := config.Listen(t.Context(), "tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				if err := listener.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if hold, err := config.ListenPacket(t.Context(), "udp", address); err == nil {
				_ = hold.Close()
				t.Errorf("%s is not held", address)
			}
		}
	})
	for address := range seen {
		hold, err := config.ListenPacket(t.Context(), "udp", address)
		if err == nil {
			_ = hold.Close()
			return // it was freed; others may have been reserved anew since
		}
	}
	t.Error("no reservation ends with its test")
}
