package connection

import (
	"net"
	"sync"
	"time"
)

// A watchedConn closes itself when no byte has come for a while although an
// answer is due. It stands below TLS, so that it sees every byte. Without it a
// connection whose other end is gone would block its user for ever.
type watchedConn struct {
	net.Conn
	limit time.Duration

	mu     sync.Mutex
	due    int // answers that are waited for
	timer  *time.Timer
	silent bool
}

// Read implements net.Conn.
func (w *watchedConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.mu.Lock()
		if w.due > 0 {
			w.timer.Reset(w.limit)
		}
		w.mu.Unlock()
	}
	return n, err
}

// expect says that an answer is due until relax is called.
func (w *watchedConn) expect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due++
	if w.timer == nil {
		w.timer = time.AfterFunc(w.limit, w.expire)
	} else {
		w.timer.Reset(w.limit)
	}
}

func (w *watchedConn) relax() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due--; w.due == 0 {
		w.timer.Stop()
	}
}

func (w *watchedConn) expire() {
	w.mu.Lock()
	expired := w.due > 0
	w.silent = w.silent || expired
	w.mu.Unlock()
	if expired {
		_ = w.Close() // the reader reports that it is closed
	}
}

// wentSilent tells whether the connection was closed for its silence.
func (w *watchedConn) wentSilent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.silent
}
