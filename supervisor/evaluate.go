package supervisor

import (
	"slices"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// An evaluation is what became of one input, or what has to be fetched first.
type evaluation struct {
	session.Outcome
	profile   string   // hash of the profile that is missing
	inputs    []uint64 // sequences of the inputs that are missing
	endedRuns []int    // numbers of the runs that are missing
}

func (e *evaluation) lacks() bool {
	return e.profile != "" || len(e.inputs) > 0 || len(e.endedRuns) > 0
}

// evaluate runs one input through the machine. The state is the session's, or
// the one after a transition that is not stored yet.
func (o *Owner) evaluate(live *liveSession, state session.State, read session.Input) (j evaluation) {
	env := o.env(live, &j.inputs)
	env.Admission, env.EndedRun = o.admission.AdmissionFor(&live.demand, &read), o.endedRun(live, &j.endedRuns)
	if state.Active != nil {
		if env.Pinned = o.Profiles.Pinned(state.Active.ProfileHash); env.Pinned == nil {
			j.profile = state.Active.ProfileHash
			return j
		}
	}
	current := state.Profile
	if read.Message != nil {
		current = profileName(current, &read.Event)
	}
	if env.Current = o.Profiles.Current(current); env.Current == nil {
		env.Current, env.Unconfigured = env.Pinned, env.Pinned != nil
	}
	if env.Current == nil {
		env.Current = &plan.Profile{}
	}
	j.Outcome = session.Step(env, state, read)
	return j
}

// profileName returns the name of the profile that a message in a session belongs to.
func profileName(session string, message *schemas.Event) string {
	if session == "" || message.SessionID == "" { // a letter of ours leads to its session, whatever mailbox it came by
		return message.Profile
	}
	return session
}

// env is what a decision about a session knows of inputs before it; those that
// are not at hand are noted as missing.
func (o *Owner) env(live *liveSession, missing *[]uint64) session.Env {
	recall := o.inputAt(live, missing)
	return session.Env{
		Shard:   o.Shard,
		Epoch:   o.checkpoint.Epoch,
		Grants:  o.ArtifactGrants,
		Found:   &o.found,
		Read:    func(body schemas.Content) schemas.Result { return recall(body.Sequence).Content },
		InputAt: func(sequence uint64) session.Input { return recall(sequence).Read },
	}
}

// inputAt returns what has been fetched for the session and notes what has not.
func (o *Owner) inputAt(live *liveSession, missing *[]uint64) func(uint64) restore.Input {
	return func(sequence uint64) restore.Input {
		known, fetched := live.fetchedInputs[sequence]
		if !fetched && !slices.Contains(*missing, sequence) {
			*missing = append(*missing, sequence)
		}
		return known
	}
}

// An endedRunKey names a run before the record that follows the one at a sequence.
type endedRunKey struct {
	run      int
	sequence uint64
}

// endedRun returns what has been fetched of a run for the decision at hand, and notes
// what has not.
func (o *Owner) endedRun(live *liveSession, missing *[]int) func(int) *session.EndedRun {
	return func(run int) *session.EndedRun {
		known := live.endedRuns[endedRunKey{run, live.sequence}]
		if known == nil {
			*missing = append(*missing, run)
		}
		return known
	}
}
