package egress_test

import (
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"podium/cmd/podium/egress"
)

// TestNoProxyFromTheEnvironment: by such a proxy everything would be one address.
func TestNoProxyFromTheEnvironment(t *testing.T) {
	var proxied atomic.Int32
	proxy, _ := service(t, func(http.ResponseWriter, *http.Request) { proxied.Add(1) })
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://"+proxy.String())
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	_, port := service(t, says("here"))
	w := newWorld(t)
	w.resolves("box.example", "127.0.0.1")
	guard := w.guard("local")
	if _, body, err := get(t, guard.Client(), "http://box.example:"+port); err != nil || body != "here" {
		t.Errorf("%q, %v", body, err)
	}
	if proxied.Load() > 0 {
		t.Error("the proxy was asked")
	}
	obedient := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: guard.DialContext}}
	if _, body, _ := get(t, obedient, "http://box.example:"+port); body == "here" {
		t.Error("the environment names no proxy for anybody: nothing was tried")
	}
}

// TestRedirectsAreNotFollowed: whoever wants to go there asks again, and is judged.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	address, port := service(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.Redirect(w, r, map[string]string{"/away": "http://169.254.169.254/latest/meta-data", "/here": "/other"}[r.URL.Path], http.StatusFound)
	})
	w := newWorld(t)
	client := w.guard("local").Client()
	for path, location := range map[string]string{"/away": "http://169.254.169.254/latest/meta-data", "/here": "/other"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address.String()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusFound || response.Header.Get("Location") != location {
			t.Errorf("%d, %v", response.StatusCode, response.Header)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests", n)
	}
	if _, _, err := get(t, client, "http://169.254.169.254/latest/meta-data"); !errors.Is(err, egress.ErrEgress) {
		t.Error(err)
	}
	if went := w.went(); !slices.Equal(went, []string{"127.0.0.1:" + port}) {
		t.Errorf("connections to %v", went)
	}
}

// TestRefusedRequest: nothing is sent, its body is closed, and no error holds what is
// secret in a URL.
func TestRefusedRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := w.guard("local", "public").Client()
	for _, url := range []string{"http://me:hush@127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://169.254.169.254/", "http://[::ffff:127.0.0.1]/", "http://93.184.216.34/"} {
		body := &closed{}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		if !errors.Is(err, egress.ErrEgress) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", url, err)
		}
		if !body.closed.Load() {
			t.Errorf("%s: the body is still open", url)
		}
	}
	if went := w.went(); len(went) > 0 {
		t.Errorf("connections to %v", went)
	}
}

type closed struct{ closed atomic.Bool }

func (*closed) Read([]byte) (int, error) { return 0, io.EOF }

func (c *closed) Close() error {
	c.closed.Store(true)
	return nil
}

// secureService is one that speaks HTTP/2, for the name example.com.
func secureService(t *testing.T, http2 bool, handler http.HandlerFunc) (port string, roots *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return strconv.Itoa(int(netip.MustParseAddrPort(server.Listener.Addr().String()).Port())), roots
}

// TestTLS: HTTP/2 where the server speaks it, and no server without a certificate that is
// known. A connection is used again.
func TestTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.resolves("example.com", "127.0.0.1")
	for _, http2 := range []bool{true, false} {
		port, roots := secureService(t, http2, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto+" "+r.RemoteAddr) })
		guard := w.guard("local")
		if _, _, err := get(t, guard.Client(), "https://example.com:"+port); !errors.As(err, new(x509.UnknownAuthorityError)) {
			t.Errorf("nobody knows who certifies it: %v", err)
		}
		guard.Roots = roots
		client := guard.Client()
		_, first, err := get(t, client, "https://example.com:"+port)
		_, second, secondErr := get(t, client, "https://example.com:"+port)
		if err != nil || secondErr != nil || strings.HasPrefix(first, "HTTP/2.0 ") != http2 || first != second {
			t.Errorf("%q, %v; then %q, %v", first, err, second, secondErr)
		}
		client.CloseIdleConnections()
		if _, third, err := get(t, client, "https://example.com:"+port); err != nil || third == first {
			t.Errorf("%q after the idle connections were closed, %v", third, err)
		}
		client.CloseIdleConnections()
	}
}

// TestHugeHeader: 64 KiB of header are read, and no more.
func TestHugeHeader(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.RawQuery)
		w.Header().Set("X-Padding", strings.Repeat("a", size))
	}
	w := newWorld(t)
	w.resolves("example.com", "127.0.0.1")
	_, plain := service(t, handler)
	securePort, roots := secureService(t, true, handler)
	guard := w.guard("local")
	guard.Roots = roots
	client := guard.Client()
	for _, base := range []string{"http://example.com:" + plain, "https://example.com:" + securePort} {
		if status, _, err := get(t, client, base+"/?60000"); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d, %v", base, status, err)
		}
		if status, _, err := get(t, client, base+"/?100000"); err == nil {
			t.Errorf("%s: 100 kB of header were read, status %d", base, status)
		}
	}
	client.CloseIdleConnections()
}

// TestUnanswered: an unresolvable name is no refusal.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := get(t, w.guard("local").Client(), "http://nobody.example")
	if nobody, ok := errors.AsType[*net.DNSError](err); !ok || !nobody.IsNotFound || errors.Is(err, egress.ErrEgress) {
		t.Error(err)
	}
}
