package plan_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/plan"
)

// TestCompileNamesFaults: every fault is named, all together.
func TestCompileNamesFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schemas.Profile)
		says   []string
	}{
		"no language":              {func(p *schemas.Profile) { p.Languages = nil }, []string{"it has no language"}},
		"no words in its language": {func(p *schemas.Profile) { p.Language = "fr" }, []string{`it answers in "fr"`}},
		"no attempt":               {func(p *schemas.Profile) { p.Retry.Attempts = 0 }, []string{"retry.attempts and delivery.attempts"}},
		"no delivery":              {func(p *schemas.Profile) { p.Delivery.Attempts = 0 }, []string{"retry.attempts and delivery.attempts"}},
		"no queue deadline":        {func(p *schemas.Profile) { p.Deadlines.Queue = 0 }, []string{"deadlines.queue"}},
		"no work deadline":         {func(p *schemas.Profile) { p.Deadlines.Work = -1 }, []string{"deadlines.work"}},
		"no router":                {func(p *schemas.Profile) { p.Routers = nil }, []string{"routers"}},
		"a strange agent": {func(p *schemas.Profile) {
			p.Routers = append(p.Routers, schemas.Router{Kind: schemas.RouterDefault, Agent: "stranger"})
		}, []string{"stranger"}},
		"a fallback to itself":     {func(p *schemas.Profile) { p.Agents[0].Fallback = "first" }, []string{`agent "first": its fallback "first"`}},
		"a fallback to a stranger": {func(p *schemas.Profile) { p.Agents[0].Fallback = "third" }, []string{`its fallback "third"`}},
		"a chain of strangers":     {func(p *schemas.Profile) { p.Execution.AllowedChains = [][]string{{"first", "third"}} }, []string{`execution.allowed_chains: "third"`}},
		"timeouts that explode":    {func(p *schemas.Profile) { p.Retry.TimeoutGrowth = 101 }, []string{"retry.timeout_growth is between 0 and 100"}},
		"a planner without a name": {func(p *schemas.Profile) { p.Planner = &schemas.Planner{Kind: schemas.PlannerAgent} }, []string{"planner: it names no agent"}},
		"a planner of its own":     {func(p *schemas.Profile) { p.Planner = &schemas.Planner{Kind: "oracle"} }, []string{`planner: unknown kind "oracle"`}},
		"no templates":             {func(p *schemas.Profile) { p.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate} }, []string{"planner: it has no templates"}},
		"rules without a check": {func(p *schemas.Profile) {
			p.Complexity, p.Planner = nil, &schemas.Planner{Kind: schemas.PlannerRules}
		}, []string{"planner: rules need a complexity check"}},
		"an entity without a name": {func(p *schemas.Profile) { p.Conversation.Entities = []schemas.Entity{{Pattern: "x"}} }, []string{`conversation.entities[0] ""`}},
		"an entity of no pattern":  {func(p *schemas.Profile) { p.Conversation.Entities = []schemas.Entity{{Name: "x", Pattern: "("}} }, []string{`conversation.entities[0] "x"`}},
		"a schema that is none":    {func(p *schemas.Profile) { p.Agents[0].InputSchema = []byte(`{"type":"thing"}`) }, []string{`agent "first": input_schema`}},
		"a schema from elsewhere":  {func(p *schemas.Profile) { p.Agents[1].OutputSchema = []byte(`{"$ref":"https://example.org/x"}`) }, []string{`agent "second": output_schema`}},
		"a judgement of nobody":    {func(p *schemas.Profile) { p.CheckLanguage = "text0" }, []string{`check_language: unknown way of judging texts: "text0"`}},
		"a language not judged": {func(p *schemas.Profile) {
			p.CheckLanguage, p.Language, p.Languages = "text1", schemas.LanguageOfWriter, append(p.Languages, schemas.Language{Tag: "xx"})
		}, []string{`"text1" cannot judge texts in "xx"`}},
		"several": {func(p *schemas.Profile) { p.Languages, p.Retry.Attempts, p.Routers = nil, 0, nil }, []string{"it has no language", "retry.attempts", "routers"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := steps()
			test.change(&source)
			_, err := plan.Compile(source)
			if !errors.Is(err, plan.ErrInvalidProfile) {
				t.Fatalf("got %v", err)
			}
			for _, part := range append(test.says, `"steps"`) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// TestProfileHash: the same profile has the same hash, another has another.
func TestProfileHash(t *testing.T) {
	t.Parallel()
	one, two := compile(t, steps()), compile(t, steps())
	changed := steps()
	changed.Languages[0].Texts.Empty = "fini"
	if one.Hash != two.Hash || len(one.Hash) != 64 || compile(t, changed).Hash == one.Hash {
		t.Errorf("hashes %s, %s", one.Hash, two.Hash)
	}
}

func TestLanguageFor_G28(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x ", 1<<10)
	for name, test := range map[string]struct {
		fixed, text, said, want string
	}{
		"fixed":                             {"de", "the cat and the dog", "en", "de"},
		"said":                              {"user", "der Hund und die Katze", "en", "en"},
		"said with a region":                {"user", "the cat", "de-AT", "de"},
		"said in capitals":                  {"user", "the cat", "DE", "de"},
		"said, but unknown":                 {"user", "der Hund", "fr", "de"},
		"said, but empty before the region": {"user", "der Hund", "-de", "de"},
		"most markers":                      {"user", "the der und", "", "de"},
		"a tie goes to the first":           {"user", "the der", "", "en"},
		"no marker":                         {"user", "12", "", "en"},
		"no text":                           {"user", "", "", "en"},
		"capitals and punctuation":          {"user", "UND? DER!", "", "de"},
		"an umlaut":                         {"user", "für", "", "de"},
		"only whole words":                  {"user", "derby underground", "", "en"},
		"only the beginning counts":         {"user", long + strings.Repeat(" und", 100), "", "en"},
		"cut inside a letter":               {"user", "der " + strings.Repeat("ü", 2<<10), "", "de"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := steps()
			source.Language = test.fixed
			if got := compile(t, source).LanguageFor(test.text, test.said); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestTextsIn: a language without words gets those of the profile's first.
func TestTextsIn(t *testing.T) {
	t.Parallel()
	profile := compile(t, steps())
	if profile.TextsIn("de").Timeout != "zu langsam" || profile.TextsIn("fr").Timeout != "too slow" {
		t.Errorf("%q, %q", profile.TextsIn("de").Timeout, profile.TextsIn("fr").Timeout)
	}
}

// TestEntitiesIn_G29_G30: the text says what the session is about now; what it
// does not speak of stays, also what only another supervisor knows.
func TestEntitiesIn_G29_G30(t *testing.T) {
	t.Parallel()
	source := steps()
	source.Conversation.Entities = []schemas.Entity{{Name: "patient", Pattern: `patient (\d+)`}, {Name: "ward", Pattern: `ward-\w+`}}
	profile := compile(t, source)
	long := strings.Repeat("x", 300)
	many, kept := map[string]string{}, map[string]string{}
	for i := range 40 {
		name := fmt.Sprintf("e%02d", i)
		many[name] = "x"
		if i < 32 {
			kept[name] = "x"
		}
	}
	for name, test := range map[string]struct {
		text   string
		before map[string]string
		want   map[string]string
	}{
		"nothing":                   {"hello", nil, nil},
		"a group":                   {"for patient 12", nil, map[string]string{"patient": "12"}},
		"all of the match":          {"on ward-north", nil, map[string]string{"ward": "ward-north"}},
		"both":                      {"patient 12 on ward-north", nil, map[string]string{"patient": "12", "ward": "ward-north"}},
		"the first of two":          {"patient 12 or patient 13", nil, map[string]string{"patient": "12"}},
		"what was known":            {"hello", map[string]string{"patient": "12"}, map[string]string{"patient": "12"}},
		"another":                   {"patient 13", map[string]string{"patient": "12", "ward": "w"}, map[string]string{"patient": "13", "ward": "w"}},
		"what another one knows":    {"patient 13", map[string]string{"branch": "north"}, map[string]string{"patient": "13", "branch": "north"}},
		"nothing of it":             {"hello", map[string]string{"branch": "", "ward": " "}, nil},
		"no more than a line of it": {"hello", map[string]string{"branch": long, long: "x"}, map[string]string{"branch": long[:256]}},
		"no more than 32":           {"hello", many, kept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := profile.EntitiesIn(test.text, test.before); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestManyAgents_P18: the same plan, with 2 agents and with 20.
func TestManyAgents_P18(t *testing.T) {
	t.Parallel()
	for _, count := range []int{2, 20} {
		source := steps()
		source.Complexity, source.Execution = nil, schemas.Execution{Mode: schemas.ExecutionDAG}
		source.Planner = &schemas.Planner{Kind: schemas.PlannerAgent, Agent: "planner"}
		source.Routers = []schemas.Router{{Kind: schemas.RouterScore}}
		for i := len(source.Agents); i < count; i++ {
			source.Agents = append(source.Agents, schemas.AgentUse{Name: fmt.Sprint("agent", i), Description: "something else"})
		}
		for i := range source.Agents {
			source.Agents[i].Kinds = []schemas.RequestKind{schemas.KindWork, schemas.KindAssess}
		}
		decision, _ := begun(t, compile(t, source), "do it", "")
		respond(decision, decision.Run.Task("plan"), plan.Response{Status: schemas.StatusCompleted, WholeResult: schemas.Result{Text: `["one","two","three"]`}})
		if len(decision.Run.DecisionTasks) != 1+3*count {
			t.Errorf("%d agents have been asked %d times", count, len(decision.Run.DecisionTasks)-1)
		}
		for _, question := range decision.Run.DecisionTasks[1:] {
			score := `{"score":0.1}`
			if question.Agent == "second" {
				score = `{"score":1}`
			}
			said := schemas.Result{Data: []byte(score)}
			respond(decision, decision.Run.Task(question.ID), plan.Response{Status: schemas.StatusCompleted, WholeResult: said, Result: schemas.Content{Result: said}})
		}
		for _, task := range decision.Run.Tasks {
			if task.Agent != "second" {
				t.Errorf("of %d agents %s does task %s", count, task.Agent, task.ID)
			}
		}
		finish(t, decision)
		if decision.Run.Status != schemas.RunCompleted {
			t.Errorf("with %d agents the run is %s", count, decision.Run.Status)
		}
	}
}
