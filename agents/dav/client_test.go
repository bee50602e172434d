package dav_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/agents/dav"
	"podium/agents/dav/radicale"
)

func noRedirects() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func client(tb testing.TB, kind dav.Kind, url string, change ...func(*dav.Config)) *dav.Client {
	tb.Helper()
	config := dav.Config{URL: url, User: radicale.User, Password: radicale.Password, Client: noRedirects(), Timeout: 20 * time.Second}
	for _, apply := range change {
		apply(&config)
	}
	made, err := dav.New(kind, config)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// TestCollectionIsFound on a real server: by its own address, by that of its owner and by the server's; with several, by its own alone.
func TestCollectionIsFound(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	for path, kinds := range map[string]map[string]dav.Kind{
		"/": {radicale.Calendar: dav.Calendars(), radicale.Contacts: dav.AddressBooks()}, "/praxis": {radicale.Calendar: dav.Calendars()},
		"/praxis/": {radicale.Contacts: dav.AddressBooks()}, "/praxis/termine": {radicale.Calendar: dav.Calendars()}, radicale.Contacts: {radicale.Contacts: dav.AddressBooks()},
	} {
		for want, kind := range kinds {
			if found, err := client(t, kind, server.URL+path).Collection(t.Context()); err != nil || found != want {
				t.Errorf("%s: %q, %v", path, found, err)
			}
		}
	}
	server.Do(t, "MKCALENDAR", "/praxis/urlaub/", nil, "")
	if _, err := client(t, dav.Calendars(), server.URL+"/").Collection(t.Context()); !errors.Is(err, dav.ErrNoCollection) {
		t.Errorf("of two: %v", err)
	}
	if found, err := client(t, dav.Calendars(), server.URL+"/praxis/urlaub/").Collection(t.Context()); err != nil || found != "/praxis/urlaub/" {
		t.Errorf("%q, %v", found, err)
	}
}

// TestWritesAreConditional on a real server: nothing is made over what is there, and nothing is changed that is not as it was read.
func TestWritesAreConditional(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made, path := client(t, dav.AddressBooks(), server.URL+radicale.Contacts), radicale.Contacts+"x.vcf"
	card := func(name string) []byte {
		return []byte("BEGIN:VCARD\r\nVERSION:3.0\r\nUID:x\r\nFN:" + name + "\r\nN:" + name + ";;;;\r\nEND:VCARD\r\n")
	}
	for name, step := range map[string]struct{ got, want error }{
		"made": {made.Create(t.Context(), path, card("one")), nil}, "made again": {made.Create(t.Context(), path, card("two")), dav.ErrChanged},
	} {
		if !errors.Is(step.got, step.want) {
			t.Errorf("%s: %v", name, step.got)
		}
	}
	read, err := made.Get(t.Context(), path)
	if err != nil || !strings.Contains(string(read.Body), "FN:one") {
		t.Fatalf("%s, %v", read.Body, err)
	}
	server.Put(t, path, string(card("three")))
	if err := made.Replace(t.Context(), &read, card("four")); !errors.Is(err, dav.ErrChanged) {
		t.Errorf("replaced: %v", err)
	}
	if err := made.Delete(t.Context(), &read); !errors.Is(err, dav.ErrChanged) {
		t.Errorf("deleted: %v", err)
	}
	if read, err = made.Get(t.Context(), path); err != nil || !strings.Contains(string(read.Body), "FN:three") {
		t.Fatalf("%s, %v", read.Body, err)
	}
	unnamed := dav.Resource{Path: path}
	if made.Replace(t.Context(), &unnamed, card("five")) == nil || made.Delete(t.Context(), &unnamed) == nil {
		t.Error("what has no ETag is written")
	}
	if err := made.Replace(t.Context(), &read, card("four")); err != nil {
		t.Errorf("replaced: %v", err)
	}
	if read, err = made.Get(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := made.Delete(t.Context(), &read); err != nil {
		t.Errorf("deleted: %v", err)
	}
	if _, err := made.Get(t.Context(), path); !errors.Is(err, dav.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

// TestCredentialsStayAtTheOrigin: no redirect and no address of a listing leads anywhere else, and one redirect inside of the server is followed.
func TestCredentialsStayAtTheOrigin(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	listing := func(address, properties string) string {
		return `<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>` + address + `</href><propstat><prop>` + properties +
			`</prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`
	}
	const collection = `<resourcetype><C:calendar/></resourcetype>`
	for name, c := range map[string]struct {
		paths map[string]string // what is said at a path: a listing, or where it leads
		want  error
	}{
		"a redirect elsewhere":        {map[string]string{"/": other.URL + "/"}, dav.ErrOrigin},
		"a principal elsewhere":       {map[string]string{"/": listing("/", `<current-user-principal><href>`+other.URL+`/me/</href></current-user-principal>`)}, dav.ErrOrigin},
		"a home elsewhere":            {map[string]string{"/": listing("/", `<C:calendar-home-set><href>//`+strings.TrimPrefix(other.URL, "http://")+`/me/</href></C:calendar-home-set>`)}, dav.ErrOrigin},
		"a collection elsewhere":      {map[string]string{"/": listing(other.URL+"/c/", collection)}, dav.ErrOrigin},
		"another scheme":              {map[string]string{"/": listing("https://HOST/c/", collection)}, dav.ErrOrigin},
		"another user":                {map[string]string{"/": listing("http://u:p@HOST/c/", collection)}, dav.ErrOrigin},
		"a redirect within":           {map[string]string{"/": "/dav/", "/dav/": listing("/c/", collection)}, nil},
		"a redirect, and another one": {map[string]string{"/": "/a/", "/a/": "/b/", "/b/": listing("/c/", collection)}, &dav.StatusError{}},
		"its own origin in full":      {map[string]string{"/": listing("http://HOST/c/", collection)}, nil},
		"no listing":                  {map[string]string{"/": "<html>"}, dav.ErrUnreadable},
	} {
		var front *httptest.Server
		front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != radicale.User || password != radicale.Password {
				t.Errorf("%s: %q, %q", name, user, password)
			}
			said := strings.ReplaceAll(c.paths[r.URL.Path], "HOST", strings.TrimPrefix(front.URL, "http://"))
			if strings.HasPrefix(said, "<") {
				w.WriteHeader(http.StatusMultiStatus)
				_, _ = io.WriteString(w, said)
				return
			}
			http.Redirect(w, r, said, http.StatusMovedPermanently)
		}))
		found, err := client(t, dav.Calendars(), front.URL).Collection(t.Context())
		_, status := errors.AsType[*dav.StatusError](err)
		if _, wanted := errors.AsType[*dav.StatusError](c.want); wanted != status || !wanted && !errors.Is(err, c.want) || c.want == nil && found != "/c/" {
			t.Errorf("%s: %q, %v", name, found, err)
		}
		if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: the error names an address: %v", name, err)
		}
		front.Close()
	}
	if elsewhere.Load() != 0 {
		t.Errorf("another server was called %d times", elsewhere.Load())
	}
}

// TestTroubles: what each answer to a write means for another attempt, for the effect, and for the person.
func TestTroubles(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		permanent, busy bool
		said            string
	}{
		401: {true, false, "HTTP 401"}, 403: {true, false, "HTTP 403"}, 409: {true, false, "HTTP 409"}, 412: {false, false, "Somebody was faster"}, 423: {false, false, "HTTP 423"},
		429: {false, true, "HTTP 429"}, 500: {false, false, "HTTP 500"}, 503: {false, true, "HTTP 503"}, 507: {false, false, "HTTP 507"}, 302: {true, false, "HTTP 302"},
	} {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		made := client(t, dav.Calendars(), front.URL)
		for seen, look := range map[string]func(context.Context) (bool, error){
			"done":     func(context.Context) (bool, error) { return true, nil },
			"not done": func(context.Context) (bool, error) { return false, nil },
			"unknown":  func(context.Context) (bool, error) { return false, errors.New("away") },
		} {
			err := made.Settle(t.Context(), made.Create(t.Context(), "/x.ics", []byte("x")), look)
			if seen == "done" {
				if err != nil {
					t.Errorf("%d, %s: %v", status, seen, err)
				}
				continue
			}
			failure := made.Failure("en", err)
			unknown := seen == "unknown"
			if failure.Unknown != unknown || failure.Permanent != (want.permanent && !unknown) || (failure.Category != "") != (want.busy && !unknown) || !strings.Contains(failure.Message, want.said) {
				t.Errorf("%d, %s: %+v", status, seen, failure)
			}
		}
		front.Close()
	}
	barred := errors.New("barred")
	refusing := func(c *dav.Config) {
		c.Client = &http.Client{Transport: refusal{barred}}
		c.Barred = func(err error) bool { return errors.Is(err, barred) }
	}
	made := client(t, dav.Calendars(), "http://127.0.0.1:1/", refusing)
	err := made.Settle(t.Context(), made.Create(t.Context(), "/x.ics", nil), func(context.Context) (bool, error) {
		t.Error("it looks, though nothing was sent")
		return false, nil
	})
	if failure := made.Failure("de", err); !failure.Permanent || failure.Unknown || !strings.Contains(failure.Message, "Dorthin darf") {
		t.Errorf("%+v", failure)
	}
}

type refusal struct{ err error }

func (r refusal) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

// TestTheServerTakesTooLong: the call ends in time, and what was written may have happened.
func TestTheServerTakesTooLong(t *testing.T) {
	t.Parallel()
	var called atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called.Store(true)
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(front.Close)
	for timeout := 50 * time.Millisecond; !called.Load(); timeout *= 2 { // a busy machine needs longer for the call
		made := client(t, dav.Calendars(), front.URL, func(c *dav.Config) { c.Timeout = timeout })
		err := made.Settle(t.Context(), made.Create(t.Context(), "/x.ics", nil), func(context.Context) (bool, error) { return false, nil })
		if failure := made.Failure("de", err); called.Load() && (!failure.Unknown || failure.Permanent || !strings.Contains(failure.Message, timeout.String())) {
			t.Errorf("%+v", failure)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]dav.Config{
		"no url": {Client: noRedirects()}, "another scheme": {URL: "ftp://x/", Client: noRedirects()}, "a user in it": {URL: "https://u:p@x/", Client: noRedirects()},
		"no client": {URL: "https://x/"}, "a negative timeout": {URL: "https://x/", Client: noRedirects(), Timeout: -1}, "a query": {URL: "https://x/?a", Client: noRedirects()},
	} {
		if _, err := dav.New(dav.Calendars(), config); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
