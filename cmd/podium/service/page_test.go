package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/ingest/page/chromium"
	"podium/schemas"
)

// reception is an installation with a chat page, and an agent that goes on when a
// file is there.
const reception = `
ledger: {data: %q, durability: interval, shards: 1}
http:
  listen: "127.0.0.1:0"
  sources:
    tickets:
      profile: desk
      secret: whsec_%s
      token: token-of-the-tickets
      types: {com.example.ticket.created: {text: /words, partitionkey: /ticket}, podium.execution_request.v1: {}}
chat: {channels: {web: {profile: desk, token: correct-horse-battery, page: true}}}
agents:
  calculator: {kind: calculator}
  echo: {kind: echo}
  gate: {kind: exec, command: [/bin/sh, -c, 'cat >/dev/null; until test -e "$GATE"; do sleep 0.02; done; echo It is open.'], env: ["GATE=%s"]}
profiles:
  desk:
    agents: [calculator, gate, echo]
    routers:
      - kind: keywords
        groups: [{agent: calculator, keywords: ["calculat*"]}, {agent: gate, keywords: ["wait*"]}]
      - {kind: default, agent: echo}
    complexity: {verbs: ["calculat*", "wait*"], separators: [then]}
    execution: {mode: sequence}
`

const accessCode = "correct-horse-battery"

// startReception returns the running service and what opens the gate.
func startReception(tb testing.TB) (running *service.Service, open func()) {
	tb.Helper()
	gate := filepath.Join(tb.TempDir(), "open")
	running = start(tb, fmt.Sprintf(reception, tb.TempDir(), signingKey, gate))
	open = func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(open) // before the service is told to stop
	return running, open
}

// start runs a service until the test ends.
func start(tb testing.TB, configuration string) *service.Service {
	tb.Helper()
	settings, err := config.Parse([]byte(configuration), "podium.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	running, err := service.Start(tb.Context(), settings, zerolog.New(io.Discard))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Errorf("run: %v", err)
		}
		if err := running.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return running
}

// A person is a browser and whoever sits before it, with nothing but a keyboard.
type person struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of the one test that it serves
	browser *chromium.Browser
}

func newPerson(t *testing.T, language string) *person {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
	browser, err := chromium.Start(ctx, language)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := browser.Close(); err != nil {
			t.Errorf("close the browser: %v", err)
		}
	})
	return &person{t: t, ctx: ctx, browser: browser}
}

func (p *person) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) open(address string) { p.t.Helper(); p.check(p.browser.Open(p.ctx, address)) }

func (p *person) send(text string) {
	p.t.Helper()
	p.check(p.browser.Type(p.ctx, text))
	p.check(p.browser.Press(p.ctx, chromium.Enter(), false))
}

func (p *person) until(expression string) { p.t.Helper(); p.check(p.browser.Until(p.ctx, expression)) }

// untilSeen waits until the page shows a text.
func (p *person) untilSeen(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

func look[T any](p *person, expression string) (value T) {
	p.t.Helper()
	p.check(p.browser.Evaluate(p.ctx, expression, &value))
	return value
}

func (p *person) focus() string { p.t.Helper(); return look[string](p, "document.activeElement.id") }

func (p *person) cookies() int {
	p.t.Helper()
	var kept struct {
		Cookies []any `json:"cookies"`
	}
	p.check(p.browser.Call(p.ctx, "Network.getCookies", nil, &kept))
	return len(kept.Cookies)
}

// complaints are what the browser has to say against the page: errors, warnings, and
// violations of its policy.
func (p *person) complaints() []string {
	var found []string
	for _, kind := range []string{"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Audits.issueAdded"} {
		for _, event := range p.browser.Events(kind) {
			found = append(found, kind+" "+string(event.Params))
		}
	}
	for _, event := range p.browser.Events("Log.entryAdded") {
		if text := string(event.Params); strings.Contains(text, `"level":"error"`) || strings.Contains(text, `"level":"warning"`) {
			found = append(found, text)
		}
	}
	return found
}

// strangers are the addresses outside the service that the page has asked for.
func (p *person) strangers(address string) []string {
	p.t.Helper()
	var found []string
	for _, event := range p.browser.Events("Network.requestWillBeSent") {
		var sent struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		p.check(schemas.Unmarshal(event.Params, &sent))
		if asked := sent.Request.URL; !strings.HasPrefix(asked, address+"/") && !strings.HasPrefix(asked, "data:") && asked != "about:blank" {
			found = append(found, asked)
		}
	}
	return found
}

// TestChatPage goes the way of a person with a keyboard: signs in, asks, sees how
// far the work is, reads the answer, and finds it there again after a reload.
func TestChatPage(t *testing.T) {
	t.Parallel()
	running, openGate := startReception(t)
	p := newPerson(t, "en")
	p.check(p.browser.Screen(p.ctx, 1000, 700, map[string]string{"prefers-reduced-motion": "reduce"}))
	p.open(running.Address() + "/chat/web")
	if p.focus() != "token" {
		t.Errorf("the focus is on %q", p.focus())
	}
	p.send(accessCode)
	p.until("document.activeElement.id === 'words'")
	p.send("Calculate 6 * 7, then wait for the gate")
	p.untilSeen("1 of 2 steps done")
	if bar := look[float64](p, "document.querySelector('progress').value"); bar < 50 || bar >= 100 {
		t.Errorf("the bar is at %f", bar)
	}
	if moving := look[int](p, "document.getAnimations().length"); moving != 0 {
		t.Errorf("%d things move for somebody who wants none to", moving)
	}
	if said := look[string](p, "document.getElementById('status').textContent"); !strings.Contains(said, "step") && !strings.Contains(said, "arrived") {
		t.Errorf("a screen reader hears %q", said)
	}
	p.send(`<img src=x onerror="alert(1)"><script>alert(2)</script>`)
	p.untilSeen("Waits until the message before it is done")
	openGate()
	p.untilSeen("It is open.")
	p.untilSeen("Done · 2 steps")
	if p.focus() != "words" {
		t.Errorf("the answer has taken the focus to %q", p.focus())
	}
	answer := look[string](p, "document.querySelector('.answer-words').innerText")
	if !strings.Contains(answer, "42") || !strings.Contains(answer, "It is open.") {
		t.Errorf("answer %q", answer)
	}
	p.until("document.querySelectorAll('.answer-words').length === 2")
	if got := look[int](p, "document.querySelectorAll('main img, main script').length"); got != 0 {
		t.Errorf("the words of somebody have become %d elements", got)
	}
	p.send("   ")
	p.untilSeen("Please write a message first.")
	p.open(running.Address() + "/chat/web")
	p.until("document.querySelectorAll('.answer-words').length === 2")
	p.untilSeen("It is open.")
	if kept := look[int](p, "localStorage.length"); kept != 0 || p.cookies() != 0 {
		t.Errorf("the page keeps %d things and %d cookies beyond the tab", kept, p.cookies())
	}
	if found := p.complaints(); found != nil {
		t.Errorf("the browser complains: %s", strings.Join(found, "\n"))
	}
	if found := p.strangers(running.Address()); found != nil {
		t.Errorf("the page asks %q", found)
	}
}

// TestChatPageForScreenReaders holds the page to names and roles, to the order of the
// focus, and to an announced, labeled problem.
func TestChatPageForScreenReaders(t *testing.T) {
	t.Parallel()
	running, _ := startReception(t)
	p := newPerson(t, "de-AT")
	p.open(running.Address() + "/")
	p.find([]chromium.Node{
		{Role: "RootWebArea", Name: "Podium · web"},
		{Role: "link", Name: "Zum Eingabefeld"},
		{Role: "banner"},
		{Role: "main"},
		{Role: "heading", Name: "Podium /web"},
		{Role: "region", Name: "Willkommen"},
		{Role: "heading", Name: "Willkommen"},
		{Role: "textbox", Name: "Zugangscode"},
		{Role: "button", Name: "Weiter"},
		{Role: "status"},
	})
	p.send("")
	p.untilSeen("Bitte geben Sie den Zugangscode ein.")
	p.find([]chromium.Node{{Role: "alert"}, {Role: "textbox", Name: "Zugangscode", Invalid: true}})
	p.send("this is not the code")
	p.untilSeen("Dieser Zugangscode passt nicht.")
	p.find([]chromium.Node{{Role: "alert"}, {Role: "textbox", Name: "Zugangscode", Invalid: true}})
	if p.focus() != "token" {
		t.Errorf("the focus is on %q", p.focus())
	}
	p.send(accessCode)
	p.until("document.activeElement.id === 'words'")
	p.send("Calculate 2 + 3")
	p.untilSeen("Fertig · 1 Schritt")
	p.find([]chromium.Node{
		{Role: "region", Name: "Unterhaltung"},
		{Role: "log", Name: "Nachrichten", Live: "polite"},
		{Role: "article"},
		{Role: "textbox", Name: "Ihre Nachricht"},
		{Role: "button", Name: "Senden"},
		{Role: "button", Name: "Neu beginnen"},
		{Role: "button", Name: "Abmelden"},
		{Role: "DisclosureTriangle", Name: "Fertig · 1 Schritt"},
		{Role: "status", Live: "polite"},
	})
	var order []string
	p.check(p.browser.Evaluate(p.ctx, "document.querySelector('.skip').focus()", nil))
	for range 6 {
		p.check(p.browser.Press(p.ctx, chromium.Tab(), false))
		order = append(order, look[string](p, "document.activeElement.id || document.activeElement.localName"))
	}
	if want := []string{"renew", "leave", "log", "summary", "words", "button"}; !slices.Equal(order, want) {
		t.Errorf("the focus goes %q, want %q", order, want)
	}
	p.check(p.browser.Evaluate(p.ctx, "document.getElementById('leave').focus()", nil))
	p.check(p.browser.Press(p.ctx, chromium.Space(), false))
	p.until("document.activeElement.id === 'token' && sessionStorage.length === 0 && !document.querySelector('article')")
}

// find checks that screen readers find nodes with these properties.
func (p *person) find(wanted []chromium.Node) {
	p.t.Helper()
	nodes, err := p.browser.Accessible(p.ctx)
	p.check(err)
	for _, want := range wanted {
		if !slices.ContainsFunc(nodes, func(got chromium.Node) bool {
			return got.Role == want.Role && (want.Name == "" || got.Name == want.Name) && (!want.Invalid || got.Invalid) && (want.Live == "" || got.Live == want.Live)
		}) {
			p.t.Errorf("a screen reader finds no %+v", want)
		}
	}
	for _, got := range nodes {
		if operable := []string{"button", "textbox", "link", "progressbar"}; slices.Contains(operable, got.Role) && got.Name == "" {
			p.t.Errorf("a %s has no name", got.Role)
		}
	}
}

// TestChatPageInTrouble cuts every connection while an answer is on its way, then the
// way of a message, then loses what a message was answered with: all arrive, once.
func TestChatPageInTrouble(t *testing.T) {
	t.Parallel()
	running, openGate := startReception(t)
	target, err := url.Parse(running.Address())
	if err != nil {
		t.Fatal(err)
	}
	var lose atomic.Bool
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(answer *http.Response) error {
			if answer.Request.Method == http.MethodPost && lose.CompareAndSwap(true, false) {
				return errors.New("the answer is lost")
			}
			return nil
		},
	}
	between := httptest.NewServer(proxy)
	t.Cleanup(between.Close)
	p := newPerson(t, "en")
	p.open(between.URL + "/chat/web#token=" + accessCode)
	if address := look[string](p, "location.href"); strings.Contains(address, accessCode) {
		t.Errorf("the access code stays in the address %s", address)
	}
	p.until("document.activeElement.id === 'words'")
	p.send("Calculate 6 * 7, then wait for the gate")
	p.untilSeen("1 of 2 steps done")
	between.CloseClientConnections()
	p.untilSeen("The connection was lost and is being taken up again")
	p.untilSeen("1 of 2 steps done")
	openGate()
	p.untilSeen("Done · 2 steps")
	if steps := look[int](p, "document.querySelectorAll('.steps li').length"); steps != 2 {
		t.Errorf("%d steps after the connection was taken up again", steps)
	}
	offline := func(off bool) {
		conditions := map[string]any{"offline": off, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
		p.check(p.browser.Call(p.ctx, "Network.emulateNetworkConditions", conditions, nil))
	}
	offline(true)
	p.send("Calculate 20 + 3")
	p.untilSeen("The service does not answer, trying again")
	offline(false)
	p.until("document.querySelectorAll('.answer-words').length === 2")
	p.untilSeen("23")
	lose.Store(true)
	p.send("Calculate 30 + 4")
	p.until("document.querySelectorAll('.answer-words').length === 3")
	p.untilSeen("34")
	_, metrics := fetch(t, running.Address()+"/metrics")
	for outcome, count := range map[string]string{"accepted": "3", "repeated": "1"} {
		if !strings.Contains(metrics, `podium_chat_messages_total{channel="web",outcome="`+outcome+`",provider="webhook"} `+count) {
			t.Errorf("not %s %s: %s", count, outcome, metrics)
		}
	}
}

// contrast is the least ratio between the text of an element and what is behind it
// (WCAG 2.2, section 1.4.3) of all that is shown.
const contrast = `(() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } };
  let least = 21, where = '';
  for (const e of document.querySelectorAll('body *')) {
    if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least) [least, where] = [ratio, e.localName + '.' + e.className + ' ' + ratio.toFixed(2)];
  }
  return least >= 4.5 ? '' : where;
})()`

// overhang is how far something stands out of the screen or out of what holds it, in
// pixels.
const overhang = `Math.max(...[document.documentElement, ...document.querySelectorAll('#log, .exchange, .said, .answer-words, .steps, header')]
  .map((e) => e.scrollWidth - e.clientWidth))`

// TestChatPageOnEveryScreen holds it to WCAG's contrast in light and in dark, and to
// a phone's width.
func TestChatPageOnEveryScreen(t *testing.T) {
	t.Parallel()
	running, openGate := startReception(t)
	p := newPerson(t, "en")
	p.open(running.Address() + "/chat/web")
	everywhere := func(when string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{320, 1000} {
				p.check(p.browser.Screen(p.ctx, width, 640, map[string]string{"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}))
				if low := look[string](p, contrast); low != "" {
					t.Errorf("%s, %s: the contrast of %s", when, scheme, low)
				}
				if wide := look[int](p, overhang); wide > 0 {
					t.Errorf("%s: at %d it is %d too wide", when, width, wide)
				}
			}
		}
		if picture, err := p.browser.Picture(p.ctx); err != nil || http.DetectContentType(picture) != "image/png" {
			t.Errorf("%s: no picture: %v", when, err)
		}
	}
	p.send("")
	p.untilSeen("Please enter the access code.")
	everywhere("at the entrance")
	p.send(accessCode)
	p.untilSeen("How can we help?")
	everywhere("before the first message")
	p.send("Calculate 6 * 7, then wait for the gate " + strings.Repeat("verylongword", 12))
	p.untilSeen("1 of 2 steps done")
	everywhere("at work")
	openGate()
	p.untilSeen("Done · 2 steps")
	everywhere("with an answer")
}
