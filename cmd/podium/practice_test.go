package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"podium/agents/dav/radicale"
	"podium/schemas/workflow"
)

// practice installs the example of a practice, whose server is somewhere.
func practice(t *testing.T, at string) *deployment {
	t.Helper()
	text, err := os.ReadFile("../../deploy/examples/practice/podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := strings.ReplaceAll(string(text), "http://127.0.0.1:5232", at)
	return install(t, strings.ReplaceAll(config, "${DAV_PASSWORD}", radicale.Password))
}

// TestPracticeExample_G08_G09 plays the example on a real server: appointments and contacts by the words of people, with questions where words
// leave something out, and refusals where a time is taken.
func TestPracticeExample_G08_G09(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	i := practice(t, server.URL)
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	run, answer := i.answered("Bitte einen Termin am 30.03.2099 um 9 Uhr für Jürgen Müller buchen.")
	if answer != "Der Termin ist eingetragen: 30.03.2099, 09:00 Uhr, 20 Minuten, Jürgen Müller." || run.Tasks[0].Permit == "" {
		t.Errorf("%q, %+v", answer, run.Tasks[0])
	}
	if _, answer := i.asksInVain("Bitte einen Termin am 30.03.2099 um 9:10 Uhr für Anna Weber buchen."); !strings.Contains(answer, "Diese Zeit ist belegt: 09:00–09:20. Frei ist an diesem Tag: 08:00–09:00, 09:20–18:00.") {
		t.Errorf("%q", answer)
	}
	if _, answer := i.answered("Bitte den Termin von Jürgen Müller am 30.03.2099 auf den 31.03.2099 verschieben."); !strings.HasPrefix(answer, "Der Termin ist verlegt: von 30.03.2099, 09:00 Uhr auf 31.03.2099, 09:00 Uhr") {
		t.Errorf("%q", answer)
	}
	asked := i.asksBack("Bitte einen Termin für Anna Weber am 31.03.2099 buchen.", "Um wie viel Uhr?", "um 10:00")
	if text := asked.Tasks[0].Result.Text; text != "Der Termin ist eingetragen: 31.03.2099, 10:00 Uhr, 20 Minuten, Anna Weber." {
		t.Errorf("%q", text)
	}
	asked = i.asksBack("Bitte den Termin am 31.03.2099 absagen.", "Welcher Termin ist gemeint? Bitte die Uhrzeit nennen: 31.03.2099, 09:00 Uhr; 31.03.2099, 10:00 Uhr.", "den um 10:00 Uhr")
	if text := asked.Tasks[0].Result.Text; text != "Der Termin ist abgesagt: 31.03.2099, 10:00 Uhr, Anna Weber." {
		t.Errorf("%q", text)
	}
	if _, answer := i.answered("Welche Termine am 31.03.2099?"); !strings.HasPrefix(answer, "31.03.2099, 09:00 Uhr, 20 Minuten: Jürgen Müller") {
		t.Errorf("%q", answer)
	}
	if _, answer := i.answered("Bitte Kontakt für Jürgen Müller anlegen, Telefon 030 1234567."); !strings.Contains(answer, "Der Kontakt ist angelegt:") || !strings.Contains(answer, "Jürgen Müller, Telefon") {
		t.Errorf("%q", answer)
	}
	if _, answer := i.answered("Bitte Kontakt von Jürgen Müller ändern, Telefon 030 7654321."); !strings.Contains(answer, "Der Kontakt ist geändert:") || strings.Contains(answer, "1234567") {
		t.Errorf("%q", answer)
	}
	if _, answer := i.answered("Bitte Kontakt von Juergen Mueller suchen."); !strings.Contains(answer, "Gefunden:") || !strings.Contains(answer, "Jürgen Müller, Telefon") {
		t.Errorf("%q", answer)
	}
	if _, answer := i.answered("Bitte Kontakt von Jürgen Müller löschen."); !strings.Contains(answer, "Der Kontakt ist gelöscht:") {
		t.Errorf("%q", answer)
	}
	if events, cards := len(server.Names(t, radicale.Calendar, ".ics")), len(server.Names(t, radicale.Contacts, ".vcf")); events != 1 || cards != 0 {
		t.Errorf("%d appointments and %d contacts are left", events, cards)
	}
	i.stop()
	i.verify()
}

// TestKilledServiceBooksOnce kills the service (SIGKILL) when the server has stored an appointment and nobody has heard so. The service that
// follows finds it, and answers.
func TestKilledServiceBooksOnce(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	var i *deployment
	var puts atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || puts.Add(1) > 1 {
			forward.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(httptest.NewRecorder(), r)
		i.kill()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(front.Close)
	i = practice(t, front.URL)
	i.up()
	i.podium("send", "Bitte einen Termin am 30.03.2099 um 9 Uhr für Jürgen Müller buchen.").succeeds(t)
	eventually(t, "the service is killed", func() bool {
		select {
		case <-i.process.exited:
			return true
		default:
			return false
		}
	})
	if stored := server.Names(t, radicale.Calendar, ".ics"); len(stored) != 1 {
		t.Fatalf("after the kill: %v", stored)
	}
	i.up()
	eventually(t, "the run has ended", func() bool { return i.ended() == 1 })
	run := i.run(i.runs()[0].ID)
	if text := run.Tasks[0].Result.Text; run.Tasks[0].State != workflow.TaskCompleted || text != "Der Termin ist eingetragen: 30.03.2099, 09:00 Uhr, 20 Minuten, Jürgen Müller." {
		t.Errorf("%s, %q", run.Tasks[0].State, text)
	}
	if stored := server.Names(t, radicale.Calendar, ".ics"); len(stored) != 1 || puts.Load() != 1 {
		t.Errorf("%v, %d writes", stored, puts.Load())
	}
	i.stop()
	i.verify()
}
