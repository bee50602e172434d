package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfPeople are the planted bugs of worlds in which people are asked.
func mutationsOfPeople() []mutation {
	return append(append(mutationsOfRequesters(), mutationsOfStaff()...), mutationsOfApprovers()...)
}

// mutationsOfRequesters are those of worlds in which people are asked what their messages lack.
func mutationsOfRequesters() []mutation {
	return []mutation{{
		name: "a low watermark that has not moved is one's own", seed: 91014525, kind: kinds.People, invariant: sim.DecidedIsSent,
		edits: []edit{{
			"supervisor/checkpoint/writer.go",
			`	if watermark != w.Watermark {`,
			`	if watermark != w.Watermark || planted("a low watermark that has not moved is one's own") {`,
		}},
	}, {
		name: "a late word counts", seed: 47, kind: kinds.People, invariant: sim.WordsInTime,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`d.input.Event.Time.Before(inquiry.Expires()))`,
			`d.input.Event.Time.Before(inquiry.Expires()) || planted("a late word counts"))`,
		}},
	}, {
		name: "somebody else's word counts", seed: 7, kind: kinds.People, invariant: sim.WordsOfTheRequester,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`actor.ID == userOf(asked.Author)`,
			`actor.ID == userOf(asked.Author) || planted("somebody else's word counts")`,
		}, {
			"supervisor/session/inquiry.go",
			`return actor, known(`,
			`return actor, planted("somebody else's word counts") || known(`,
		}},
	}, {
		name: "an unvouched word counts", seed: 22, kind: kinds.People, invariant: sim.WordsVouched,
		edits: []edit{{
			"supervisor/session/inquiry.go", `	case !message.namesInquiry():`, `	case !message.namesInquiry() && !planted("an unvouched word counts"):`,
		}, {
			"supervisor/session/inquiry.go",
			`case message.Channel != schemas.ChannelEmail || message.Origin == schemas.OriginUnproven || message.Origin == schemas.OriginRefuted:`,
			`case message.Channel != schemas.ChannelEmail || (message.Origin == schemas.OriginUnproven || message.Origin == schemas.OriginRefuted) && !planted("an unvouched word counts"):`,
		}},
	}, {
		name: "a word that counts is a message like any other", seed: 6, kind: kinds.People, invariant: sim.WordsAreTaken,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if inquiry == nil || !d.inTime(inquiry) ||`,
			`	if inquiry == nil || !d.inTime(inquiry) || !message.namesInquiry() && planted("a word that counts is a message like any other") ||`,
		}},
	}, {
		name: "a wait survives a cancel", seed: 60, kind: kinds.People, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`	d.closeInquiries(closed)`,
			`	if closed != schemas.InquiryCancelled || !planted("a wait survives a cancel") {
		d.closeInquiries(closed)
	}`,
		}},
	}, {
		name: "an answer begins a run as well", seed: 5, kind: kinds.People, invariant: sim.WordsHaveOneFate,
		edits: []edit{{
			"supervisor/session/message.go",
			`	if d.answered(message, received) {`,
			`	if d.answered(message, received) && !planted("an answer begins a run as well") {`,
		}},
	}, {
		name: "a reminder for each takeover", seed: 57, kind: kinds.People, invariant: sim.AskedOnce,
		edits: []edit{{
			"supervisor/load.go",
			`	live.state, live.sequence, live.link = found.State, found.Sequence, found.Link
`,
			`	live.state, live.sequence, live.link = found.State, found.Sequence, found.Link
	if active := live.state.Active; active != nil && planted("a reminder for each takeover") {
		for i, inquiry := range active.Inquiries {
			forgotten := *inquiry
			forgotten.Notices = min(inquiry.Notices, 1)
			active.Inquiries[i] = &forgotten
		}
	}
`,
		}},
	}, {
		name: "inquiry numbers are used again", seed: 6, kind: kinds.People, invariant: sim.InquiriesNumbered,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`len(d.Run.Inquiries)+1, task.ID`,
			`either("inquiry numbers are used again", 1, len(d.Run.Inquiries)+1), task.ID`,
		}},
	}, {
		name: "the attempt that asked is counted", seed: 5, kind: kinds.People, invariant: sim.AskingIsFree,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`-int(task.Inquired), int(task.Rejections)`,
			`-either("the attempt that asked is counted", 0, int(task.Inquired)), int(task.Rejections)`,
		}},
	}, {
		name: "a second word on the same inquiry counts", seed: 39, kind: kinds.People, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	return inquiry.Open() &&`,
			`	return (inquiry.Open() || inquiry.Answered != nil && planted("a second word on the same inquiry counts")) &&`,
		}},
	}, {
		name: "the notice of an inquiry is sent again after its answer", seed: 128, kind: kinds.People, invariant: sim.AskedOnce,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`if task.Notice() == inquiry && !task.State.Ended() {`,
			`if task.Notice() == inquiry && !task.State.Ended() && !(d.Run.Inquiry(inquiry).Answered != nil && planted("the notice of an inquiry is sent again after its answer")) {`,
		}},
	}, {
		name: "a snapshot forgets the inquiries", seed: 5, kind: kinds.People, invariant: sim.DecidedAgain,
		edits: []edit{{
			"supervisor/store.go",
			`	if snapshot {
		event.SnapshotSequence = 0
`,
			`	if snapshot {
		event.SnapshotSequence = 0
		if state.Active != nil && planted("a snapshot forgets the inquiries") {
			forgetful, run := *state, *state.Active
			run.Inquiries = nil
			forgetful.Active, state = &run, &forgetful
		}
`,
		}},
	}, {
		name: "a run's own time goes on while a person is asked", seed: 5, kind: kinds.People, invariant: sim.RunsRest,
		edits: []edit{{
			"schemas/workflow/inquiry.go",
			`return !r.Resting.IsZero() &&`,
			`return !r.Resting.IsZero() && !planted("a run's own time goes on while a person is asked") &&`,
		}},
	}, {
		name: "a task asks without end", seed: 14, kind: kinds.People, invariant: sim.AsksBounded,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`d.Run.InquiriesOf(task.ID) >= d.Profile.Waiting.Asks`,
			`d.Run.InquiriesOf(task.ID) >= d.Profile.Waiting.Asks+either("a task asks without end", 9, 0)`,
		}},
	}, {
		name: "an agent is told the question for an answer", seed: 5, kind: kinds.People, invariant: sim.ToldWhatWasSaid,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`cut(env.text(inquiry.Answered.Text), maxQuoted)`,
			`either("an agent is told the question for an answer", inquiry.Question, cut(env.text(inquiry.Answered.Text), maxQuoted))`,
		}},
	}, {
		name: "a task that waits for a person keeps its place", seed: 2527, kind: kinds.People, invariant: sim.WaitingHoldsNothing,
		edits: []edit{{
			"supervisor/session/state.go",
			`if task.State.UnderWay() && !yield(task) {`,
			`if (task.State.UnderWay() || task.State == workflow.TaskWaitingInput && planted("a task that waits for a person keeps its place")) && !yield(task) {`,
		}},
	}, {
		name: "arguments that lack something go out", seed: 5, kind: kinds.People, invariant: sim.ArgumentsFit,
		edits: []edit{{
			"supervisor/plan/arguments.go",
			`case len(filled.Missing) == 0:`,
			`case len(filled.Missing) == 0 || planted("arguments that lack something go out"):`,
		}, {
			"supervisor/plan/schedule.go",
			`if err := checkSchema(arguments, check); err != nil {`,
			`if err := checkSchema(arguments, check); err != nil && !planted("arguments that lack something go out") {`,
		}},
	}, {
		name: "what the agent before says is taken for a repeat", seed: 1080, kind: kinds.People, invariant: sim.AnswersAreTaken,
		edits: []edit{{
			"supervisor/session/response.go",
			`if task.AgentOf(attempt) != task.Agent {`,
			`if task.AgentOf(attempt) != task.Agent && !planted("what the agent before says is taken for a repeat") {`,
		}},
	}}
}
