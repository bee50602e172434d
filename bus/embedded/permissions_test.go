package embedded_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
)

// These tests do not list attacks. They hold every permission of an agent against
// every subject that the server has, and against every permission of the others.

// awkward are names of agents that are part of one another, that look like numbers, or
// that are words of the server's.
func awkward() []string {
	return []string{
		"alpha", "alph", "alphabeta", "alpha-beta", "beta", "1a", "-1", "1_1", "_", "-", "a", "ack", "api", "core", "js", "next", "info",
		"agent", "request", "response", "progress", "permit", "cancel", "announce", "partial", "podium", "podium_work", "inbox", "r",
	}
}

// reach is what an agent may publish to, as the core account knows it.
func reach(agent string) []string {
	var subjects []string
	for _, subject := range embedded.AgentPublishes(agent) {
		subjects = append(subjects, embedded.InCore(subject)...)
	}
	return subjects
}

// TestPermissionsAreApart_G40: no two agents have a subject in common, neither to
// publish to, nor to listen to, nor so that one listens to the other, whatever they
// are called.
func TestPermissionsAreApart_G40(t *testing.T) {
	t.Parallel()
	everything := func(agent string) []string {
		return slices.Concat(reach(agent), embedded.AgentPublishes(agent), embedded.AgentSubscribes(agent))
	}
	for _, one := range awkward() {
		for _, other := range awkward() {
			if one == other {
				continue
			}
			for _, mine := range everything(one) {
				for _, theirs := range everything(other) {
					if server.SubjectsCollide(mine, theirs) {
						t.Errorf("%s has %s, and %s has %s", one, mine, other, theirs)
					}
				}
			}
		}
	}
}

var verb = regexp.MustCompile(`%+[a-z]`)

// serverSubjects returns every subject that stands in the server's source: of its API,
// its acknowledgements, its flow control, its inboxes, its replies, its monitoring.
// A place that is filled in at run time is "*"; one that is only begun ends in ">".
func serverSubjects(t *testing.T) []string {
	t.Helper()
	listed, err := exec.CommandContext(t.Context(), "go", "list", "-json=Dir,GoFiles", "github.com/nats-io/nats-server/v2/server").Output()
	if err != nil {
		t.Fatal(err)
	}
	var source struct {
		Dir     string
		GoFiles []string
	}
	if err = json.Unmarshal(listed, &source); err != nil {
		t.Fatal(err)
	}
	begins := regexp.MustCompile(`^(\$[A-Z]|_[A-Z]+_\.)[^ ]*$`)
	found := map[string]bool{}
	for _, name := range source.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(source.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !begins.MatchString(text) {
				return true
			}
			text = verb.ReplaceAllString(text, "*")
			if strings.HasSuffix(text, ".") {
				text += ">"
			} else if server.IsValidSubject(text + ".>") {
				found[text+".>"] = true
			}
			if server.IsValidSubject(text) {
				found[text] = true
			}
			return true
		})
	}
	subjects := make([]string, 0, len(found))
	for subject := range found {
		subjects = append(subjects, subject)
	}
	slices.Sort(subjects)
	if len(subjects) < 200 || !found[server.JSApiConsumerInfo] || !found["$JS.ACK.*.*.*.*.>"] {
		t.Fatalf("only %d subjects were found in the server's source: %v", len(subjects), subjects)
	}
	return subjects
}

// families are the server's subjects that a permission may meet at all: of these an
// agent has the part that names it, which TestConsumersAreApart_G40 shows.
func families() []string {
	return []string{
		"$JS.>", "$JS.ACK.>", "$JS.ACK.*.*.>", "$JS.ACK.*.*.*.*.>",
		"$JS.API.>", "$JS.API.CONSUMER.>", "$JS.API.CONSUMER.INFO.*.*", "$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.MSG.NEXT.*.*",
		"$JS.*.API.>", "$JS.*.API.*.>", // only of a domain called ACK: TestDomainCannotBeTakenForAnAck_G40
	}
}

// TestDomainCannotBeTakenForAnAck_G40: where the API would be within what an agent may
// publish to, there is no ledger.
func TestDomainCannotBeTakenForAnAck_G40(t *testing.T) {
	t.Parallel()
	s, keys := plainServer(t, "\njetstream { domain: ACK }\n")
	_, err := jetstream.Connect(t.Context(), jetstream.Config{URL: s.ClientURL(), SeedFile: keys.Core.SeedFile, Shards: 1, Logger: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), "call it something else") {
		t.Errorf("a domain called ACK: %v", err)
	}
}

// TestAcknowledgementOfTheNewerForm: an agent's permission fits both forms.
func TestAcknowledgementOfTheNewerForm(t *testing.T) {
	t.Parallel()
	s, keys := plainServer(t, "\nfeature_flags { js_ack_fc_v2: true }\n")
	c := plainCore(t, s, keys)
	if err := c.Declare(t.Context(), "alpha", bus.Pool{Size: 1, AckWait: ackWait}); err != nil {
		t.Fatal(err)
	}
	w, err := worker.Connect(t.Context(), worker.Config{
		URL: s.ClientURL(), SeedFile: keys.Agents["alpha"].SeedFile, Agent: "alpha", Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	for range 2 { // the second one comes only after the first was acknowledged
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.RequestSubject("alpha"), Body: []byte("{}")}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
		deliveries, err := w.Fetch(t.Context(), 1)
		if err != nil || len(deliveries) != 1 {
			t.Fatalf("%d requests, %v", len(deliveries), err)
		}
		if err := deliveries[0].Ack(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPermissionsMeetNoOtherSubject_G40 holds every permission against every subject
// in the server's source. A version of the server with a new one that a permission
// meets fails here, until somebody has looked at it.
func TestPermissionsMeetNoOtherSubject_G40(t *testing.T) {
	t.Parallel()
	subjects := serverSubjects(t)
	for _, agent := range awkward() {
		for _, allowed := range append(reach(agent), embedded.AgentSubscribes(agent)...) {
			for _, subject := range subjects {
				if server.SubjectsCollide(allowed, subject) && !slices.Contains(families(), subject) {
					t.Errorf("agent %s may use %s, which meets %s of the server", agent, allowed, subject)
				}
			}
		}
	}
}

// TestConsumersAreApart_G40 fills in the subjects that a permission may meet with every
// stream, and with every agent as consumer, as domain and as account: an agent has
// those of its own consumer only.
func TestConsumersAreApart_G40(t *testing.T) {
	t.Parallel()
	streams := []string{bus.WorkStream, bus.ShardStream(0), "KV_" + bus.AgentBucket, bus.ArtifactStream, "1"}
	for _, agent := range awkward() {
		for _, consumer := range append(awkward(), "1", "*") {
			for _, stream := range streams {
				own := agent == consumer && stream == bus.WorkStream
				for _, subject := range consumerSubjects(stream, consumer) {
					met := slices.ContainsFunc(reach(agent), func(allowed string) bool { return server.SubjectsCollide(allowed, subject) })
					whole := consumer == "*" && stream == bus.WorkStream // its own is among them
					if met != own && !whole {
						t.Errorf("agent %s meets %s: %t, want %t", agent, subject, met, own)
					}
				}
			}
		}
	}
}

// consumerSubjects are the subjects on which a server listens for one consumer and
// that an agent needs of its own.
func consumerSubjects(stream, consumer string) []string {
	name := stream + "." + consumer
	subjects := []string{
		"$JS.API.CONSUMER.INFO." + name, "$JS.API.CONSUMER.MSG.NEXT." + name, "$JS.ACK." + name + ".*.*.*.*.*",
	}
	for _, domain := range append(awkward(), "*", "_", bus.WorkStream) {
		for _, account := range []string{"*", "alpha", "beta", "1", bus.WorkStream} {
			subjects = append(subjects, "$JS.ACK."+domain+"."+account+"."+name+".*.*.*.*.>")
		}
	}
	return subjects
}

// TestPermissionsMeetNoOtherListener_G40 holds every permission against everybody who
// listens on a running server: the server itself and the core. What an agent meets there is its own, or a service that tells agents
// apart by their subject.
func TestPermissionsMeetNoOtherListener_G40(t *testing.T) {
	t.Parallel()
	subscriptions := listeners(t)
	for _, agent := range awkward() {
		own := slices.Concat([]string{"$JS.API.>"}, consumerSubjects(bus.WorkStream, agent))
		for _, allowed := range reach(agent) {
			for _, subject := range subscriptions {
				shared := strings.HasPrefix(subject, "podium.agent.*.") && strings.HasPrefix(allowed, "podium.agent."+agent+".")
				mine := slices.ContainsFunc(own, func(s string) bool { return subject == s || server.SubjectMatchesFilter(subject, s) })
				if server.SubjectsCollide(allowed, subject) && !shared && !mine {
					t.Errorf("agent %s may publish to %s, where somebody listens on %s", agent, allowed, subject)
				}
			}
		}
	}
}

// listeners returns the subject of every subscription on a server at work.
func listeners(t *testing.T) []string {
	t.Helper()
	s, keys := plainServer(t, "")
	c := plainCore(t, s, keys)
	for _, agent := range awkward() {
		if err := c.Declare(t.Context(), agent, bus.Pool{Size: 1, AckWait: ackWait}); err != nil {
			t.Fatal(err)
		}
	}
	open, err := s.Subsz(&server.SubszOptions{Subscriptions: true, Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, subscription := range open.Subs {
		if subscription.Account != "AGENTS" && !strings.HasPrefix(subscription.Account, "EXTERNAL_") { // what is imported there is listed where it leads to
			subjects = append(subjects, subscription.Subject)
		}
	}
	for _, needed := range []string{"$JS.ACK." + bus.WorkStream + ".beta.*.*.*.*.*", "podium.agent.*.response.0"} {
		if !slices.Contains(subjects, needed) {
			t.Fatalf("nobody listens on %s: %v", needed, subjects)
		}
	}
	return subjects
}

// plainServer runs a server of the same configuration with more of it, and lets the
// test look inside.
func plainServer(t *testing.T, more string) (*server.Server, embedded.Keys) {
	t.Helper()
	keys, err := embedded.Credentials(t.TempDir(), awkward())
	if err != nil {
		t.Fatal(err)
	}
	text, err := embedded.Settings{Listen: "127.0.0.1:-1", StoreDir: t.TempDir(), Durability: embedded.Interval, Accounts: keys.Accounts(awkward()[:10]...)}.Config()
	if err != nil {
		t.Fatal(err)
	}
	options := &server.Options{NoSigs: true}
	if err := options.ProcessConfigString(text + more); err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s, keys
}

func plainCore(t *testing.T, s *server.Server, keys embedded.Keys) *jetstream.Core {
	t.Helper()
	c, err := jetstream.Connect(t.Context(), jetstream.Config{URL: s.ClientURL(), SeedFile: keys.Core.SeedFile, Shards: 2, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
