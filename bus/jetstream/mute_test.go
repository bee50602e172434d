package jetstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// A mute server speaks the protocol, and answers no publish.
type mute struct {
	mu      sync.Mutex
	conns   []net.Conn
	heard   []string        // subjects of what was published
	content []string        // of each of these
	deaf    chan<- struct{} // when set, it is told of a publish, and nothing is read from there on
}

// InProcessConn implements InProcess.
func (m *mute) InProcessConn() (net.Conn, error) {
	ours, theirs := net.Pipe()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conns = append(m.conns, ours)
	go m.serve(ours)
	return theirs, nil
}

func (m *mute) serve(conn net.Conn) {
	said := make(chan string, 1000)
	go func() {
		for line := range said {
			if _, err := conn.Write([]byte(line)); err != nil {
				return
			}
		}
	}()
	defer close(said)
	said <- `INFO {"server_id":"mute","version":"2.15.2","headers":true,"max_payload":1048576}` + "\r\n"
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "PING":
			said <- "PONG\r\n"
		case "PUB", "HPUB":
			if m.deaf != nil {
				m.deaf <- struct{}{}
				return
			}
			words := strings.Fields(rest)
			size, err := strconv.Atoi(words[len(words)-1])
			if err != nil {
				return
			}
			content := make([]byte, size+2)
			if _, err := io.ReadFull(lines, content); err != nil {
				return
			}
			m.mu.Lock()
			m.heard = append(m.heard, words[0])
			m.content = append(m.content, string(content))
			m.mu.Unlock()
		}
	}
}

// cut ends every connection.
func (m *mute) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, conn := range m.conns {
		_ = conn.Close()
	}
	m.conns = nil
}

// A witness counts outcomes.
type witness struct {
	mu    sync.Mutex
	calls []int // by publish
	errs  []error
	order []int
}

func newWitness(count int) *witness {
	return &witness{calls: make([]int, count), errs: make([]error, count)}
}

func (w *witness) of(i int) func(bus.Ack, error) {
	return func(_ bus.Ack, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls[i]++
		w.errs[i] = err
		w.order = append(w.order, i)
	}
}

func (w *witness) mustHave(t *testing.T, told int, valid func(error) bool) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, calls := range w.calls {
		switch {
		case i < told && (calls != 1 || !valid(w.errs[i])), i >= told && calls != 0:
			t.Fatalf("publish %d was told of %d times, last %v; want the first %d once", i, calls, w.errs[i], told)
		}
	}
	if !slices.IsSorted(w.order) {
		t.Errorf("outcomes came in the order %v", w.order)
	}
}

func muted(t *testing.T, server *mute) (*publisher, *nats.Conn) {
	t.Helper()
	p := newPublisher()
	connection, err := wire.Endpoint{
		Process: server, Name: "test", Returned: wire.NewSignal(), Lost: p.lost, Logger: zerolog.Nop(),
	}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.attach(connection); err != nil {
		t.Fatal(err)
	}
	p.group(1)
	return p, connection
}

func publishMany(p *publisher, w *witness) {
	for i := range w.calls {
		session := fmt.Sprintf("podium.session.0.%d", i)
		p.publish(bus.Message{Subject: session}, bus.ExpectLast(0), w.of(i))
	}
}

func endMuted(p *publisher, connection *nats.Conn, server *mute) {
	p.drain(time.Second)
	connection.Close()
	p.close()
	server.cut()
	synctest.Wait()
}
