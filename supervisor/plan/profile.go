package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/timezone"
	"podium/schemas/validation"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/approval"
	"podium/supervisor/arguments"
	"podium/supervisor/budget"
	"podium/supervisor/language"
	"podium/supervisor/recovery"
	"podium/supervisor/route"
	"podium/supervisor/say"
)

// A Profile is a schemas.Profile made ready for deciding. It does not change.
type Profile struct {
	schemas.Profile
	Hash      string // SHA-256 (hex) of the canonical JSON
	router    *route.Router
	templates []*template
	entities  []*regexp.Regexp
	urgent    *route.Keywords               // nil without any
	inputs    map[string]*validation.Schema // by agent: of arguments
	outputs   map[string]*validation.Schema // by agent: of result.data
	renders   map[string]*answer.Template   // by agent: of what its data is told by
	fillers   map[string]*arguments.Filler  // by agent: of its arguments
	location  *time.Location                // where days begin
	own       map[string][]string           // by agent: schemas.Action.Call of what its templates have it do, whatever is written
	rules     approval.Rules                // by which people agree
	summary   *answer.Template              // of the results together; nil without one
	detector  *language.Detector            // of the language of texts; nil when none are judged
}

// ErrInvalidProfile reports a profile that cannot decide.
var ErrInvalidProfile = errors.New("profile cannot be used")

// Compile checks a profile and makes it ready. All faults are reported together.
func Compile(source schemas.Profile) (*Profile, error) {
	body, err := schemas.Marshal(source)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	profile := &Profile{Profile: source, Hash: hex.EncodeToString(sum[:])}
	faults := append(profile.faults(), profile.compile()...)
	if profile.router, err = route.Compile(&profile.Profile); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %q: %w", ErrInvalidProfile, source.Name, errors.Join(faults...))
	}
	return profile, nil
}

func (p *Profile) faults() []error {
	var faults []error
	if len(p.Languages) == 0 {
		faults = append(faults, errors.New("it has no language"))
	} else if p.Language != schemas.LanguageOfWriter && p.language(p.Language).Tag != p.Language {
		faults = append(faults, fmt.Errorf("it answers in %q, but has no words in that language", p.Language))
	}
	for i := range p.Languages {
		faults = append(faults, say.Check(&p.Languages[i])...)
	}
	if p.Retry.Attempts < 1 || p.Delivery.Attempts < 1 {
		faults = append(faults, errors.New("retry.attempts and delivery.attempts are at least 1"))
	}
	if p.Deadlines.Queue <= 0 || p.Deadlines.Work <= 0 {
		faults = append(faults, errors.New("deadlines.queue and deadlines.work are longer than 0"))
	}
	if growth := p.Retry.TimeoutGrowth; math.IsNaN(growth) || growth < 0 || growth > maxGrowth {
		faults = append(faults, fmt.Errorf("retry.timeout_growth is between 0 and %d", maxGrowth))
	}
	for i := range p.Agents {
		if fallback := p.Agents[i].Fallback; fallback != "" && (p.agentUse(fallback) == nil || fallback == p.Agents[i].Name) {
			faults = append(faults, fmt.Errorf("agent %q: its fallback %q is not another agent of the profile", p.Agents[i].Name, fallback))
		}
	}
	for _, chain := range p.Execution.AllowedChains {
		for _, agent := range chain {
			if p.agentUse(agent) == nil {
				faults = append(faults, fmt.Errorf("execution.allowed_chains: %q is not one of the profile's agents", agent))
			}
		}
	}
	if context := &p.Context; context.Messages < 0 || context.Messages > schemas.MaxConversationMessages || context.Bytes < 0 {
		faults = append(faults, fmt.Errorf("context: messages is 0 to %d, bytes is not negative", schemas.MaxConversationMessages))
	}
	if waiting := p.Waiting; waiting != nil && (waiting.Expire <= 0 || waiting.Remind < 0 || waiting.Asks < 1 || waiting.Asks > schemas.MaxAsks) {
		faults = append(faults, fmt.Errorf("waiting: expire is longer than 0, remind is not negative, asks is 1 to %d", schemas.MaxAsks))
	}
	faults = append(faults, recovery.Faults(&p.Profile)...)
	return append(append(faults, p.plannerFaults()...), append(p.replanFaults(), p.reviewFaults()...)...)
}

func (p *Profile) plannerFaults() []error {
	if p.Planner == nil {
		return nil
	}
	var faults []error
	switch p.Planner.Kind {
	case schemas.PlannerAgent:
		if !schemas.ValidAgentName(p.Planner.Agent) {
			faults = append(faults, errors.New("planner: it names no agent"))
		}
	case schemas.PlannerTemplate:
		if len(p.Planner.Templates) == 0 {
			faults = append(faults, errors.New("planner: it has no templates"))
		}
	case schemas.PlannerRules:
		if p.Complexity == nil {
			faults = append(faults, errors.New("planner: rules need a complexity check"))
		}
	case schemas.PlannerNone, schemas.PlannerExternal:
	default:
		faults = append(faults, fmt.Errorf("planner: unknown kind %q", p.Planner.Kind))
	}
	return faults
}

// compile makes ready what is not the routers'.
func (p *Profile) compile() []error {
	var faults []error
	p.own = map[string][]string{}
	p.rules, faults = approval.Compile(p.Approval)
	faults = append(faults, budget.Faults(p.Budget)...)
	if p.Planner != nil {
		for i := range p.Planner.Templates {
			faults = append(faults, p.compileTemplate(&p.Planner.Templates[i])...)
		}
	}
	for i := range p.Conversation.Entities {
		entity := &p.Conversation.Entities[i]
		expression, err := regexp.Compile(entity.Pattern)
		if err != nil || entity.Name == "" {
			faults = append(faults, fmt.Errorf("conversation.entities[%d] %q: it needs a name and a regular expression", i, entity.Name))
		}
		p.entities = append(p.entities, expression)
	}
	if urgent := p.Conversation.Urgent; len(urgent) > 0 {
		var err error
		if p.urgent, err = route.CompileKeywords(urgent); err != nil {
			faults = append(faults, fmt.Errorf("conversation.urgent: %w", err))
		}
	}
	faults = append(append(faults, p.compileLanguage()...), p.compileSummary()...)
	p.fillers = map[string]*arguments.Filler{}
	var err error
	if p.location, err = timezone.Load(p.Timezone); err != nil {
		faults = append(faults, fmt.Errorf("timezone %w", err))
	}
	p.inputs, p.outputs, p.renders = map[string]*validation.Schema{}, map[string]*validation.Schema{}, map[string]*answer.Template{}
	for i := range p.Agents {
		use := &p.Agents[i]
		if use.Render != "" {
			template, err := answer.ParseTemplate(use.Render)
			if err != nil {
				faults = append(faults, fmt.Errorf("agent %q: %w", use.Name, err))
			}
			p.renders[use.Name] = template
		}
		for _, side := range [...]struct {
			name  string
			body  []byte
			ready map[string]*validation.Schema
		}{{"input_schema", use.InputSchema, p.inputs}, {"output_schema", use.OutputSchema, p.outputs}} {
			if len(side.body) == 0 {
				continue
			}
			check, err := validation.Compile(side.body)
			if err != nil {
				faults = append(faults, fmt.Errorf("agent %q: %s: %w", use.Name, side.name, err))
			}
			side.ready[use.Name] = check
		}
		faults = append(faults, p.compileArguments(use)...)
	}
	return faults
}

// compileArguments makes ready what fills the arguments of an agent's tasks.
func (p *Profile) compileArguments(use *schemas.AgentUse) []error {
	var faults []error
	if use.Extractor != "" && (p.agentUse(use.Extractor) != nil && !p.agentUse(use.Extractor).Declares(schemas.KindExtract) || len(use.Arguments) == 0) {
		faults = append(faults, fmt.Errorf("agent %q: its extractor %q does not answer requests of kind %s, or there is nothing to extract", use.Name, use.Extractor, schemas.KindExtract))
	}
	if len(use.Arguments) == 0 {
		return faults
	}
	var spec arguments.Spec
	if err := schemas.Unmarshal(use.Arguments, &spec); err != nil {
		return append(faults, fmt.Errorf("agent %q: arguments: %w", use.Name, err))
	}
	filler, err := arguments.Compile(spec, use.InputSchema)
	if err != nil {
		return append(faults, fmt.Errorf("agent %q: arguments: %w", use.Name, err))
	}
	p.fillers[use.Name] = filler
	return faults
}

// compileTemplate makes a template ready and holds its graph to what every plan
// is held to.
func (p *Profile) compileTemplate(source *schemas.Template) []error {
	ready, err := compileTemplate(source)
	if err != nil {
		return []error{fmt.Errorf("template %q: %w", source.Name, err)}
	}
	p.templates = append(p.templates, ready)
	tasks, err := ready.fill(nil)
	if err != nil {
		return []error{err}
	}
	var faults []error
	for i := range source.Tasks {
		task := &source.Tasks[i]
		if call := approval.Call(p.rules.Arguments(task.Agent, task.Arguments, nil)); call != "" && p.External(task.Agent) {
			p.own[task.Agent] = append(p.own[task.Agent], call)
		}
	}
	for _, fault := range p.check(tasks) {
		faults = append(faults, fmt.Errorf("template %q: %s", source.Name, say.Reason(say.English(), fault)))
	}
	return faults
}

// Router returns the profile's routers.
func (p *Profile) Router() *route.Router { return p.router }

// planner returns where plans come from.
func (p *Profile) planner() schemas.PlannerKind {
	switch {
	case p.Planner != nil:
		return p.Planner.Kind
	case p.Complexity != nil && p.Execution.Mode != schemas.ExecutionSingle:
		return schemas.PlannerRules
	}
	return schemas.PlannerNone
}

// MaxTasks bounds the tasks of a plan.
func (p *Profile) MaxTasks() int {
	if p.Planner == nil || p.Planner.MaxTasks == 0 {
		return schemas.DefaultMaxTasks
	}
	return p.Planner.MaxTasks
}

func (p *Profile) agentUse(agent string) *schemas.AgentUse {
	for i := range p.Agents {
		if p.Agents[i].Name == agent {
			return &p.Agents[i]
		}
	}
	return nil
}

// Reuses reports whether answers of an agent may be used again (M-29).
func (p *Profile) Reuses(agent string) bool {
	use := p.agentUse(agent)
	return use != nil && use.Reuse > 0
}

// External reports whether an agent reaches people or systems outside.
func (p *Profile) External(agent string) bool {
	use := p.agentUse(agent)
	return use != nil && use.SideEffects == schemas.SideEffectsExternal
}

// Async reports whether an agent may answer long after it was asked, by a callback.
func (p *Profile) Async(agent string) bool {
	use := p.agentUse(agent)
	return use != nil && use.Async
}

// Supervisor reports whether an agent lets go of a request as soon as it has taken it over, and waits without a place.
func (p *Profile) Supervisor(agent string) bool {
	use := p.agentUse(agent)
	return use != nil && use.Supervisor
}

// timeoutPerEstimate is how much longer than its estimate a task may take, at
// least (settlement 18).
const timeoutPerEstimate = 3

// workDeadline returns how long an attempt may take: what the agent or the
// profile is given, at least three times the estimate, times the growth for each
// attempt after the first (M-26), whatever the one before has failed by, if it counts. Where questionTimeout is set it holds, and does not grow.
func (p *Profile) workDeadline(task *workflow.Task, agent string, attempt int) time.Duration {
	deadline := time.Duration(p.Deadlines.Work)
	if use := p.agentUse(agent); use != nil && use.Work > 0 {
		deadline = time.Duration(use.Work)
	}
	deadline = max(deadline, timeoutPerEstimate*task.Estimate())
	growth := int64(math.Round(max(p.Retry.TimeoutGrowth, 1) * 1000)) // whole numbers are the same on every machine
	for range attempt - 1 - task.UncountedAttempts - int(task.Inquired) {
		if deadline >= maxWork {
			break
		}
		deadline = min(time.Duration(int64(deadline)/1000*growth), maxWork)
	}
	return deadline
}

// questionTimeout is how long the answer to a question is waited for, from asking on; 0
// leaves it to the deadlines of work.
func (p *Profile) questionTimeout(kind schemas.TaskKind, agent string) time.Duration {
	for i := range p.Routers {
		router := &p.Routers[i]
		switch {
		case kind == schemas.TaskKindAssess && router.Kind == schemas.RouterScore:
			return cmp.Or(time.Duration(router.Deadline), route.DefaultAssessDeadline)
		case kind == schemas.TaskKindRoute && router.Kind == schemas.RouterAgent && router.Agent == agent:
			return cmp.Or(time.Duration(router.Deadline), route.DefaultChoiceDeadline)
		}
	}
	if kind == schemas.TaskKindPlan {
		return time.Duration(p.Deadlines.Plan)
	}
	return 0
}

// assigns reports whether the agent that a plan names is the one that does the
// task, so that there is nothing to decide.
func (p *Profile) assigns(agent string) bool {
	return len(p.Routers) > 0 && p.Routers[0].Kind == schemas.RouterAssigned && p.agentUse(agent) != nil
}

// Bounds of work, so that no sum of times overflows: up to maxWork deadlines
// grow, by at most maxGrowth each time, and no estimate is longer than maxEstimate.
const (
	maxWork     = 30 * 24 * time.Hour
	maxGrowth   = 100
	maxEstimate = maxWork / timeoutPerEstimate
)

// TextsIn returns the sentences of a language, or of the profile's first.
func (p *Profile) TextsIn(tag string) *schemas.Texts { return &p.language(tag).Texts }

func (p *Profile) language(tag string) *schemas.Language {
	for i := range p.Languages {
		if p.Languages[i].Tag == tag {
			return &p.Languages[i]
		}
	}
	return &p.Languages[0]
}

// Found is what was found in long messages before they are decided about.
type Found = route.Found

// Urgent reports whether words of whoever is asked are more urgent than what is asked. Found is what was found in them before.
func (p *Profile) Urgent(words string, found *route.Found) bool {
	return p.urgent != nil && p.urgent.HitAgain(words, found)
}

// ReadAhead looks through the words of a message with the keywords of the profile, and returns what it finds in long ones: a
// decision about the message, beside which it may be called, does not look again. It decides nothing.
func (p *Profile) ReadAhead(words string) *route.Found {
	found := &route.Found{}
	if p.urgent != nil {
		p.urgent.ReadAhead(words, found)
	}
	for _, template := range p.templates {
		if template.keywords == nil || template.keywords.ReadAhead(words, found) {
			break // it is for these words, unless a value is missing
		}
	}
	p.router.ReadAhead(words, found)
	return found
}

// EntitiesIn returns what a session is about after a text, given what it was
// about before; the text may name something else (G-29). What another supervisor
// has handed on stays, though the profile does not know it (G-30).
func (p *Profile) EntitiesIn(text string, before map[string]string) map[string]string {
	now := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if value := entity(before[name]); value != "" && len(name) <= maxEntity && len(now) < maxEntities {
			now[name] = value
		}
	}
	text = route.Excerpt(text)
	for i, expression := range p.entities {
		if value, found := capture(expression, text); found && value != "" {
			now[p.Conversation.Entities[i].Name] = entity(value)
		}
	}
	if len(now) == 0 {
		return nil
	}
	return now
}

const (
	// maxEntities bounds the entities that are handed on, maxEntity the bytes of
	// one's name and value.
	maxEntities = 32
	maxEntity   = 256
)

// entity is the value of an entity as it is kept and compared.
func entity(value string) string { return truncate(strings.TrimSpace(value), maxEntity) }

func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// checkSchema holds a value to a schema; nothing at all counts as null.
func checkSchema(value jsontext.Value, schema *validation.Schema) error {
	if len(value) == 0 {
		value = jsontext.Value("null")
	}
	return schema.Validate(value)
}
