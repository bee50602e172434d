package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"podium/bus"
)

// A greeter is a NATS server that does nothing but let clients connect. To the first ones
// it says PING before it answers, as a server does that is busy for more than two seconds.
type greeter struct {
	listener net.Listener
	late     int64
	greeted  atomic.Int64
}

func newGreeter(t *testing.T, late int64) *greeter {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	g := &greeter{listener: listener, late: late}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go g.greet(conn)
		}
	}()
	return g
}

func (g *greeter) greet(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	answer := "PONG\r\n"
	if g.greeted.Add(1) <= g.late {
		answer = "PING\r\n" + answer
	}
	said := `INFO {"server_id":"greeter","version":"2.15.2","headers":true,"max_payload":1048576}` + "\r\n"
	for lines := bufio.NewReader(conn); ; {
		if _, err := conn.Write([]byte(said)); err != nil {
			return
		}
		for said = ""; said == ""; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "PING") {
				said = answer
			}
		}
	}
}

func (g *greeter) connect(ctx context.Context) (*nats.Conn, error) {
	return Endpoint{
		URL: "nats://" + g.listener.Addr().String(), Name: "test", Returned: NewSignal(), Logger: zerolog.Nop(),
	}.Connect(ctx)
}

// TestConnectToABusyServer: a server that pings before it has answered the CONNECT is asked again.
func TestConnectToABusyServer(t *testing.T) {
	t.Parallel()
	server := newGreeter(t, 1)
	connection, err := server.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if greeted := server.greeted.Load(); greeted != 2 {
		t.Errorf("it took %d connections, want 2", greeted)
	}
}

// TestConnectGivesUpABusyServer: not for longer than its caller waits, and then it is a temporary error.
func TestConnectGivesUpABusyServer(t *testing.T) {
	t.Parallel()
	server := newGreeter(t, 1<<40)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := server.connect(ctx)
	if !errors.Is(err, context.DeadlineExceeded) && !bus.Temporary(err) {
		t.Errorf("it ended with %v", err)
	}
	if greeted := server.greeted.Load(); greeted < 2 {
		t.Errorf("it has tried %d times", greeted)
	}
}
