package session_test

import (
	"strings"
	"testing"
	"unicode"

	"podium/schemas"
	"podium/supervisor/session"
)

// TestQuestionsToPeopleTurnNoDirection: nothing in an email that asks people of the profile turns the direction of
// writing or commands a terminal, wherever the requester's words stand in it.
func TestQuestionsToPeopleTurnNoDirection(t *testing.T) {
	t.Parallel()
	const marks = "\u202e\u202d\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u206a\u206f\x1b\x00\u009b"
	const message = "mail id=m1 from=eve@example.org name=(E" + marks + "ve) subject=(In" + marks + "voice) origin=proven\n" +
		"Pay " + marks + "nip\nthe report\u2028now\n----\n\n"
	profile := func(members string) string {
		return "\nprofile default=clerk attempts=1\nwaiting: {expire: 72h, asks: 2}\n" +
			"people: {anna: {mail: anna@practice.example, account: support}}\n" + members + "\n----\n\n"
	}
	const agents = "agents: [{name: calculator}, {name: summary}, "
	const approved = "approval: [{agents: [clerk], tainted: true, people: [anna], expire: 48h}]"
	const asksHuman = "recovery: {default: human}\nescalation: {human: {people: [anna], expire: 48h}}"
	const template = "planner: {kind: template, templates: [{name: pay, keywords: [{word: pay, mode: word}], tasks: " +
		"[{task: a, description: \"Pay: {request}\", agent: clerk}]}]}"
	const summary = `answer task=t1 payload
status: blocked
operation: {name: pay, summary: "To ` + `\u202e` + `eve", recipients: ["e\u202eve@example.org"], arguments: {"to\u202e": "\u202eeve"}}
----

`
	for name, script := range map[string]string{
		"approval": profile(agents+"{name: clerk, side_effects: external, on_tainted: ask}]\n"+approved) + message,
		"approval of a template": profile(agents+"{name: clerk, side_effects: external, on_tainted: ask}]\n"+
			approved+"\n"+template) + message,
		"approval of a proposal": profile(agents+"{name: clerk, side_effects: external, action: named}]\n"+approved) +
			message + summary,
		"approval of long arguments": profile(agents+"{name: clerk, side_effects: external, action: named}]\n"+approved) +
			message + strings.Replace(summary, `"\u202eeve"}`, `"\u202eeve`+strings.Repeat(" and so on", 200)+`"}`, 1),
		"approval of the answer": profile(agents+"{name: clerk}]\napproval: [{delivery: true, people: [anna], expire: 48h}]") +
			strings.Replace(message, "from=e", "from=e\u202e", 1) + "answer task=t1\nDone.\n----\n",
		"failure": profile(agents+"{name: clerk}]\n"+asksHuman) + message +
			"answer task=t1 status=failed permanent issue=(no\u202eway)\n----\n",
		"budget": profile(agents+"{name: clerk}]\n"+template+
			"\nbudget: {run: {tokens: 10}, reserve: {tokens: 100}, exhausted: ask, people: [anna], expire: 48h}") + message,
		"work": profile(agents+"{name: clerk, person: {people: [anna], expire: 48h}}]") + message,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := attack(t, script)
			asked := lettersAsking(t, s)
			if len(asked) != 1 {
				t.Fatalf("%d emails ask:\n%s", len(asked), strings.Join(told, "\n"))
			}
			newest := s.state.Active.Inquiry(len(s.state.Active.Inquiries))
			shown := strings.Join([]string{asked[0].Subject, asked[0].Text, newest.Question}, "\n")
			bad := strings.IndexFunc(shown, func(r rune) bool {
				return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u206a' || r == '\u206f'
			})
			if bad >= 0 || !strings.Contains(shown, "Invoice") {
				t.Errorf("people are shown, at %d: %q", bad, shown)
			}
		})
	}
}

// lettersAsking returns the emails that the newest record of a story asks people by.
func lettersAsking(t *testing.T, s *story) []schemas.DeliveryArguments {
	t.Helper()
	var asked []schemas.DeliveryArguments
	outputs := s.owed(t, &s.state, s.records[len(s.records)-1])
	for i := range outputs {
		if outputs[i].Kind != session.OutputRequest {
			continue
		}
		request, err := schemas.DecodeExecutionRequest(outputs[i].Event.Data)
		if err != nil {
			t.Fatal(err)
		}
		var given schemas.DeliveryArguments
		task := &request.Payload.Tasks[0]
		if !schemas.HasNotificationID(task.TaskID) {
			continue
		}
		if err = schemas.Unmarshal(task.Context.Arguments, &given); err != nil {
			t.Fatal(err)
		}
		asked = append(asked, given)
	}
	return asked
}
