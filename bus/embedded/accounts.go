package embedded

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"

	"podium/bus"
	"podium/bus/jetstream"
	"podium/schemas"
)

// APIPrefix stands for "$JS.API" where an agent speaks to JetStream. The mapping
// is needed: every account has an own import of "$JS.API.>", which would match
// as well and answer that JetStream is not enabled.
const APIPrefix = "CORE.API"

// Accounts lists who may connect, by public nkey.
type Accounts struct {
	Core     []string          // adapters, shard owners, the command line
	Agents   map[string]string // name → key of each agent that the core's own processes run
	External map[string]string // name → key of each agent that somebody else runs
}

// The accounts.
const (
	coreAccount   = "CORE"
	agentsAccount = "AGENTS"
)

// externalAccount is the account of one external agent. It has its own because the
// reply of a request is bound by no permission: within one account, an agent could have
// what it is answered sent to another one's inbox, or as a signal of the core's.
func externalAccount(agent string) string { return "EXTERNAL_" + agent }

// Config returns the accounts block of a nats-server configuration (G-40).
//
// The core account owns every stream. Agents live in other accounts that have
// none, and reach the core by imported services only. That is more than a
// permission list can do: with rights of its own in the core account, an agent
// could name a subject of the ledger as the reply of a request and have the
// server write there. Through a service import the server replaces the reply. Each
// external agent has an account of its own.
//
// An agent may fetch and acknowledge its own requests, publish its own responses,
// progress and permits, ask its own core services, and listen to its own inbox
// and to the signals for it. It may not create, read or configure anything. What an
// external agent publishes goes to the gate, which decides how much of it the ledger
// takes; the agent knows it under the same subjects. So does what it asks about its
// consumer: the server has one queue for such questions of all accounts.
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
	if err := a.writeAgents(&text, agentsAccount, "", a.Agents); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(a.External)) {
		if err := a.writeAgents(&text, externalAccount(name), externalLimits(), map[string]string{name: a.External[name]}); err != nil {
			return "", err
		}
	}
	text.WriteString("}\n")
	return text.String(), nil
}

// externals lists the accounts of external agents.
func (a Accounts) externals() (accounts []string) {
	for _, name := range slices.Sorted(maps.Keys(a.External)) {
		accounts = append(accounts, externalAccount(name))
	}
	return accounts
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
	for _, service := range a.services() {
		fmt.Fprintf(text, "      {service: %q, response_type: %s, accounts: [%s]}\n", service.subject, service.response, accountList(service.accounts))
	}
	for _, signal := range signals() {
		fmt.Fprintf(text, "      {stream: %q, accounts: [%s]}\n", bus.ServiceSubject("*", signal), accountList(append(a.externals(), agentsAccount)))
	}
	text.WriteString("    ]\n  }\n")
	return nil
}

// accountList returns accounts as the configuration lists them.
func accountList(accounts []string) string { return `"` + strings.Join(accounts, `", "`) + `"` }

func (a Accounts) writeAgents(text *strings.Builder, account, limits string, agents map[string]string) error {
	fmt.Fprintf(text, "  %q {\n%s    users: [\n", account, limits)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		if err := writeAgent(text, name, agents[name]); err != nil {
			return err
		}
	}
	text.WriteString("    ]\n    imports: [\n")
	for _, service := range a.services() {
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
	return []string{bus.ServiceAnnounce, bus.ServiceAlive, bus.ServiceArtifact, bus.ServicePartial}
}

// A service is a subject of the core account that agents reach.
type service struct {
	subject  string
	response string   // singleton, or stream when one request has many answers
	accounts []string // that reach it
}

const (
	jetStreamAPI = "$JS.API"
	consumerInfo = ".CONSUMER.INFO." + bus.WorkStream + ".*"
	agentSubject = "podium.agent."
	gateSubject  = "podium.gate."
	singleton    = "singleton"
)

// importedAs returns the mapping of an import, if the agents know it by another name.
func (s service) importedAs() string {
	if s.subject == gateSubject+"*."+jetstream.GateConsumer {
		return fmt.Sprintf(", to: %q", APIPrefix+consumerInfo)
	}
	for name, local := range map[string]string{jetStreamAPI: APIPrefix, gateSubject: agentSubject} {
		if rest, ok := strings.CutPrefix(s.subject, name); ok {
			return fmt.Sprintf(", to: %q", local+rest)
		}
	}
	return ""
}

// services lists those that somebody reaches: one that names no account would be everybody's.
func (a Accounts) services() []service {
	own, external := []string{agentsAccount}, a.externals()
	all := slices.Concat(own, external)
	list := []service{
		{jetStreamAPI + consumerInfo, singleton, own},
		{gateSubject + "*." + jetstream.GateConsumer, singleton, external},
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
	return slices.DeleteFunc(list, func(s service) bool { return len(s.accounts) == 0 })
}
