package main

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A brittleLink passes bytes between an adapter and a server, until it is told to
// break. It listens on one port for its whole life.
type brittleLink struct {
	listener net.Listener
	target   string
	done     sync.WaitGroup
	cuts     atomic.Int64 // of connections under way

	mu          sync.Mutex
	connections map[*brittleConnection]bool
}

// A brittleConnection breaks when a number of the server's bytes has passed.
type brittleConnection struct {
	near, far net.Conn
	left      int64 // until it breaks; negative is never
	reset     bool  // without an orderly end
}

func newBrittleLink(t *testing.T, host string, port int) *brittleLink {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &brittleLink{
		listener: listener, target: net.JoinHostPort(host, strconv.Itoa(port)), connections: map[*brittleConnection]bool{},
	}
	l.done.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.cutAfter(0, false)
		l.done.Wait()
	})
	return l
}

func (l *brittleLink) port() int {
	address, _ := l.listener.Addr().(*net.TCPAddr)
	return address.Port
}

func (l *brittleLink) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.target) //nolint:noctx // on this machine
		if err != nil {
			_ = near.Close() // the server is down
			continue
		}
		connection := &brittleConnection{near: near, far: far, left: -1}
		l.mu.Lock()
		l.connections[connection] = true
		l.mu.Unlock()
		l.done.Go(func() {
			_, _ = io.Copy(far, near) // its end is the end of the connection
			l.end(connection)
		})
		l.done.Go(func() {
			l.pass(connection)
			l.end(connection)
		})
	}
}

var errBroken = errors.New("the link is broken")

// pass hands on what the server says, up to the byte at which it breaks.
func (l *brittleLink) pass(c *brittleConnection) {
	buffer := make([]byte, 4<<10)
	for {
		n, err := c.far.Read(buffer)
		l.mu.Lock()
		if c.left >= 0 {
			if int64(n) >= c.left {
				n, err = int(c.left), errBroken
			}
			c.left -= int64(n)
		}
		l.mu.Unlock()
		if _, failed := c.near.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

// cutAfter breaks every connection when so many more bytes of the server have
// passed, at once when that is none.
func (l *brittleLink) cutAfter(bytes int64, reset bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for connection := range l.connections {
		l.cuts.Add(1)
		connection.left, connection.reset = bytes, reset
		if bytes == 0 {
			connection.close()
		}
	}
}

func (l *brittleLink) end(c *brittleConnection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.connections, c)
	c.close()
}

func (c *brittleConnection) close() {
	if tcp, ok := c.near.(*net.TCPConn); ok && c.reset {
		_ = tcp.SetLinger(0)
	}
	_ = c.near.Close()
	_ = c.far.Close()
}
