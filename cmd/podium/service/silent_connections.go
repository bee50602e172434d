package service

import (
	"net"
	"net/http"
	"sync"
)

// silentConnections are those on which no request has come yet. A server that stops
// would wait five seconds for each; they are closed at once instead, which loses
// nothing: whoever was about to ask has had no answer.
type silentConnections struct {
	mu          sync.Mutex
	connections map[net.Conn]struct{}
	closed      bool
}

// note is the server's ConnState.
func (s *silentConnections) note(connection net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.connections, connection)
	case s.closed:
		_ = connection.Close() // it carried nothing
	default:
		s.connections[connection] = struct{}{}
	}
}

func (s *silentConnections) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for connection := range s.connections {
		_ = connection.Close() // it carried nothing
	}
}
