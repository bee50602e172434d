package carddav_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"podium/agents/carddav"
	"podium/agents/dav/radicale"
	"podium/bus/agent"
	"podium/schemas"
)

// TestContactIsCreated: once for an effect, with everything that was said, and never beside somebody of the same name who may be the same.
func TestContactIsCreated(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	want := carddav.Contact{
		Name: "Jürgen Müller-Größ", Phone: "+49 30 1234567", Email: "j@example.org", Address: "Königstraße 7; Hof, 50667 Köln", BirthDate: "1980-01-31", Number: "P-17,a",
	}
	request := asked("e1", "create", `{"name":"Jürgen Müller-Größ","phone":"+49 30 1234567","email":"j@example.org","address":"Königstraße 7; Hof, 50667 Köln","birth_date":"1980-01-31","number":"P-17,a"}`)
	outcome, contacts := handled(t, made, request)
	if len(contacts) != 1 || contacts[0] != want || outcome.Text !=
		"Der Kontakt ist angelegt:\nJürgen Müller-Größ, Telefon +49 30 1234567, E-Mail j@example.org, Anschrift Königstraße 7; Hof, 50667 Köln, geboren am 31.01.1980, Nummer P-17,a" {
		t.Errorf("%q, %+v", outcome.Text, contacts)
	}
	for range 2 {
		request = again(request)
		if _, contacts := handled(t, made, request); contacts[0] != want || stored(t, server) != 1 {
			t.Errorf("a repeat: %+v", contacts)
		}
	}
	text := server.Read(t, radicale.Contacts+server.Names(t, radicale.Contacts, ".vcf")[0])
	for _, line := range []string{"N:Müller-Größ;Jürgen;;;", `Königstraße 7\; Hof;Köln;;50667;`, "FN:Jürgen Müller-Größ"} {
		if !strings.Contains(text, line) {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
	for _, contact := range []string{`{"name":"Juergen Mueller-Groess"}`, `{"name":"Müller-Größ, JÜRGEN","birth_date":"1980-01-31"}`} {
		if failure := failed(t, made, asked("e "+contact, "create", contact)); !strings.Contains(failure.Message, "steht schon im Adressbuch") || !failure.Permanent {
			t.Errorf("%s: %+v", contact, failure)
		}
	}
	handled(t, made, asked("e3", "create", `{"name":"Jürgen Müller-Größ","birth_date":"2001-02-03"}`))
	if stored(t, server) != 2 {
		t.Error("another person of the same name is not there")
	}
}

// TestContactsAreFound: by parts of names in any spelling, by numbers with and without the code of a country, and by all else.
func TestContactsAreFound(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	card(t, server, "a", "FN:Jürgen Müller-Größ", "N:Müller-Größ;Jürgen;;;", "TEL;TYPE=home:030 / 1234567", "TEL;TYPE=cell,pref:+49 (0)171 7654321", "EMAIL:J@Example.org",
		"ADR:;;Königstraße 7;Köln;;50667;Deutschland", "BDAY:19800131")
	card(t, server, "b", "FN:Anna Weber", "N:Weber;Anna;;;", "BDAY:1980-01-31")
	for contact, want := range map[string]string{
		`{"name":"mueller"}`: "Jürgen Müller-Größ", `{"name":"GRÖSS JUERGEN"}`: "Jürgen Müller-Größ", `{"name":"Anna"}`: "Anna Weber", `{"name":"Ann"}`: "", `{"name":"Schmidt"}`: "",
		`{"phone":"+49301234567"}`: "Jürgen Müller-Größ", `{"phone":"0171 76 54 321"}`: "Jürgen Müller-Größ", `{"phone":"7654322"}`: "", `{"email":"j@example.ORG"}`: "Jürgen Müller-Größ",
		`{"address":"Koenigstraße, Köln"}`: "Jürgen Müller-Größ", `{"birth_date":"1980-01-31"}`: "Anna Weber, Jürgen Müller-Größ", `{"birth_date":"1980-01-31","name":"weber"}`: "Anna Weber",
		`{"number":"P-1"}`: "",
	} {
		_, contacts := handled(t, made, asked("s", "search", contact).WithPermit(func(context.Context) error {
			t.Errorf("%s: a permit is asked for", contact)
			return nil
		}))
		var names []string
		for _, found := range contacts {
			names = append(names, found.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: %q", contact, got)
		}
	}
	outcome, contacts := handled(t, made, asked("s", "search", `{"name":"Müller"}`))
	if contacts[0].Phone != "+49 (0)171 7654321" || contacts[0].Address != "Königstraße 7, 50667 Köln, Deutschland" || contacts[0].BirthDate != "1980-01-31" || !strings.HasPrefix(outcome.Text, "Gefunden:\n") {
		t.Errorf("%q, %+v", outcome.Text, contacts)
	}
}

// TestContactIsChanged: what is named is replaced, every other line stays as it is.
func TestContactIsChanged(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	card(t, server, "a", "FN:Anna Weber", "N:Weber;Anna;;;", "TEL;TYPE=home:1", "item1.TEL;TYPE=pref:2", "item1.X-ABLABEL:mobil", `NOTE:a\;b\, c`, "ORG:X\\; Y;Z", "PHOTO;ENCODING=b;TYPE=JPEG:AAECAwQF")
	request := asked("e1", "update", `{"name":"anna weber","phone":"+49 30 99","address":"Neue Str. 1, 10115 Berlin"}`)
	outcome, contacts := handled(t, made, request)
	if len(contacts) != 1 || contacts[0].Phone != "+49 30 99" || contacts[0].Address != "Neue Str. 1, 10115 Berlin" || !strings.HasPrefix(outcome.Text, "Der Kontakt ist geändert:\nAnna Weber, ") {
		t.Errorf("%q, %+v", outcome.Text, contacts)
	}
	text := strings.ReplaceAll(server.Read(t, radicale.Contacts+"a.vcf"), "\r\n ", "")
	for _, line := range []string{"TEL;TYPE=home:1\r\n", "TEL;TYPE=pref:+49 30 99\r\n", "mobil", `NOTE:a\;b\, c`, `ORG:X\; Y;Z`, "AAECAwQF", "ADR:;;Neue Str. 1;Berlin;;10115;"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	// What somebody changes after that stays, whoever repeats the request.
	server.Put(t, radicale.Contacts+"a.vcf", strings.ReplaceAll(server.Read(t, radicale.Contacts+"a.vcf"), "+49 30 99", "+49 30 100"))
	if _, contacts := handled(t, made, again(request)); contacts[0].Phone != "+49 30 100" || !strings.Contains(server.Read(t, radicale.Contacts+"a.vcf"), "+49 30 100") {
		t.Errorf("a repeat: %+v", contacts)
	}
	if failure := failed(t, made, asked("e2", "update", `{"name":"Nobody","phone":"1"}`)); !strings.Contains(failure.Message, "gibt es im Adressbuch nicht") {
		t.Errorf("%+v", failure)
	}
}

// TestWhoIsMeant: of several nobody is taken by guess; what tells them apart is asked for.
func TestWhoIsMeant(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	card(t, server, "a", "FN:Anna Weber", "N:Weber;Anna;;;", "BDAY:1980-01-31")
	card(t, server, "b", "FN:Anna Weber", "N:Weber;Anna;;;", "BDAY:1990-01-31")
	card(t, server, "c", "FN:Bert Braun", "N:Braun;Bert;;;")
	card(t, server, "d", "FN:Bert Braun-Groß", "N:Braun-Groß;Bert;;;")
	card(t, server, "e", "FN:Carl Cohn", "N:Cohn;Carl;;;")
	card(t, server, "f", "FN:Carl Cohn", "N:Cohn;Carl;;;")
	for _, c := range []struct{ action, contact, need, schema, values, left, changed string }{
		{"update", `{"name":"Weber","phone":"42"}`, "contact_data.birth_date", `"format":"date"`, `{"contact_data":{"birth_date":"1990-01-31"}}`, "abcdef", "b"},
		{"delete", `{"name":"Bert"}`, "contact_data.name", `"enum":["Bert Braun","Bert Braun-Groß"]`, `{"contact_data":{"name":"Bert Braun"}}`, "abdef", ""},
	} {
		request := asked("e"+c.action, c.action, c.contact)
		outcome, _ := handled(t, made, request)
		if outcome.Status != schemas.StatusBlocked || outcome.Needs[0].Name != c.need || !strings.Contains(string(outcome.Needs[0].Schema), c.schema) {
			t.Fatalf("%s: %+v, %s", c.contact, outcome.Needs, outcome.Needs[0].Schema)
		}
		handled(t, made, answered(request, c.need, c.values))
		var left strings.Builder
		for _, name := range server.Names(t, radicale.Contacts, ".vcf") {
			left.WriteString(strings.TrimSuffix(name, ".vcf"))
			if text := server.Read(t, radicale.Contacts+name); c.changed != "" && strings.Contains(text, "TEL:42") != strings.HasPrefix(name, c.changed) {
				t.Errorf("%s: %s", name, text)
			}
		}
		if len(left.String()) != len(c.left) || strings.Trim(left.String(), c.left) != "" {
			t.Errorf("%s: %s is left", c.contact, left.String())
		}
	}
	for contact, want := range map[string]string{`{"name":"Carl Cohn"}`: "unterscheiden sich nicht", `{"name":"Nobody"}`: "gibt es im Adressbuch nicht", `{"email":"x@example.org"}`: "unvollständig"} {
		if failure := failed(t, made, asked("d"+contact, "delete", contact)); !strings.Contains(failure.Message, want) || !failure.Permanent || failure.Unknown {
			t.Errorf("%s: %+v", contact, failure)
		}
	}
}

// TestSomebodyWasFaster: what has changed since it was read is neither changed nor deleted, and without a permit nothing is.
func TestSomebodyWasFaster(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	refused := errors.New("not permitted")
	for _, action := range []string{"update", "delete"} {
		card(t, server, "a", "FN:Anna Weber", "N:Weber;Anna;;;", "TEL:1")
		request := asked("e", action, `{"name":"Weber","phone":"1"}`)
		if _, err := made.Handle(t.Context(), request.WithPermit(func(context.Context) error { return refused }), silent); !errors.Is(err, refused) {
			t.Errorf("%s: %v", action, err)
		}
		failure := failed(t, made, request.WithPermit(meanwhile(func() {
			card(t, server, "a", "FN:Anna Weber", "N:Weber;Anna;;;", "TEL:1", "NOTE:faster")
		})))
		if !strings.HasPrefix(failure.Message, "Jemand war schneller") || failure.Permanent || failure.Unknown {
			t.Errorf("%s: %+v", action, failure)
		}
		if !strings.Contains(server.Read(t, radicale.Contacts+"a.vcf"), "NOTE:faster") {
			t.Errorf("%s: it was overwritten", action)
		}
	}
	if _, err := made.Handle(t.Context(), asked("n", "create", `{"name":"New"}`).WithPermit(func(context.Context) error { return refused }), silent); !errors.Is(err, refused) || stored(t, server) != 1 {
		t.Errorf("create: %v", err)
	}
}

func changes() map[string]*agent.Request {
	return map[string]*agent.Request{
		"create": asked("effect", "create", `{"name":"Bert Braun"}`), "update": asked("effect", "update", `{"name":"Weber","phone":"42"}`),
		"delete": asked("effect", "delete", `{"name":"Anna Weber"}`),
	}
}

// done reports whether a change has happened exactly once.
func done(tb testing.TB, server *radicale.Server, name string) bool {
	tb.Helper()
	names := server.Names(tb, radicale.Contacts, ".vcf")
	switch name {
	case "create":
		return len(names) == 2
	case "update":
		return len(names) == 1 && strings.Contains(server.Read(tb, radicale.Contacts+"a.vcf"), "TEL:42")
	}
	return len(names) == 0
}

func writes(r *http.Request) bool { return r.Method == http.MethodPut || r.Method == http.MethodDelete }

// TestConnectionsBreak: a write whose answer is lost is found to be done, one that is lost itself leaves it open, and in either case a further
// attempt does it once.
func TestConnectionsBreak(t *testing.T) {
	t.Parallel()
	for name, request := range changes() {
		for _, arrives := range []bool{true, false} {
			server := radicale.Start(t)
			card(t, server, "a", "FN:Anna Weber", "N:Weber;Anna;;;", "TEL:1")
			target, err := url.Parse(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			forward := httputil.NewSingleHostReverseProxy(target)
			var broken atomic.Bool
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if writes(r) && !broken.Swap(true) {
					if arrives {
						forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
					}
					panic(http.ErrAbortHandler)
				}
				forward.ServeHTTP(w, r)
			}))
			made := newAgent(t, front.URL)
			_, err = made.Handle(t.Context(), request, silent)
			if failure, is := errors.AsType[*agent.Failure](err); is == arrives || is && (!failure.Unknown || failure.Permanent) {
				t.Errorf("%s, it arrives %t: %+v", name, arrives, err)
			}
			handled(t, made, again(request))
			if !done(t, server, name) {
				t.Errorf("%s, it arrives %t: the address book is not as it should be", name, arrives)
			}
			front.Close()
		}
	}
}

const (
	envKilled = "PODIUM_TEST_KILLED" // what the process of a test is to do
	envServer = "PODIUM_TEST_SERVER"
)

// TestKilledAfterTheWrite has a process killed between its write and its answer, and another one take over.
func TestKilledAfterTheWrite(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(envKilled); name != "" {
		made := newAgent(t, os.Getenv(envServer), func(c *carddav.Config) { c.Server.Client.Transport = lastWish{} })
		_, err := made.Handle(t.Context(), changes()[name], silent)
		t.Fatalf("it is alive: %v", err)
	}
	for name, request := range changes() {
		server := radicale.Start(t)
		card(t, server, "a", "FN:Anna Weber", "N:Weber;Anna;;;", "TEL:1")
		dying := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAfterTheWrite$")
		dying.Env = append(os.Environ(), envKilled+"="+name, envServer+"="+server.URL)
		said, err := dying.CombinedOutput()
		if ended, is := errors.AsType[*exec.ExitError](err); !is || ended.ExitCode() != -1 {
			t.Fatalf("it was not killed: %v\n%s", err, said)
		}
		if !done(t, server, name) {
			t.Errorf("%s: it was killed before it wrote", name)
		}
		next := *request
		next.Deliveries = 2 // the same attempt, handed to another process
		handled(t, newAgent(t, server.URL), &next)
		if !done(t, server, name) {
			t.Errorf("%s: the address book is not as it should be", name)
		}
	}
}

// lastWish kills its own process when the server has done a write.
type lastWish struct{}

func (lastWish) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && writes(r) {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	return reply, err
}
