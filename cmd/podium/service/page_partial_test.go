package service_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/agents/llm/modelserver"
)

const library = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat: {channels: {web: {profile: desk, token: correct-horse-battery, page: true}}}
agents:
  writer: {kind: llm, role: responder, base_url: %q, model: mistral, egress: local}
profiles:
  desk:
    stream: %t
    agents: [writer]
    routers: [{kind: default, agent: writer}]
`

const poem = "## Herbst\n\nDie **Blätter** fallen, fallen wie von weit, als welkten in den Himmeln ferne Gärten."

// TestChatPageShowsAnAnswerThatComes_O35: a person reads what a model has said while it goes on, and then the answer in its
// place; whoever has the page read out hears the answer alone. Without stream, nothing is shown before.
func TestChatPageShowsAnAnswerThatComes_O35(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			t.Parallel()
			goOn, streaming := make(chan struct{}), make(chan struct{}, 1)
			model := modelserver.Start(t, func(call *modelserver.Call) modelserver.Answer {
				if call.Number == 1 { // of a model that is not known yet, nothing is shown before
					return modelserver.Answer{Text: "Guten Tag."}
				}
				streaming <- struct{}{}
				return modelserver.Answer{Text: poem, Pause: goOn}
			})
			running := start(t, fmt.Sprintf(library, t.TempDir(), model.URL, stream))
			p := newPerson(t, "de")
			p.open(running.Address() + "/chat/web")
			p.send(accessCode)
			p.until("document.activeElement.id === 'words'")
			p.send("Guten Tag")
			p.untilSeen("Guten Tag.")
			p.send("Ein Gedicht, bitte")
			<-streaming
			if stream {
				p.until("document.querySelector('.draft')?.innerText.includes('fallen')")
				if draft := look[string](p, "document.querySelector('.draft').innerHTML"); !strings.Contains(draft, "<strong>Blätter</strong>") || strings.Contains(draft, "Gärten") {
					t.Errorf("shown before: %s", draft)
				}
				if hidden := look[string](p, "document.querySelector('.draft').getAttribute('aria-hidden')"); hidden != "true" {
					t.Errorf("words that are no answer yet are read out: %q", hidden)
				}
			}
			close(goOn)
			p.untilSeen("ferne Gärten")
			p.until("document.querySelectorAll('.answer-words').length === 2 && !document.querySelector('.draft')")
			if found := p.complaints(); found != nil {
				t.Errorf("the browser complains: %s", strings.Join(found, "\n"))
			}
		})
	}
}
