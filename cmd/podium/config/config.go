package config

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/document"
	"podium/agents/llm"
	"podium/agents/mcp"
	"podium/agents/retrieval"
	"podium/agents/scripted"
	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/diagnostic"
	"podium/cmd/podium/egress"
	"podium/ingest/mime/text"
	"podium/schemas"
	"podium/supervisor/arguments"
)

// A Config is one podium.yaml.
type Config struct {
	Include  []string           `yaml:"include" doc:"Other configurations whose agents, people, profiles, mail accounts and chat channels are part of this one, relative to this file. Paths in them are relative to where they lie; what they say of ledger, http and the rest holds only where they run by themselves. A name may be in one of them only."`
	Ledger   Ledger             `yaml:"ledger" doc:"Where the state is kept."`
	HTTP     HTTP               `yaml:"http" doc:"The listener of chat adapters, event sources and callbacks."`
	Mail     Mail               `yaml:"mail" doc:"Mailboxes that are read and answered."`
	Chat     Chat               `yaml:"chat" doc:"Chat channels that post to the webhook."`
	Agents   map[string]Agent   `yaml:"agents" doc:"Who can be given work, by name."`
	People   map[string]Person  `yaml:"people" doc:"Who does the tasks of agents of kind person, and decides by rules of approval, by name."`
	Profiles map[string]Profile `yaml:"profiles" doc:"How a conversation is handled, by name."`

	// Directory is where the file lies; programs of exec agents start there.
	Directory string `yaml:"-"`

	places    map[string]strictyaml.Place
	file      string
	languages *text.Languages
}

// Ledger says where the state is kept.
type Ledger struct {
	Data       string     `yaml:"data" default:"./podium-data" doc:"Directory of the ledger and its credentials, relative to where podium is started."`
	Durability Durability `yaml:"durability" enum:"fsync interval" default:"fsync" doc:"fsync: what was acknowledged survives power loss. interval: it survives a crash of the process, and is several times faster. With nats, the sync_interval of the server's own configuration decides, and fsync here only refuses a server that is seen to do less."`
	Shards     int        `yaml:"shards" min:"1" max:"256" doc:"Units of ownership, fixed when the ledger is created; another number for an existing ledger is an error. Default: as the ledger has, and for a new one the processor's cores, at most 4."`
	MaxBytes   Size       `yaml:"max_bytes" doc:"What the ledger may hold, such as 64GiB; half of it is for the shards, an eighth for requests, of which the oldest give way, five sixteenths for artifacts. It may be changed at any start, but not below what is held. Default: 64GiB, and with nats what the shards have."`
	NATS       *NATS      `yaml:"nats" doc:"A NATS cluster instead of the embedded server."`
}

// Durability says what an acknowledged message survives.
type Durability string

// The durabilities.
const (
	DurabilityFsync    Durability = "fsync"    // power loss
	DurabilityInterval Durability = "interval" // a crash of the process
)

// NATS names a cluster that holds the ledger.
type NATS struct {
	URL         string `yaml:"url" required:"true" doc:"nats://, tls://, ws:// or wss://; several separated by commas."`
	Credentials string `yaml:"credentials" doc:"Path of the file with the key (nkey seed) of the core account. Default: the one that Podium makes in the data directory."`
	Monitoring  string `yaml:"monitoring" doc:"Where its server's monitoring endpoint is, such as http://127.0.0.1:8222, or those of all servers of a cluster, separated by commas: Podium looks there whether acknowledged messages survive power loss."`
}

// MonitoringURLs lists the monitoring endpoints.
func (n *NATS) MonitoringURLs() []string {
	return strings.FieldsFunc(n.Monitoring, func(c rune) bool { return c == ',' || c == ' ' })
}

// Servers is the URL for people to see: without passwords.
func (n *NATS) Servers() string {
	var shown []string
	for server := range strings.SplitSeq(n.URL, ",") {
		server = strings.TrimSpace(server)
		if parsed, err := url.Parse(server); err == nil {
			server = parsed.Redacted()
		}
		shown = append(shown, server)
	}
	return strings.Join(shown, ",")
}

// AgentKind is what an agent is made of.
type AgentKind string

// The agent kinds.
const (
	KindCalculator AgentKind = "calculator"
	KindEcho       AgentKind = "echo"
	KindExec       AgentKind = "exec"       // a program: the request on stdin, the answer on stdout
	KindHTTP       AgentKind = "http"       // an HTTP endpoint: the request is posted, the response is the answer
	KindLLM        AgentKind = "llm"        // a language model
	KindMCP        AgentKind = "mcp"        // a tool of a server of the Model Context Protocol
	KindCaldav     AgentKind = "caldav"     // a calendar on a server
	KindCarddav    AgentKind = "carddav"    // an address book on a server
	KindExternal   AgentKind = "external"   // runs elsewhere and joins by NATS
	KindScripted   AgentKind = "scripted"   // its answers stand in a file
	KindDocument   AgentKind = "document"   // writes documents from templates
	KindFile       AgentKind = "file"       // writes results into files of a folder
	KindRetrieval  AgentKind = "retrieval"  // learns passages, and finds them again
	KindPerson     AgentKind = "person"     // people are written to, and what they answer is the result
	KindSupervisor AgentKind = "supervisor" // a profile of this file: its work is other agents' work
	KindMail       AgentKind = "mail"       // delivers answers by SMTP
	KindChat       AgentKind = "chat"       // delivers answers to a channel
)

// An Agent is one entry of the agents section.
type Agent struct {
	Kind         AgentKind             `yaml:"kind" required:"true" enum:"calculator echo exec http llm mcp caldav carddav external scripted document file retrieval person supervisor mail chat" doc:"What it is made of. calculator: arithmetic. echo: what it is asked. exec: a program on this machine. http: an endpoint that the request is posted to. llm: a language model. mcp: a tool of a server of the Model Context Protocol. caldav: a calendar on a CalDAV server. carddav: an address book on a CardDAV server. external: it runs elsewhere and joins by NATS. scripted: its answers stand in a file. document: it writes documents from templates. file: it writes results into files of a folder. retrieval: it learns passages of text, and finds them again. person: people are written to by mail, and what they answer is the result. supervisor: a profile of this file. mail and chat: they deliver answers, and are there without being named."`
	Description  string                `yaml:"description" doc:"What it can do, in one sentence."`
	Kinds        []schemas.RequestKind `yaml:"kinds" enum:"work assess plan route extract judge" min:"1" doc:"exec, http, external and scripted: the requests that it answers; all others are refused before it sees them. work: tasks. assess: how well it could do one, asked by routers of kind score. plan: asked by planners of kind agent. route: asked by routers of kind agent. judge: how a run goes on, or what is wrong with what it has made, asked where a profile has replan, review or summary. extract: which arguments a message holds, asked for agents that name it as extractor. Default: work alone; an agent of kind llm has that of its role."`
	Capabilities []Capability          `yaml:"capabilities" min:"1" doc:"How well it can do what certain words ask for. Routers of kind score read it here instead of asking, unless its kinds hold assess."`
	Concurrency  int                   `yaml:"concurrency" min:"1" max:"1024" default:"3" doc:"Requests at a time, over all its processes. caldav: 1."`
	Command      []string              `yaml:"command" min:"1" doc:"exec: program and arguments, which reads and answers as one under podium agent exec does. mcp: the program of a server that speaks by standard input and output, and its arguments; packages that npx, uvx and their like fetch need an exact version. It starts in the directory of this file."`
	Timeout      schemas.Duration      `yaml:"timeout" doc:"exec, http, llm, mcp and external: how long it may work on a request; it wins over a shorter deadlines.work of a profile. exec: after it the program and all it started are killed. exec and http: it is 30s when nothing is said, or a shorter deadlines.work that is written in the profile; with mcp 1m, and with llm 2m."`
	URL          string                `yaml:"url" doc:"http: where requests are posted to. mcp: where a server is that speaks streamable HTTP, instead of a command. caldav and carddav: the calendar or address book, or the server where this user has exactly one. https://…, or http://… on this machine and private networks."`
	User         string                `yaml:"user" doc:"caldav and carddav: the user on the server."`
	Password     Secret                `yaml:"password" doc:"caldav and carddav: the password, such as ${DAV_PASSWORD}. It goes to the host of url alone."`
	Timezone     string                `yaml:"timezone" doc:"caldav: where its days begin and times are meant, by its IANA name, such as Europe/Berlin."`
	Members      map[string]string     `yaml:"members" doc:"caldav, carddav, retrieval: what members of its arguments and results are called here, by the names that they have otherwise: {person: guest_name} for whom an appointment is (caldav), {number: guest_id} for the number of a contact (carddav), {context: guest_context} for what is told beside a text (retrieval)."`
	OpeningHours []string              `yaml:"opening_hours" min:"1" doc:"caldav: when appointments are made, by the days of the week, such as \"Mo-Fr 08:00-12:00\" and \"Mo,Tu,Th 15:00-18:00\" (Mo, Tu, We, Th, Fr, Sa, Su, as schema.org has them). Days that are not there are closed. Absent: each day, within hours."`
	Closed       []string              `yaml:"closed" min:"1" doc:"caldav: days without appointments whatever opening_hours say, such as 2026-12-24."`
	Duration     schemas.Duration      `yaml:"duration" doc:"caldav: how long an appointment lasts of which nobody says so. Default: 30m."`
	Secret       Secret                `yaml:"secret" doc:"http: whsec_…, which signs each call by Standard Webhooks, and each callback."`
	Async        bool                  `yaml:"async" doc:"http: the endpoint may answer 202 and post its answer later, to the address in the header Podium-Callback, signed with secret. timeout bounds the call alone then; the answer has as long as the profile's deadlines.work, or work where the profile names the agent."`
	Egress       egress.Policy         `yaml:"egress" single:"true" min:"1" doc:"http, llm, mcp, caldav, carddav, exec and external: where its calls may lead. All but exec, mcp with a command and external are held to it, whatever name is resolved to: local (this machine and private networks), public, host:port, or a list of these. Those three only promise it, for profiles with local_only. Default: the host of its url or base_url."`
	Role         llm.Role              `yaml:"role" enum:"router planner steps judge critic responder extractor summarizer worker" doc:"llm: what the model is for. router: it chooses who does a task. planner: it divides a message into tasks. steps: it divides a message into steps, sentences in their order, which routers give to agents. judge: it says how a run goes on. critic: it says what is wrong with what a run has made. responder: it answers a person. extractor: it finds arguments in words. summarizer: it sums up the results of other tasks. worker: it does a task."`
	BaseURL      string                `yaml:"base_url" doc:"llm: where chat completions are, up to /v1: https://…, or http://… on this machine and private networks."`
	Model        string                `yaml:"model" doc:"llm: the name of the model, as its server knows it; with api: azure that of the deployment."`
	API          llm.API               `yaml:"api" enum:"openai azure" doc:"llm: how its server is addressed. azure: the model in the path, and the key as api-key; base_url is that of the resource, such as https://NAME.openai.azure.com. Default: openai."`
	APIVersion   string                `yaml:"api_version" doc:"llm: with api: azure, and needed then, the version of that, such as 2024-10-21."`
	Key          Secret                `yaml:"key" doc:"llm, and mcp with a url: the key for its server, such as ${LLM_KEY}. Default: none is sent."`
	Temperature  *float64              `yaml:"temperature" max:"2" doc:"llm: how freely the model chooses its words. Default: 0 for router, planner and extractor, else 0.7."`
	MaxTokens    int                   `yaml:"max_tokens" min:"1" max:"1000000" doc:"llm: tokens of an answer at most. Default: as its server likes."`
	FirstByte    schemas.Duration      `yaml:"first_byte" doc:"llm: how long its server may take until an answer begins; router, planner and extractor wait for the whole of it. Default: 60s."`
	Idle         schemas.Duration      `yaml:"idle" doc:"llm: how long its server may be silent inside of an answer. Default: 20s."`
	Structured   llm.Enforcing         `yaml:"structured" enum:"never always probe" doc:"llm: whether its server is asked to hold answers to a JSON Schema (response_format). probe: if it does so, which is tried out once. Answers are checked all the same. Default: always with OpenAI and Azure, else never."`
	Prompt       string                `yaml:"prompt" doc:"llm: a file with what the model is told of its role, relative to this one: a template (Go text/template) in which {{.agents}}, {{.max_tasks}} and {{.language}} stand for what is at hand. Default: Podium's own."`
	Tool         string                `yaml:"tool" doc:"mcp: the name of the tool, as its server has it. Its description and its schemas are those of the agent, unless the agent has its own."`
	Pin          string                `yaml:"pin" doc:"mcp: the file with the tool as it was agreed to, relative to this one; podium agent pin writes it. A tool that is another by now does no work. Default: the name of the agent with .pin.json behind it."`
	Vision       bool                  `yaml:"vision" doc:"llm: pictures among the files are shown to the model, as far as there is room; it has to understand them. All other files are told by name, type and size."`
	Env          []string              `yaml:"env" min:"1" doc:"exec, and mcp with a command: NAME=value, or NAME to hand a variable on."`
	SideEffects  string                `yaml:"side_effects" enum:"external" doc:"external when it reaches people or systems outside: it asks before it acts, so that it does so once, and not after the run was cancelled."`
	Script       string                `yaml:"script" doc:"scripted: the file with its answers, relative to this one. podium schema script prints what may stand there."`
	Templates    string                `yaml:"templates" doc:"document: the directory with its templates, NAME.md each, relative to this file."`
	Formats      []document.Format     `yaml:"formats" enum:"html pdf" min:"1" doc:"document: what a document is kept as. Default: html and pdf."`
	Dir          string                `yaml:"dir" doc:"file: the directory in which it writes, relative to this file; it is made when the first file is written."`
	Name         string                `yaml:"name" doc:"file: what a file is called, such as plan_{time}_{run}.md; {date}, {time} (UTC), {run}, {task} and {file} are filled in. .csv is written as rows, .json as data, all else as text. With {file} the files that came along are written, each under its own name."`
	Index        string                `yaml:"index" doc:"retrieval: the name of what is learned and read; agents of one name share it. It is kept in the directory of the ledger."`
	Mode         retrieval.Mode        `yaml:"mode" enum:"learn read" doc:"retrieval: learn takes in what a person has validated, read finds it."`
	Compounds    string                `yaml:"compounds" doc:"retrieval: a file with the words of which others are made, one a line, relative to this one: with haut and ausschlag in it, Ausschlag finds Hautausschlag. It counts for what is learned from then on."`
	People       []string              `yaml:"people" min:"1" doc:"person: who is written to, by their names in the people section; the first who answers has done it."`
	Remind       schemas.Duration      `yaml:"remind" doc:"person: after that they are written to once more. Default: 24h."`
	Expires      schemas.Duration      `yaml:"expires" doc:"person: after that nobody waits any more, and the task has failed. Default: 72h."`
	Profile      string                `yaml:"profile" doc:"supervisor: the profile that handles its requests."`
	Heartbeat    schemas.Duration      `yaml:"heartbeat" doc:"external: how often it promises a sign of life while it works; after three that did not come it has crashed."`
	Supervisor   bool                  `yaml:"supervisor" doc:"external: it lets go of a request as soon as it has taken it over, as a Podium elsewhere does: what it says that it waits with (waiting_until in its progress) takes none of its places. Agents of kind supervisor do so by themselves."`
	Required     bool                  `yaml:"required" doc:"GET /health answers 503 while it is not well: nobody serves it, its own check fails, its breaker is open, or it is revoked."`
	Breaker      Breaker               `yaml:"breaker" doc:"When it is not asked for a while, because it fails."`
	InputSchema  jsontext.Value        `yaml:"input_schema" doc:"JSON Schema of the arguments that it takes; a request that breaks it is never sent. caldav and carddav have one of their own."`
	Input        arguments.Input       `yaml:"input" enum:"words arguments either" doc:"What it works on. arguments: what input_schema requires and a message does not say is asked of whoever wrote it. words: nothing is filled. either: it can do with the words alone. Default: arguments when input_schema requires any."`
	Arguments    []ArgumentRule        `yaml:"arguments" min:"1" doc:"Where arguments come from, tried in order until one has a value. Without rules JSON in the message and what is plain by input_schema (dates, numbers, choices) are read."`
	Trusted      []string              `yaml:"trusted" min:"1" doc:"Arguments that are never taken from what somebody has written without asking them."`
	Known        []string              `yaml:"known" min:"1" doc:"Words that change nothing in messages to this agent, where a rule wants them understood."`
	Hours        *Hours                `yaml:"hours" doc:"The hours in which a time of day is meant: \"at 3\" is 15:00 from 07:00 to 19:00. Absent: it is asked. caldav: no appointment is made outside of them."`
	Extractor    string                `yaml:"extractor" doc:"An agent of kind extract that is asked for what nothing else has filled, before a person is."`
	OutputSchema jsontext.Value        `yaml:"output_schema" doc:"JSON Schema of the data that it answers; an answer that breaks it is asked for again. Titles in it name the data when people are told it."`
	Render       string                `yaml:"render" doc:"How data without text is told to people: a template (Go text/template) over the data, such as '{{.total}} EUR'. Default: line by line."`

	// Directory is where the included file lies that has it, as an absolute path; empty for an agent of the file itself.
	Directory string `yaml:"-"`
	// Answers are what Load has read in the script; nil of any other kind.
	Answers *scripted.Script `yaml:"-"`
	// Pinned is what Load has read in the file of a pin; nil of any other kind, and after LoadUnpinned.
	Pinned *mcp.Pin `yaml:"-"`
	// CompoundsRead are what Load has read in the file of compounds; nil without one.
	CompoundsRead *retrieval.Compounds `yaml:"-"`
	// TemplatesRead are what Load has read in the templates; nil of any other kind.
	TemplatesRead *document.Templates `yaml:"-"`
	// PromptRead is what Load has read in the file of a prompt; nil without one.
	PromptRead *llm.Prompt `yaml:"-"`
}

// A Capability is how well an agent can do what certain words ask for (P-06).
type Capability struct {
	Words []Keyword `yaml:"words" required:"true" min:"1" doc:"One of them in a message is enough."`
	Score float64   `yaml:"score" required:"true" max:"1" doc:"How well, from 0 to 1. Of several capabilities the highest counts."`
}

// A Breaker says when an agent is not asked any more, and how long (M-28).
type Breaker struct {
	Failures int              `yaml:"failures" min:"1" max:"1000" default:"5" doc:"After so many in a row; a success in between counts anew."`
	Within   schemas.Duration `yaml:"within" default:"30s" doc:"The time in which they have to fall."`
	Open     schemas.Duration `yaml:"open" default:"30s" doc:"How long it is not asked. Then one request decides."`
}

// File is the absolute path of the file that Load has read; empty for any other
// configuration.
func (c *Config) File() string {
	if c.Directory == "" {
		return ""
	}
	return filepath.Join(c.Directory, filepath.Base(c.file))
}

// Load reads a file, and what it names beside itself, and returns it as Parse does.
func Load(path string) (*Config, error) { return loadWith(path, (*Config).readPins) }

// LoadUnpinned is Load for whoever pins the tools of agents of kind mcp: no pin is read, and none is missed.
func LoadUnpinned(path string) (*Config, error) {
	return loadWith(path, func(*Config) diagnostic.Problems { return nil })
}

func loadWith(path string, pins func(*Config) diagnostic.Problems) (*Config, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	config, err := parseWith(body, path, os.LookupEnv, (*Config).include)
	if err != nil {
		return nil, err
	}
	if config.Directory, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("find the directory of the configuration: %w", err)
	}
	faults := slices.Concat(diagnostic.ProblemsOf(config.readLanguages(filepath.Dir(path))), config.readScripts(filepath.Dir(path)),
		config.readPrompts(filepath.Dir(path)), config.readFolders(filepath.Dir(path)), pins(config))
	if len(faults) > 0 {
		return nil, faults
	}
	return config, nil
}

// Parse reads a configuration, validates it and returns it with its defaults.
// The name stands for the file in errors, which are diagnostic.Problems.
func Parse(body []byte, name string) (*Config, error) { return parse(body, name, os.LookupEnv) }

// variables returns the value of an environment variable, if it is set.
type variables func(name string) (value string, set bool)

func parse(body []byte, name string, lookup variables) (*Config, error) {
	return parseWith(body, name, lookup, func(*Config, variables) error { return nil })
}

func parseWith(body []byte, name string, lookup variables, include func(*Config, variables) error) (*Config, error) {
	config, err := decode(body, name, lookup)
	if err != nil {
		return nil, err
	}
	if err := include(config, lookup); err != nil {
		return nil, err
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	complete := config.WithDefaults()
	return &complete, nil
}

// decode reads the structure of a file: every rule that a tag can hold.
func decode(body []byte, name string, lookup variables) (*Config, error) {
	var config Config
	places, err := strictyaml.Decode(body, name, lookup, &config)
	if err != nil {
		return nil, err
	}
	config.places, config.file = places, name
	config.fillSchemas()
	return &config, nil
}

// AgentNames returns, in lexical order, the agents that this process runs, or the
// external ones, which somebody else runs. People are neither.
func (c *Config) AgentNames(external bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if kind := c.Agents[name].Kind; kind != KindPerson && (kind == KindExternal) == external {
			names = append(names, name)
		}
	}
	return names
}
