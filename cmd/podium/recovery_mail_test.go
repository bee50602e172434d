package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// desperateConfig has an agent that fails while there is a file, about which anna is asked, and one that does not fit its budget, which she may raise.
const desperateConfig = deskByMail + `
people: {anna: {mail: anna@practice.example}}
agents:
  shop: {kind: exec, command: [sh, -c, 'cat >/dev/null; test ! -e "$ORDERED/broken" && echo Bestellt.'], env: ["ORDERED=%[3]s"]}
  coder: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo Programmiert.']}
profiles:
  desk:
    language: de
    agents: [shop, coder]
    routers:
      - {kind: keywords, groups: [{agent: coder, keywords: ["programm*"]}]}
      - {kind: default, agent: shop}
    conversation: {replies_per_hour: 20}
    retry: {attempts: 1}
    recovery: {default: human}
    escalation: {human: {people: [anna], expires: 24h}}
    budget: {agent: {coder: {tokens: 10}}, reserve: 50, exhausted: ask, people: [anna], expires: 24h}
`

// TestFailuresAndBudgetsByMail: who is asked about a failure or for more of a budget is written to, and says so by one word in the first line of a letter that the server vouches for. Anybody else's word, and one
// that nobody vouches for, does nothing; the word of one who may has it done once more, left out, or ended.
func TestFailuresAndBudgetsByMail(t *testing.T) {
	t.Parallel()
	o := openPracticeWith(t, desperateConfig)
	broken := filepath.Join(o.ordered, "broken")
	letters, answers, runs, strangers := 0, 0, 0, 0
	for _, c := range []struct {
		words, asked, said string
		mended             bool
		status             schemas.RunStatus
		reason             schemas.StopReason
		told               string
	}{
		{"Bitte bestellen.", "nochmal", "nochmal", true, schemas.RunCompleted, schemas.StopCompleted, "Bestellt."},
		{"Bitte bestellen.", "ergebnis", "Ergebnis: Ich habe angerufen.", false, schemas.RunCompleted, schemas.StopCompleted, "Ich habe angerufen."},
		{"Bitte bestellen.", "beenden", "beenden", false, schemas.RunFailed, schemas.StopTaskFailed, "konnte nicht erledigt werden"},
		{"Bitte programmieren.", "erhöhen", "erhöhen 60", false, schemas.RunCompleted, schemas.StopCompleted, "Programmiert."},
		{"Bitte programmieren.", "ablehnen", "ablehnen", false, schemas.RunFailed, schemas.StopBudget, ""},
	} {
		if err := os.WriteFile(broken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		letters, answers, runs, strangers = letters+1, answers+1, runs+1, strangers+1
		o.write("ada@example.net", "", c.words, true)
		question, text := o.asked(letters)
		if !strings.Contains(strings.ToLower(text), c.asked) && c.asked != "nochmal" || !strings.Contains(text, c.words) {
			t.Errorf("%q: anna is asked %q", c.said, text)
		}
		if c.mended {
			if err := os.Remove(broken); err != nil {
				t.Fatal(err)
			}
		}
		o.write("eve@example.net", question, c.said, true)
		o.await("a stranger", schemas.WordNotAllowed, strangers)
		o.write("anna@practice.example", question, c.said, true)
		within(t, patience, c.said+": ada is told", func() bool { return len(o.letters("ada@example.net")) == answers })
		if _, text = o.told("ada@example.net", answers); !strings.Contains(text, c.told) {
			t.Errorf("%q: ada is told %q", c.said, text)
		}
		within(t, patience, c.said+": the run ends", func() bool {
			all := o.service.runs()
			return len(all) == runs && all[0].Phase == workflow.PhaseComplete
		})
		run := o.service.run(o.service.runs()[0].ID)
		word := run.Inquiries[0].Answered
		if run.Status != c.status || run.Reason != c.reason || word == nil || word.Actor != (schemas.Actor{Via: schemas.ViaMail, ID: "anna", Proof: schemas.ProofMail}) {
			t.Errorf("%q: the run ends %s (%s) by %+v", c.said, run.Status, run.Reason, word)
		}
	}
	o.service.stop()
	o.service.verify()
}
