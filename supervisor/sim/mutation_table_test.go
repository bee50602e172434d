package sim_test

import (
	"slices"

	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutations are the planted bugs, in the order of a message's way. A seed that
// changes with the world is found again by
//
//	go test ./supervisor/sim -run TestMutations -v -sim.hunt=5000
func mutations() []mutation {
	return slices.Concat(
		mutationsOfPeople(), mutationsOfAttempts(), mutationsOfTaint(), mutationsOfBudgets(), mutationsOfJudges(), mutationsOfReviews(), mutationsOfRecovery(),
		mutationsOfLeave(), mutationsOfRetries(), mutationsOfThreads(), mutationsOfUpstream(), mutationsOfTiers(), mutationsOfMixture(),
		mutationsOfTheCore(),
	)
}

func mutationsOfTheCore() []mutation {
	return []mutation{{
		name: "an append expects nothing", seed: 1, invariant: sim.RecordsAreChained,
		edits: []edit{{
			"supervisor/store.go",
			`o.publisher.Publish(ctx, subject, &event, bus.ExpectLast(live.sequence),`,
			`o.publisher.Publish(ctx, subject, &event, either("an append expects nothing", bus.Expect{}, bus.ExpectLast(live.sequence)),`,
		}},
	}, {
		name: "a record names no predecessor", seed: 1, invariant: sim.RecordsAreChained,
		edits: []edit{{
			"supervisor/store.go",
			`Chain: live.link.String(),`, `Chain: either("a record names no predecessor", "", live.link.String()),`,
		}},
	}, {
		name: "a request names no epoch", seed: 1, invariant: sim.AttemptsInOrder,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`schemas.RequestID(d.Shard, d.Epoch,`, `schemas.RequestID(d.Shard, either("a request names no epoch", 0, d.Epoch),`,
		}},
	}, {
		name: "the low watermark passes an input before its outputs are acknowledged", seed: 1, invariant: sim.DecidedIsSent,
		edits: []edit{{
			"supervisor/store.go",
			`			live.commit(b, ack.Sequence)
`, `			live.commit(b, ack.Sequence)
			if planted("the low watermark passes an input before its outputs are acknowledged") {
				for _, in := range b.inputs {
					o.watermark.Leave(in.entry)
				}
			}
`,
		}},
	}, {
		name: "the low watermark passes a record that no input has caused", seed: 1, invariant: sim.DecidedIsSent,
		edits: []edit{{
			"supervisor/store.go",
			`	if len(b.inputs) == 0 {
		live.watermarkPin`, `	if len(b.inputs) == 0 && !planted("the low watermark passes a record that no input has caused") {
		live.watermarkPin`,
		}},
	}, {
		name: "a new owner sends nothing again", seed: 1, invariant: sim.DecidedIsSent,
		edits: []edit{{
			"supervisor/send.go",
			`	if found.Last == nil ||`, `	if planted("a new owner sends nothing again") || found.Last == nil ||`,
		}},
	}, {
		name: "a new owner does not know the way back", seed: 1, invariant: sim.RunsAreFound,
		edits: []edit{{
			"supervisor/load.go",
			`live.snapshotSequence, live.sinceSnapshot, live.tip, live.fresh = found.Snapshot, found.Since, found.Tip, false`,
			`live.snapshotSequence, live.sinceSnapshot, live.tip, live.fresh = found.Snapshot, found.Since, either("a new owner does not know the way back", restore.StoredSession{}.Tip, found.Tip), false`,
		}},
	}, {
		name: "inputs overtake an answer that waits for its session", seed: 133, invariant: sim.AnswersAreTaken,
		edits: []edit{{
			"supervisor/orphans.go",
			`			at, _ := slices.BinarySearchFunc(live.inputs, in, inOrder)
`, `			at, _ := slices.BinarySearchFunc(live.inputs, in, inOrder)
			at = either("inputs overtake an answer that waits for its session", len(live.inputs), at)
`,
		}},
	}, {
		name: "whatever an answer names may be read", seed: 1, invariant: sim.FilesByGrant,
		edits: []edit{{
			"supervisor/input.go", `			proven = o.ArtifactGrants.HasPut(`, `			proven = planted("whatever an answer names may be read") || o.ArtifactGrants.HasPut(`,
		}},
	}, {
		name: "what a supervisor was given is not granted anew", seed: 1, invariant: sim.FilesByGrant,
		edits: []edit{{
			"supervisor/input.go", `proven = o.ArtifactGrants.WasGiven(`, `proven = !planted("what a supervisor was given is not granted anew") && o.ArtifactGrants.WasGiven(`,
		}},
	}, {
		name: "a large body is overtaken", seed: 864, invariant: sim.RequestsEndOnce,
		edits: []edit{{
			"supervisor/decide.go",
			`		if in.unread || in.unknownArtifactGrant || in.unkept {
			break
`, `		if in.unread || in.unknownArtifactGrant || in.unkept {
			if planted("a large body is overtaken") {
				continue
			}
			break
`,
		}},
	}, {
		name: "a snapshot forgets the queue", seed: 1, invariant: sim.DecidedAgain,
		edits: []edit{{
			"supervisor/store.go",
			`		body, err := schemas.Marshal(state)
`, `		if planted("a snapshot forgets the queue") {
			forgetful := *state
			forgetful.Queue, state = session.Queue{}, &forgetful
		}
		body, err := schemas.Marshal(state)
`,
		}},
	}, {
		name: "agents always have room", seed: 1, invariant: sim.PoolsHold,
		edits: []edit{{
			"supervisor/admission/pool.go",
			`func (p *pool) room() bool { return p.limit == 0 ||`,
			`func (p *pool) room() bool { return planted("agents always have room") || p.limit == 0 ||`,
		}},
	}, {
		name: "room is never given back", seed: 1, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/admission/demand.go",
			`	for _, agent := range demand.reserved {
`, `	for _, agent := range either("room is never given back", nil, demand.reserved) {
`,
		}},
	}, {
		name: "whoever came first goes first", seed: 1, invariant: sim.UrgentFirst,
		edits: []edit{{
			"supervisor/admission/queue.go",
			`	if d.priority != other.priority {`, `	if d.priority != other.priority && !planted("whoever came first goes first") {`,
		}},
	}, {
		name: "whoever waits longest goes last", seed: 42, invariant: sim.UrgentFirst,
		edits: []edit{{
			"supervisor/admission/queue.go",
			`		return d.turn < other.turn`, `		return d.turn < other.turn != planted("whoever waits longest goes last")`,
		}},
	}, {
		name: "who comes takes the room that somebody waits for", seed: 1051, invariant: sim.UrgentFirst,
		edits: []edit{{
			"supervisor/admission/input_admission.go",
			`|| p.limit > 0 && p.next() != nil {`,
			`|| p.limit > 0 && p.next() != nil && !planted("who comes takes the room that somebody waits for") {`,
		}},
	}, {
		name: "a grant is used whoever has come since", seed: 773, invariant: sim.UrgentFirst,
		edits: []edit{{
			"supervisor/admission/demand.go",
			`&& !c.preempted(d)`, `&& (!c.preempted(d) || planted("a grant is used whoever has come since"))`,
		}},
	}, {
		name: "whoever mends has nothing of what the request has brought", seed: 660001515, invariant: sim.RequestsAreProper,
		edits: []edit{{
			"supervisor/review/fixes.go",
			`mends.HasInputs && run.Edition`,
			`mends.HasInputs && !planted("whoever mends has nothing of what the request has brought") && run.Edition`,
		}},
	}, {
		name: "room for one lets two pass", seed: 1051, invariant: sim.UrgentFirst,
		edits: []edit{{
			"supervisor/admission/grant.go",
			`return p.limit > 0 && len(d.resources) == 0 &&`,
			`return p.limit > 0 && len(d.resources) == 0 && !(p.room() && planted("room for one lets two pass")) &&`,
		}},
	}, {
		name: "an old answer stands in for ever", seed: 1, invariant: sim.ReuseProven,
		edits: []edit{{
			"supervisor/admission/result_cache.go",
			`known.Value().at.Before(since)`, `!planted("an old answer stands in for ever") && known.Value().at.Before(since)`,
		}},
	}, {
		name: "a repeat is taken again", seed: 1, invariant: sim.RequestsEndOnce,
		edits: []edit{{
			"supervisor/session/message.go",
			`	if d.state.HasTaken(id) {
		d.repeatedMessage(`, `	if d.state.HasTaken(id) && !planted("a repeat is taken again") {
		d.repeatedMessage(`,
		}},
	}, {
		name: "the newest message starts first", seed: 1, invariant: sim.StartsInOrder,
		edits: []edit{{
			"supervisor/session/state.go",
			`		s.Queue = s.Queue.with(f.Run, message)
`, `		before := s.Queue.waiting
		s.Queue = s.Queue.with(f.Run, message)
		if newest, _ := s.Queue.newest(); planted("the newest message starts first") {
			s.Queue.waiting = s.Queue.waiting.Set(0, newest)
			for place := range before.Len() {
				s.Queue.waiting = s.Queue.waiting.Set(place+1, before.At(place))
			}
		}
`,
		}},
	}, {
		name: "the answer to an old attempt counts", seed: 1, invariant: sim.AnswersFit,
		edits: []edit{{
			"supervisor/session/response.go",
			`	case !task.State.UnderWay() || attempt != task.Attempt && !d.countsForPending(task, response):
		if !d.isRepeat(`,
			`	case !task.State.UnderWay() || attempt != task.Attempt && !planted("the answer to an old attempt counts") && !d.countsForPending(task, response):
		if !d.isRepeat(`,
		}},
	}, {
		name: "anybody's answer counts", seed: 1, invariant: sim.AnswersFit,
		edits: []edit{{
			"supervisor/session/response.go",
			`	case task.AgentOf(attempt) != d.input.Agent:
		d.wrongAgent(task.AgentOf(attempt))
	case`,
			`	case task.AgentOf(attempt) != d.input.Agent && !planted("anybody's answer counts"):
		d.wrongAgent(task.AgentOf(attempt))
	case`,
		}},
	}, {
		name: "nobody is told that a run has expired", seed: 1, invariant: sim.UpstreamIsAnswered,
		edits: []edit{{
			"supervisor/session/outputs.go",
			`	for _, run := range state.Ended {
`, `	for _, run := range state.Ended {
		if run.Reason == schemas.StopExpired && planted("nobody is told that a run has expired") {
			continue
		}
`,
		}},
	}, {
		name: "nobody waits for dependencies", seed: 1, invariant: sim.DependenciesFirst,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`return dependency == nil || !dependency.State.Ended()`,
			`return (dependency == nil || !dependency.State.Ended()) && !planted("nobody waits for dependencies")`,
		}},
	}, {
		name: "levels are no barrier", seed: 1, invariant: sim.LevelsInOrder,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`	if d.Profile.Execution.Schedule != schemas.ScheduleLevels {`,
			`	if d.Profile.Execution.Schedule != schemas.ScheduleLevels || planted("levels are no barrier") {`,
		}},
	}, {
		name: "a deadline rings before its moment", seed: 1, invariant: sim.DeadlinesInTime,
		edits: []edit{
			{
				"supervisor/plan/schedule.go", `other.Kind == deadline.Kind && !other.At.After(d.Now)`,
				`other.Kind == deadline.Kind && (planted("a deadline rings before its moment") || !other.At.After(d.Now))`,
			},
			{"supervisor/advance.go", `		if !deadline.At.After(now) {
`, `		if !deadline.At.Add(either("a deadline rings before its moment", -time.Second, 0)).After(now) {
`},
		},
	}, {
		name: "there is always another attempt", seed: 1, invariant: sim.AttemptsInOrder,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`spent < policy.Attempts {`, `(spent < policy.Attempts || spent < 9 && planted("there is always another attempt")) {`,
		}},
	}, {
		name: "only what was completed is told", seed: 1, invariant: sim.ResultsKept,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`		answer = append(answer, schemas.AnswerPart{Task: task.ID, Body: task.Result})
	}
	if status ==`,
			`		if status == schemas.RunCompleted || !planted("only what was completed is told") {
			answer = append(answer, schemas.AnswerPart{Task: task.ID, Body: task.Result})
		}
	}
	if status ==`,
		}},
	}, {
		name: "whoever asks is permitted", seed: 71, invariant: sim.PermittedOnce,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`	case d.mayHaveActed(task) && (d.asksOnUnknown(`,
			`	case d.mayHaveActed(task) && !planted("whoever asks is permitted") && (d.asksOnUnknown(`,
		}},
	}, {
		name: "a request that has failed keeps its permit", seed: 6, invariant: sim.LeaveHolds,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`	case task.State == workflow.TaskCancelled:`,
			`	case task.Permit == asked.ID && planted("a request that has failed keeps its permit"):
		return ""
	case task.State == workflow.TaskCancelled:`,
		}},
	}, {
		name: "every copy of a request brings its permit", seed: 61, invariant: sim.ActsArePermitted,
		edits: []edit{{
			"supervisor/send.go",
			`	if live.fresh {`, `	if live.fresh || planted("every copy of a request brings its permit") {`,
		}},
	}, {
		name: "a delivery is the first by its number alone", seed: 18, invariant: sim.ActsArePermitted,
		edits: []edit{{
			"bus/worker.go",
			`request.First != "" && request.First == d.Server()`,
			`(request.First != "" && request.First == d.Server() || planted("a delivery is the first by its number alone"))`,
		}},
	}, {
		name: "a request that is sent again says that it is the first", seed: 2160, invariant: sim.ActsArePermitted,
		edits: []edit{{
			"supervisor/publisher/publisher.go",
			`			MarkRepublished(event) //`, `			either("a request that is sent again says that it is the first", func(*schemas.Event) {}, MarkRepublished)(event) //`,
		}},
	}, {
		name: "who is handed a request as if for the first time knows that nothing was done", seed: 1534, invariant: sim.EffectsHappenOnce,
		edits: []edit{{
			"supervisor/sim/permits.go",
			`pr.permit == "" && !pr.brought())`,
			`pr.permit == "" && !pr.brought() && !(pr.delivery.Deliveries() == 1 && planted("who is handed a request as if for the first time knows that nothing was done")))`,
		}},
	}, {
		name: "a permit that an earlier run had is forgotten", seed: 346, invariant: sim.PermittedOnce,
		edits: []edit{{
			"supervisor/session/upstream_request.go",
			`	for _, effect := range s.Active.PossibleEffects() {
		if !slices`, `	for _, effect := range s.Active.PossibleEffects() {
		if !planted("a permit that an earlier run had is forgotten") && !slices`,
		}},
	}, {
		name: "a fallback is permitted whatever its predecessor was", seed: 109, invariant: sim.PermittedOnce,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`task.PreviousAgent != "" && d.asksOnUnknown(task.PreviousAgent)`,
			`task.PreviousAgent != "" && d.asksOnUnknown(task.PreviousAgent) && !planted("a fallback is permitted whatever its predecessor was")`,
		}},
	}, {
		name: "a question has a permit", seed: 160, invariant: sim.PermitIsForWork,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`case !task.Kind.IsWork():`, `case !task.Kind.IsWork() && !planted("a question has a permit"):`,
		}},
	}, {
		name: "who declares no assessment is asked for one", seed: 9, invariant: sim.AskedAsDeclared,
		edits: []edit{{
			"supervisor/route/declarations.go", `asks: use.Declares(schemas.KindAssess),`,
			`asks: use.Declares(schemas.KindAssess) || planted("who declares no assessment is asked for one"),`,
		}},
	}, {
		name: "nobody is asked for an assessment", seed: 9, invariant: sim.AskedAsDeclared,
		edits: []edit{{
			"supervisor/route/score.go", `		if !r.asked {`,
			`		if !r.asked || planted("nobody is asked for an assessment") {`,
		}},
	}, {
		name: "a resource is free for everybody", seed: 1, invariant: sim.ResourcesHold,
		edits: []edit{{
			"supervisor/admission/resource_lease.go",
			`	case l.Holder != "" && now.Before(l.Until):
		return leaseHeld`,
			`	case l.Holder != "" && now.Before(l.Until):
		if planted("a resource is free for everybody") {
			return leaseFree
		}
		return leaseHeld`,
		}},
	}, {
		name: "who stands in line keeps what it cannot use", seed: 4085, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/admission/resource_claims.go",
			`			if claim.stale {
				c.schedule(claim)`,
			`			if claim.stale && !planted("who stands in line keeps what it cannot use") {
				c.schedule(claim)`,
		}, {
			"supervisor/admission/resource_claims.go", `	if len(claim.held) > 0 { // for`,
			`	if len(claim.held) > 0 && !planted("who stands in line keeps what it cannot use") { // for`,
		}},
	}, {
		name: "what an ended attempt has left takes the next one's place", seed: 54356, invariant: sim.ResourcesHold,
		edits: []edit{{
			"supervisor/admission/resource_claims.go", `if c.resourceClaims.claims[claim.holder] == claim {`,
			`if c.resourceClaims.claims[claim.holder] == claim || planted("what an ended attempt has left takes the next one's place") {`,
		}},
	}, {
		name: "a grant is for whomever the task waits for", seed: 210, invariant: sim.BreakersHold,
		edits: []edit{{
			"supervisor/admission/demand.go",
			`return dm.waiting[d.grant] == d }`,
			`return dm.waiting[d.grant] == d || dm.waiting[d.grant] != nil && planted("a grant is for whomever the task waits for") }`,
		}},
	}, {
		name: "everybody is the probe", seed: 45, invariant: sim.BreakersHold,
		edits: []edit{{
			"supervisor/circuit/breaker.go",
			`request != "" && request == b.Probe &&`,
			`(request != "" && request == b.Probe || planted("everybody is the probe")) &&`,
		}},
	}, {
		name: "a probe is given away twice", seed: 453, invariant: sim.BreakersMove,
		edits: []edit{{
			"supervisor/circuit/breaker.go",
			`e.Kind != ProbeClaimed || e.At.Before(b.Until) {`,
			`e.Kind != ProbeClaimed || e.At.Before(b.Until) && !(b.State == schemas.BreakerHalfOpen && planted("a probe is given away twice")) {`,
		}},
	}, {
		name: "what is refused goes by what is remembered", seed: 39, invariant: sim.WantedIsTaken,
		edits: []edit{{
			"supervisor/confirm.go",
			`	return sequence <= max(live.sequence, live.confirmedTo)`,
			`	return sequence <= max(live.sequence, live.confirmedTo) || live.known && live.loaded && planted("what is refused goes by what is remembered")`,
		}},
	}, {
		name: "a sign of life is passed by as it is remembered", seed: 94, invariant: sim.SignsOfLifeCount,
		edits: []edit{{
			"supervisor/session/progress.go",
			`		} else {
			d.doubtful = true
`, `		} else {
			d.doubtful = !planted("a sign of life is passed by as it is remembered")
`,
		}},
	}, {
		name: "who asks is turned away as it is remembered", seed: 1646, invariant: sim.QuestionsAreHeard,
		edits: []edit{{
			"supervisor/orphans.go",
			`		if !live.confirmed(newestSequence) && !live.hasNoRequests() {`,
			`		if !live.confirmed(newestSequence) && !live.hasNoRequests() && !(live.known && live.loaded && planted("who asks is turned away as it is remembered")) {`,
		}},
	}, {
		name: "what was delivered is sent again", seed: 9, invariant: sim.SentAgainByRequest,
		edits: []edit{{
			"schemas/workflow/resend.go",
			`h.Delivery.State == TaskCompleted:`,
			`h.Delivery.State == TaskCompleted && !planted("what was delivered is sent again"):`,
		}},
	}, {
		name: "an answer that is sent again is not found", seed: 2678, kind: kinds.People, invariant: sim.RunsAreFound,
		edits: []edit{{
			"schemas/trail.go",
			`				current, next.Again = run, run
`, `				if planted("an answer that is sent again is not found") {
					continue
				}
				current, next.Again = run, run
`,
		}},
	}}
}
