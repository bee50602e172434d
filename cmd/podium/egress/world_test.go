package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"podium/cmd/podium/egress"
)

// errStopped is what a test says to a connection that would leave this machine.
var errStopped = errors.New("the test goes no further")

// A world is a name server, and the connections that a guard has let pass.
type world struct {
	t      *testing.T
	server net.PacketConn

	mu      sync.Mutex
	names   map[string][][]netip.Addr // what each name is resolved to, one time after the other
	asked   map[dnsmessage.Question]int
	reached []netip.AddrPort
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, server: server, names: map[string][][]netip.Addr{}, asked: map[dnsmessage.Question]int{}}
	var serving sync.WaitGroup
	serving.Go(w.serve)
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return w
}

// resolves has a name resolved to some addresses from its next time on, and to those of
// further calls after that.
func (w *world) resolves(name string, addrs ...string) {
	parsed := make([]netip.Addr, len(addrs))
	for i, addr := range addrs {
		parsed[i] = netip.MustParseAddr(addr)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[name] = append(w.names[name], parsed)
}

func (w *world) serve() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := w.server.ReadFrom(buffer)
		if err != nil {
			return
		}
		if answer, err := w.answer(buffer[:n]); err == nil {
			_, _ = w.server.WriteTo(answer, from)
		}
	}
}

func (w *world) answer(query []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return nil, err
	}
	answer := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true},
		Questions: []dnsmessage.Question{question},
	}
	addrs, known := w.lookup(question)
	if !known {
		answer.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		resource := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}}
		switch {
		case question.Type == dnsmessage.TypeA && addr.Is4():
			resource.Body = &dnsmessage.AResource{A: addr.As4()}
		case question.Type == dnsmessage.TypeAAAA && !addr.Is4():
			resource.Body = &dnsmessage.AAAAResource{AAAA: addr.As16()}
		default:
			continue
		}
		answer.Answers = append(answer.Answers, resource)
	}
	return answer.Pack()
}

func (w *world) lookup(question dnsmessage.Question) (addrs []netip.Addr, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	times, known := w.names[strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))]
	if !known {
		return nil, false
	}
	turn := min(w.asked[question], len(times)-1)
	w.asked[question]++
	return times[turn], true
}

// lookups is how many questions the name server was asked about names that it knows.
func (w *world) lookups() (questions int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, times := range w.asked {
		questions += times
	}
	return questions
}

// guard returns a guard that resolves by the name server, and is stopped right before
// it connects to anything but this machine.
func (w *world) guard(entries ...string) egress.Guard {
	w.t.Helper()
	g := egress.Guard{Policy: policy(w.t, entries...), Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", w.server.LocalAddr().String())
		},
	}}
	return g.Connecting(func(at netip.AddrPort) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reached = append(w.reached, at)
		if !at.Addr().IsLoopback() {
			return errStopped
		}
		return nil
	})
}

// went returns where connections were about to be made since it was asked last.
func (w *world) went() (reached []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.reached {
		reached = append(reached, at.String())
	}
	w.reached = nil
	slices.Sort(reached)
	return slices.Compact(reached)
}

func policy(t *testing.T, entries ...string) egress.Policy {
	t.Helper()
	p, err := egress.Parse(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// service is a web server of this machine, and its port.
func service(t *testing.T, handler http.HandlerFunc) (address netip.AddrPort, port string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	address = netip.MustParseAddrPort(server.Listener.Addr().String())
	return address, strconv.Itoa(int(address.Port()))
}

// get asks for a URL and reads its answer.
func get(t *testing.T, client *http.Client, url string) (status int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return response.StatusCode, string(read), err
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}
