package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/session"
)

// outputProfile is like that of the practice: German alone, one task a message, one chain of two, a model that may answer itself.
func outputProfile() schemas.Profile {
	profile := storyProfile()
	profile.Language, profile.CheckLanguage = "de", "text1"
	profile.Complexity = nil
	profile.Agents = []schemas.AgentUse{
		{Name: "diagnose"}, {Name: "chat_agent"}, {Name: "calendar", InputSchema: jsontext.Value(`{"type":"object","required":["day"]}`)},
	}
	profile.Execution.AllowedChains = [][]string{{"diagnose", "chat_agent"}}
	profile.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: []schemas.Template{{
		Name: "symptoms", Keywords: []schemas.Keyword{{Word: "juck", Mode: schemas.ModePrefix}}, Tasks: []schemas.TemplateTask{
			{Task: "a", Description: "{request}", Agent: "diagnose"}, {Task: "b", Description: "{request}", Agent: "chat_agent", Dependencies: []string{"a"}},
		},
	}}}
	profile.Routers = []schemas.Router{
		{Kind: schemas.RouterAssigned},
		{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{{Name: "days", Agent: "calendar", Keywords: []schemas.Keyword{{Word: "termin", Mode: schemas.ModePrefix}}}}},
		{Kind: schemas.RouterAgent, Agent: "model"},
		{Kind: schemas.RouterDefault, Agent: "chat_agent"},
	}
	return profile
}

// said is what an agent, or the model, does when it is asked.
type said struct {
	name    string
	payload *schemas.ResponsePayload // nil: nothing, until the deadline
}

func answers(text string) *schemas.ResponsePayload {
	return &schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: text}}
}

func fails(status schemas.ResponseStatus, words string, needs ...schemas.Need) *schemas.ResponsePayload {
	return &schemas.ResponsePayload{Status: status, Needs: needs, IssuesEncountered: []schemas.Issue{{
		IssueID: "i1", TaskID: "t", Agent: "a", Severity: "high", Description: words,
	}}}
}

func chooses(agent, words string) *schemas.ResponsePayload {
	return &schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Data: jsontext.Value(fmt.Sprintf(`{"next_agent":%q,"reasoning":"x","response":%q}`, agent, words))}}
}

const (
	german  = "Das ist in den meisten Fällen harmlos und vergeht nach wenigen Tagen."
	english = "In most cases this is harmless and will be gone after a few days."
	french  = "Cela est le plus souvent sans gravité et passe après quelques jours."

	database = "The database is not reachable at the moment"
	whichDay = "Which day do you mean?"
	ownWords = "I can calculate for you and write your letters."
)

func agentsDo() []said {
	mixed := german + " " + english
	return []said{
		{"German", answers(german)},
		{"English", answers(english)},
		{"both", answers(mixed)},
		{"French", answers(french)},
		{"nothing to say", answers("")},
		{"silence", nil},
		{"failure in English", fails(schemas.StatusFailed, database)},
		{"failure in German", fails(schemas.StatusFailed, "Die Datenbank ist nicht erreichbar")},
		{"blocked", fails(schemas.StatusBlocked, whichDay)},
		{"a need", fails(schemas.StatusBlocked, "", schemas.Need{Name: "day", Question: map[string]string{"de": whichDay}})},
		{"data in English", &schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Data: jsontext.Value(`{"note":"` + english + `"}`)}}},
		{"a part", &schemas.ResponsePayload{Status: schemas.StatusPartial, Result: &schemas.Result{Text: german}}},
	}
}

func modelDoes() []said {
	return []said{
		{"an agent", chooses("chat_agent", "")},
		{"its own words", chooses(schemas.RouteRespond, german)},
		{"its own words in English", chooses(schemas.RouteRespond, ownWords)},
		{"nobody", chooses("weather", "")},
		{"the end", chooses(schemas.RouteFinish, "")},
		{"prose", answers("I do not know.")},
		{"silence", nil},
	}
}

// TestOneOutput_G03: whatever agents and a model do, each input ends in exactly one of: one call of an agent, or of the one chain that is allowed;
// words without a call; a structured error. What the person reads of any of them is German.
func TestOneOutput_G03(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for _, words := range []string{"Mich juckt der Arm", "Bitte einen Termin", "Wie geht es dir"} {
		for _, model := range modelDoes() {
			for _, first := range agentsDo() {
				for _, second := range agentsDo()[:len(agentsDo())/3] {
					if words == "Bitte einen Termin" && (model.name != "silence" || first.name != "silence" || second.name != "German") {
						continue // nobody is asked
					}
					if words == "Mich juckt der Arm" && model.name != "silence" {
						continue // the model is not
					}
					name := fmt.Sprintf("%s: model %s, agents %s, then %s", words, model.name, first.name, second.name)
					kinds[oneOutput(t, name, words, model, []said{first, second})]++
				}
			}
		}
	}
	for _, kind := range []string{"call", "chain", "words", "error"} {
		if kinds[kind] == 0 {
			t.Errorf("nothing has ended in %s: %v", kind, kinds)
		}
	}
}

// oneOutput plays one input to its end, and returns what its output is.
func oneOutput(t *testing.T, name, words string, model said, agents []said) string {
	t.Helper()
	s := newStage(t, outputProfile())
	delivered := ""
	asked := s.takes(t, s.event(t, "c1", schemas.TypeChatReceived, schemas.ChatReceived{Provider: "webhook", Channel: "web", MessageID: "c1", Text: words}))
	for step := 0; delivered == ""; step++ {
		if step > 40 {
			t.Fatalf("%s: it does not end", name)
		}
		request, given := requested(t, asked.outputs)
		switch {
		case given && request.To == schemas.ChannelChat:
			var delivery schemas.DeliveryArguments
			if err := schemas.Unmarshal(request.Payload.Tasks[0].Context.Arguments, &delivery); err != nil {
				t.Fatal(err)
			}
			delivered = delivery.Text
			continue
		case given && request.To == "model" && model.payload != nil:
			asked = s.gives(t, request, *model.payload)
			continue
		case given && request.To != "model" && agents[0].payload != nil:
			does := agents[0]
			if len(agents) > 1 {
				agents = agents[1:]
			}
			asked = s.gives(t, request, *does.payload)
			continue
		}
		deadline, waits := s.due(s.now.Add(time.Hour))
		if !waits {
			t.Fatalf("%s: nothing is waited for, and nothing was said", name)
		}
		s.now = deadline.At
		asked = s.expire(t, deadline)
	}
	return s.isOneOutput(t, name, delivered)
}

// gives answers a request.
func (s *stage) gives(t *testing.T, request schemas.ExecutionRequest, payload schemas.ResponsePayload) decided {
	t.Helper()
	for task := range s.state.Active.All {
		if task.Request == request.MessageID {
			given, err := s.take(t, s.answerTo(t, task.Agent, s.state.Active.Number, task.ID, task.Attempt, payload), task.Agent)
			if err != nil {
				t.Fatal(err)
			}
			return given
		}
	}
	t.Fatalf("nobody waits for %s", request.MessageID)
	return decided{}
}

// requested returns the newest request among outputs.
func requested(t *testing.T, outputs []session.Output) (request schemas.ExecutionRequest, found bool) {
	t.Helper()
	for i := range slices.Backward(outputs) {
		if outputs[i].Kind == session.OutputRequest {
			request, err := schemas.DecodeExecutionRequest(outputs[i].Event.Data)
			if err != nil {
				t.Fatal(err)
			}
			return request, true
		}
	}
	return request, false
}

// isOneOutput holds a settled run to what an output is.
func (s *stage) isOneOutput(t *testing.T, name, delivered string) string {
	t.Helper()
	run := s.state.Active
	var called []string
	for _, task := range run.Tasks {
		if task.Attempt > 0 {
			called = append(called, task.Agent)
		}
	}
	foreign := func(words string) bool { return strings.Contains(delivered, words) }
	if strings.TrimSpace(delivered) == "" || slices.ContainsFunc([]string{english, french, database, whichDay, ownWords}, foreign) {
		t.Errorf("%s: the person reads %q", name, delivered)
	}
	chain := slices.Equal(called, []string{"diagnose", "chat_agent"})
	if len(called) > 1 && !chain {
		t.Errorf("%s: %q were called", name, called)
	}
	switch {
	case run.Error != nil:
		failure := run.Error
		if body := canonical(t, failure); schemas.Validate("error", body) != nil {
			t.Errorf("%s: the error %s is none", name, body)
		}
		if len(failure.Message) != 1 || failure.Message["de"] == "" || len(failure.Reasons) == 0 || run.Status == schemas.RunCompleted {
			t.Errorf("%s: a run that is %s ends with %+v", name, run.Status, failure)
		}
		return "error"
	case run.Status != schemas.RunCompleted:
		t.Errorf("%s: the run is %s, without an error", name, run.Status)
	case len(called) == 0:
		if run.Reason != schemas.StopDirectAnswer && run.Reason != schemas.StopFinished {
			t.Errorf("%s: nobody was called, and the run ends as %s", name, run.Reason)
		}
		return "words"
	case slices.ContainsFunc(run.Tasks, func(task *workflow.Task) bool { return task.State != workflow.TaskCompleted }):
		t.Errorf("%s: a call has not ended, and there is no error", name)
	case chain:
		return "chain"
	}
	return "call"
}
