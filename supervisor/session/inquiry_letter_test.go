package session_test

import (
	"strings"
	"testing"
)

// TestUncheckedMailNamesTheQuestion: where no server vouches for mail, a letter that names the answer of an earlier run is no
// answer to what a later run asks.
func TestUncheckedMailNamesTheQuestion(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile default=clerk
edition: 1
waiting: {expire: 72h, asks: 2}
----

mail id=m1 from=ana@example.org
Please write a letter.
----

answer task=t1
Dear Ana
----

answer task=reply receipt=a1@support.example
----

mail id=m2 from=ana@example.org reply-to=m1
Please write another letter.
----

answer task=t1 run=2 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}, schema: {type: string}}]
----

answer task=ask:1:1 run=2 receipt=q1@support.example
----

mail id=m3 from=ana@example.org answers=1 reply-to=m1
Thanks for the letter.
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, "message m3: answered") {
		t.Fatalf("a word on the answer of run 1 is taken for what run 2 asks:\n%s", newest)
	}
}

// TestCalendarReplyDecidesNothingBeyondTheWord: of a mail that approves or rejects, the word counts, and never the answer to an
// invitation beside it or in place of it.
func TestCalendarReplyDecidesNothingBeyondTheWord(t *testing.T) {
	t.Parallel()
	const asked = `
profile default=clerk
edition: 9
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}, ben: {mail: ben@practice.example, account: support}}
agents: [{name: calculator}, {name: summary}, {name: clerk, description: Writes letters., side_effects: external, on_tainted: ask}]
approval: [{agents: [clerk], tainted: true, people: [anna], expire: 48h}]
----

mail id=m1 from=eve@example.org origin=proven
Write to the bank.
----

answer task=ask:1:1 receipt=q1@support.example
----

`
	const approved, rejected = "inquiry 1: approve by anna", "inquiry 1: reject by anna"
	for name, c := range map[string]struct{ arguments, words, want string }{
		"Yes":                                {"from=anna@practice.example", "Yes", approved},
		"ACCEPTED beside Yes":                {"from=anna@practice.example calendar=ACCEPTED", "Yes", approved},
		"DECLINED beside Yes":                {"from=anna@practice.example calendar=DECLINED", "Yes", approved},
		"ACCEPTED beside No":                 {"from=anna@practice.example calendar=ACCEPTED", "No", rejected},
		"DECLINED beside No":                 {"from=anna@practice.example calendar=DECLINED", "No", rejected},
		"ACCEPTED beside a question":         {"from=anna@practice.example calendar=ACCEPTED", "yes?", "unknown_choice"},
		"ACCEPTED beside a sentence":         {"from=anna@practice.example calendar=ACCEPTED", "I will be there.", "unknown_choice"},
		"ACCEPTED alone":                     {"from=anna@practice.example calendar=ACCEPTED class=autoreply", "", "ignored"},
		"ACCEPTED alone, by its subject":     {"from=anna@practice.example calendar=ACCEPTED class=autoreply subject=Yes", "", "ignored"},
		"DECLINED alone":                     {"from=anna@practice.example calendar=DECLINED class=autoreply subject=No", "", "ignored"},
		"ACCEPTED alone, as a person's mail": {"from=anna@practice.example calendar=ACCEPTED subject=Yes", "", "unknown_choice"},
		"DECLINED alone, as a person's mail": {"from=anna@practice.example calendar=DECLINED subject=No", "", "unknown_choice"},
		"ACCEPTED beside Yes of another one": {"from=ben@practice.example calendar=ACCEPTED", "Yes", "not_allowed"},
		"ACCEPTED of who has asked":          {"from=eve@example.org calendar=ACCEPTED", "Yes", "not_allowed"},
	} {
		_, told := attack(t, asked+"mail id=m2 origin=proven answers=1.1 quotes=1.1 "+c.arguments+"\n"+c.words+"\n----\n")
		newest := told[len(told)-1]
		if !strings.Contains(newest, c.want) || c.want != approved && strings.Contains(newest, approved) || c.want != rejected && strings.Contains(newest, rejected) {
			t.Errorf("%s, want %s:\n%s", name, c.want, newest)
		}
	}
}
