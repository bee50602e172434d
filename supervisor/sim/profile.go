package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/circuit"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// The agents of every world. The front is what supervisors call themselves
// toward whoever sends an execution_request.
const (
	alpha   = "alpha"
	beta    = "beta"
	gamma   = "gamma"
	planner = "planner"
	chooser = "chooser"
	tower   = "tower" // a supervisor that is an agent of others
	front   = "supervisor"
)

var workers = [...]string{alpha, beta, gamma} //nolint:gochecknoglobals // a constant

// outer and inner are the profiles of a world: a tower asks the inner one.
const (
	outer = "outer"
	inner = "inner"
)

// A Library holds sets of profiles that many worlds share, because it takes
// longer to compile them than to run a small world. A world whose profiles are
// edited has its own.
type Library struct {
	sets   [shelves]func() *restore.Profiles
	asking [shelves]func() *restore.Profiles // the same, of worlds with people
	staff  [shelves]func() *restore.Profiles // and of those whose people work
}

const shelves = 512

// NewLibrary returns a library. It may be used by several goroutines.
func NewLibrary() *Library {
	l := &Library{}
	for i := range l.sets {
		l.sets[i] = sync.OnceValue(func() *restore.Profiles { return compiled(drafted(uint64(i))) })
		l.asking[i] = sync.OnceValue(func() *restore.Profiles {
			return compiled(draftedToAsk(uint64(i)))
		})
		l.staff[i] = sync.OnceValue(func() *restore.Profiles {
			return compiled(draftedToHandOver(uint64(i)))
		})
	}
	return l
}

func drafted(shelf uint64) []schemas.Profile {
	r := source(shelf, libraryStream)
	traits := source(shelf, traitStream)
	kinds := source(shelf, kindsStream)
	drafted := sources(r, traits, kinds)
	boundContext(source(shelf, contextStream), drafted)
	return drafted
}

func draftedToAsk(shelf uint64) []schemas.Profile {
	sources := drafted(shelf)
	askPeople(source(shelf, peopleStream), sources)
	return sources
}

func draftedToHandOver(shelf uint64) []schemas.Profile {
	sources := draftedToAsk(shelf)
	handOver(source(shelf, staffStream), sources)
	return sources
}

func compiled(sources []schemas.Profile) *restore.Profiles {
	profiles, err := restore.NewProfiles(context.Background(), memory.New(1).Artifacts(), sources)
	if err != nil {
		panic(err) // the profiles of the simulation do not depend on anything
	}
	return profiles
}

func (l *Library) get(w *World) *restore.Profiles {
	shelf := w.rand.IntN(shelves)
	if w.callbacks != nil || w.taint != nil || w.judges != nil || w.budgets != nil || w.reviews != nil || w.advisers != nil || w.people != nil && w.people.approvers != nil {
		return w.compile(w.declared(uint64(shelf))) //nolint:gosec // it is no less than 0
	}
	switch {
	case w.people != nil && w.people.staff != nil:
		return l.staff[shelf]()
	case w.people != nil:
		return l.asking[shelf]()
	}
	return l.sets[shelf]()
}

// declare says in profiles what all that a world has wants said there.
func (w *World) declare(sources []schemas.Profile) {
	w.callbacks.declare(sources)
	w.taint.declare(sources)
	w.judges.declare(sources)
	w.budgets.declare(sources)
	w.reviews.declare(sources)
	w.advisers.declare(sources, staffMember)
	w.upstreamers.declare(sources)
	w.couplings.declare(sources)
	w.tiers.declare(sources, tower)
}

// declared are the profiles of a shelf as the world has them in which an agent answers by callback, or few act for strangers.
func (w *World) declared(shelf uint64) []schemas.Profile {
	var sources []schemas.Profile
	switch {
	case w.people != nil && w.people.staff != nil:
		sources = draftedToHandOver(shelf)
	case w.people != nil:
		sources = draftedToAsk(shelf)
	default:
		sources = drafted(shelf)
	}
	w.declare(sources)
	if w.people != nil {
		w.people.approvers.declare(sources)
	}
	w.threads.declare(sources)
	return sources
}

// sources are the profiles of a world: ways to handle the same words.
func sources(r, traits, kinds *rand.Rand) []schemas.Profile {
	d := &drafts{rand: r, traits: traits, kinds: kinds, external: map[string]bool{}}
	for _, name := range workers {
		d.external[name] = !once(traits, 3)
	}
	return []schemas.Profile{d.profile(outer), d.profile(inner)}
}

// boundContext bounds what half of the profiles tell of a conversation.
func boundContext(r *rand.Rand, drafted []schemas.Profile) {
	for i := range drafted {
		if once(r, 2) {
			drafted[i].Context = schemas.ContextPolicy{Messages: r.IntN(schemas.MaxConversationMessages + 1), Bytes: pick(r, 0, 20, 4<<10)}
		}
	}
}

// edited returns the profiles as somebody has changed them since.
func edited(sources []schemas.Profile) []schemas.Profile {
	changed := slices.Clone(sources)
	for i := range changed {
		changed[i].Retry.Attempts++
		changed[i].Execution.ContextLimit = 1 << 10
	}
	return changed
}

// drafts writes profiles by chance.
type drafts struct {
	rand     *rand.Rand
	traits   *rand.Rand
	kinds    *rand.Rand
	external map[string]bool // who has effects outside, whoever asks
}

func seconds(n int) schemas.Duration { return schemas.Duration(time.Duration(n) * time.Second) }

func (d *drafts) profile(name string) schemas.Profile {
	texts := schemas.Texts{
		TaskFailed: "It did not work: {detail}", Timeout: "Nobody answered.", NoRoute: "Nobody is responsible.",
		Cancelled: "Stopped.", Partial: "This much is there:", Empty: "Done.",
	}
	p := schemas.Profile{
		Name: name, Language: pick(d.rand, "en", schemas.LanguageOfWriter),
		Agents:    d.uses(name),
		Routers:   d.routers(name),
		Execution: d.execution(),
		Retry:     schemas.Retry{Attempts: 1 + d.rand.IntN(3), Wait: seconds(1), TimeoutGrowth: pick(d.rand, 0, 1.5)},
		Delivery:  schemas.Retry{Attempts: 20, Wait: seconds(1)},
		Deadlines: schemas.Deadlines{Queue: seconds(pick(d.rand, 5, 20)), Work: seconds(pick(d.rand, 10, 30))},
		Languages: []schemas.Language{
			{Tag: "en", Markers: []string{"the", "and", "please"}, Texts: texts},
			{Tag: "de", Markers: []string{"und", "bitte", "der"}, Texts: texts},
		},
	}
	if once(d.traits, 4) { // longer than a lease lasts that nobody renews
		p.Deadlines.Work = seconds(150)
	}
	if once(d.rand, 3) {
		p.Deadlines.Run = seconds(40 + d.rand.IntN(80))
	}
	p.Conversation.WhileRunning = pick(d.rand, "", schemas.WhileRunningQueue, schemas.WhileRunningMerge, schemas.WhileRunningSupersede)
	if once(d.rand, 2) {
		p.Conversation.Entities = []schemas.Entity{{Name: "account_id", Pattern: `P-\d+`}}
	}
	// Of no stream: it counts only in worlds whose mail has an origin.
	answers := [...]schemas.AnswerPolicy{"", schemas.AnswerProven, schemas.AnswerUnrefuted, schemas.AnswerProven}
	p.Conversation.Answer = answers[len(p.Agents)%len(answers)]
	d.plans(&p)
	d.declare(&p)
	return p
}

// uses is who works for a profile, and hod.
func (d *drafts) uses(profile string) []schemas.AgentUse {
	uses := []schemas.AgentUse{{Name: alpha, Description: "calculate alpha"}, {Name: beta, Description: "summarize beta"}, {Name: gamma}}
	for i := range uses {
		use := &uses[i]
		switch d.rand.IntN(7) {
		case 0:
			use.Heartbeat = seconds(2)
		case 1:
			use.Fallback = uses[(i+1)%len(uses)].Name
		case 2, 5:
			use.Reuse = seconds(pick(d.rand, 5, 600))
		case 3:
			use.OutputSchema = []byte(`{"type":"object","required":["done"]}`)
		case 4:
			use.Work = seconds(5)
		}
		if d.external[use.Name] {
			use.SideEffects, use.OnUnknown = schemas.SideEffectsExternal, pick(d.traits, "", schemas.OnUnknownResend, schemas.OnUnknownAsk)
		}
		use.OnTainted = schemas.OnTaintedAllow // but where taint.declare says otherwise
	}
	if once(d.rand, 10) {
		uses[2].InputSchema = []byte(`{"type":"object","required":["number"]}`)
	}
	if profile == outer {
		uses = append(uses, schemas.AgentUse{Name: tower, Description: "the rest"})
	}
	if once(d.traits, 6) {
		uses = append(uses, schemas.AgentUse{Name: session.ChatAgent, SideEffects: schemas.SideEffectsExternal, OnUnknown: schemas.OnUnknownAsk})
	}
	return uses
}

// declare says what the agents of a profile answer, and what they declare instead of
// being asked. In some profiles all of them answer everything. A supervisor does work only in the others.
func (d *drafts) declare(p *schemas.Profile) {
	if once(d.kinds, 4) {
		for i := range p.Agents {
			p.Agents[i].Kinds = []schemas.RequestKind{
				schemas.KindWork, schemas.KindAssess, schemas.KindPlan, schemas.KindRoute, schemas.KindExtract, schemas.KindJudge,
			}
		}
		return
	}
	for i := range p.Agents {
		use := &p.Agents[i]
		use.Kinds = []schemas.RequestKind{schemas.KindWork}
		if use.Name != tower && use.Name != session.ChatAgent && once(d.kinds, 2) {
			use.Kinds = append(use.Kinds, schemas.KindAssess)
		}
		if once(d.kinds, 2) {
			word := schemas.Keyword{Word: pick(d.kinds, alpha, beta, "calculate", "everything"), Mode: schemas.ModeWord}
			use.Capabilities = []schemas.Capability{{Words: []schemas.Keyword{word}, Score: pick(d.kinds, 0.2, 0.6, 1)}}
		}
	}
}

func (d *drafts) routers(profile string) []schemas.Router {
	keyword := func(word string) []schemas.Keyword { return []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}} }
	keywords := schemas.Router{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{
		{Name: "a", Agent: alpha, Keywords: keyword(alpha)},
		{Name: "b", Agent: beta, Keywords: keyword(beta)},
	}}
	if profile == outer {
		keywords.Groups = append(keywords.Groups, schemas.KeywordGroup{Name: "t", Agent: tower, Keywords: keyword("everything")})
	}
	assigned := schemas.Router{Kind: schemas.RouterAssigned}
	otherwise := schemas.Router{Kind: schemas.RouterDefault, Agent: gamma}
	score := schemas.Router{Kind: schemas.RouterScore, Deadline: seconds(2)}
	choose := schemas.Router{Kind: schemas.RouterAgent, Agent: chooser, Deadline: seconds(4)}
	return pick(d.rand,
		[]schemas.Router{keywords},
		[]schemas.Router{keywords, otherwise},
		[]schemas.Router{assigned, keywords, otherwise},
		[]schemas.Router{assigned, keywords, otherwise},
		[]schemas.Router{assigned, score, otherwise},
		[]schemas.Router{keywords, score},
		[]schemas.Router{choose, otherwise},
		[]schemas.Router{assigned, keywords, choose},
	)
}

func (d *drafts) execution() schemas.Execution {
	return schemas.Execution{
		Mode:          pick(d.rand, schemas.ExecutionSingle, schemas.ExecutionSequence, schemas.ExecutionDAG, schemas.ExecutionDAG),
		MaxSteps:      4,
		Schedule:      pick(d.rand, "", schemas.ScheduleReady, schemas.ScheduleLevels),
		OnFailure:     pick(d.rand, "", schemas.FailureSkips, schemas.FailureContinues, schemas.FailureAborts),
		AllowedChains: pick(d.rand, nil, [][]string{{alpha, beta}}),
	}
}

// plans says where the plans of a profile come from.
func (d *drafts) plans(p *schemas.Profile) {
	complexity := &schemas.ComplexityRules{
		Verbs:      []schemas.Keyword{{Word: "calculate", Mode: schemas.ModeWord}, {Word: "summarize", Mode: schemas.ModeWord}},
		Separators: []string{"then", "and"},
	}
	switch d.rand.IntN(6) {
	case 0:
	case 1:
		p.Complexity = complexity
	case 2:
		p.Complexity, p.Planner = complexity, &schemas.Planner{Kind: schemas.PlannerRules}
	case 3, 4:
		p.Planner = &schemas.Planner{
			Kind: schemas.PlannerAgent, Agent: planner, MaxTasks: pick(d.rand, 0, 5),
			Otherwise: pick(d.rand, "", schemas.FallbackFail, schemas.FallbackSingle),
		}
		p.Deadlines.Plan = seconds(8)
		if once(d.rand, 2) {
			p.Complexity = complexity
		}
	case 5:
		p.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: d.templates()}
	}
}

func (d *drafts) templates() []schemas.Template {
	fan := schemas.Template{
		Name: "fan", Keywords: []schemas.Keyword{{Word: "fan", Mode: schemas.ModeWord}},
		Tasks: []schemas.TemplateTask{{Task: "join", Description: "join the beta", Agent: beta, Priority: schemas.PriorityHigh}},
	}
	for i := range 3 + d.rand.IntN(6) {
		id := string(rune('a' + i))
		fan.Tasks = append(fan.Tasks, schemas.TemplateTask{
			Task: id, Description: "part " + id + " of {request}", Agent: pick(d.rand, alpha, alpha, beta),
			Priority: pick(d.rand, schemas.PriorityCritical, schemas.PriorityMedium, schemas.PriorityLow),
		})
		fan.Tasks[0].Dependencies = append(fan.Tasks[0].Dependencies, id)
	}
	return []schemas.Template{fan, {
		Name: "diamond", Keywords: []schemas.Keyword{{Word: "diamond", Mode: schemas.ModeWord}},
		Parameters: []schemas.Parameter{{Name: "number", Pattern: `\d+`, Required: true}},
		Tasks: []schemas.TemplateTask{
			{Task: "a", Description: "look at {number} with alpha", Agent: alpha},
			{Task: "b", Description: "the left of alpha", Dependencies: []string{"a"}, Optional: once(d.rand, 2)},
			{Task: "c", Description: "the right of beta", Dependencies: []string{"a"}, Resources: []string{"disk"}},
			{Task: "d", Description: "both with beta", Dependencies: []string{"b", "c"}, Seconds: 2},
		},
	}}
}

// external reports whether an agent has effects outside: those that deliver answers
// do, and those of which a profile says so.
func (w *World) external(name string) bool {
	if name == session.ChatAgent || name == session.MailAgent {
		return true
	}
	uses := w.configurations[0].Current(outer).Agents
	return slices.ContainsFunc(uses, func(use schemas.AgentUse) bool {
		return use.Name == name && use.SideEffects == schemas.SideEffectsExternal
	})
}

// hire gives every agent a queue and a pool. Small pools make credit matter.
func (w *World) hire() {
	w.pools = map[string]int{}
	names := append(slices.Clone(workers[:]), session.ChatAgent, session.MailAgent, planner, chooser, tower)
	if w.people != nil {
		names = append(names, extractor)
	}
	if w.judges != nil {
		names = append(names, judge)
	}
	if w.reviews != nil {
		names = append(names, critic, linter, editor)
	}
	bounded := !w.once(4)
	for _, name := range names {
		size := 1 + w.rand.IntN(w.configuration.pool)
		if name == tower {
			size = w.tiers.places(size)
		}
		if bounded || name == tower && w.tiers != nil {
			w.pools[name] = size
		}
		w.agents = append(w.agents, w.agent(name, size))
	}
}

// A configuration is what a seed chooses for the whole of its world. Most worlds are
// small: a bug that needs many messages is rare, and small worlds can be many.
type configuration struct {
	shards   int
	steps    int     // of the part with faults
	threads  int     // sessions that a message may belong to
	rate     float64 // of flaws, for each effect of an owner
	trouble  int     // of 16 things that happen, those that concern all
	takeover float64 // of a new owner that crashes while it takes over
	unruly   int     // percent of requests that an agent does not just answer
	idle     int     // percent of their turns that agents do not use
	pool     int     // the largest pool of an agent
	skew     time.Duration
	bulk     bulk
	edited   bool          // somebody edits the profiles meanwhile
	demand   [adapters]int // how often each adapter is used

	permits  bool          // agents with effects outside ask before they act
	wait     time.Duration // of the bus, for an agent's sign of life
	shared   bool          // many tasks need what others need too
	groups   int           // processes of several owners that tell each other; 0 is none
	catchUp  time.Duration // that a new owner waits for what is on its way; 0 is the default
	hurry    time.Duration // the longest time in which nothing happens
	breaker  circuit.Policy
	absent   bool // owners look whether anybody serves an agent
	named    bool // garbage names the request that it answers
	formers  bool // shards are taken over from owners that live on
	crashes  bool // the ledger's server is killed, and has not written what was handed out last
	nameless bool // at times nobody can tell which server takes a message
}

// bulk is how large the words of people and agents may become.
type bulk int

const (
	bulkSmall bulk = iota
	bulkReferred
	bulkClaimed // larger than a message may be
)

// late draws the traits that came last, from a source of their own: worlds without
// them are as they were, and those that are known to catch a fault have none.
func (c *configuration) late(seed uint64) {
	r := source(seed, lateTraits)
	c.absent, c.named = once(r, 5), once(r, 3)
}

// newConfiguration draws what a world has always had from one source, and its traits from
// another, so that a new one leaves the worlds without it as they are.
func newConfiguration(r, traits *rand.Rand) configuration {
	c := configuration{
		shards: 1, steps: 12 + r.IntN(40), threads: 1 + r.IntN(3),
		rate: []float64{0, 0.02, 0.05, 0.05, 0.12}[r.IntN(5)], unruly: []int{0, 30, 55, 80}[r.IntN(4)],
	}
	switch r.IntN(40) {
	case 0:
		c.steps, c.threads = 100+r.IntN(120), 4
	case 1, 2, 3:
		c.steps = 50 + r.IntN(60)
	}
	if r.IntN(4) == 0 {
		c.shards = 2
	}
	switch r.IntN(40) {
	case 0:
		c.bulk = bulkClaimed
	case 1, 2, 3:
		c.bulk = bulkReferred
	}
	c.edited = r.IntN(10) == 0
	c.idle, c.pool = []int{0, 50, 90}[r.IntN(3)], []int{1, 1, 4}[r.IntN(3)]
	if r.IntN(3) == 0 {
		c.skew = 3 * time.Second
	}
	if c.rate > 0 {
		c.takeover, c.trouble = 0.3, []int{0, 1, 3}[r.IntN(3)]
	}
	for adapter := range c.demand {
		c.demand[adapter] = r.IntN(4)
	}
	c.demand[adapterChat]++
	c.permits, c.wait = once(traits, 3), 30*time.Second
	if c.permits && once(traits, 3) {
		c.wait = 6 * time.Second
	}
	if c.shared = once(traits, 4); c.shared {
		c.groups = traits.IntN(3)
		if once(traits, 2) {
			c.shards = 2 + traits.IntN(2)
		}
	}
	c.hurry = 4 * time.Second
	if once(traits, 5) { // a few messages close upon each other, and owners that look long
		c.hurry, c.catchUp, c.threads = 300*time.Millisecond, 8*time.Second, 1
		c.idle, c.pool, c.unruly, c.rate = 0, 4, pick(traits, 30, 55), pick(traits, 0, 0.02)
		c.trouble, c.steps = 3, min(2*c.steps, 120)
	}
	if once(traits, 4) {
		c.breaker = circuit.Policy{
			Failures: 2 + traits.IntN(2), Within: 30 * time.Second, Open: pick(traits, 5*time.Second, 20*time.Second),
		}
	}
	return c
}
