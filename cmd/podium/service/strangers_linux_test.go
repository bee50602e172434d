package service_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Linux has the whole of 127.0.0.0/8: addresses of strangers and of somebody else.
const (
	stranger     = "127.0.0.1"
	somebodyElse = "127.0.0.2"
)

// everyAdapter is an installation that has each of the HTTP adapters.
const everyAdapter = `
ledger: {data: %q, durability: interval, shards: 1}
http:
  listen: "127.0.0.1:0"
  sources: {tickets: {profile: desk, token: 0123456789abcdef, types: {note: {}}}}
chat: {channels: {web: {profile: desk, token: 0123456789abcdef, page: true}}}
agents: {echo: {kind: echo}}
profiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}
`

func startAdapters(t *testing.T) (address string) {
	t.Helper()
	running, _ := startOn(t, everyAdapter)
	return strings.TrimPrefix(running.Address(), "http://")
}

func dialFrom(t *testing.T, from, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	connection, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(30 * time.Second))
	return connection
}

// answered reads an answer; a connection that was closed without one is status 0.
func answered(connection net.Conn) (status int, location, body string) {
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return 0, "", err.Error()
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	content, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header.Get("Location"), string(content)
}

// mustServeElsewhere has every adapter serve somebody at another address.
func mustServeElsewhere(t *testing.T, address, while string) {
	t.Helper()
	for _, request := range []string{
		"POST /v1/chat/web HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"text\":\"moo\"}",
		"POST /v1/events/tickets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Type: text/plain\r\n" +
			"Ce-Specversion: 1.0\r\nCe-Id: 1\r\nCe-Source: /x\r\nCe-Type: note\r\nContent-Length: 3\r\n\r\nmoo",
		"GET /chat/web HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n",
	} {
		connection := dialFrom(t, somebodyElse, address)
		_, _ = io.WriteString(connection, request)
		if status, _, body := answered(connection); status != http.StatusAccepted && status != http.StatusOK {
			line, _, _ := strings.Cut(request, "\r\n")
			t.Errorf("%s: %s is answered %d: %s", while, line, status, body)
		}
		_ = connection.Close()
	}
}

// bodyBytes is what the adapters hold of bodies, as the metrics tell somebody else.
func bodyBytes(t *testing.T, address string) int64 {
	t.Helper()
	connection := dialFrom(t, somebodyElse, address)
	_, _ = io.WriteString(connection, "GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	_, _, body := answered(connection)
	found := regexp.MustCompile(`(?m)^podium_http_body_bytes (\S+)$`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no such metric: %s", body)
	}
	bytes, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(bytes)
}

// Whatever one address does that proves nothing, somebody at another is served:
// half-requests, silent connections, and bodies that nobody wants or that never end.
func TestStrangersAtOneAddressHinderNobody(t *testing.T) {
	t.Parallel()
	address := startAdapters(t)
	for name, hinder := range map[string]string{
		"half a request to a source":   "POST /v1/events/tickets HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n" + forged() + "\r\n{",
		"half of one without a proof":  "POST /v1/events/tickets HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{",
		"half a request to no source":  "POST /v1/events/x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{",
		"half a request to a channel":  "POST /v1/chat/web HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" + forged() + "\r\n5\r\n{",
		"half a header":                "POST /v1/chat/web HTTP/1.1\r\nHost: h\r\nX-Long: ",
		"a connection without a word":  "",
		"half a body for a page":       "GET /chat/web HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{",
		"half a body for the health":   "GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{",
		"half a body at the root":      "POST //x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{",
		"a page again and again, mute": strings.Repeat("GET /chat/web HTTP/1.1\r\nHost: h\r\n\r\n", 200),
	} {
		var held []net.Conn
		for range 600 {
			held = append(held, dialFrom(t, stranger, address))
			_, _ = io.WriteString(held[len(held)-1], hinder) // what is refused may be closed by now
		}
		mustServeElsewhere(t, address, name)
		for _, connection := range held {
			_ = connection.Close()
		}
	}
}

// forged is the header of a signature that only the body can refute.
func forged() string {
	return fmt.Sprintf("Webhook-Id: m1\r\nWebhook-Timestamp: %d\r\nWebhook-Signature: v1,%s\r\n", time.Now().Unix(), base64.StdEncoding.EncodeToString(make([]byte, 32)))
}

// Many bodies of 1 MB from one address: of those for nobody, or without a proof in the
// header, nothing is read, and the others are few at a time.
func TestBodiesOfStrangersAreBounded(t *testing.T) {
	t.Parallel()
	address := startAdapters(t)
	const atOnce = 300
	body := strings.Repeat("x", 1<<20-1)
	for _, test := range []struct {
		path, proof string
		rounds      int
		most        int64 // bytes held
	}{
		{"/v1/chat/nope", forged(), 5, 0},
		{"/v1/events/nope", forged(), 1, 0},
		{"/v1/chat/web", "", 1, 0},
		{"/v1/events/tickets", "", 1, 0},
		{"/v1/chat/web", forged(), 1, 16 << 20},
		{"/v1/events/tickets", forged(), 1, 16 << 20},
	} {
		for range test.rounds {
			var sending sync.WaitGroup
			for range atOnce {
				connection := dialFrom(t, stranger, address)
				sending.Go(func() {
					_ = connection.SetDeadline(time.Now().Add(time.Second))
					// The last byte never comes.
					_, _ = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n%s\r\n%s", test.path, len(body)+1, test.proof, body)
					status, _, _ := answered(connection)
					if status != 0 && status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
						t.Errorf("status %d", status)
					}
					_ = connection.Close()
				})
			}
			for range 5 {
				if held := bodyBytes(t, address); held > test.most {
					t.Errorf("%s: %d bytes of bodies are held", test.path, held)
				}
			}
			mustServeElsewhere(t, address, test.path)
			sending.Wait()
		}
	}
}

// There is never a redirect: a path that is not written as it should be leads nowhere.
func TestNeverARedirect(t *testing.T) {
	t.Parallel()
	address := startAdapters(t)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodHead, http.MethodOptions, http.MethodConnect} {
		for _, path := range []string{
			"//x", "/a/../b", "/v1//chat/web", "/v1/chat//web", "/./healthz", "/../healthz", "/healthz/.", "/v1/../healthz", "//", "/v1/chat/web/../web",
			"/v1", "/v1/events", "/v1/chat", "/chat", "/v1/runs", "http://h", "http://h//", "http://h/v1//chat/web",
		} {
			connection := dialFrom(t, stranger, address)
			_, _ = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", method, path)
			answer, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
			if err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			_ = answer.Body.Close()
			refused := answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusBadRequest ||
				answer.StatusCode == http.StatusMethodNotAllowed
			if !refused || answer.Header.Get("Location") != "" {
				t.Errorf("%s %s is answered %d, Location %q", method, path, answer.StatusCode, answer.Header.Get("Location"))
			}
			_ = connection.Close()
		}
	}
}
