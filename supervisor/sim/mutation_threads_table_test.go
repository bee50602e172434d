package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfThreads are those that concern people who are asked in the threads of a chat.
func mutationsOfThreads() []mutation {
	return []mutation{{
		name: "anybody in the thread decides", seed: 2, kind: kinds.Threads, invariant: sim.ThreadIsHeard,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if !inquiry.InThread || at < 0 {`,
			`	if at < 0 && planted("anybody in the thread decides") {
		at = 0
	}
	if !inquiry.InThread || at < 0 {`,
		}},
	}, {
		name: "who has the same name in another chat decides", seed: 25, kind: kinds.Threads, invariant: sim.ThreadIsHeard,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`people[name].Chat.Is(message.Reply.Channel, message.Author) })`,
			`people[name].Chat.Is(either("who has the same name in another chat decides", d.state.Active.Message.Reply.Channel, message.Reply.Channel), message.Author) })`,
		}},
	}, {
		name: "who has begun a run in a chat decides about it by their name", seed: 37, kind: kinds.Threads, invariant: sim.ThreadIsHeard,
		edits: []edit{{
			"supervisor/session/inquiry_decision.go",
			`	if begun.Reply != nil && person.Chat.Is(begun.Reply.Channel, begun.Author) {
		return true`,
			`	if begun.Reply != nil && person.Chat.Is(begun.Reply.Channel, begun.Author) {
		return !planted("who has begun a run in a chat decides about it by their name")`,
		}},
	}, {
		name: "the newest question in the thread is answered", seed: 25, kind: kinds.Threads, invariant: sim.ThreadIsHeard,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	for _, inquiry := range active.Inquiries {
		if !inquiry.Open() || !inquiry.InThread {`,
			`	inquiries := slices.Clone(active.Inquiries)
	if planted("the newest question in the thread is answered") {
		slices.Reverse(inquiries)
	}
	for _, inquiry := range inquiries {
		if !inquiry.Open() || !inquiry.InThread {`,
		}},
	}, {
		name: "a word in the thread from before the question is one on it", seed: 24, kind: kinds.Threads, invariant: sim.ThreadIsHeard,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	return inquiry.Asked.IsZero() || d.input.Event.Time.Before(`,
			`	return inquiry.Asked.IsZero() || !planted("a word in the thread from before the question is one on it") && d.input.Event.Time.Before(`,
		}},
	}, {
		name: "who has left the chat is heard there", seed: 2, kind: kinds.Threads, invariant: sim.ThreadIsHeard,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	people := d.people()
	at := slices`,
			`	people := d.people()
	if planted("who has left the chat is heard there") {
		people = d.env.Pinned.People
	}
	at := slices`,
		}},
	}, {
		name: "one who is in the chat is enough to ask all of them there", seed: 11, kind: kinds.Threads, invariant: sim.AskedWhereTheyAre,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`			if known = true; person.Chat == nil || person.Chat.Channel != reply.Channel {
				return false
			}`,
			`			if known = true; person.Chat == nil || person.Chat.Channel != reply.Channel {
				return false
			}
			if planted("one who is in the chat is enough to ask all of them there") {
				return true
			}`,
		}},
	}, {
		name: "an answer that waits is shown in the thread", seed: 1, kind: kinds.Threads, invariant: sim.AskedWhereTheyAre,
		edits: []edit{{
			"supervisor/plan/approval.go",
			`letters.InThread && task.ID != schemas.DeliveryTask //`,
			`letters.InThread && (task.ID != schemas.DeliveryTask || planted("an answer that waits is shown in the thread")) //`,
		}},
	}, {
		name: "what is asked in the thread goes out by letters", seed: 1, kind: kinds.Threads, invariant: sim.AskedWhereTheyAre,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`len(asked.People) > 0 && !asked.InThread {`,
			`len(asked.People) > 0 && (!asked.InThread || planted("what is asked in the thread goes out by letters")) {`,
		}},
	}, {
		name: "a letter that names no question is one of the thread", seed: 98, kind: kinds.Threads, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if active.Edition >= schemas.Edition9 && message.Channel != schemas.ChannelChat {`,
			`	if active.Edition >= schemas.Edition9 && message.Channel != schemas.ChannelChat && !planted("a letter that names no question is one of the thread") {`,
		}},
	}}
}
