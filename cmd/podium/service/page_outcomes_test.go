package service_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"podium/ingest/page"
	"podium/ingest/page/chromium"
	"podium/schemas"
)

// TestChatPageKeepsTheStepsAsTheReaderHasSetThem: they close and open by the reader's
// word alone once there is one, whatever comes in, and after a reload.
func TestChatPageKeepsTheStepsAsTheReaderHasSetThem(t *testing.T) {
	t.Parallel()
	running, openGate := startReception(t)
	p := newPerson(t, "en")
	p.open(running.Address() + "/chat/web#token=" + accessCode)
	p.until("document.activeElement.id === 'words'")
	p.send("Calculate 6 * 7, then wait for the gate, then calculate 1 + 1")
	p.untilSeen("1 of 3 steps done")
	steps := func(number int, want bool) {
		t.Helper()
		if open := look[bool](p, fmt.Sprintf("document.querySelectorAll('details')[%d].open", number)); open != want {
			t.Errorf("steps %d are open: %t", number, open)
		}
	}
	press := func(number int) {
		t.Helper()
		p.check(p.browser.Evaluate(p.ctx, fmt.Sprintf("document.querySelectorAll('summary')[%d].focus()", number), nil))
		p.check(p.browser.Press(p.ctx, chromium.Space(), false))
	}
	steps(0, true)
	press(0)
	p.until("!document.querySelector('details').open")
	p.open(running.Address() + "/chat/web")
	p.until("document.querySelector('.state')?.textContent.startsWith('1 of 3 steps done')")
	steps(0, false)
	openGate()
	p.untilSeen("Done · 3 steps")
	steps(0, false)
	press(0)
	p.until("document.querySelector('details').open")
	p.open(running.Address() + "/chat/web")
	p.untilSeen("Done · 3 steps")
	steps(0, true)
	p.check(p.browser.Evaluate(p.ctx, "document.getElementById('words').focus()", nil))
	p.send("Calculate 2 + 3")
	p.untilSeen("Done · 1 step")
	steps(1, true) // as the reader has them by now
	press(1)
	p.until("!document.querySelectorAll('details')[1].open")
	steps(0, true)
	if found := p.complaints(); found != nil {
		t.Errorf("the browser complains: %s", strings.Join(found, "\n"))
	}
}

// TestChatPageChecksTheAccessCode: a wrong one is noticed at sign-in, a service that is
// away is not taken for one, and one that holds no more loses no message.
func TestChatPageChecksTheAccessCode(t *testing.T) {
	t.Parallel()
	running, _ := startReception(t)
	p := newPerson(t, "en")
	refused := func() {
		t.Helper()
		p.untilSeen("This access code does not fit.")
		if kept := look[string](p, "JSON.stringify({...sessionStorage})"); p.focus() != "token" || strings.Contains(kept, "wrong") ||
			look[bool](p, "document.getElementById('conversation').checkVisibility()") {
			t.Errorf("after a wrong code the focus is on %q, and the tab keeps %s", p.focus(), kept)
		}
	}
	p.open(running.Address() + "/chat/web#token=wrong-wrong-wrong")
	refused()
	p.send("wrong-wrong-wrong-again")
	refused()
	p.check(p.browser.Evaluate(p.ctx, "document.getElementById('entrance-problem').textContent = ''", nil))
	p.send("falsch – wrong") // no header can carry it
	refused()
	offline := func(off bool) {
		conditions := map[string]any{"offline": off, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
		p.check(p.browser.Call(p.ctx, "Network.emulateNetworkConditions", conditions, nil))
	}
	offline(true)
	p.send(accessCode)
	p.untilSeen("the access code has not been checked yet")
	offline(false)
	p.send("") // it stands there still
	p.until("document.activeElement.id === 'words'")
	_, metrics := fetch(t, running.Address()+"/metrics")
	for outcome, count := range map[string]string{"accepted": "0", "refused": "2"} {
		if !strings.Contains(metrics, `podium_chat_messages_total{channel="web",outcome="`+outcome+`",provider="webhook"} `+count) {
			t.Errorf("not %s %s: %s", count, outcome, metrics)
		}
	}

	p.check(p.browser.Evaluate(p.ctx, "sessionStorage.setItem('podium.web', sessionStorage.getItem('podium.web').replace('"+accessCode+"', 'wrong'))", nil))
	p.open(running.Address() + "/chat/web")
	p.until("document.activeElement.id === 'words'")
	p.send("Calculate 2 + 3")
	p.untilSeen("This access code does not fit. Check it, or ask whoever runs the service. Your message is not lost.")
	p.send(accessCode)
	p.until("document.activeElement.id === 'words'")
	if draft := look[string](p, "document.getElementById('words').value"); draft != "Calculate 2 + 3" {
		t.Errorf("the message that was not sent is %q", draft)
	}
	p.send("")
	p.untilSeen("2 + 3 = 5")
}

// fallible is an installation with a chat page whose agents fail in several ways.
const fallible = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat: {channels: {web: {profile: desk, token: correct-horse-battery, page: true}}}
agents:
  calculator: {kind: calculator}
  printer: {kind: exec, command: [/bin/sh, -c, 'cat >/dev/null; echo The printer is out of paper. >&2; exit 65']}
profiles:
  desk:
    language: %s
    agents: [calculator, printer]
    routers:
      - kind: keywords
        groups: [{agent: calculator, keywords: ["calculat*"]}, {agent: printer, keywords: ["print*"]}]
    complexity: {verbs: ["calculat*", "print*"], separators: [then]}
    execution: {mode: sequence}
`

// TestChatPageSaysWhatCameOfIt: what failed wholly says so and why, what was done in part
// says what is missing, and what was done says neither.
func TestChatPageSaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	for language, test := range map[string]map[string][]string{
		"en": {
			"Print the list": {"This did not work · 1 step", "The printer is out of paper."},
			"Calculate 6 * 7, then print the list, then 1 + 1": {"Only partly done · ", "42", "Not done:", "print the list"},
			"Calculate 6 * 7": {"Done · 1 step", "42"},
			"Sing a song":     {"This did not work", "Nobody here"},
		},
		"de": {
			"Print the list":                       {"Nicht gelungen · 1 Schritt", "The printer is out of paper."},
			"Calculate 6 * 7, then print the list": {"Nur zum Teil gelungen · 2 Schritte", "42", "Nicht erledigt:", "print the list"},
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			running := start(t, fmt.Sprintf(fallible, filepath.Join(t.TempDir(), "data"), language))
			p := newPerson(t, language)
			p.open(running.Address() + "/chat/web#token=" + accessCode)
			p.until("document.activeElement.id === 'words'")
			for text, wanted := range test {
				number := p.ask(text)
				p.until(fmt.Sprintf("document.querySelectorAll('article')[%d].matches(':has(.done, .failed)')", number))
				told := look[string](p, fmt.Sprintf("[...document.querySelectorAll('article')[%d].children].slice(1).map((e) => e.innerText).join('\\n')", number))
				for _, want := range wanted {
					if !strings.Contains(told, want) {
						t.Errorf("%q lacks %q in %q", text, want, told)
					}
				}
				partly := strings.Contains(wanted[0], "artly") || strings.Contains(wanted[0], "Teil")
				for _, other := range []string{"Not everything", "Not done:", "Only partly", "Nicht erledigt:", "Nur zum Teil"} {
					if !partly && strings.Contains(told, other) {
						t.Errorf("%q says %q in %q", text, other, told)
					}
				}
			}
		})
	}
}

// TestChatPageSaysEveryOutcome shows documents of runs that ended in ways that are rare:
// where the service has no words for the person, the page has.
func TestChatPageSaysEveryOutcome(t *testing.T) {
	t.Parallel()
	pages, err := page.New([]string{"web"})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages.Handler())
	mux.HandleFunc("GET /v1/chat/web", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /v1/chat/web", func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			Text string `json:"text"`
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = schemas.Unmarshal(body, &message)
		}
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"run": "/v1/runs/x?document=%s"}`, url.QueryEscape(message.Text))
	})
	mux.HandleFunc("GET /v1/runs/x/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "id: end\nevent: end\ndata: %s\n\n", r.URL.Query().Get("document"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := newPerson(t, "en")
	p.open(server.URL + "/chat/web#token=any")
	p.until("document.activeElement.id === 'words'")
	for document, want := range map[string]string{
		`{"status": "completed"}`: "Done.|Done",
		`{"status": "completed", "reason": "reply_failed", "answer": "42"}`:                           "42|Done",
		`{"status": "blocked", "reason": "blocked"}`:                                                  "Something more is needed from you for this. Please write it in your next message.|Needs something more from you",
		`{"status": "failed", "reason": "timeout"}`:                                                   "This took too long and was given up. Please try again later.|This did not work",
		`{"status": "failed", "reason": "no_route", "answer": "Nobody."}`:                             "Nobody.|This did not work",
		`{"status": "failed", "reason": "of_another_version"}`:                                        "There is no answer to this. Please ask in other words, or turn to whoever runs the service.|This did not work",
		`{"status": "failed", "reason": "task_failed", "details": {"tasks": [{"description": "a"}]}}`: "This could not be done. Please try again later, or turn to whoever runs the service.|This did not work",
		`{"status": "cancelled", "reason": "superseded"}`:                                             "A newer message of yours has taken the place of this request.|Cancelled",
		`{"status": "partial", "reason": "timeout", "answer": "42", "details": {"tasks": [{"state": "completed", "description": "count"}, {"state": "failed", "description": "<b>print</b>"}, {"state": "skipped", "description": "send"}, {"state": "skipped"}]}}`: "42|Not done:|<b>print</b>|send|Only partly done",
		`{"state": "ignored"}`: "There is no answer to this. Please ask in other words, or turn to whoever runs the service.|There was nothing to do about it",
		`{"state": "refused"}`: "There is no answer to this. Please ask in other words, or turn to whoever runs the service.|That is not possible any more",
	} {
		number := p.ask(document)
		told := look[string](p, fmt.Sprintf("[...document.querySelectorAll('article')[%d].querySelectorAll('.answer-words > :not(.spoken), .missing p, .missing li, .state')].map((e) => e.innerText).join('|')", number))
		if told != want {
			t.Errorf("%s is told as %q, want %q", document, told, want)
		}
	}
	if found := p.complaints(); found != nil {
		t.Errorf("the browser complains: %s", strings.Join(found, "\n"))
	}
}
