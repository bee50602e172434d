package jetstream

import (
	"bufio"
	"fmt"
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
)

func TestTogether(t *testing.T) {
	t.Parallel()
	many := func(count int, checked bool) []*publication {
		waiting := make([]*publication, count)
		for i := range waiting {
			waiting[i] = &publication{subject: strconv.Itoa(i), checked: checked}
		}
		return waiting
	}
	same := func(waiting []*publication, subject string, at ...int) []*publication {
		for _, i := range at {
			waiting[i].subject = subject
		}
		return waiting
	}
	bare := same(many(60, true), "mixed", 5, 45)
	bare[5].checked = false
	large := many(40, true)
	for _, publishing := range large {
		publishing.body = make([]byte, 256<<10)
	}
	for name, test := range map[string]struct {
		waiting []*publication
		want    int
	}{
		"too few":                          {many(batchFrom-1, true), 0},
		"enough":                           {many(batchFrom, true), batchFrom},
		"all that a batch can hold":        {many(MaxBatch, true), MaxBatch},
		"more than that":                   {many(MaxBatch+1, true), MaxBatch},
		"one session twice":                {same(many(60, true), "twice", 20, 40), 40},
		"requests to one agent":            {same(many(60, false), "agent", 1, 2, 3, 4, 50), 60},
		"a session behind its bare append": {bare, 45},
		"large bodies":                     {large, 16},
	} {
		if got := together(test.waiting); got != test.want {
			t.Errorf("%s: %d of %d go together, want %d", name, got, len(test.waiting), test.want)
		}
	}
}

// A mute server speaks the protocol, and answers no publish.
type mute struct {
	mu    sync.Mutex
	conns []net.Conn
	heard []string        // subjects of what was published
	deaf  chan<- struct{} // when set, it is told of a publish, and nothing is read from there on
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
			if _, err := lines.Discard(size + 2); err != nil {
				return
			}
			m.mu.Lock()
			m.heard = append(m.heard, words[0])
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
	connection, err := endpoint{
		process: server, name: "test", returned: newSignal(), lost: p.lost, logger: zerolog.Nop(),
	}.connect(t.Context())
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
		p.publish(bus.Message{Subject: session}, bus.After(0), w.of(i))
	}
}

// TestMuteServer: what is not answered is given up as temporary, once each and in
// order; what waited in the lane meanwhile goes out behind it, together.
func TestMuteServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		time.Sleep(publishWait - 2*time.Second)
		w.mustHave(t, 0, nil)
		time.Sleep(5 * time.Second)
		w.mustHave(t, 1, bus.Temporary)
		server.mu.Lock()
		if heard := len(server.heard); heard != 41 {
			t.Errorf("%d messages were sent by then, want the first, the batch of all others and the question behind it", heard)
		}
		server.mu.Unlock()
		time.Sleep(publishWait)
		w.mustHave(t, 40, bus.Temporary)
		endMuted(p, connection, server)
	})
}

// TestLostConnection: what was under way is in doubt as soon as the connection is
// lost, and what waited in the lane fails rather than to wait for its return.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		server.cut()
		synctest.Wait()
		w.mustHave(t, 40, bus.Temporary)
		endMuted(p, connection, server)
	})
}

// TestCloseTellsEverybody: no publish stays without an outcome, whether it was
// sent, waited in a lane, or came too late.
func TestCloseTellsEverybody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		endMuted(p, connection, server)
		w.mustHave(t, 40, func(err error) bool { return err != nil && !bus.Temporary(err) })
		late := newWitness(1)
		publishMany(p, late)
		synctest.Wait()
		late.mustHave(t, 1, func(err error) bool { return err != nil && !bus.Temporary(err) })
	})
}

func endMuted(p *publisher, connection *nats.Conn, server *mute) {
	p.drain(time.Second)
	connection.Close()
	p.close()
	server.cut()
	synctest.Wait()
}
