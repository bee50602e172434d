package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/schemas/workflow"
)

// An oracle is what the ledger says, folded by rules of its own, so that it can
// judge the machine that has written it.
type oracle struct {
	world    *World
	shards   []*shardHistory
	sessions map[string]*sessionHistory
	order    []*sessionHistory
	requests map[string]*attempt       // by id
	attempts map[string]*attempt       // by schemas.AttemptKey of that, as breakers name them
	permits  map[string]*grantedPermit // by permit
	denied   map[string]bool           // by permit: a record refuses it
	uses     []*use                    // of resources
	failures map[string][]failure      // by agent
	asked    []*inquiry                // of people, in all runs
	days     map[string]*daySpending   // by profile and day
}

type shardHistory struct {
	epochs []epoch
	tasks  map[string]map[*task]bool // under way or ready, by agent
	inputs map[uint64]bus.Message
	said   map[uint64]saying    // of inputs
	taken  map[uint64]time.Time // when a record took an input
	dead   map[uint64]schemas.Quarantined

	roomSince time.Time // since when a supervisor that somebody waits for has a place, see roomIsGiven
}

// An epoch is an owner's time; since is the sequence of the checkpoint that it
// began with.
type epoch struct {
	number, since uint64
}

type sessionHistory struct {
	id       string
	shard    int
	records  uint64
	sequence uint64 // of the newest record
	applied  uint64 // the newest input
	chain    string
	asides   uint64 // records that speak of a run which was not the newest begun
	grammar  workflow.SessionHistory
	messages map[string][]schemas.MessageReceived
	runs     []*run
	settled  map[string]bool // requests of which an answer has counted, of agents that call back
}

type run struct {
	session *sessionHistory
	number  int
	profile *schemas.Profile
	message schemas.Incoming
	expires time.Time
	tasks   []*task // of the plan
	aside   []*task // the others
	settled *schemas.RunSettled
	ended   *schemas.RunEnded
	again   *schemas.ResendRequested // of an answer that is to be sent again
	doubled int                      // how often that was in spite of doubts
	// reopened is the sequence of the record that last did so; what was asked before is of a run
	// that was over.
	reopened  uint64
	inquiries []*inquiry
	ids       map[string]bool   // of tasks of the plan, replaced ones included
	effects   map[string]string // by effect: the task
	retries   int               // the run in whose place it is begun; 0 is none
	startedBy uint64            // the input that began it
	spending  spending
}

type task struct {
	run      *run
	id       string
	planned  *schemas.PlannedTask // nil when it is none of the plan
	level    int
	agent    string
	state    taskState
	ready    place     // the record that made it wait for its agent
	until    time.Time // when it is not waited for any longer; zero is never
	attempt  *attempt
	made     []*attempt // all of them
	attempts int
	retryAt  time.Time
	result   *schemas.TaskCompleted
	permit   *grantedPermit      // that may have been used
	doubted  bool                // somebody else was refused one since
	use      *use                // of its resources, under way
	begun    time.Time           // since when it waits for its agent
	held     bool                // it waits for the budget, of the run or of a day
	failed   *schemas.TaskFailed // the newest
	cleared  int                 // how often somebody has looked what became of an effect of it, and wants it done
}

// An attempt is one request.
type attempt struct {
	task     *task
	number   int
	agent    string
	at       place // of the record that decided it
	decided  time.Time
	epoch    uint64
	fact     *schemas.TaskDispatched
	deadline time.Time // of the work; zero until it has begun
	silence  time.Time
	silent   time.Time // until when its agent says that it gives no sign of life
	waiting  time.Time // until when its agent waits with it; zero: it works
	resumed  place     // the record by which it works again after that
	inputs   []string  // the completed tasks that it builds on
	dropped  bool      // in the record that decided it

	refused   bool      // a process that was handed it was refused a permit
	completed bool      // by an answer to it
	over      time.Time // when it ended; zero is never
	overAt    uint64    // the record that says so; 0 is none
}

type taskState int

const (
	taskPending taskState = iota
	taskReady
	taskUnderWay
	taskWaiting
	taskAsked // a person
	taskCompleted
	taskFailed
	taskSkipped
	taskCancelled
)

func (s taskState) ended() bool { return s >= taskCompleted }

// A moment is one fact in its place.
type moment struct {
	shard  *shardHistory
	at     place
	record *schemas.Record
	cause  *schemas.Cause
	fact   schemas.Fact
	run    *run  // nil when the fact speaks of none that is known
	task   *task // nil when the fact speaks of none that is known
	id     string
}

func newHistory(w *World) *oracle {
	return &oracle{
		world: w, sessions: map[string]*sessionHistory{}, requests: map[string]*attempt{}, attempts: map[string]*attempt{}, permits: map[string]*grantedPermit{}, denied: map[string]bool{}, failures: map[string][]failure{},
	}
}

// read folds a shard and holds every fact against the invariants.
func (o *oracle) read(shard int) {
	s := &shardHistory{tasks: map[string]map[*task]bool{}, inputs: map[uint64]bus.Message{}, said: map[uint64]saying{}, taken: map[uint64]time.Time{}, dead: map[uint64]schemas.Quarantined{}}
	o.shards = append(o.shards, s)
	for message, err := range o.world.ledger.Scan(context.Background(), bus.ShardStream(shard), 1) {
		o.world.must(err)
		subject, err := bus.ParseSubject(message.Subject)
		o.world.must(err)
		switch subject.Kind {
		case bus.KindSession:
			o.record(s, place{shard, message.Sequence}, message, subject.Session)
		case bus.KindShard:
			o.checkpoint(s, message)
		case bus.KindQuarantine:
			var refused schemas.Quarantined
			o.body(message, &refused)
			s.dead[refused.Sequence] = refused
			o.wantedIsTaken(s, &refused)
		case bus.KindIn, bus.KindResponse, bus.KindProgress, bus.KindPermit, bus.KindControl:
			s.inputs[message.Sequence] = message
		case bus.KindRequest:
		}
	}
}

func (o *oracle) body(message bus.Message, into any) schemas.Event {
	event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), message)
	o.world.must(err)
	o.world.must(schemas.Unmarshal(event.Data, into))
	return event
}

func (o *oracle) checkpoint(s *shardHistory, message bus.Message) {
	var point schemas.Checkpoint
	o.body(message, &point)
	if len(s.epochs) == 0 || s.epochs[len(s.epochs)-1].number < point.Epoch {
		s.epochs = append(s.epochs, epoch{point.Epoch, message.Sequence})
	}
}

// since returns the sequence that an epoch began at.
func (s *shardHistory) since(number uint64) uint64 {
	i := slices.IndexFunc(s.epochs, func(e epoch) bool { return e.number == number })
	if i < 0 {
		return 0
	}
	return s.epochs[i].since
}

func (o *oracle) session(id string, shard int) *sessionHistory {
	s := o.sessions[id]
	if s == nil {
		s = &sessionHistory{
			id: id, shard: shard, messages: map[string][]schemas.MessageReceived{}, grammar: workflow.SessionHistory{Session: id},
			settled: map[string]bool{},
		}
		o.sessions[id] = s
		o.order = append(o.order, s)
	}
	return s
}

func (o *oracle) record(s *shardHistory, at place, message bus.Message, id string) {
	session := o.session(id, at.shard)
	var record schemas.Record
	event := o.body(message, &record)
	if event.Trail == nil {
		o.world.violate(RunsAreFound, "a record of session %s does not lead back", id)
		return
	}
	session.asides = event.Trail.Asides
	o.recordsFollow(session, &record, &event)
	o.grammarHolds(session, &record)
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		o.inputsInOrder(s, session, &transition.Cause)
		o.settles(s, session, &transition.Cause)
		for i := range transition.Facts {
			m := &moment{shard: s, at: at, record: &record, cause: &transition.Cause, fact: transition.Facts[i]}
			m.find(session)
			o.judge(m)
			o.apply(session, m)
		}
	}
	before, err := hex.DecodeString(event.Chain)
	o.world.must(err)
	if len(before) == 0 {
		before = make([]byte, sha256.Size)
	}
	body := sha256.Sum256(event.Data)
	sum := sha256.Sum256(append(before, body[:]...))
	session.records, session.sequence, session.chain = record.Number, at.sequence, hex.EncodeToString(sum[:])
}

// find looks up what the fact speaks of.
func (m *moment) find(session *sessionHistory) {
	if number := schemas.RunOf(m.fact); number >= 1 && number <= len(session.runs) {
		m.run = session.runs[number-1]
		m.task = m.run.task(schemas.TaskOf(m.fact))
	}
	m.id = schemas.RunID(session.id, schemas.RunOf(m.fact)) + "/" + schemas.TaskOf(m.fact)
}

func (r *run) id() string { return schemas.RunID(r.session.id, r.number) }

func (r *run) task(id string) *task {
	for _, tasks := range [...][]*task{r.tasks, r.aside} {
		for _, t := range tasks {
			if t.id == id {
				return t
			}
		}
	}
	return nil
}

// under way or ready tasks are indexed by their agent.
func (m *moment) enlist(t *task) {
	if m.shard.tasks[t.agent] == nil {
		m.shard.tasks[t.agent] = map[*task]bool{}
	}
	m.shard.tasks[t.agent][t] = true
}

func (m *moment) delist(t *task) { delete(m.shard.tasks[t.agent], t) }

func (o *oracle) profile(hash string) *schemas.Profile {
	for _, configured := range o.world.configurations {
		if known := configured.Pinned(hash); known != nil {
			return &known.Profile
		}
	}
	o.world.violate(Itself, "profile %s is of no configuration", hash)
	return &schemas.Profile{}
}

func (o *oracle) apply(session *sessionHistory, m *moment) {
	switch f := m.fact.(type) {
	case *schemas.PermitRefused:
		o.denied[f.Permit] = true
		m.refuses(f)
	case *schemas.MessageReceived:
		session.messages[f.ID] = append(session.messages[f.ID], *f)
	case *schemas.RunStarted:
		session.runs = append(session.runs, &run{
			session: session, number: f.Run, profile: o.profile(f.ProfileHash), message: f.Message, expires: f.Expires, retries: f.Retries, startedBy: m.cause.Sequence,
		})
	default:
		if m.run != nil {
			o.applyRun(m)
			o.asksJudge(m)
			o.spends(m)
		}
	}
}

func (o *oracle) applyRun(m *moment) {
	switch f := m.fact.(type) {
	case *schemas.PlanCreated:
		m.run.tasks, m.run.ids = nil, map[string]bool{}
		m.run.takes(f.Tasks)
	case *schemas.PlanRefused:
		m.run.tasks, m.run.ids = nil, nil
	case *schemas.RunSettled:
		m.run.settled = f
	case *schemas.RunEnded:
		m.run.ended = f
	case *schemas.ResendRequested:
		m.run.again = f
	case *schemas.PlanChanged:
		m.run.takes(f.Tasks)
	case *schemas.InquiryOpened:
		o.opens(m, f)
	case *schemas.InquiryAnswered:
		if f.Lacking > 0 && len(f.Arguments) == 0 {
			if i := m.run.inquiry(f.Inquiry); i != nil {
				i.agreed = append(i.agreed, f)
			}
			return
		}
		o.ends(m, f.Inquiry, func(i *inquiry) { i.answered = f })
	case *schemas.InquiryClosed:
		o.ends(m, f.Inquiry, func(i *inquiry) { i.closed = f.Reason })
	case *schemas.DeliveryReopened:
		m.run.reopen(f)
		m.run.reopened = m.at.sequence
	default:
		o.applyTask(m)
	}
}

// takes adds tasks to the plan.
func (r *run) takes(tasks []schemas.PlannedTask) {
	for i := range tasks {
		r.ids[tasks[i].Task] = true
		r.tasks = append(r.tasks, &task{run: r, id: tasks[i].Task, planned: &tasks[i], agent: tasks[i].Agent})
	}
	r.levels()
}

// levels places the tasks of the plan in its graph.
func (r *run) levels() {
	for range r.tasks {
		for _, t := range r.tasks {
			for _, id := range t.planned.Dependencies {
				if before := r.task(id); before != nil {
					t.level = max(t.level, before.level+1)
				}
			}
		}
	}
}

// reopen takes the run back to the delivery of its answer, with all attempts before it.
func (r *run) reopen(f *schemas.DeliveryReopened) {
	r.ended, r.again = nil, nil
	if f.AllowDuplicate {
		r.doubled++
	}
	if t := r.task(schemas.DeliveryTask); t != nil {
		t.state, t.permit = taskPending, nil
	}
}

func (o *oracle) applyTask(m *moment) {
	t := m.task
	if t == nil {
		_, ready := m.fact.(*schemas.TaskReady)
		if _, dispatched := m.fact.(*schemas.TaskDispatched); !ready && !dispatched {
			return
		}
		t = &task{run: m.run, id: schemas.TaskOf(m.fact)}
		m.task = t
		m.run.aside = append(m.run.aside, t)
	}
	switch f := m.fact.(type) {
	case *schemas.TaskRouted:
		t.agent = f.Decision.NextAgent
	case *schemas.TaskReady:
		t.state, t.agent, t.ready, t.until, t.begun, t.held = taskReady, f.Agent, m.at, f.Until, m.cause.Time, f.Held || f.Day != nil
		m.enlist(t)
	case *schemas.TaskDispatched:
		o.dispatch(m, t, f)
	case *schemas.TaskStarted:
		if t.attempt != nil {
			t.attempt.deadline, t.attempt.silence = f.Deadline, f.Silence
			o.saysSilent(m, t.attempt)
			t.attempt.waits(m, f.WaitingUntil)
		}
	case *schemas.TaskHeartbeat:
		if t.attempt != nil {
			t.attempt.silence = f.Silence
			o.saysSilent(m, t.attempt)
			t.attempt.waits(m, f.WaitingUntil)
		}
	case *schemas.TaskCompleted:
		if t.state == taskUnderWay {
			t.attempt.completed = true
		}
		o.endTask(m, t, taskCompleted)
		t.result = f
	case *schemas.TaskSkipped:
		o.endTask(m, t, taskSkipped)
	case *schemas.TaskCancelled:
		o.endTask(m, t, taskCancelled)
	case *schemas.TaskFailed:
		o.fail(m, t, f)
	case *schemas.PermitGranted:
		o.grant(m, f.Permit, t.agent, f.Again)
	default: // changes nothing that the oracle judges by
	}
}

func (o *oracle) dispatch(m *moment, t *task, f *schemas.TaskDispatched) {
	m.delist(t)
	o.waitingHoldsNothing(m, t)
	t.state, t.agent, t.attempts, t.held = taskUnderWay, f.Agent, f.Attempt, false
	t.attempt = &attempt{
		task: t, number: f.Attempt, agent: f.Agent, at: m.at, decided: m.cause.Time, epoch: m.record.Epoch, fact: f,
	}
	if t.planned != nil {
		for _, id := range t.planned.Dependencies {
			if before := t.run.task(id); before != nil && before.state == taskCompleted {
				t.attempt.inputs = append(t.attempt.inputs, id)
			}
		}
	}
	t.made = append(t.made, t.attempt)
	o.requests[f.Request], o.attempts[schemas.AttemptKey(f.Request)] = t.attempt, t.attempt
	m.enlist(t)
	o.holds(m, t)
	if f.Permitted {
		o.grant(m, schemas.PermitID(f.Request), f.Agent, false)
	}
}

// endTask ends a task, or its attempt.
func (o *oracle) endTask(m *moment, t *task, state taskState) {
	m.delist(t)
	o.frees(m, t)
	t.close(m)
	if t.attempt != nil && t.attempt.over.IsZero() {
		t.attempt.over, t.attempt.overAt = m.cause.Time, m.at.sequence
	}
	if t.attempt != nil && t.attempt.at == m.at {
		t.attempt.dropped = true
	}
	t.state = state
}

func (o *oracle) fail(m *moment, t *task, f *schemas.TaskFailed) {
	if f.Unrecovered != "" { // it is told, and was counted
		o.endTask(m, t, taskFailed)
		return
	}
	t.failed = f
	o.fails(m, t, f)
	said := t.state == taskUnderWay
	o.endTask(m, t, taskFailed)
	if said && saysUndone(f) {
		t.permit = nil
	}
	switch {
	case !f.RetryAt.IsZero():
		t.state, t.retryAt = taskWaiting, f.RetryAt
	case f.Agent != "":
		t.state, t.agent = taskReady, f.Agent
		t.ready, t.until, t.begun = m.at, time.Time{}, m.cause.Time
		m.enlist(t)
	case f.Recovering != "":
		t.state = taskAsked
	case f.Action == schemas.RecoverySkip:
		t.state = taskSkipped
	}
}

// saysUndone reports whether the agent says that the attempt came to nothing.
func saysUndone(f *schemas.TaskFailed) bool {
	said := f.Cause == schemas.FailureAgent || f.Cause == schemas.FailurePermanent || f.Cause == schemas.FailureBlocked || f.Cause == schemas.FailureUnapproved
	return said && !f.EffectUnknown
}
