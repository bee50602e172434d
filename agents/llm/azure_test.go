package llm_test

import (
	nethttp "net/http"
	"strings"
	"testing"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
)

func onAzure(server *modelserver.Server) llm.Config {
	return llm.Config{BaseURL: server.Azure, Model: "gpt-4o", API: llm.APIAzure, APIVersion: "2024-10-21", Key: key, Client: &nethttp.Client{}}
}

// TestAzure_O34: Azure is addressed as it wants to be, in one piece and as a stream, and holds answers to the schema without being asked whether it does.
func TestAzure_O34(t *testing.T) {
	t.Parallel()
	for role, answer := range map[llm.Role]string{llm.RoleRouter: decision, llm.RoleResponder: "Hello."} {
		server := modelserver.Start(t, says(modelserver.Answer{Text: answer, Tokens: 7}))
		config := onAzure(server)
		config.Role = role
		made, err := llm.New(config)
		if err != nil {
			t.Fatal(err)
		}
		outcome, failure := handle(t, made, request(role, "Optimize water."))
		if failure != nil || !strings.Contains(outcome.Text+string(outcome.Data), strings.Trim(answer[:6], `{"`)) {
			t.Fatalf("%s: %+v, %v", role, outcome, failure)
		}
		calls := server.Calls()
		if len(calls) != 1 {
			t.Fatalf("%s: %d calls", role, len(calls))
		}
		call := calls[0]
		if call.Model != "gpt-4o" || call.APIKey != key || call.Authorization != "" || call.APIVersion != "2024-10-21" {
			t.Errorf("%s: asked %+v", role, call)
		}
		if structured := call.Schema != ""; structured != (role == llm.RoleRouter) {
			t.Errorf("%s: held to a schema: %t", role, structured)
		}
	}
}

// TestStructuredByProvider_O34: a schema goes along to OpenAI and Azure, and to others when it is said; what answers without one is read out of its
// words, and asked once more when nothing can be.
func TestStructuredByProvider_O34(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*llm.Config)
		answers []modelserver.Answer
		schema  bool
		calls   int
		refused bool
	}{
		"openai":            {func(c *llm.Config) { c.BaseURL = "https://api.openai.com/v1" }, []modelserver.Answer{{Text: decision}}, true, 1, false},
		"azure by its name": {func(c *llm.Config) { c.BaseURL = "https://desk.openai.azure.com/openai/v1" }, []modelserver.Answer{{Text: decision}}, true, 1, false},
		"openai that may not": {func(c *llm.Config) {
			c.BaseURL, c.Structured = "https://api.openai.com/v1", llm.EnforcingNever
		}, []modelserver.Answer{{Text: decision}}, false, 1, false},
		"another, fenced": {func(*llm.Config) {}, []modelserver.Answer{{Text: "Sure:\n```json\n" + decision + "\n```\nAnything else?"}}, false, 1, false},
		"another, in prose": {
			func(*llm.Config) {}, []modelserver.Answer{{Text: "I think that " + decision + " is best."}}, false, 1, false,
		},
		"another, and only then": {func(*llm.Config) {}, []modelserver.Answer{{Text: "Let me think."}, {Text: decision}}, false, 2, false},
		"another, and never":     {func(*llm.Config) {}, []modelserver.Answer{{Text: "Let me think."}}, false, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modelserver.Start(t, says(test.answers...))
			config := llm.Config{Role: llm.RoleRouter, BaseURL: server.URL, Model: "m", Key: key, Client: &nethttp.Client{Transport: everywhere{server}}}
			test.change(&config)
			made, err := llm.New(config)
			if err != nil {
				t.Fatal(err)
			}
			outcome, failure := handle(t, made, request(llm.RoleRouter, "Optimize water."))
			if (failure != nil) != test.refused || !test.refused && !strings.Contains(string(outcome.Data), "qm_agent") {
				t.Errorf("%s, %v", outcome.Data, failure)
			}
			calls := server.Calls()
			if len(calls) != test.calls || (calls[0].Schema != "") != test.schema {
				t.Errorf("%d calls, the first with the schema %q", len(calls), calls[0].Schema)
			}
		})
	}
}

// everywhere takes calls to any host to the server of the test.
type everywhere struct{ server *modelserver.Server }

// RoundTrip implements http.RoundTripper.
func (e everywhere) RoundTrip(asked *nethttp.Request) (*nethttp.Response, error) {
	here := asked.Clone(asked.Context())
	here.URL.Scheme, here.URL.Host = "http", strings.TrimPrefix(e.server.Azure, "http://")
	here.URL.Path = strings.TrimPrefix(here.URL.Path, "/openai")
	return nethttp.DefaultTransport.RoundTrip(here)
}

func TestAzureNeedsItsVersion(t *testing.T) {
	t.Parallel()
	server := modelserver.Start(t, says(modelserver.Answer{}))
	config := onAzure(server)
	config.APIVersion = ""
	if _, err := llm.New(config); err == nil || !strings.Contains(err.Error(), "api_version") {
		t.Errorf("without a version: %v", err)
	}
	config = onAzure(server)
	config.API = llm.APIOpenAI
	if _, err := llm.New(config); err == nil {
		t.Error("a version is taken without Azure")
	}
}
