package sim

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
	"podium/supervisor/sim/reviewers"
	"podium/supervisor/sim/versions"
)

// The invariants of reviews.
const (
	NewestVersionsMerge  = "what is merged, looked at and handed on are the versions that no other one builds on, with what they were made from"
	RoundsSayWhatIsThere = "a round passes when all checks were asked and have passed, what was promised is there, names agree and each path has one version, and fails else"
	ReviewedBeforeTold   = "what was made is told once a round that has looked at all of it has passed, and is given up when nothing more may be mended"
)

// reviewing is what the oracle knows of how the results of a run were looked at.
type reviewing struct {
	round     int
	forced    bool
	passed    bool            // the newest round
	over      *schemas.Judged // what has come of the newest round; nil while it goes on, and once the run is at work again
	questions []*task         // that were put in it
	merged    []versions.Version
}

// found are the errors of the newest round, by the root that is responsible; nobody is responsible for those of no name.
func (v *reviewing) found(root string) bool {
	return slices.ContainsFunc(v.over.Issues, func(issue schemas.ReviewIssue) bool {
		return issue.Severity == schemas.ValidationError && issue.Task == root
	})
}

// root is the task whose work a task mends, or its own name.
func (t *task) root() string {
	if t.mends() {
		return t.planned.Options().Fixes
	}
	return t.id
}

func (t *task) mends() bool { return t.planned != nil && t.planned.Options().Fixes != "" }

// recovers is the failed task that has found what a task mends; empty is none, or a review has.
func (t *task) recovers() string {
	if t.planned == nil {
		return ""
	}
	return t.planned.Options().Recovers
}

// stood is the task by which the work of another one stands for those who build on it: what has mended its failure last, or itself.
func (r *run) stood(id string) *task {
	for _, t := range slices.Backward(r.tasks) {
		if t.recovers() != "" && t.root() == id && t.state == taskCompleted {
			return t
		}
	}
	return r.task(id)
}

// counts reports whether what a task has made is a part of what the run answers.
func (t *task) counts() bool {
	return t.planned != nil && t.state == taskCompleted && !t.judged.replaced
}

// newest is by what the work of a root stands: what has mended it last, or itself; nil is that it is not done.
func (r *run) newest(root string) *task {
	for _, t := range slices.Backward(r.tasks) {
		if t.counts() && t.root() == root {
			return t
		}
	}
	return nil
}

// of is the name of the task whose work a named one does, for whoever begins the run anew.
func (r *run) of(name string) string {
	if t := r.task(name); t != nil {
		return t.root()
	}
	return name
}

// unpassed reports whether the run was looked at, and has ended otherwise than by passing that, or by somebody's word that it does.
func (r *run) unpassed() bool {
	return r.reviewing.round > 0 && !r.reviewing.passed && r.ended.Status != schemas.RunCompleted
}

// standingOf is the result by which the work of a task stands: what has mended its failure last or for a review, or its own.
func (r *run) standingOf(was *task) *schemas.TaskCompleted {
	return r.newest(was.id).result
}

// standing are the tasks whose results are told, where they may be mended.
func (r *run) standing() []string {
	var standing []string
	for _, t := range r.tasks {
		if !t.mends() && t.state == taskCompleted && !r.builtOn(t) {
			if newest := r.newest(t.id); newest != nil {
				standing = append(standing, newest.id)
			}
		}
	}
	return standing
}

// reviews folds what the invariants of reviews go by, after a fact, and holds the fact to them.
func (o *oracle) reviews(m *moment) {
	v := &m.run.reviewing
	switch f := m.fact.(type) {
	case *schemas.ReviewBegan:
		o.roundIsNext(m, f)
		*v = reviewing{round: f.Round, forced: f.Forced, merged: v.merged}
	case *schemas.TaskReady:
		v.asks(m)
	case *schemas.TaskDispatched:
		v.asks(m)
		m.run.snapshot(m.task)
	case *schemas.Judged:
		switch {
		case f.Occasion == schemas.OccasionMerge:
			o.mergesAll(m, f)
		case f.Occasion == schemas.OccasionReview && f.Question == "":
			v.over, v.passed = f, f.Outcome == schemas.OutcomePassed
			o.roundSaysWhatIsThere(m, f)
		}
	case *schemas.RunSettled:
		o.reviewedBeforeTold(m, f)
	default:
	}
}

// asks notes a question that is put in the round under way.
func (v *reviewing) asks(m *moment) {
	if m.task != nil && reviewers.OccasionOf(m.task.id) != "" && m.run.judging.phase == phaseReviewing && !slices.Contains(v.questions, m.task) {
		v.questions = append(v.questions, m.task)
	}
}

// roundIsNext: rounds follow each other, as many as the profile has, when all work has ended; and by force when there is no step left.
func (o *oracle) roundIsNext(m *moment, f *schemas.ReviewBegan) {
	r, policy := m.run, m.run.profile.Review
	if policy == nil || f.Round != r.reviewing.round+1 || f.Round > policy.Rounds+1 {
		o.world.violate(StepsAndRoundsEnd, "%s: round %d follows round %d by %+v", m.id, f.Round, r.reviewing.round, policy)
		return
	}
	made := slices.ContainsFunc(r.tasks, func(t *task) bool { return t.state == taskCompleted })
	left := slices.ContainsFunc(r.tasks, func(t *task) bool { return !t.state.ended() })
	steps := r.steps()
	for _, t := range r.tasks {
		if t.judged.limited {
			steps++ // it may have waited for its agent
		}
	}
	if !made || left || f.Forced && steps < r.profile.StepLimit() {
		o.world.violate(PhasesLegal, "%s: round %d begins, by force %t, with %d steps taken; something is made: %t, and something is left: %t", m.id, f.Round, f.Forced, steps, made, left)
	}
}

// returnsToWork: what is found is mended as long as there are rounds and steps.
func (o *oracle) returnsToWork(m *moment, f *schemas.PlanChanged) {
	v, steps := &m.run.reviewing, m.run.steps()
	if f.Source == schemas.OccasionFailure {
		steps-- // that of the judge who says so
	}
	if v.forced || v.round > m.run.profile.Review.Rounds || steps >= m.run.profile.StepLimit() {
		o.world.violate(StepsAndRoundsEnd, "%s: the plan is changed in round %d, by force %t, with %d steps taken", m.id, v.round, v.forced, steps)
	}
}

// mendable are the tasks that something was found in, and that an agent has done, but not outside.
func (r *run) mendable() []*task {
	return slices.DeleteFunc(slices.Clone(r.tasks), func(t *task) bool {
		newest := r.newest(t.id)
		return t.mends() || newest == nil || newest.acted() || r.use(newest.agent) == nil || !r.reviewing.found(t.id)
	})
}

// fixesAreSound: a round that has failed is followed by what a check wants done, or by one task for each that is responsible and has made something.
func (o *oracle) fixesAreSound(m *moment, f *schemas.PlanChanged) {
	r, v := m.run, &m.run.reviewing
	if v.over == nil || v.over.Outcome != schemas.OutcomeFailed {
		o.world.violate(ChangesSound, "%s: no round has failed", m.id)
		return
	}
	if !slices.ContainsFunc(f.Tasks, func(t schemas.PlannedTask) bool { return t.Options().Fixes != "" }) {
		wants := func(t *task) bool { return t.state == taskCompleted && o.checkSays(t) == checkWants }
		if !slices.ContainsFunc(v.questions, wants) {
			o.world.violate(ChangesSound, "%s: no check wants anything done", m.id)
		}
		return
	}
	var mended, replaced []string
	for _, t := range r.mendable() {
		newest := r.newest(t.id)
		mended = append(mended, t.id)
		at := slices.IndexFunc(f.Tasks, func(fix schemas.PlannedTask) bool { return fix.Options().Fixes == t.id })
		if at < 0 {
			o.world.violate(ChangesSound, "%s: task %s is responsible, and nobody mends that", m.id, t.id)
			continue
		}
		if fix := &f.Tasks[at]; fix.Agent != newest.agent || !fix.Routed || !slices.Contains(fix.Dependencies, newest.id) || !strings.HasSuffix(fix.Task, "."+t.id) {
			o.world.violate(ChangesSound, "%s: task %s of agent %s mends %s of agent %s, and builds on %v", m.id, fix.Task, fix.Agent, newest.id, newest.agent, fix.Dependencies)
		}
	}
	if len(mended) != len(f.Tasks) || len(f.Kept) > 0 {
		o.world.violate(ChangesSound, "%s: %d tasks mend what %v are responsible for", m.id, len(f.Tasks), mended)
	}
	for _, t := range r.tasks {
		if t.mends() && t.state == taskFailed && !t.judged.replaced && slices.Contains(mended, t.root()) {
			replaced = append(replaced, t.id)
		}
	}
	if !slices.Equal(replaced, f.Replaces) {
		o.world.violate(ChangesSound, "%s: it replaces %v, and %v have failed to mend it", m.id, f.Replaces, replaced)
	}
}

// roundSaysWhatIsThere: the outcome of a round is that of its checks and rules.
func (o *oracle) roundSaysWhatIsThere(m *moment, f *schemas.Judged) {
	r, v := m.run, &m.run.reviewing
	if f.Round != v.round {
		o.world.violate(RoundsSayWhatIsThere, "%s: round %d is over, and round %d is under way", m.id, f.Round, v.round)
	}
	wrong := ""
	files := r.made().Files()
	conflicts := func(f versions.File) bool { return f.Conflicts() }
	conflicting := slices.ContainsFunc(files, conflicts)
	switch {
	case conflicting:
		wrong = "several versions of a path"
	case r.cut():
		wrong = "deliverables that nobody knows"
	}
	for _, t := range r.tasks {
		if missing := r.lacks(t); missing != "" {
			wrong = "no " + missing + " of " + t.id
		}
	}
	for _, name := range r.profile.Review.Agree {
		if o.disagree(r, name) {
			wrong = "several values of " + name
		}
	}
	for i := range r.profile.Review.Checks {
		check := &r.profile.Review.Checks[i]
		at := slices.IndexFunc(v.questions, func(t *task) bool { return t.id == schemas.CheckTask(check.Agent, v.round) })
		switch {
		case at < 0 && !conflicting && r.isFor(check):
			o.world.violate(RoundsSayWhatIsThere, "%s: %s was not asked in round %d", m.id, check.Agent, v.round)
		case at >= 0 && !r.isFor(check):
			o.world.violate(RoundsSayWhatIsThere, "%s: %s is asked in round %d, and is not for the project", m.id, check.Agent, v.round)
		case at >= 0 && (v.questions[at].state != taskCompleted || o.checkSays(v.questions[at]) != checkPasses):
			wrong = "the check " + check.Agent
		}
	}
	if (f.Outcome == schemas.OutcomePassed) != (wrong == "") {
		o.world.violate(RoundsSayWhatIsThere, "%s: round %d has %s, and what is wrong is: %s", m.id, v.round, f.Outcome, wrong)
	}
	mergeable := conflicting && !r.cut() && !slices.ContainsFunc(files, func(f versions.File) bool { return f.Conflicts() && slices.Contains(f.Hashes(), "") })
	asked := slices.ContainsFunc(v.questions, func(t *task) bool { return reviewers.OccasionOf(t.id) == schemas.OccasionMerge })
	if r.profile.Review.Merge != "" && mergeable && !asked {
		o.world.violate(NewestVersionsMerge, "%s: round %d is over, and nobody was asked to merge", m.id, v.round)
	}
	o.blamesWhoHasMadeIt(m, f, files)
}

// withholds reports whether nothing is told of what was made: the work of the run is not done, and its newest round has not passed it.
func (r *run) withholds(f *schemas.RunSettled) bool {
	v := &r.reviewing
	unpassed := v.round > 0 && (v.over == nil || v.over.Outcome != schemas.OutcomePassed)
	return unpassed && f.Status != schemas.RunCompleted && f.Reason != schemas.StopPartial && r.profile.Review.OnFailed != schemas.ReviewPartial
}

// blamesWhoHasMadeIt: an error in a file is of those who have made it or are to change it, or of whom all of it is.
func (o *oracle) blamesWhoHasMadeIt(m *moment, f *schemas.Judged, files []versions.File) {
	for i := range f.Issues {
		issue := &f.Issues[i]
		at := slices.IndexFunc(files, func(f versions.File) bool { return f.Path == versions.Cleaned(issue.File) })
		if issue.Check == "" || issue.Severity != schemas.ValidationError || issue.File == "" || at < 0 {
			continue
		}
		made := func(version versions.Version) bool {
			return slices.ContainsFunc(m.run.made().WorkIn(version), func(id string) bool { return m.run.task(id).root() == issue.Task })
		}
		if !slices.ContainsFunc(files[at].Versions, made) {
			o.world.violate(RoundsSayWhatIsThere, "%s: %q is responsible for an error in %s, and has not made it", m.id, issue.Task, issue.File)
		}
	}
}

// reviewedBeforeTold: nothing is complete that did not pass, and nothing is given up as long as it may be mended.
func (o *oracle) reviewedBeforeTold(m *moment, f *schemas.RunSettled) {
	r, v := m.run, &m.run.reviewing
	if r.profile.Review == nil {
		return
	}
	made := slices.ContainsFunc(r.tasks, func(t *task) bool { return t.state == taskCompleted })
	passed := v.over != nil && v.over.Outcome == schemas.OutcomePassed && !v.forced
	complete := f.Status == schemas.RunCompleted && !r.responded(f)
	if (v.round > 0 || r.profile.Review.When == "") && made && complete && !passed {
		o.world.violate(ReviewedBeforeTold, "%s: %s (%s), and round %d has come to %+v", m.id, f.Status, f.Reason, v.round, v.over)
	}
	partial := r.profile.Review.OnFailed == schemas.ReviewPartial
	if r.withholds(f) && (len(f.Answer) > 0 || f.Status == schemas.RunPartial) {
		o.world.violate(ReviewedBeforeTold, "%s: %s (%s) tells what round %d has not passed: %v", m.id, f.Status, f.Reason, v.round, f.Answer)
	}
	if f.Reason != schemas.StopReviewFailed {
		return
	}
	if v.over == nil || v.over.Outcome != schemas.OutcomeFailed {
		o.world.violate(ReviewedBeforeTold, "%s: the review has failed, and round %d has come to %+v", m.id, v.round, v.over)
		return
	}
	if !v.forced && v.round <= r.profile.Review.Rounds && r.steps() < r.profile.StepLimit() && len(r.mendable()) > 0 {
		o.world.violate(ReviewedBeforeTold, "%s: given up after round %d of %d", m.id, v.round, r.profile.Review.Rounds)
	}
	if partial != (f.Status == schemas.RunPartial) {
		o.world.violate(ReviewedBeforeTold, "%s: the review has failed, and the run is %s", m.id, f.Status)
	}
}

// made is what there is of the tasks of a run, for an oracle of its own.
func (r *run) made() *versions.Run {
	made := &versions.Run{Merged: r.reviewing.merged}
	for _, t := range r.tasks {
		made.Tasks = append(made.Tasks, versions.Task{ID: t.id, Dependencies: t.planned.Dependencies, Made: t.delivered()})
	}
	return made
}

// isFor reports whether a check looks at projects of the kind that the plan is of.
func (r *run) isFor(check *schemas.Check) bool {
	return len(check.For) == 0 || slices.ContainsFunc(r.tasks, func(t *task) bool {
		var said struct {
			Type string `json:"project_type"`
		}
		return json.Unmarshal(t.planned.Options().Constraints, &said) == nil && slices.Contains(check.For, said.Type)
	})
}

// lacks is something that a task has promised and neither it nor what mends it has made; empty is nothing.
func (r *run) lacks(t *task) string {
	if t.mends() || !t.counts() || t.result.Partial {
		return ""
	}
	for _, promised := range t.planned.Options().Deliverables {
		made := false
		for _, other := range r.tasks {
			for i := range other.delivered() {
				there := &other.result.Deliverables[i]
				is := there.DeliverableID == promised || versions.Cleaned(there.Path) == versions.Cleaned(promised) || there.Path != "" && path.Base(versions.Cleaned(there.Path)) == promised
				made = made || other.root() == t.id && is
			}
		}
		if !made {
			return promised
		}
	}
	return ""
}

// delivered is what a task has made, as far as that counts.
func (t *task) delivered() []schemas.Deliverable {
	if !t.counts() {
		return nil
	}
	return t.result.Deliverables
}

// mostDelivered is how many deliverables of an answer are on record: where there are as many there may have been more.
const mostDelivered = 64

func (r *run) cut() bool {
	return slices.ContainsFunc(r.tasks, func(t *task) bool { return len(t.delivered()) >= mostDelivered })
}

// disagree reports whether results that stand say different things of a name.
func (o *oracle) disagree(r *run, name string) bool {
	values := map[float64]bool{}
	for _, t := range r.tasks {
		var said map[string]any
		if !t.counts() || r.newest(t.root()) != t || json.Unmarshal(o.resultOf(t).Data, &said) != nil {
			continue
		}
		if value, number := said[name].(float64); number {
			values[value] = true
		}
	}
	return len(values) > 1
}

// checkSaid is what a check has said.
type checkSaid int

const (
	checkPasses checkSaid = iota
	checkFails
	checkWants // something is to be done
)

// checkSays reads the answer of a check that was taken: results beside it, or in its data or text, or else a plan.
func (o *oracle) checkSays(t *task) checkSaid {
	var said struct {
		Results []schemas.ValidationResult `json:"validation_results"`
	}
	result := o.resultOf(t)
	if t.result.Findings != nil {
		said.Results = t.result.Findings.ValidationResults
	}
	if begin, end := strings.Index(result.Text, "{"), strings.LastIndex(result.Text, "}"); len(said.Results) == 0 && begin >= 0 && end > begin {
		_ = json.Unmarshal([]byte(result.Text[begin:end+1]), &said) // else it says nothing
	}
	if len(said.Results) == 0 {
		_ = json.Unmarshal(result.Data, &said) // the same
	}
	if len(said.Results) == 0 {
		return checkWants
	}
	for i := range said.Results {
		bad := func(issue schemas.ValidationIssue) bool {
			return issue.Severity != schemas.ValidationWarning && issue.Severity != "info"
		}
		if said.Results[i].Status != schemas.ValidationPassed && len(said.Results[i].Issues) == 0 || slices.ContainsFunc(said.Results[i].Issues, bad) ||
			said.Results[i].Status != schemas.ValidationPassed {
			return checkFails
		}
	}
	return checkPasses
}

// resultOf is the whole result of a task that is done, as whoever has done it has answered.
func (o *oracle) resultOf(t *task) schemas.Result {
	content := t.result.Result
	if content.Sequence == 0 {
		return content.Result
	}
	var said struct {
		Payload struct {
			Result schemas.Result `json:"result"`
		} `json:"payload"`
	}
	if message, known := o.shards[t.run.session.shard].inputs[content.Sequence]; known {
		o.body(message, &said)
	}
	return said.Payload.Result
}

// steps counts those that a run has taken before its results are told: plans, tasks and judgements.
func (r *run) steps() int {
	steps := 0
	for _, t := range r.aside {
		if occasion := reviewers.OccasionOf(t.id); t.id == "plan" || occasion != "" && occasion != schemas.OccasionSummary {
			steps++
		}
	}
	for _, t := range r.tasks {
		unasked := t.attempts == 0 && t.refused == 0
		answered := t.agent == schemas.RouteRespond || t.agent == schemas.RouteFinish
		if t.state != taskPending && !t.judged.unrouted && !answered && (t.state != taskSkipped && t.state != taskCancelled || !unasked) {
			steps++
		}
	}
	return steps
}

// toldFix is the name of the input that tells who mends something what a round, or a task that has failed, has found; empty for all other tasks.
func (t *task) toldFix() string {
	switch recovers := t.recovers(); {
	case recovers != "":
		return recovers
	case !t.mends():
		return ""
	}
	return "review:" + strconv.Itoa(t.run.reviewing.round)
}

// snapshot notes for a question what there is to be looked at as it is put.
func (r *run) snapshot(t *task) {
	if t != nil && t.attempt != nil && reviewers.OccasionOf(t.id) != "" && r.profile.Review != nil {
		t.attempt.files = r.made().Files()
	}
}

// mergesAll: a merge is of all versions that stand, of each path that has several, or of none.
func (o *oracle) mergesAll(m *moment, f *schemas.Judged) {
	r, made := m.run, m.run.made()
	var merged []versions.Version
	for _, file := range made.Files() {
		if !file.Conflicts() {
			continue
		}
		var of []string
		for _, head := range file.Heads {
			of = append(of, head.By)
		}
		at := slices.IndexFunc(f.Merged, func(merged schemas.MergedFile) bool { return merged.Path == file.Path })
		if at < 0 || !slices.Equal(f.Merged[at].Of, of) {
			o.world.violate(NewestVersionsMerge, "%s: of %s the versions of %v stand, and merged is %+v", m.id, file.Path, of, f.Merged)
			continue
		}
		hash, origin := versions.Hashed(&f.Merged[at].Deliverable)
		if hash == "" || versions.Cleaned(f.Merged[at].Deliverable.Path) != file.Path {
			o.world.violate(NewestVersionsMerge, "%s: %s is merged, and that is %+v", m.id, file.Path, f.Merged[at].Deliverable)
		}
		merged = append(merged, versions.Version{By: f.Question, Of: of, Place: len(r.tasks), Path: file.Path, Hash: hash, Origin: origin})
	}
	if len(merged) != len(f.Merged) {
		o.world.violate(NewestVersionsMerge, "%s: %d paths are merged, and %d have several versions", m.id, len(f.Merged), len(merged))
	}
	r.reviewing.merged = append(r.reviewing.merged, merged...)
}

// newestAreTold holds what a question tells of what was made to what there was as it was put.
func (o *oracle) newestAreTold(decided *attempt, request string, task *schemas.Task) {
	occasion := reviewers.OccasionOf(decided.task.id)
	if decided.task.run.profile.Review == nil || occasion != schemas.OccasionReview && occasion != schemas.OccasionMerge {
		return
	}
	var told struct {
		Deliverables []schemas.Deliverable `json:"deliverables"`
		Merges       []reviewers.ToldMerge `json:"merges"`
	}
	o.world.must(schemas.Unmarshal(task.Context.Arguments, &told))
	if occasion == schemas.OccasionReview {
		o.versionsAre("request "+request, decided.files, told.Deliverables)
		return
	}
	for _, file := range decided.files {
		if !file.Conflicts() {
			continue
		}
		at := slices.IndexFunc(told.Merges, func(merge reviewers.ToldMerge) bool { return merge.Path == file.Path })
		if at < 0 || told.Merges[at].Base != file.Base {
			o.world.violate(NewestVersionsMerge, "request %s: %s with base %q is not to be merged: %+v", request, file.Path, file.Base, told.Merges)
			continue
		}
		var hashes []string
		for i := range told.Merges[at].Versions {
			hash, _ := versions.Hashed(&told.Merges[at].Versions[i])
			hashes = append(hashes, hash)
		}
		if !slices.Equal(hashes, file.Hashes()) {
			o.world.violate(NewestVersionsMerge, "request %s: of %s %v are to be merged, and %v stand", request, file.Path, hashes, file.Hashes())
		}
	}
}

// versionsAre holds what somebody is told to have been made to what stands.
func (o *oracle) versionsAre(where string, files []versions.File, told []schemas.Deliverable) {
	have := map[string][]string{}
	for i := range told {
		if name := versions.Cleaned(told[i].Path); name != "" {
			hash, _ := versions.Hashed(&told[i])
			have[name] = append(have[name], hash)
		}
	}
	for _, file := range files {
		if !slices.Equal(have[file.Path], file.Hashes()) {
			o.world.violate(NewestVersionsMerge, "%s tells %v of %s, and %v stand", where, have[file.Path], file.Path, file.Hashes())
		}
		delete(have, file.Path)
	}
	if len(have) > 0 {
		o.world.violate(NewestVersionsMerge, "%s tells %v, and nobody has made that", where, have)
	}
}
