package embedded

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"

	"podium/bus"
	"podium/schemas"
)

// APIPrefix stands for "$JS.API" where an agent speaks to JetStream. The mapping
// is needed: every account has an own import of "$JS.API.>", which would match
// as well and answer that JetStream is not enabled.
const APIPrefix = "CORE.API"

// Accounts lists who may connect, by public nkey.
type Accounts struct {
	Core     []string          // doors, shard owners, the command line
	Agents   map[string]string // name → key of each agent that the core's own processes run
	External map[string]string // name → key of each agent that somebody else runs
}

// The accounts.
const (
	coreAccount     = "CORE"
	agentsAccount   = "AGENTS"
	externalAccount = "EXTERNAL"
)

// Config returns the accounts block of a nats-server configuration (G-40).
//
// The core account owns every stream. Agents live in other accounts that have
// none, and reach the core by imported services only. That is more than a
// permission list can do: with rights of its own in the core account, an agent
// could name a subject of the ledger as the reply of a request and have the
// server write there. Through a service import the server replaces the reply.
//
// An agent may fetch and acknowledge its own requests, publish its own responses,
// progress and permits, ask its own core services, and listen to its own inbox
// and to the signals for it. It may not create, read or configure anything. What an
// external agent publishes goes to the gate, which decides how much of it the ledger
// takes; the agent knows it under the same subjects.
func (a Accounts) Config() (string, error) {
	if len(a.Core) == 0 {
		return "", errors.New("accounts: the core account needs a key")
	}
	for name := range a.External {
		if a.Agents[name] != "" {
			return "", fmt.Errorf("accounts: %s is both an agent of our own and an external one", name)
		}
	}
	var text strings.Builder
	text.WriteString("accounts {\n")
	if err := a.writeCore(&text); err != nil {
		return "", err
	}
	for account, agents := range a.ofAgents() {
		if err := writeAgents(&text, account, agents); err != nil {
			return "", err
		}
	}
	text.WriteString("}\n")
	return text.String(), nil
}

// ofAgents yields the accounts of agents.
func (a Accounts) ofAgents() iter.Seq2[string, map[string]string] {
	return func(yield func(string, map[string]string) bool) {
		_ = yield(agentsAccount, a.Agents) && yield(externalAccount, a.External)
	}
}

func (a Accounts) writeCore(text *strings.Builder) error {
	fmt.Fprintf(text, "  %s {\n    jetstream: enabled\n    users: [\n", coreAccount)
	for _, key := range a.Core {
		if !nkeys.IsValidPublicUserKey(key) {
			return fmt.Errorf("accounts: %q is not a public user key", key)
		}
		fmt.Fprintf(text, "      {nkey: %q}\n", key)
	}
	text.WriteString("    ]\n    exports: [\n")
	for _, service := range services() {
		fmt.Fprintf(text, "      {service: %q, response_type: %s, accounts: [%s]}\n", service.subject, service.response, strings.Join(service.accounts, ", "))
	}
	for _, signal := range signals() {
		fmt.Fprintf(text, "      {stream: %q, accounts: [%s, %s]}\n", bus.ServiceSubject("*", signal), agentsAccount, externalAccount)
	}
	text.WriteString("    ]\n  }\n")
	return nil
}

func writeAgents(text *strings.Builder, account string, agents map[string]string) error {
	limits := ""
	if account == externalAccount {
		limits = agentLimits(len(agents))
	}
	fmt.Fprintf(text, "  %s {\n%s    users: [\n", account, limits)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		if err := writeAgent(text, name, agents[name]); err != nil {
			return err
		}
	}
	text.WriteString("    ]\n    imports: [\n")
	for _, service := range services() {
		if slices.Contains(service.accounts, account) {
			fmt.Fprintf(text, "      {service: {account: %s, subject: %q}%s}\n", coreAccount, service.subject, service.importedAs())
		}
	}
	for _, signal := range signals() {
		fmt.Fprintf(text, "      {stream: {account: %s, subject: %q}}\n", coreAccount, bus.ServiceSubject("*", signal))
	}
	text.WriteString("    ]\n  }\n")
	return nil
}

func writeAgent(text *strings.Builder, name, key string) error {
	if !schemas.ValidAgentName(name) {
		return fmt.Errorf("accounts: %q cannot be the name of an agent", name)
	}
	if !nkeys.IsValidPublicUserKey(key) {
		return fmt.Errorf("accounts: the key of agent %s is not a public user key", name)
	}
	fmt.Fprintf(text, "      {nkey: %q, permissions: {\n        publish: {allow: [\n", key)
	for _, subject := range agentPublishes(name) {
		fmt.Fprintf(text, "          %q\n", subject)
	}
	text.WriteString("        ]}\n        subscribe: {allow: [\n")
	for _, subject := range agentSubscribes(name) {
		fmt.Fprintf(text, "          %q\n", subject)
	}
	text.WriteString("        ]}\n      }}\n")
	return nil
}

// InboxPrefix is what an agent's inboxes begin with; no other agent can listen to them.
func InboxPrefix(agent string) string { return "_INBOX_" + agent }

// agentPublishes lists every subject that an agent may publish to.
func agentPublishes(name string) []string {
	subjects := []string{
		APIPrefix + ".CONSUMER.INFO." + bus.WorkStream + "." + name,
		APIPrefix + ".CONSUMER.MSG.NEXT." + bus.WorkStream + "." + name,
		acknowledgement(name),
		acknowledgementV2(name),
	}
	for _, kind := range agentKinds() {
		subjects = append(subjects, agentSubject+name+"."+kind, agentSubject+name+"."+kind+".*")
	}
	subjects = append(subjects, agentSubject+name+"."+string(bus.KindPermit)+".*")
	for _, service := range coreServices() {
		subjects = append(subjects, bus.ServiceSubject(name, service))
	}
	return subjects
}

// agentSubscribes lists every subject that an agent may listen to.
func agentSubscribes(name string) []string {
	subjects := []string{InboxPrefix(name) + ".>"}
	for _, signal := range signals() {
		subjects = append(subjects, bus.ServiceSubject(name, signal))
	}
	return subjects
}

// acknowledgement is the subject of an agent's acknowledgements, with all its tokens
// counted: with fewer, the wildcards of one form reach subjects of the other, where
// the consumer is somebody else's.
//
//	$JS.ACK.<stream>.<consumer>.<delivered>.<stream sequence>.<consumer sequence>.<time>.<pending>
func acknowledgement(agent string) string {
	return "$JS.ACK." + bus.WorkStream + "." + agent + ".*.*.*.*.*"
}

// acknowledgementV2 is the same with domain and account before the stream. A server
// may add tokens at its end.
func acknowledgementV2(agent string) string {
	return "$JS.ACK.*.*." + bus.WorkStream + "." + agent + ".*.*.*.*.>"
}

// agentKinds are what an agent may publish with or without a shard.
func agentKinds() []string { return []string{string(bus.KindResponse), string(bus.KindProgress)} }

// signals are what an agent may listen to.
func signals() []string { return []string{bus.SignalCancel, bus.SignalPermitted} }

func coreServices() []string {
	return []string{bus.ServiceAnnounce, bus.ServiceAlive, bus.ServiceArtifact}
}

// A service is a subject of the core account that agents reach.
type service struct {
	subject  string
	response string   // singleton, or stream when one request has many answers
	accounts []string // that reach it
}

const (
	jetStreamAPI = "$JS.API"
	agentSubject = "podium.agent."
	gateSubject  = "podium.gate."
	singleton    = "singleton"
)

// importedAs returns the mapping of an import, if the agents know it by another name.
func (s service) importedAs() string {
	for name, local := range map[string]string{jetStreamAPI: APIPrefix, gateSubject: agentSubject} {
		if rest, ok := strings.CutPrefix(s.subject, name); ok {
			return fmt.Sprintf(", to: %q", local+rest)
		}
	}
	return ""
}

func services() []service {
	all, own, external := []string{agentsAccount, externalAccount}, []string{agentsAccount}, []string{externalAccount}
	list := []service{
		{jetStreamAPI + ".CONSUMER.INFO." + bus.WorkStream + ".*", singleton, all},
		{jetStreamAPI + ".CONSUMER.MSG.NEXT." + bus.WorkStream + ".*", "stream", all},
		{acknowledgement("*"), singleton, all},
		{acknowledgementV2("*"), singleton, all},
	}
	for _, kind := range agentKinds() {
		list = append(list,
			service{agentSubject + "*." + kind, singleton, own}, service{agentSubject + "*." + kind + ".*", singleton, own},
			service{gateSubject + "*." + kind, singleton, external}, service{gateSubject + "*." + kind + ".*", singleton, external})
	}
	permit := "*." + string(bus.KindPermit) + ".*"
	list = append(list, service{agentSubject + permit, singleton, own}, service{gateSubject + permit, singleton, external})
	for _, name := range coreServices() {
		list = append(list, service{bus.ServiceSubject("*", name), singleton, all})
	}
	return list
}
