package llm_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
	"podium/bus/agent"
	"podium/schemas"
)

// ending is how a request ends.
type ending struct {
	calls     int
	data      string // of a completed outcome
	text      string
	status    schemas.ResponseStatus
	permanent bool
	category  schemas.FailureCategory
	says      string // in the words for the person; empty is no failure
	remedy    string // in the words for whoever runs it
}

// TestTroubles_O12_O34_M27: whatever a server or a model does, a request ends in a defined way.
func TestTroubles_O12_O34_M27(t *testing.T) {
	t.Parallel()
	big := modelserver.Answer{Text: strings.Repeat("word ", 3<<20/5)}
	invalid := func(says string) ending { return ending{calls: 2, category: schemas.CategoryValidation, says: says} }
	for _, test := range []struct {
		name    string
		role    llm.Role
		answers []modelserver.Answer
		want    ending
	}{
		{"prose around", llm.RoleRouter, all("Sure! I choose " + decision + " because {it} fits."), ending{calls: 1, data: decision}},
		{"an example first", llm.RoleRouter, all(`Such as {"next_agent": "rag_agent"}. But: ` + decision), ending{calls: 1, data: decision}},
		{"fences", llm.RolePlanner, all("Here is the plan:\n```json\n" + twoTasks + "\n```\nGood luck!"), ending{calls: 1, data: twoTasks}},
		{"a fence without end", llm.RolePlanner, all("```\n" + twoTasks), ending{calls: 1, data: twoTasks}},
		{"wrapped", llm.RolePlanner, all(`{"output": ` + twoTasks + `}`), ending{calls: 1, data: twoTasks}},
		{"wrapped twice, as text", llm.RoleRouter, all(`{"result": {"response": ` + quote(decision) + `}}`), ending{calls: 1, data: decision}},
		{"thoughts", llm.RoleRouter, all("<think>maybe {\"next_agent\": \"rag_agent\"}</think>" + decision), ending{calls: 1, data: decision}},
		{"broken JSON", llm.RoleRouter, all(`{next_agent: 'qm_agent', "reasoning": "It is chemistry.", "response": "",`), ending{calls: 1, data: decision}},
		{"broken JSON in prose", llm.RolePlanner, all("Plan:\n" + strings.Replace(twoTasks, `"b"`, `'b'`, 1) + "\nThat's all."), ending{calls: 1, data: twoTasks}},
		{"spelled differently", llm.RoleRouter, all(strings.Replace(decision, "qm_agent", "QM Agent", 1)), ending{calls: 1, data: decision}},
		{"more than asked for", llm.RoleRouter, all(strings.Replace(decision, "{", `{"tools": ["mail"], `, 1)), ending{calls: 1, data: decision}},
		{"nulls", llm.RoleExtractor, all(`{"day": "Monday", "n": null}`), ending{calls: 1, data: found}},
		{"nothing to extract", llm.RoleExtractor, all(`{}`), ending{calls: 1, data: `{}`}},
		{"corrected", llm.RoleRouter, []modelserver.Answer{{Text: `{"next_agent": "chef"}`}, {Text: decision}}, ending{calls: 2, data: decision}},
		{"corrected from prose", llm.RolePlanner, []modelserver.Answer{{Text: "I would compute first."}, {Text: twoTasks}}, ending{calls: 2, data: twoTasks}},
		{"unknown agent", llm.RoleRouter, all(`{"next_agent": "mailbox_forwarder"}`), invalid("/next_agent")},
		{"unknown agent in a plan", llm.RolePlanner, all(strings.Replace(twoTasks, "rag_agent", "chef", 1)), invalid("/tasks/1/assigned_to")},
		{"empty plan", llm.RolePlanner, all(`{"tasks": []}`), invalid("/tasks")},
		{"too many tasks", llm.RolePlanner, all(`{"tasks": [` + strings.Repeat(`{"task_id": "a", "description": "x"},`, 5) + `{"task_id": "b", "description": "x"}]}`), invalid("/tasks")},
		{"ignores the schema", llm.RolePlanner, all(`{"steps": "compute"}`), invalid("/tasks is missing")},
		{"wrong type", llm.RoleExtractor, all(`{"n": "many"}`), invalid("/n")},
		{"prose only", llm.RoleRouter, all("I choose the chemist."), invalid("no JSON object")},
		{"calls a tool", llm.RoleRouter, []modelserver.Answer{{Tool: "forward_mailbox"}}, invalid("no JSON object")},
		{"calls a tool at work", llm.RoleWorker, []modelserver.Answer{{Tool: "forward_mailbox"}}, invalid("no words")},
		{"says nothing", llm.RoleResponder, all("  \n"), invalid("no words")},
		{"words in a wrapper", llm.RoleSummarizer, all(`{"response": "It is 42 eV."}`), ending{calls: 1, text: "It is 42 eV."}},
		{"cut at its length", llm.RoleWorker, []modelserver.Answer{{Text: "It is", Finish: "length"}}, ending{calls: 1, text: "It is", status: schemas.StatusPartial}},
		{"data cut at its length", llm.RoleExtractor, []modelserver.Answer{{Text: `{"n": "`, Finish: "length"}}, invalid("cut off")},
		{"half a plan", llm.RolePlanner, []modelserver.Answer{{Text: strings.TrimSuffix(twoTasks, "]}"), Finish: "length"}}, invalid("cut off")},
		{"refuses", llm.RoleResponder, []modelserver.Answer{{Text: "No", Finish: "content_filter"}}, ending{calls: 1, permanent: true, says: "refused to answer"}},
		{"2 MB, in one piece", llm.RoleRouter, []modelserver.Answer{big}, ending{calls: 1, permanent: true, says: "too long"}},
		{"2 MB, streamed", llm.RoleResponder, []modelserver.Answer{big}, ending{calls: 1, permanent: true, says: "too long"}},
		{"truncated stream", llm.RoleResponder, []modelserver.Answer{{Text: "It is", Truncated: true}}, ending{calls: 1, says: "broke off"}},
		{"truncated answer", llm.RoleRouter, []modelserver.Answer{{Text: decision, Truncated: true}}, ending{calls: 1, says: "broke off"}},
		{"broken stream", llm.RoleResponder, []modelserver.Answer{{Text: "It is 42", Broken: true}}, ending{calls: 1, category: schemas.CategoryDependency, says: "cannot be reached", remedy: "broke"}},
		{"broken connection", llm.RoleRouter, []modelserver.Answer{{Text: decision, Broken: true}}, ending{calls: 1, category: schemas.CategoryDependency, says: "cannot be reached", remedy: "broke"}},
		{"no completion", llm.RoleRouter, []modelserver.Answer{{Raw: "<html>Log in"}}, ending{calls: 1, says: "broke off", remedy: "look at base_url"}},
		{"no choices", llm.RoleRouter, []modelserver.Answer{{Raw: `{"choices": []}`}}, ending{calls: 1, says: "broke off", remedy: "look at base_url"}},
		{"an error in the stream", llm.RoleWorker, []modelserver.Answer{{Raw: `data: {"error": {"message": "` + key + `"}}` + "\n\n"}}, ending{calls: 1, says: "broke off"}},
		{"silence", llm.RoleRouter, []modelserver.Answer{{Silent: true}}, ending{calls: 1, says: "had not answered", remedy: "look at the load of its server, and at timeout"}},
		{"silence inside of a stream", llm.RoleWorker, []modelserver.Answer{{Silent: true, Text: "It is"}}, ending{calls: 1, says: "had not answered"}},
		{"429", llm.RoleRouter, []modelserver.Answer{{Status: 429}}, ending{calls: 1, category: schemas.CategoryResource, says: "no room", remedy: "HTTP 429: it has no room"}},
		{"503, streamed", llm.RoleWorker, []modelserver.Answer{{Status: 503}}, ending{calls: 1, category: schemas.CategoryResource, says: "no room", remedy: "HTTP 503"}},
		{"500", llm.RoleRouter, []modelserver.Answer{{Status: 500}}, ending{calls: 1, says: "out of order", remedy: "HTTP 500: look at the log of that server"}},
		{"401", llm.RoleRouter, []modelserver.Answer{{Status: 401}}, refused("HTTP 401: look at key")},
		{"403, streamed", llm.RoleWorker, []modelserver.Answer{{Status: 403}}, refused("HTTP 403: look at key")},
		{"404, streamed", llm.RoleSummarizer, []modelserver.Answer{{Status: 404}}, refused("HTTP 404: look at model and base_url")},
		{"400", llm.RoleRouter, []modelserver.Answer{{Status: 400}}, ending{calls: 1, permanent: true, says: "does not take the request", remedy: "HTTP 400: look at model"}},
		{"a redirect", llm.RoleRouter, []modelserver.Answer{{Status: 302}}, refused("HTTP 302, a redirect, which is not followed: look at base_url")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			timeout := 30 * time.Second
			if test.answers[0].Silent {
				timeout = 300 * time.Millisecond
			}
			var made *llm.Agent
			var server *modelserver.Server
			var outcome agent.Outcome
			var failure *agent.Failure
			for called := false; !called; timeout *= 2 { // a busy machine needs longer for the call
				made, server = asking(t, test.role, says(test.answers...), func(c *llm.Config) { c.Client, c.Timeout = noRedirects(), timeout })
				outcome, failure = handle(t, made, request(test.role, "What is the energy?"))
				called = len(server.Calls()) > 0
			}
			check(t, &test.want, &outcome, failure)
			if got := len(server.Calls()); got != test.want.calls {
				t.Errorf("%d calls", got)
			}
			if test.answers[0].Status == 0 && (outcome.Usage == nil || *outcome.Usage.TokensUsed == 0) {
				t.Error("it is not said what it has cost")
			}
		})
	}
}

// refused is the end of a request that the server does not take.
func refused(remedy string) ending {
	return ending{calls: 1, permanent: true, category: schemas.CategoryDependency, says: "does not take the request", remedy: remedy}
}

func all(text string) []modelserver.Answer { return []modelserver.Answer{{Text: text}} }

func quote(text string) string {
	body, _ := json.Marshal(text)
	return string(body)
}

func check(t *testing.T, want *ending, outcome *agent.Outcome, failure *agent.Failure) {
	t.Helper()
	if want.says == "" {
		if failure != nil {
			t.Fatalf("it fails: %s (%v)", failure.Message, failure.Err)
		}
		if !same(string(outcome.Data), want.data) || outcome.Text != want.text || outcome.Status != want.status {
			t.Errorf("outcome %s %q %s", outcome.Data, outcome.Text, outcome.Status)
		}
		return
	}
	if failure == nil {
		t.Fatalf("it does not fail: %s %q", outcome.Data, outcome.Text)
	}
	if !strings.Contains(failure.Message, want.says) || failure.Permanent != want.permanent || failure.Category != want.category || failure.Unknown {
		t.Errorf("%q (%v), permanent %t, category %q", failure.Message, failure.Err, failure.Permanent, failure.Category)
	}
	if !strings.Contains(failure.Remedy, want.remedy) || strings.Contains(failure.Message, "HTTP") {
		t.Errorf("a person reads %q, whoever runs it %q", failure.Message, failure.Remedy)
	}
	if strings.Contains(failure.Message+failure.Remedy+failure.Error(), key) {
		t.Error("the failure has the key")
	}
}

// TestWorkerFallsBack: what a worker says without the form that was asked for is a part of its work; anybody
// else's is nothing.
func TestWorkerFallsBack(t *testing.T) {
	t.Parallel()
	withSchema := func(c *llm.Config) {
		c.OutputSchema = []byte(`{"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}`)
	}
	made, server := asking(t, llm.RoleWorker, says(modelserver.Answer{Text: "About 42 EUR."}), withSchema)
	outcome, failure := handle(t, made, request(llm.RoleWorker, "Add it up"))
	check(t, &ending{text: "About 42 EUR.", status: schemas.StatusPartial}, &outcome, failure)
	if len(outcome.Issues) != 1 || len(server.Calls()) != 2 {
		t.Errorf("%+v after %d calls", outcome.Issues, len(server.Calls()))
	}
	if correction := server.Calls()[1]; correction.Block("answer") != "About 42 EUR." || correction.Block("mistake") != "it holds no JSON object" {
		t.Errorf("corrected by\n%s", correction.User)
	}
	made, _ = asking(t, llm.RoleWorker, says(modelserver.Answer{Text: "```\n{\"total\": 42}\n```"}), withSchema)
	outcome, failure = handle(t, made, request(llm.RoleWorker, "Add it up"))
	check(t, &ending{data: `{"total": 42}`}, &outcome, failure)
	made, _ = asking(t, llm.RoleResponder, says(modelserver.Answer{Text: "About 42 EUR."}), withSchema)
	outcome, failure = handle(t, made, request(llm.RoleResponder, "Add it up"))
	check(t, &ending{category: schemas.CategoryValidation, says: "no JSON object"}, &outcome, failure)
}

// TestPlanIsTidied: a plan names no files, constraints or references, which are not a planner's to name.
func TestPlanIsTidied(t *testing.T) {
	t.Parallel()
	made, _ := asking(t, llm.RolePlanner, says(modelserver.Answer{Text: `{"tasks": [{"task_id": "a", "description": "x", "assigned_to": "calendar", "dependencies": [],
		"deliverables": ["/etc/passwd"], "context": {"arguments": {"day": "Monday"}, "references": ["x"], "files_to_modify": ["/etc/passwd"], "request": "forged"}}]}`}))
	outcome, failure := handle(t, made, request(llm.RolePlanner, "Monday"))
	check(t, &ending{data: `{"tasks": [{"task_id": "a", "description": "x", "assigned_to": "calendar", "dependencies": [], "context": {"arguments": {"day": "Monday"}}}]}`}, &outcome, failure)
}

// TestGarbageIsNotQuoted: a server that speaks no HTTP, and says the key instead, does not bring it into a failure.
func TestGarbageIsNotQuoted(t *testing.T) {
	t.Parallel()
	for _, garbage := range []string{"%s\r\n\r\n", "HTTP/1.1 %s\r\n\r\n", "HTTP/1.1 200 OK\r\n%s\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n"} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = nethttp.ReadRequest(bufio.NewReader(conn))
				fmt.Fprintf(conn, garbage, "Bearer "+key)
				_ = conn.Close()
			}
		}()
		for _, role := range []llm.Role{llm.RoleRouter, llm.RoleWorker} {
			made, _ := asking(t, role, says(modelserver.Answer{}), func(c *llm.Config) { c.BaseURL = "http://" + listener.Addr().String() })
			_, failure := handle(t, made, request(role, "energy"))
			if failure == nil || failure.Permanent || failure.Remedy == "" || strings.Contains(failure.Message+failure.Remedy+failure.Error(), key) {
				t.Errorf("%s: %v", role, failure)
			}
		}
	}
}

// TestKeyGoesNowhere: a server that repeats the key, in an error, in a header or in words, does not bring it into an
// outcome, a failure or a further prompt.
func TestKeyGoesNowhere(t *testing.T) {
	t.Parallel()
	for _, role := range llm.Roles() {
		for _, status := range []int{0, 200, 302, 400, 401, 429, 500, 503} {
			made, server := asking(t, role, func(call *modelserver.Call) modelserver.Answer {
				if status != 0 {
					return modelserver.Answer{Status: status}
				}
				return modelserver.Answer{Text: "Your header is " + call.Authorization + ` {"` + call.Authorization + `": 1}`}
			}, func(c *llm.Config) { c.Client = noRedirects() })
			var shown []byte // before the answer, and not even the beginning of the key
			asked := request(role, "What is my key?").WithPartial(func(text string) { shown = append(shown, text...) })
			outcome, err := made.Handle(t.Context(), asked, func(int, string) {})
			if bytes.Contains(shown, []byte(key[:len(key)/2])) {
				t.Errorf("%s: shown %s", role, shown)
			}
			said, marshalErr := json.Marshal(outcome)
			if marshalErr != nil {
				t.Fatal(marshalErr)
			}
			if err != nil {
				failure, _ := err.(*agent.Failure) //nolint:errorlint // what Handle returns is what is logged
				said = append(said, failure.Message+failure.Remedy+failure.Error()...)
			}
			for _, call := range server.Calls() {
				said = append(said, call.Body...)
			}
			if bytes.Contains(said, []byte(key)) || len(server.Calls()) == 0 {
				t.Errorf("%s, %d: %s", role, status, said)
			}
		}
	}
}
