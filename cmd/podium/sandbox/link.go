package sandbox

import (
	"context"
	"io"
	"net"
	"sync"
)

// A link passes bytes between the agent and the server, until it is cut. It listens on
// one port of the loopback interface for its whole life.
type link struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]net.Conn // the server's end, by the agent's
	taken int
}

func newLink(ctx context.Context, target string) (*link, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, target: target, open: make(map[net.Conn]net.Conn)}
	l.running.Go(l.accept)
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.target) //nolint:noctx // on this machine
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		l.open[near] = far
		l.taken++
		l.mu.Unlock()
		l.running.Go(func() { l.pass(near, far, near) })
		l.running.Go(func() { l.pass(far, near, near) })
	}
}

// pass hands on what one end says, and closes both at its end.
func (l *link) pass(to, from, near net.Conn) {
	_, _ = io.Copy(to, from) // its end is the end of the connection
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = to.Close(), from.Close()
	delete(l.open, near)
}

// cut breaks every connection.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for near, far := range l.open {
		_, _ = near.Close(), far.Close()
	}
}

// accepted is how many connections there were.
func (l *link) accepted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

func (l *link) close() {
	_ = l.listener.Close()
	l.cut()
	l.running.Wait()
}
