package admission_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/ingest/admission"
	"podium/ingest/problem"
)

// A town is a server and people at addresses of their own, all in memory.
type town struct {
	t       *testing.T
	control *admission.Control
	arrive  chan net.Conn
	closed  chan struct{}
	once    sync.Once
	known   atomic.Int64 // requests that an adapter is working on
}

// An arrival is the server's end of a connection.
type arrival struct {
	net.Conn
	from net.Addr
}

func (a *arrival) RemoteAddr() net.Addr { return a.from }

func (w *town) Accept() (net.Conn, error) {
	select {
	case conn := <-w.arrive:
		return conn, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *town) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func (w *town) Addr() net.Addr { return &net.TCPAddr{} }

const limit = 1 << 20

// newTown serves an adapter that knows whoever says so, and lets him wait for a minute.
func newTown(t *testing.T, limits admission.Limits) *town {
	t.Helper()
	w := &town{t: t, control: admission.New(limits), arrive: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{
		Handler: w.control.Handler(http.HandlerFunc(w.adapter)), ConnContext: w.control.Connect, ConnState: w.control.Note,
		ReadHeaderTimeout: within,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(w) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		time.Sleep(time.Second) // a server lets a sender read why he was refused
		synctest.Wait()
		if left := w.control.Usage(); left.Connections != 0 || left.Bodies != 0 {
			t.Errorf("in the end %+v", left)
		}
	})
	return w
}

func (w *town) adapter(writer http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/nobody" {
		admission.Dismiss(writer, r)
		writer.WriteHeader(http.StatusUnauthorized)
		return
	}
	tooLarge := problem.New(http.StatusRequestEntityTooLarge, "too-large", "", "")
	if _, fault := admission.ReadBody(writer, r, limit, within, tooLarge); fault != nil {
		problem.Write(writer, fault)
		return
	}
	if r.Header.Get("Authorization") == "" {
		writer.WriteHeader(http.StatusUnauthorized)
		return
	}
	admission.Known(r)
	if r.URL.Path == "/wait" {
		admission.Taken(r)
		w.known.Add(1)
		defer w.known.Add(-1)
		select {
		case <-time.After(time.Minute):
		case <-r.Context().Done():
		}
	}
}

// come connects from an address.
func (w *town) come(from string) net.Conn {
	w.t.Helper()
	here, there := net.Pipe()
	w.arrive <- &arrival{there, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1234))}
	w.t.Cleanup(func() { _ = here.Close() })
	synctest.Wait()
	return here
}

// send writes a request, or what there is of it, and does not wait for an answer.
func send(connection net.Conn, request string, body int) {
	go func() {
		if _, err := io.WriteString(connection, request); err == nil {
			_, _ = io.CopyN(connection, endless{}, int64(body))
		}
	}()
	synctest.Wait()
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func status(t *testing.T, connection net.Conn) (code int, kind string, retry string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	_, kind, _ = strings.Cut(string(body), `"urn:podium:problem:`)
	kind, _, _ = strings.Cut(kind, `"`)
	return answer.StatusCode, kind, answer.Header.Get("Retry-After")
}

func post(path string, length int, header ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n%s\r\n", path, length, strings.Join(header, ""))
}

const known = "Authorization: yes\r\n"

func (w *town) mustServe(from string, header ...string) {
	w.t.Helper()
	connection := w.come(from)
	send(connection, post("/", 4, append(header, known)...), 4)
	if code, kind, _ := status(w.t, connection); code != http.StatusOK {
		w.t.Errorf("%s is answered %d %s", from, code, kind)
	}
	_ = connection.Close()
	synctest.Wait()
}

// Half-requests of one address take the places of that address, not those of another,
// and give them back when they end.
func TestHalfRequestsOfOneAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, admission.Limits{StrangerConnections: 1000})
		const tried, places = 300, 64
		var idle []net.Conn
		refused := 0
		for range tried {
			connection := w.come("192.0.2.1")
			send(connection, post("/", limit), 100)
			idle = append(idle, connection)
			if len(idle) <= places {
				continue
			}
			if code, kind, retry := status(t, connection); code != http.StatusTooManyRequests || kind != "too-many-requests" || retry == "" {
				t.Fatalf("half-request %d: %d %s", len(idle), code, kind)
			}
			refused++
		}
		w.mustServe("192.0.2.2")
		w.mustServe("2001:db8::1")
		if usage := w.control.Usage(); usage.Bodies != places*100 || usage.Refused.StrangerRequests != tried-places {
			t.Errorf("%+v", usage)
		}
		for i := range places {
			go func() { _, _ = io.Copy(io.Discard, idle[i]) }()
		}
		time.Sleep(within + time.Second)
		synctest.Wait()
		w.mustServe("192.0.2.1")
	})
}

// The bytes of bodies under way have a bound for all, and one for each address.
func TestBodiesUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, admission.Limits{Bodies: 8 << 20, StrangerBodies: 3 << 20, StrangerConnections: 2000, StrangerRequests: 2000})
		answers, most := map[int]int{}, int64(0)
		flood := func(from string, count int) {
			for range count {
				connection := w.come(from)
				send(connection, post("/", limit), limit-1) // the last byte never comes
				most = max(most, w.control.Usage().Bodies)
				_ = connection.SetReadDeadline(time.Now().Add(time.Millisecond))
				code, _, _ := status(t, connection)
				answers[code]++
			}
		}
		flood("192.0.2.1", 50)
		if most > 3<<20 || answers[http.StatusTooManyRequests] < 45 {
			t.Errorf("one address: %d bytes, answers %v", most, answers)
		}
		w.mustServe("192.0.2.2")
		for n := range 10 {
			flood(fmt.Sprintf("198.51.100.%d", n+1), 5)
		}
		if most > 8<<20 || answers[http.StatusServiceUnavailable] == 0 {
			t.Errorf("eleven addresses: %d bytes, answers %v", most, answers)
		}
		time.Sleep(within + time.Second)
		synctest.Wait()
		if left := w.control.Usage().Bodies; left != 0 {
			t.Errorf("%d bytes are left of bodies that never came whole", left)
		}
		w.mustServe("192.0.2.1")
	})
}

// Nothing is read of a body that nobody wants, and its sender is answered at once.
func TestDismissedBodyIsNotAwaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, admission.Limits{})
		for range 1500 {
			connection := w.come("192.0.2.1")
			began := time.Now()
			send(connection, post("/nobody", limit), 0)
			if code, _, _ := status(t, connection); code != http.StatusUnauthorized || time.Since(began) != 0 {
				t.Fatalf("%d after %s", code, time.Since(began))
			}
			_ = connection.Close()
			time.Sleep(10 * time.Millisecond)
		}
		half := w.come("192.0.2.1")
		send(half, post("/nobody", 100), 10)
		if code, _, _ := status(t, half); code != http.StatusUnauthorized {
			t.Errorf("half a body is answered %d", code)
		}
		began := time.Now()
		if _, err := half.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(began) > 2*time.Second {
			t.Errorf("after %s the connection reads %v", time.Since(began), err)
		}
		if usage := w.control.Usage(); usage.Bodies != 0 {
			t.Errorf("%+v", usage)
		}
	})
}

// Whom an adapter knows takes no place of a stranger, neither while he waits nor by his
// connection.
func TestKnownSendersLeaveStrangersTheirPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, admission.Limits{StrangerConnections: 2, StrangerRequests: 1, StrangerBodies: 4, Bodies: 8})
		for range 20 {
			send(w.come("192.0.2.1"), post("/wait", 4, known), 4)
		}
		if waiting := w.known.Load(); waiting != 20 || w.control.Usage().Bodies != 0 {
			t.Errorf("%d wait, %+v", waiting, w.control.Usage())
		}
	})
}

// TestConnectionsOfKnownSendersAreBounded: who is known, by the URL of a run for example, cannot take all connections there are.
func TestConnectionsOfKnownSendersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, admission.Limits{Connections: 20, AddressConnections: 8, StrangerConnections: 2})
		for range 20 {
			connection := w.come("192.0.2.1")
			send(connection, post("/wait", 4, known), 4)
		}
		usage := w.control.Usage()
		if waiting := w.known.Load(); waiting != 8 || usage.Connections != 8 || usage.Refused.AddressConnections != 12 {
			t.Errorf("%d wait, %+v", waiting, usage)
		}
		w.mustServe("192.0.2.2")
		time.Sleep(2 * time.Minute) // the waits are over
		for range 8 {
			w.mustServe("192.0.2.3")
		}
	})
}

// Connections on which nothing is asked have a bound, by address and over all; one
// that has ended makes room.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		proxy := netip.MustParsePrefix("10.0.0.0/8")
		w := newTown(t, admission.Limits{Connections: 12, StrangerConnections: 3, Proxies: []netip.Prefix{proxy}})
		var open []net.Conn
		admitted := func(from string) bool {
			connection := w.come(from)
			_ = connection.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := connection.Read(make([]byte, 1))
			if errors.Is(err, io.EOF) {
				return false
			}
			open = append(open, connection)
			return true
		}
		for i, from := range []string{"192.0.2.1", "2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"} {
			for n := range 4 {
				want := n < 3 && i != 2 // of the same network as the one before
				if admitted(from) != want {
					t.Errorf("connection %d of %s: admitted is not %t", n+1, from, want)
				}
			}
		}
		for n := range 4 {
			if want := n < 3; admitted("10.1.2.3") != want {
				t.Errorf("connection %d of a proxy, which are 12 in all: admitted is not %t", n+1, want)
			}
		}
		usage := w.control.Usage()
		if usage.Connections != 12 || usage.Refused.StrangerConnections != 7 || usage.Refused.Connections != 1 {
			t.Errorf("%+v", usage)
		}
		_ = open[0].Close()
		synctest.Wait()
		w.mustServe("192.0.2.1")
		for _, connection := range open[1:] {
			_ = connection.SetReadDeadline(time.Now().Add(2 * within))
			if _, err := connection.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("a silent connection reads %v", err)
			}
		}
	})
}

// Only a proxy is believed whom it speaks for, and only the last that it cannot know
// better.
func TestWhoSendsBehindAProxy(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for name, test := range map[string]struct {
		taken, asks         string // "peer; X-Forwarded-For"
		anotherPlaceForAsks bool
	}{
		"another peer":                {"192.0.2.1; ", "192.0.2.2; ", true},
		"the same peer":               {"192.0.2.1; ", "192.0.2.1; ", false},
		"no proxy is not believed":    {"192.0.2.1; ", "192.0.2.1; 192.0.2.2", false},
		"a proxy is":                  {"10.0.0.1; 192.0.2.1", "10.0.0.1; 192.0.2.2", true},
		"two proxies, one client":     {"10.0.0.1; 192.0.2.1", "::1; 192.0.2.1", false},
		"client and proxy are one":    {"10.0.0.1; 192.0.2.1", "192.0.2.1; ", false},
		"the last one counts":         {"10.0.0.1; 192.0.2.1", "10.0.0.1; 192.0.2.9, 192.0.2.1", false},
		"a chain of proxies":          {"10.0.0.1; 192.0.2.1", "10.0.0.1; 192.0.2.1, 10.9.9.9", false},
		"an invention before":         {"10.0.0.1; 192.0.2.1", "10.0.0.1; 192.0.2.9, 192.0.2.1, 10.9.9.9", false},
		"nothing is said":             {"10.0.0.1; ", "10.0.0.1; ", false},
		"nonsense is said":            {"10.0.0.1; ", "10.0.0.1; who knows", false},
		"with a port":                 {"10.0.0.1; 192.0.2.1", "10.0.0.1; 192.0.2.1:999", false},
		"IPv6 with a port":            {"10.0.0.1; 2001:db8::1", "10.0.0.1; [2001:db8::2]:999", false},
		"one network of a subscriber": {"2001:db8::1; ", "2001:db8::ffff:2; ", false},
		"another network":             {"2001:db8::1; ", "2001:db8:0:1::1; ", true},
		"IPv4 in IPv6":                {"192.0.2.1; ", "::ffff:192.0.2.1; ", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, admission.Limits{StrangerRequests: 1, Proxies: proxies})
				ask := func(who string, body int) net.Conn {
					peer, forwarded, _ := strings.Cut(who, "; ")
					connection := w.come(peer)
					header := known
					if forwarded != "" {
						header += "X-Forwarded-For: " + forwarded + "\r\n"
					}
					send(connection, post("/", 4, header), body)
					return connection
				}
				ask(test.taken, 2)
				if code, _, _ := status(t, ask(test.asks, 4)); (code == http.StatusOK) != test.anotherPlaceForAsks {
					t.Errorf("%s after %s: %d", test.asks, test.taken, code)
				}
			})
		})
	}
}
