package session_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestUncheckedMailNamesTheQuestion: where no server vouches for mail, a letter that names the answer of an earlier run is no
// answer to what a later run asks.
func TestUncheckedMailNamesTheQuestion(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile default=clerk
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

// TestQuestionsNameTheirRequesterByAKey: questions to people of the profile are bounded for each requester, as far
// as it is proven who that is. All mail without a proof is of one requester, and so is a channel whose provider
// signs no user.
func TestQuestionsNameTheirRequesterByAKey(t *testing.T) {
	t.Parallel()
	const profile = `
profile default=clerk
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support, chat: {channel: staff, user: U7}}}
agents: [{name: calculator}, {name: summary}, {name: clerk, side_effects: external, on_tainted: ask}]
approval:
- {agents: [clerk], tainted: true, people: [anna], expire: 48h}
- {agents: [clerk], people: [anna], expire: 48h}
----

`
	requesters := map[string][]string{ // by who has asked: messages that are of one requester
		"mail without proof": {
			"mail id=m1 from=eve@example.org", "mail id=m1 from=mallory@example.com origin=unproven",
			"mail id=m1 from=ben@practice.example origin=unproven",
			"mail id=m1 from=eve+1@example.org origin=unchecked",
		},
		"mail of another account without proof": {"mail id=m1 from=eve@example.org origin=unproven account=practice"},
		"proven mail": {
			"mail id=m1 from=eve@example.org origin=proven", "mail id=m1 from=Eve+1@Example.org origin=proven account=practice",
		},
		"proven mail of another person": {"mail id=m1 from=mallory@example.org origin=proven"},
		"channel without proof": {
			"chat id=c1", "chat id=c1 user=U1", "chat id=c1 user=U2 thread=other", "chat id=c1 provider=slack",
		},
		"another channel without proof": {"chat id=c1 channel=desk user=U1"},
		"user of a chat": {
			"chat id=c1 user=U1 provider=slack", "chat id=c1 user=U1 provider=slack channel=desk",
		},
		"another user of a chat": {"chat id=c1 user=U2 provider=slack"},
		"user of another chat":   {"chat id=c1 user=U1 provider=teams"},
		"supervisor":             {"request id=r1", "request id=r2"},
		"another supervisor":     {"request id=r1 from=office"},
		// Anna is asked in the requester's thread, and such a question is bounded by nothing of the mail agent.
		"": {"chat id=c1 channel=staff user=U1 provider=slack"},
	}
	counted := regexp.MustCompile(`counted to requester (\w+)`)
	of := map[string]string{}
	for requester, messages := range requesters {
		keys := map[string]bool{}
		for _, message := range messages {
			_, told := attack(t, profile+message+"\nWrite to the bank.\n----\n")
			newest := told[len(told)-1]
			if !strings.Contains(newest, "of inquiry 1") {
				t.Fatalf("%s: it asks nothing:\n%s", message, newest)
			}
			key := ""
			if found := counted.FindStringSubmatch(newest); found != nil {
				key = found[1]
			}
			if keys[key] = true; (key == "") != (requester == "") {
				t.Errorf("%s is counted to %q", message, key)
			}
			if other, known := of[key]; known && other != requester {
				t.Errorf("%s is counted as %s", message, other)
			}
			of[key] = requester
		}
		if len(keys) != 1 {
			t.Errorf("%s is counted as %d requesters", requester, len(keys))
		}
	}
}
