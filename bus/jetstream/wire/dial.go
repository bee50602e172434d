package wire

import (
	"context"
	"net"
	"sync"
)

// A dialer opens the sockets of a connection. As long as the connection is made
// for the first time, the end of its context ends the attempt at once, even while a
// server that has taken the socket says nothing. What comes later, to get a lost
// connection back, is bounded by dialWait alone.
type dialer struct {
	mu     sync.Mutex
	first  context.Context //nolint:containedctx // the library dials without one; it is dropped when the attempt is over
	undone []func() bool
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	ctx := d.first
	d.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	opened := net.Dialer{Timeout: dialWait}
	connection, err := opened.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first != nil {
		d.undone = append(d.undone, context.AfterFunc(ctx, func() { _ = connection.Close() })) // which ends every wait for it
	}
	return connection, nil
}

// settle says that the first attempt is over: the context counts no more.
func (d *dialer) settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first = nil
	for _, undo := range d.undone {
		undo()
	}
	d.undone = nil
}
