package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
	"podium/schemas/validation"
	"podium/supervisor/answer"
)

// Validate checks what needs more than one value of the file to be seen, or more
// than a tag to be said. The error is diagnostic.Problems, in the order of the file.
func (c *Config) Validate() error {
	v := &validator{config: c, languages: Languages()}
	v.ledger()
	v.listen()
	v.publicURL()
	v.proxies()
	v.sources()
	v.mail()
	v.chat()
	v.agents()
	v.tiers()
	for _, name := range slices.Sorted(maps.Keys(v.config.People)) {
		v.person(name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		v.profile(name)
	}
	v.localAccounts()
	return v.problems.Sorted()
}

type validator struct {
	config    *Config
	languages []schemas.Language
	problems  diagnostic.Problems
}

// problem names the value at a path, or the section around one that was left out.
func (v *validator) problem(path, format string, args ...any) {
	at := strictyaml.At(v.config.places, path)
	v.problems = append(v.problems, &diagnostic.Problem{
		File: cmp.Or(at.File, v.config.file), Line: at.Line, Column: at.Column, Path: path, Message: fmt.Sprintf(format, args...),
	})
}

func (v *validator) ledger() {
	if nats := v.config.Ledger.NATS; nats != nil {
		if fault := ServersFault(nats.URL); fault != "" {
			v.problem("ledger.nats.url", "%s", fault)
		}
		for _, endpoint := range nats.MonitoringURLs() {
			if !isURL(endpoint, "http", "https") {
				v.problem("ledger.nats.monitoring", "it is not a list of addresses such as http://host:8222")
			}
		}
	}
}

// ServersFault says what is wrong with a list of NATS servers; empty is nothing.
func ServersFault(servers string) string {
	for server := range strings.SplitSeq(servers, ",") {
		server = strings.TrimSpace(server)
		switch parsed, err := url.Parse(server); {
		case err != nil || !isURL(server, "nats", "tls", "ws", "wss"):
			return "it is not a list of addresses such as nats://host:4222"
		case parsed.User != nil:
			return "an address holds no user, password or token, because it is shown in logs and kept in instance.json: " +
				"give the server an account with nkeys, and name the file of the core's seed as credentials"
		}
	}
	return ""
}

func (v *validator) agents() {
	asked := 0 // agents whose requests stand in the work stream
	for _, agent := range v.config.Agents {
		if agent.Kind != KindPerson {
			asked++
		}
	}
	if asked > bus.MaxAgents {
		v.problem("agents", "there are %d agents; a ledger serves %d: divide them among several installations", asked, bus.MaxAgents)
	}
	for _, name := range slices.Sorted(maps.Keys(v.config.Agents)) {
		agent, path := v.config.Agents[name], "agents."+name
		v.name(path, name)
		if schemas.ValidToken(name) && !schemas.ValidAgentName(name) {
			v.problem(path, "an agent's name needs a letter, _ or -: a number could be taken for one of the server's own")
		}
		if (agent.Kind == KindMail) != (name == MailAgent) || (agent.Kind == KindChat) != (name == ChatAgent) {
			v.problem(path, "the agents that deliver answers are named as their kind: %s and %s", MailAgent, ChatAgent)
		}
		v.agentKeys(path, &agent)
		v.members(path, &agent)
		switch agent.Kind {
		case KindHTTP:
			v.endpoint(path, "url", agent.URL, &agent)
			v.async(path, &agent)
		case KindLLM:
			v.languageModel(path, &agent)
		case KindMCP:
			v.toolServer(path, &agent)
		case KindCaldav, KindCarddav:
			v.collection(path, &agent)
		case KindDocument:
			v.documents(path, &agent)
		case KindFile:
			v.files(path, &agent)
		case KindRetrieval:
			v.retrieval(path, &agent)
		case KindCalculator, KindEcho, KindExec, KindExternal, KindScripted, KindPerson, KindSupervisor, KindMail, KindChat:
		}
		if agent.Kind == KindExec && (len(agent.Command) == 0 || agent.Command[0] == "") {
			v.problem(path, "an agent of kind exec needs a command")
		}
		for i, variable := range agent.Env {
			if name, _, _ := strings.Cut(variable, "="); name == "" {
				v.problem(fmt.Sprintf("%s.env[%d]", path, i), "it is neither NAME nor NAME=value")
			}
		}
	}
}

// agentKeys refuses keys that mean nothing for an agent's kind.
func (v *validator) agentKeys(path string, agent *Agent) {
	for _, key := range []struct {
		name  string
		set   bool
		kinds []AgentKind
	}{
		{"command", len(agent.Command) > 0, []AgentKind{KindExec, KindMCP}},
		{"timeout", agent.Timeout != 0, []AgentKind{KindExec, KindHTTP, KindLLM, KindMCP, KindExternal}},
		{"url", agent.URL != "", append(collections(), KindHTTP, KindMCP)},
		{"user", agent.User != "", collections()},
		{"password", agent.Password != "", collections()},
		{"members", len(agent.Members) > 0, append(collections(), KindRetrieval)},
		{"timezone", agent.Timezone != "", []AgentKind{KindCaldav}},
		{"duration", agent.Duration != 0, []AgentKind{KindCaldav}},
		{"opening_hours", len(agent.OpeningHours) > 0, []AgentKind{KindCaldav}},
		{"closed", len(agent.Closed) > 0, []AgentKind{KindCaldav}},
		{"secret", agent.Secret != "", []AgentKind{KindHTTP}},
		{"async", agent.Async, []AgentKind{KindHTTP}},
		{"egress", len(agent.Egress) > 0, append(collections(), KindHTTP, KindLLM, KindMCP, KindExec, KindExternal)},
		{"role", agent.Role != "", []AgentKind{KindLLM}},
		{"base_url", agent.BaseURL != "", []AgentKind{KindLLM}},
		{"model", agent.Model != "", []AgentKind{KindLLM}},
		{"api", agent.API != "", []AgentKind{KindLLM}},
		{"api_version", agent.APIVersion != "", []AgentKind{KindLLM}},
		{"key", agent.Key != "", []AgentKind{KindLLM, KindMCP}},
		{"temperature", agent.Temperature != nil, []AgentKind{KindLLM}},
		{"max_tokens", agent.MaxTokens != 0, []AgentKind{KindLLM}},
		{"first_byte", agent.FirstByte != 0, []AgentKind{KindLLM}},
		{"idle", agent.Idle != 0, []AgentKind{KindLLM}},
		{"structured", agent.Structured != "", []AgentKind{KindLLM}},
		{"vision", agent.Vision, []AgentKind{KindLLM}},
		{"prompt", agent.Prompt != "", []AgentKind{KindLLM}},
		{"tool", agent.Tool != "", []AgentKind{KindMCP}},
		{"pin", agent.Pin != "", []AgentKind{KindMCP}},
		{"env", len(agent.Env) > 0, []AgentKind{KindExec, KindMCP}},
		{"side_effects", agent.SideEffects != "", []AgentKind{KindExec, KindHTTP, KindMCP, KindExternal, KindScripted, KindFile}},
		{"heartbeat", agent.Heartbeat != 0, []AgentKind{KindExternal}},
		{"supervisor", agent.Supervisor, []AgentKind{KindExternal}},
		{"script", agent.Script != "", []AgentKind{KindScripted}},
		{"templates", agent.Templates != "", []AgentKind{KindDocument}},
		{"formats", len(agent.Formats) > 0, []AgentKind{KindDocument}},
		{"dir", agent.Dir != "", []AgentKind{KindFile}},
		{"name", agent.Name != "", []AgentKind{KindFile}},
		{"index", agent.Index != "", []AgentKind{KindRetrieval}},
		{"mode", agent.Mode != "", []AgentKind{KindRetrieval}},
		{"compounds", agent.Compounds != "", []AgentKind{KindRetrieval}},
		{"profile", agent.Profile != "", []AgentKind{KindSupervisor}},
		{"people", len(agent.People) > 0, []AgentKind{KindPerson}},
		{"remind", agent.Remind != 0, []AgentKind{KindPerson}},
		{"expires", agent.Expires != 0, []AgentKind{KindPerson}},
	} {
		if key.set && !slices.Contains(key.kinds, agent.Kind) {
			v.problem(path+"."+key.name, "only agents of these kinds have it: %s", list(key.kinds, ", "))
		}
	}
	if agent.Required && agent.Kind == KindPerson {
		v.problem(path+".required", "nobody can tell how people are: leave it out")
	}
	question := slices.IndexFunc(agent.Kinds, func(kind schemas.RequestKind) bool { return !kind.IsWork() })
	if agent.Kind == KindLLM && len(agent.Kinds) > 0 && !slices.Equal(agent.Kinds, agent.kinds()) {
		v.problem(path+".kinds", "its role says what it answers: leave kinds out")
	} else if question >= 0 && !slices.Contains(answering(), agent.Kind) {
		v.problem(fmt.Sprintf("%s.kinds[%d]", path, question), onlyWork, agent.Kind)
	}
	if agent.delivers() && len(agent.Capabilities) > 0 {
		v.problem(path+".capabilities", "it delivers answers; no router chooses it")
	}
	for i, capability := range agent.Capabilities {
		at := fmt.Sprintf("%s.capabilities[%d].words", path, i)
		v.keywords(at, capability.Words)
		if slices.ContainsFunc(capability.Words, func(word Keyword) bool { return word.Shared }) {
			v.problem(at, "shared means nothing here: of several capabilities the highest counts")
		}
	}
	if agent.Kind == KindScripted && agent.Script == "" {
		v.problem(path, "an agent of kind scripted needs a script")
	}
	if agent.Kind == KindSupervisor {
		v.profileExists(path+".profile", agent.Profile)
	}
	if _, err := answer.ParseTemplate(agent.Render); err != nil {
		v.problem(path+".render", "%v", err)
	}
	for name, schema := range map[string]jsontext.Value{"input_schema": agent.InputSchema, "output_schema": agent.OutputSchema} {
		if len(schema) == 0 {
			continue
		}
		if _, err := validation.Compile(schema); err != nil {
			v.problem(path+"."+name, "%v", err)
			return
		}
	}
	v.personAgent(path, agent)
	if agent.Kind != KindMCP || len(agent.InputSchema) > 0 { // else the schema is that of the pinned tool
		v.arguments(path, agent)
	}
}

func list[T ~string](words []T, separator string) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, separator)
}

// answering are the kinds of agent that may answer more than work.
func answering() []AgentKind { return []AgentKind{KindExec, KindHTTP, KindExternal, KindScripted} }

const onlyWork = "agents of kind %s do work and nothing else"

// declares checks that an agent answers what it is to be asked for.
func (v *validator) declares(path, name string, kind schemas.RequestKind) {
	agent, known := v.config.Agents[name]
	switch declared := agent.kinds(); {
	case !known || agent.delivers() || slices.Contains(declared, kind): // the former have been told
	case agent.Kind == KindLLM && agent.Role != "":
		v.problem(path, "%q does not answer requests of kind %s: its role is %s; those that do are: %s", name, kind, agent.Role, list(rolesOf(kind), ", "))
	case agent.Kind == KindLLM: // it has been told that a role is missing
	case slices.Contains(answering(), agent.Kind):
		v.problem(path, "%q does not answer requests of kind %s: write kinds: [%s] at agents.%s", name, kind, list(append(slices.Clip(declared), kind), ", "), name)
	default:
		v.problem(path, "%q does not answer requests of kind %s: "+onlyWork, name, kind, agent.Kind)
	}
}

func (v *validator) name(path, name string) {
	if !schemas.ValidToken(name) {
		v.problem(path, "%q is not a name: 1 to 63 of a-z, 0-9, _ and -", name)
	}
}

func (v *validator) profileExists(path, name string) {
	if _, ok := v.config.Profiles[name]; !ok {
		if len(v.config.Profiles) == 0 {
			v.problem(path, "there is no profile %q: the section profiles is missing", name)
			return
		}
		v.problem(path, "%s", diagnostic.Suggest(fmt.Sprintf("there is no profile %q", name), name, slices.Collect(maps.Keys(v.config.Profiles))))
	}
}

func isURL(text string, schemes ...string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Host != "" && slices.Contains(schemes, parsed.Scheme)
}
