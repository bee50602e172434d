package main

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// threadConfig has anna in the chat that runs come from, and an agent that orders something once she has agreed.
const threadConfig = deskByMail + `
people: {anna: {mail: anna@practice.example, chat: {channel: web, user: U7}}}
chat: {channels: {web: {profile: desk, secret: "` + webSecret + `"}}}
agents:
  orders: {kind: exec, command: [sh, -c, 'cat >/dev/null; mkdir "$ORDERED/$PODIUM_EFFECT" && echo Bestellt.'], env: ["ORDERED=%[3]s"], side_effects: external}
profiles:
  desk:
    language: de
    agents: [orders]
    routers: [{kind: default, agent: orders}]
    approval: [{agents: [orders], tainted: true, people: [anna], expires: 24h}]
`

// TestAgreedInTheThread: somebody who is known in the chat that a run comes from is asked in its thread, and agrees there, as who calls the webhook says who they are. Nobody else in the thread does, and
// nobody is written to.
func TestAgreedInTheThread(t *testing.T) {
	t.Parallel()
	o := openPracticeWith(t, threadConfig)
	say := func(id, user, text string) {
		webhook{id: id, text: text, thread: "t", user: user}.send(t, o.service.listen)
	}
	say("c1", "U1", "Bitte bestellen.")
	within(t, patience, "anna is asked", func() bool {
		inquiries := o.first().Inquiries
		return len(inquiries) == 1 && !inquiries[0].Asked.IsZero()
	})
	if asked := o.first().Inquiries[0]; !asked.InThread || !strings.Contains(asked.Question, "freigeben") {
		t.Errorf("she is asked %+v", asked.InquiryOpened)
	}
	say("c2", "U1", "freigeben")
	say("c3", "U9", "freigeben")
	within(t, patience, "both are messages like any other", func() bool { return o.recorded(`"disposition":"queued"`) == 2 })
	if o.effects() > 0 {
		t.Fatal("it is ordered, and she has not agreed")
	}
	say("c4", "U7", "freigeben")
	within(t, patience, "it is ordered", func() bool { return o.effects() == 1 && o.first().Phase == workflow.PhaseComplete })
	if word := o.first().Inquiries[0].Answered; word.Actor != (schemas.Actor{Via: schemas.ViaChat, ID: "anna", Proof: schemas.ProofToken}) {
		t.Errorf("it is the word of %+v", word.Actor)
	}
	if got := o.letters("anna@practice.example"); len(got) > 0 {
		t.Errorf("anna has got %d letters", len(got))
	}
	o.service.stop()
	o.service.verify()
}
