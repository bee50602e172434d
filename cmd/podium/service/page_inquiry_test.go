package service_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// booking is an installation with a chat page, whose only agent books appointments and needs a day.
const booking = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat: {channels: {web: {profile: desk, token: correct-horse-battery, page: true}}}
agents:
  booking:
    kind: exec
    command: [/bin/sh, -c, 'cat >/dev/null; echo It is booked.']
    input_schema: {type: object, required: [date], properties: {date: {type: string, format: date}}}
    arguments: [{path: date, find: date, ask: {en: "For which <b>day</b>?"}}]
profiles:
  desk: {language: en, agents: [booking], routers: [{kind: default, agent: booking}]}
`

// TestChatPageAsks: a question stands in the conversation as Podium's words, the next message answers it and goes on with the
// work; one that was answered elsewhere goes on where it stands. A reload shows the same.
func TestChatPageAsks(t *testing.T) {
	t.Parallel()
	running := start(t, fmt.Sprintf(booking, t.TempDir()))
	p := newPerson(t, "en")
	address := running.Address() + "/chat/web"
	p.open(address + "#token=" + accessCode)
	p.until("document.activeElement.id === 'words'")
	p.send("An appointment, please.")
	asks := func(article int) {
		t.Helper()
		p.until(fmt.Sprintf("document.querySelectorAll('article')[%d]?.querySelector('.question')?.innerText.includes('For which <b>day</b>?')", article))
		p.until(fmt.Sprintf("document.querySelectorAll('article')[%d].querySelector('.state').innerText === 'Waits for your answer'", article))
		if open := look[int](p, "document.querySelectorAll('.question').length"); open != article/2+1 {
			t.Errorf("%d questions are shown", open)
		}
	}
	asks(0)
	if p.focus() != "words" {
		t.Errorf("the question has taken the focus to %q", p.focus())
	}
	p.open(address)
	asks(0)

	p.check(p.browser.Evaluate(p.ctx, "document.getElementById('words').focus()", nil))
	p.send("On 2030-12-03.")
	answered := func() {
		t.Helper()
		p.until("document.querySelectorAll('article')[1]?.querySelector('.answer-words')?.innerText.includes('It is booked.')")
		shown := look[string](p, `JSON.stringify([...document.querySelectorAll('article')].slice(0, 2).map((article) => [
			article.querySelector('.said').innerText.replace(/\s+/g, ' '), article.querySelectorAll('.answer-words').length, article.querySelector('.work').checkVisibility()]))`)
		if want := `[["You: An appointment, please.",1,false],["Your answer: On 2030-12-03.",1,true]]`; shown != want {
			t.Errorf("the page shows %s, want %s", shown, want)
		}
	}
	answered()
	p.open(address)
	answered()

	p.check(p.browser.Evaluate(p.ctx, "document.getElementById('words').focus()", nil))
	p.send("Another appointment, please.")
	asks(2)
	run := look[string](p, "JSON.parse(sessionStorage.getItem('podium.web')).entries[2].run")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.Address()+"/"+strings.Replace(run, "?", "/answers?", 1), strings.NewReader("On 2030-12-04."))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "text/plain")
	reply, err := http.DefaultClient.Do(request)
	if err != nil || reply.StatusCode != http.StatusAccepted {
		t.Fatalf("the answer elsewhere: %v %v", reply, err)
	}
	if err = reply.Body.Close(); err != nil {
		t.Error(err)
	}
	p.until("document.querySelectorAll('article')[2].querySelectorAll('.answer-words')[1]?.innerText.includes('It is booked.')")
	p.until("document.querySelectorAll('article')[2].querySelector('.work').classList.contains('done')")
	if found := p.complaints(); found != nil {
		t.Errorf("the browser complains: %s", strings.Join(found, "\n"))
	}
}
