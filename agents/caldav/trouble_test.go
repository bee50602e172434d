package caldav_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"podium/agents/caldav"
	"podium/agents/dav/radicale"
	"podium/bus/agent"
)

// changes are one request of each kind that changes the calendar, with an appointment at 9:00 on which they work.
func changes() map[string]*agent.Request {
	return map[string]*agent.Request{
		"schedule":   booking("effect", "2026-03-31", "09:00", "Ann"),
		"reschedule": asked("effect", `{"action":"reschedule","appointment_data":{"person":"Weber","new_date":"2026-03-31"}}`),
		"cancel":     asked("effect", `{"action":"cancel","appointment_data":{"date":"2026-03-30","time":"09:00"}}`),
	}
}

// state is what stands in the calendar: days with the names.
func state(tb testing.TB, server *radicale.Server) string {
	tb.Helper()
	outcome, err := newAgent(tb, server.URL).Handle(tb.Context(), asked("look", `{"action":"query","appointment_data":{"date":"2026-03-31"}}`), silent)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("%d: %s", stored(tb, server), outcome.Text)
}

func want(name string) string {
	return map[string]string{
		"schedule":   "2: 31.03.2026, 09:00 Uhr, 30 Minuten: Ann",
		"reschedule": "1: 31.03.2026, 09:00 Uhr, 30 Minuten: Anna Weber",
		"cancel":     "0: Dafür steht kein Termin im Kalender.",
	}[name]
}

// TestConnectionsBreak: whatever breaks around a write, it happens once, a request that does not know says so, and a further attempt
// finds out what has become of it.
func TestConnectionsBreak(t *testing.T) {
	t.Parallel()
	for name, request := range changes() {
		for _, c := range []struct {
			what    string
			cut     func(wrote bool, r *http.Request) cutting
			unknown bool // else it is done at once
		}{
			{"the answer is lost", func(_ bool, r *http.Request) cutting { return only(writes(r), after) }, false},
			{"the call is lost", func(_ bool, r *http.Request) cutting { return only(writes(r), before) }, true},
			{"the answer is lost, and the server", func(wrote bool, r *http.Request) cutting {
				if wrote {
					return before
				}
				return only(writes(r), after)
			}, true},
		} {
			t.Run(name+", "+c.what, func(t *testing.T) {
				t.Parallel()
				server := radicale.Start(t)
				entry(t, server, "one", "DTSTART:20260330T070000Z", "DURATION:PT30M", "SUMMARY:Anna Weber")
				between := newLink(t, server)
				made := newAgent(t, between.URL)
				wrote := false
				between.set(func(r *http.Request) cutting {
					cut := c.cut(wrote, r)
					wrote = wrote || writes(r)
					return cut
				})
				_, err := made.Handle(t.Context(), request, silent)
				if failure, is := errors.AsType[*agent.Failure](err); is != c.unknown || is && (!failure.Unknown || failure.Permanent) {
					t.Fatalf("%+v", err)
				}
				between.set(nil)
				handled(t, made, again(request))
				handled(t, made, again(again(request)))
				if got := state(t, server); got != want(name) {
					t.Errorf("the calendar is %q", got)
				}
			})
		}
	}
}

func only(is bool, cut cutting) cutting {
	if is {
		return cut
	}
	return whole
}

func writes(r *http.Request) bool { return r.Method == http.MethodPut || r.Method == http.MethodDelete }

const (
	envKilled = "PODIUM_TEST_KILLED" // what the process of a test is to do
	envServer = "PODIUM_TEST_SERVER"
)

// TestKilledAfterTheWrite has a process killed between its write and its answer, by every action, and another one take over. The first
// call of the process itself is below.
func TestKilledAfterTheWrite(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(envKilled); name != "" {
		made := newAgent(t, os.Getenv(envServer), func(c *caldav.Config) { c.Server.Client.Transport = lastWish{} })
		_, err := made.Handle(t.Context(), changes()[name], silent)
		t.Fatalf("it is alive: %v", err)
	}
	for name, request := range changes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := radicale.Start(t)
			entry(t, server, "one", "DTSTART:20260330T070000Z", "DURATION:PT30M", "SUMMARY:Anna Weber")
			dying := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAfterTheWrite$")
			dying.Env = append(os.Environ(), envKilled+"="+name, envServer+"="+server.URL)
			said, err := dying.CombinedOutput()
			if ended, is := errors.AsType[*exec.ExitError](err); !is || ended.ExitCode() != -1 {
				t.Fatalf("it was not killed: %v\n%s", err, said)
			}
			if got := state(t, server); got != want(name) {
				t.Errorf("after the kill the calendar is %q", got)
			}
			next := again(request)
			next.Attempt, next.Deliveries = 1, 2 // the same attempt, handed to another process
			handled(t, newAgent(t, server.URL), next)
			if got := state(t, server); got != want(name) {
				t.Errorf("the calendar is %q", got)
			}
		})
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

// TestWrongPassword: nobody is told more than that, and whoever runs the agent which keys to look at.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	failure := failed(t, newAgent(t, server.URL, func(c *caldav.Config) { c.Server.Password = "wrong" }), booking("e1", "2026-03-31", "09:00", "Ann"))
	if !failure.Permanent || failure.Unknown || !strings.Contains(failure.Message, "HTTP 401") || !strings.Contains(failure.Remedy, "keys user and password") {
		t.Errorf("%+v", failure)
	}
}

// TestTheServerIsAway: nothing was done, and another attempt may help.
func TestTheServerIsAway(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	if err := made.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	server.Stop(t)
	if made.Check(t.Context()) == nil {
		t.Error("the check passes without a server")
	}
	request := booking("e1", "2026-03-31", "09:00", "Ann")
	if failure := failed(t, made, request); failure.Permanent || failure.Unknown || !strings.Contains(failure.Message, "nicht erreichbar") {
		t.Errorf("%+v", failure)
	}
	server.Restart(t)
	handled(t, made, again(request))
}

// TestBrokenEntriesStopNobody: content at which the library panics is an entry that cannot be read.
func TestBrokenEntriesStopNobody(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"panic":  "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;TZID=x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		"hourly": calendarOf("x", "DTSTART:20260330T070000Z", "RRULE:FREQ=HOURLY"),
		"crowd":  calendarOf("x", "DTSTART:19000105T070000Z", "RRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9;BYMINUTE=0,1,2,3,4,5,6,7,8,9;BYSECOND=0,1,2,3,4,5,6,7,8,9"),
		"rule":   calendarOf("x", "DTSTART:20260330T070000Z", "RRULE:FREQ=OFTEN"), "half": "BEGIN:VCALENDAR",
		"period": calendarOf("x", "DTSTART:20260330T070000Z", "RDATE;VALUE=PERIOD:20260330T070000Z/PT1H"),
		"length": calendarOf("x", "DTSTART:20260330T070000Z", "DURATION:long"),
	} {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case "PROPFIND":
				w.WriteHeader(http.StatusMultiStatus)
				_, _ = io.WriteString(w, `<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>/praxis/termine/</href><propstat><prop><resourcetype><collection/><C:calendar/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`)
			case "REPORT":
				w.WriteHeader(http.StatusMultiStatus)
				_, _ = fmt.Fprintf(w, `<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>/praxis/termine/x.ics</href><propstat><prop><getetag>"1"</getetag><C:calendar-data>%s</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`, body)
			case http.MethodGet:
				http.NotFound(w, r)
			default:
				t.Errorf("%s: it writes", name)
			}
		}))
		request := booking("e", "2026-03-30", "15:00", "Ann").WithPermit(func(context.Context) error {
			t.Errorf("%s: a permit is asked for", name)
			return nil
		})
		if failure := failed(t, newAgent(t, front.URL), request); !strings.Contains(failure.Message, "nicht zu lesen") {
			t.Errorf("%s: %+v", name, failure)
		}
		front.Close()
	}
}
