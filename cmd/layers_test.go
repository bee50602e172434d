package cmd_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "podium/"

// layers is a statement of policy: what each package may import from this
// module. A package may always import those inside itself, and "*" is all. A
// package without a line here has no place in the house.
var layers = []struct {
	pattern string
	imports []string
}{
	{"schemas", []string{"schemas/validation"}},
	{"schemas/fault", nil},
	{"schemas/validation", nil},
	{"schemas/immutable", nil},
	{"schemas/seen", []string{"schemas/immutable"}},
	{"schemas/reference", []string{"schemas"}},
	{"schemas/pointer", []string{"schemas"}},
	{"schemas/sentences", []string{"schemas"}},
	{"schemas/table", nil},
	{"schemas/timezone", nil},
	{"schemas/workflow", []string{"schemas"}},
	{"bus", []string{"schemas"}},
	// The contract is what everybody sees. What stands on it is apart, each on those
	// before it, so that nobody imports more of it than it uses.
	{"bus/backoff", nil},
	{"bus/binding", []string{"schemas", "bus"}},
	{"bus/keyring", []string{"schemas", "bus"}},
	{"bus/artifact", []string{"schemas", "bus", "bus/backoff", "bus/binding", "bus/keyring"}},
	{"bus/intake", []string{"schemas", "bus", "bus/artifact", "bus/binding"}},
	{"bus/history", []string{"schemas", "schemas/seen", "schemas/workflow", "bus", "bus/artifact", "bus/backoff", "bus/binding"}},
	{"bus/registry", []string{"schemas", "bus", "bus/artifact"}},
	{"bus/agent", []string{"schemas", "schemas/validation", "bus", "bus/artifact", "bus/backoff", "bus/binding", "bus/keyring"}},
	{"bus/agent/conformance", []string{"schemas", "schemas/validation", "bus", "bus/artifact", "bus/binding"}},
	{"bus/memory", []string{"schemas", "bus", "bus/artifact"}},
	{"bus/partial", []string{"schemas"}},
	{"bus/gate", []string{"schemas", "bus", "bus/artifact", "bus/binding"}},
	{"bus/jetstream/wire", []string{"schemas", "bus", "bus/backoff"}},
	{"bus/jetstream/worker", []string{"schemas", "bus", "bus/artifact", "bus/backoff", "bus/jetstream", "bus/jetstream/wire"}},
	{"bus/jetstream/discovery", []string{"schemas", "bus", "bus/jetstream", "bus/registry"}},
	{"bus/jetstream", []string{"schemas", "bus", "bus/artifact", "bus/backoff"}},
	{"bus/jetstream/barebus", []string{"schemas", "bus"}},
	{"bus/embedded/wholefile", nil},
	{"bus/embedded/filestore", []string{"bus/embedded/wholefile"}},
	{"bus/embedded/recovery", []string{"bus/embedded/filestore", "bus/embedded/wholefile"}},
	{"bus/embedded/secrets", []string{"bus/embedded/recovery", "bus/embedded/wholefile"}},
	{"bus/embedded", []string{"schemas", "bus", "bus/backoff", "bus/jetstream", "bus/jetstream/worker"}},
	{"bus/embedded/serverprocess", []string{"bus/embedded", "bus/bustest/loopback"}},
	{"bus/bustest/cputime", nil},
	{"bus/bustest/loopback", nil},
	{"bus/bustest/smalldisk", nil},
	{"bus/bustest", []string{"schemas", "schemas/seen", "bus", "bus/agent", "bus/agent/conformance", "bus/artifact", "bus/binding", "bus/intake", "bus/memory", "bus/registry"}},
	{"supervisor/route", []string{"schemas", "supervisor/say"}}, // the latter for its tests
	{"supervisor/arguments", []string{"schemas", "schemas/pointer", "schemas/validation", "supervisor/route"}},
	{"supervisor/language", nil},
	{"supervisor/phrase", nil},
	{"supervisor/say", []string{"schemas", "schemas/sentences"}}, // the sentences of codes
	{"supervisor/answer", []string{"schemas", "schemas/table"}},
	{"supervisor/findings", []string{"schemas"}},
	{"supervisor/approval", []string{"schemas", "schemas/validation", "schemas/workflow"}},
	{"supervisor/circuit", []string{"schemas"}},
	{"supervisor/budget", []string{"schemas", "schemas/workflow", "supervisor/phrase", "supervisor/say"}},
	{"supervisor/recovery", []string{"schemas", "schemas/workflow", "supervisor/phrase", "supervisor/review"}},
	{"supervisor/review", []string{"schemas", "schemas/workflow", "supervisor/findings", "supervisor/say"}},
	{"supervisor/plan", []string{"schemas", "schemas/pointer", "schemas/reference", "schemas/timezone", "schemas/validation", "schemas/workflow", "supervisor/answer", "supervisor/approval", "supervisor/arguments", "supervisor/budget", "supervisor/language", "supervisor/phrase", "supervisor/recovery", "supervisor/review", "supervisor/route", "supervisor/say"}},
	{"supervisor/session", []string{"schemas", "schemas/immutable", "schemas/reference", "schemas/seen", "schemas/workflow", "supervisor/budget", "supervisor/findings", "supervisor/plan", "supervisor/recovery", "supervisor/review", "supervisor/route", "supervisor/say"}},
	{"supervisor/score", []string{"schemas", "schemas/workflow", "supervisor/say"}},
	{"supervisor/eventloop", []string{"bus/backoff"}},
	{"supervisor/quarantine", []string{"schemas", "bus"}},
	{"supervisor/gateway", []string{"schemas", "bus", "bus/agent", "bus/artifact", "bus/backoff", "bus/binding", "bus/intake", "supervisor/quarantine"}},
	{"supervisor/restore", []string{"schemas", "schemas/workflow", "bus", "bus/artifact", "bus/binding", "bus/history", "supervisor/session", "supervisor/plan"}},
	{"supervisor/publisher", []string{"schemas", "bus", "bus/agent", "bus/artifact", "bus/binding", "supervisor/eventloop"}},
	{"supervisor/progress", []string{"schemas", "schemas/workflow", "bus", "supervisor/session", "supervisor/eventloop", "supervisor/restore", "supervisor/publisher"}},
	{"supervisor/checkpoint", []string{"schemas", "bus", "bus/artifact", "bus/binding", "supervisor/eventloop", "supervisor/publisher"}},
	{"supervisor/admission", []string{"schemas", "schemas/workflow", "bus", "bus/registry", "supervisor/session", "supervisor/plan", "supervisor/budget", "supervisor/circuit", "supervisor/eventloop", "supervisor/restore"}},
	{"supervisor/statistics", []string{"schemas", "schemas/workflow", "bus", "supervisor/session"}},
	// What decides a shard again; only its tests use the simulation, for ledgers with every fault.
	{"supervisor/verify", []string{"schemas", "schemas/workflow", "bus", "bus/artifact", "supervisor/session", "supervisor/plan", "supervisor/checkpoint", "supervisor/restore", "supervisor/sim"}},
	// The loop of a shard's owner; only its tests use verify and budget.
	{"supervisor", []string{
		"schemas", "schemas/workflow", "bus", "bus/agent", "bus/artifact", "bus/binding", "bus/history", "bus/intake", "bus/registry", "supervisor/session",
		"supervisor/plan", "supervisor/eventloop", "supervisor/quarantine", "supervisor/gateway", "supervisor/restore", "supervisor/publisher", "supervisor/progress", "supervisor/checkpoint", "supervisor/admission", "supervisor/budget", "supervisor/circuit", "supervisor/verify",
	}},
	{"supervisor/sim", []string{
		"schemas", "schemas/reference", "schemas/workflow", "bus", "bus/agent", "bus/artifact", "bus/binding", "bus/history", "bus/memory",
		"bus/registry", "supervisor", "supervisor/session", "supervisor/plan", "supervisor/route", "supervisor/budget", "supervisor/circuit", "supervisor/admission", "supervisor/restore", "supervisor/verify",
	}},
	// Where mail and passwords may go without TLS is one rule for reading and for sending
	// mail: below both, since neither sees the other.
	{"cleartext", nil},
	{"agents/mail", []string{"schemas", "schemas/sentences", "bus", "bus/agent", "bus/backoff", "cleartext"}},
	// Programs are started and ended in one way, whatever is said to them.
	{"subprocess", nil},
	{"agents/exec", []string{"schemas", "schemas/sentences", "bus", "bus/agent", "bus/backoff", "subprocess"}},
	{"agents/mcp", []string{"schemas", "schemas/sentences", "schemas/validation", "bus", "bus/agent", "bus/backoff", "subprocess"}}, // schemas are a stranger's
	{"agents/llm", []string{"schemas", "schemas/reference", "schemas/sentences", "schemas/validation", "bus", "bus/agent"}},         // it holds answers to schemas, and hands on no grant
	// What calendars and address books share: both are kept on the same kind of server.
	// What members are called is for whoever configures an agent.
	{"agents/members", []string{"schemas"}},
	{"agents/dav", []string{"schemas", "schemas/sentences", "bus", "bus/agent", "agents/members"}},
	{"agents/dav/radicale", []string{"bus/bustest/loopback"}},
	{"agents/caldav", []string{"schemas", "schemas/sentences", "schemas/timezone", "bus", "bus/agent", "agents/dav", "agents/members", "agents/dav/radicale"}}, // the latter for its tests, as every fixture
	{"agents/carddav", []string{"schemas", "schemas/sentences", "bus", "bus/agent", "agents/dav", "agents/members", "agents/dav/radicale"}},
	{"agents/retrieval", []string{"schemas", "schemas/sentences", "bus", "bus/agent", "bus/backoff", "agents/members"}},
	{"agents/document", []string{"schemas", "schemas/sentences", "schemas/table", "bus", "bus/agent"}},
	{"agents/file", []string{"schemas", "schemas/sentences", "schemas/table", "bus", "bus/agent", "bus/backoff"}},
	{"agents/*", []string{"schemas", "schemas/sentences", "bus", "bus/agent", "bus/backoff"}},
	{"agents/*/*", []string{"schemas", "bus", "bus/agent", "bus/backoff"}},
	// What the adapters that speak HTTP say to programs is one thing, below both of them:
	// a client that knows one adapter's refusals knows the other's.
	{"ingest/problem", []string{"schemas", "bus"}},
	// Likewise what they take in from strangers, who do not care which adapter it is.
	{"ingest/admission", []string{"ingest/problem"}},
	// And how a sender proves itself by a signature.
	{"ingest/webhook", nil},
	// An adapter that waits for the outcome of what it took in reads it as everybody does.
	{"ingest/runs", []string{"schemas", "schemas/workflow", "bus", "bus/binding", "bus/history", "bus/intake", "ingest/admission", "ingest/problem"}},
	{"ingest/chat", []string{
		"schemas", "schemas/sentences", "schemas/workflow", "bus", "bus/artifact", "bus/binding", "bus/history", "bus/intake", "ingest/runs", "ingest/admission", "ingest/problem", "ingest/webhook",
		"ingest/mime/text", // Teams sends pages: they are read as those of mails
	}},
	{"ingest/cloudevents", []string{"schemas", "schemas/pointer", "schemas/validation", "bus", "bus/binding", "bus/intake", "ingest/admission", "ingest/problem"}},
	// An answer by callback becomes what its agent itself would have published.
	{"ingest/callback", []string{"schemas", "bus", "bus/agent", "bus/keyring", "ingest/admission", "ingest/problem", "ingest/webhook"}},
	// A mail is the same whoever has brought it: reading one knows no mailbox.
	// Its rooms run downhill: what is said of a mail rests on how it is written.
	{"ingest/mime/defect", nil},
	{"ingest/mime/transfer", []string{"ingest/mime/defect"}},
	{"ingest/mime/charset", []string{"ingest/mime/defect", "ingest/mime/transfer"}},
	{"ingest/mime/header", []string{"schemas", "ingest/mime/charset", "ingest/mime/defect", "ingest/mime/transfer"}},
	{"ingest/mime/text", []string{"ingest/mime/charset"}},
	{"ingest/mime/structure", []string{"schemas", "schemas/timezone", "ingest/mime/charset", "ingest/mime/defect", "ingest/mime/header", "ingest/mime/text", "ingest/mime/transfer"}},
	{"ingest/mime/trust", []string{"schemas", "ingest/mime/charset", "ingest/mime/defect", "ingest/mime/header", "ingest/mime/text"}},
	{"ingest/mime", []string{"schemas"}},
	{"ingest/imap/connection", []string{"cleartext", "ingest/imap/dovecot"}}, // the latter for its tests, as every fixture
	{"ingest/imap/mailbox", []string{"schemas", "bus", "bus/binding"}},
	{"ingest/imap/audit", []string{"schemas", "bus", "bus/artifact", "bus/binding", "bus/history", "ingest/imap/connection", "ingest/imap/mailbox"}},
	{"ingest/imap", []string{
		"schemas", "bus", "bus/artifact", "bus/backoff", "bus/binding", "bus/history", "bus/intake", "cleartext",
		"ingest/mime", "ingest/mime/structure", "ingest/mime/text", "ingest/mime/trust",
	}},
	{"ingest/imap/dovecot", []string{"bus/bustest/loopback"}},
	{"ingest/*", []string{"schemas", "schemas/sentences", "bus"}},
	{"ingest/*/*", []string{"schemas", "bus"}},
	{"deploy/examples/*", nil},
	{"deploy/examples/*/*", nil},
	{"tools/*", nil},
	{"cmd", []string{"*"}},
	{"cmd/*", []string{"*"}},
	{"cmd/podium/diagnostic", nil},
	{"cmd/podium/config/strictyaml", []string{"schemas", "cmd/podium/diagnostic"}},
	{"cmd/podium/config/beside", nil},
	{"cmd/podium/config/keyword", []string{"schemas"}},
	{"cmd/podium/config/script", []string{
		"schemas", "schemas/validation", "bus/agent", "supervisor/route", "agents/scripted", "cmd/podium/diagnostic",
		"cmd/podium/config/beside", "cmd/podium/config/keyword", "cmd/podium/config/strictyaml",
	}},
	{"cmd/podium/egress", nil},
	{"cmd/podium/ledgerwatch", []string{"bus", "bus/backoff", "bus/intake", "bus/embedded", "bus/embedded/recovery", "cmd/podium/config", "cmd/podium/installation"}},
	{"cmd/podium/runlog", []string{"schemas", "schemas/workflow", "bus", "bus/artifact", "bus/binding", "bus/history", "bus/keyring", "bus/registry", "supervisor/gateway", "supervisor/restore"}},
	{"cmd/podium/runfiles", []string{"schemas", "schemas/workflow", "bus", "supervisor/review"}},
	{"cmd/podium/taskplan", []string{"schemas", "schemas/workflow", "bus", "bus/embedded/wholefile", "bus/history", "cmd/podium/runlog", "supervisor/say"}},
	{"cmd/*/*", []string{"*"}},
}

// fixtures are for tests only: nothing but they themselves and tests import them.
var fixtures = []string{"bus/memory", "bus/bustest", "bus/bustest/cputime", "bus/bustest/loopback", "bus/bustest/smalldisk", "bus/embedded/serverprocess", "supervisor/sim", "agents/mail/smtpsink", "agents/llm/modelserver", "agents/dav/radicale", "ingest/imap/dovecot", "ingest/page/chromium"}

// forEveryone may be imported by every package: of fault points a build without their tag has nothing.
const forEveryone = "schemas/fault"

// forTests is what any test may import besides its package's layer: a ledger to
// run on, what reads and writes it, and the suites.
var forTests = []string{
	"bus", "bus/agent", "bus/artifact", "bus/backoff", "bus/binding", "bus/history", "bus/intake", "bus/keyring", "bus/partial", "bus/registry",
	"bus/memory", "bus/bustest", "bus/bustest/cputime", "bus/bustest/smalldisk", "bus/embedded", "bus/jetstream", "bus/jetstream/worker", "bus/gate",
}

// rooms says where a library that shapes the code around it may be seen.
var rooms = []struct {
	library  string
	packages []string
	tests    []string // these packages' tests may see it too
}{
	{"github.com/nats-io/nats.go", []string{"bus/jetstream"}, []string{"bus/embedded", "cmd/podium"}},
	{"github.com/nats-io/nats-server", []string{"bus/embedded"}, []string{"bus/jetstream"}},
	{"github.com/cloudevents/sdk-go", []string{"bus/binding", "ingest/cloudevents"}, nil},
	{"github.com/emersion/go-imap", []string{"ingest/imap/connection", "ingest/imap/memorymailbox"}, []string{"ingest/imap"}},
	{"github.com/wneessen/go-mail", []string{"agents/mail"}, nil},
	{"github.com/sashabaranov/go-openai", []string{"agents/llm"}, nil},
	{"github.com/emersion/go-ical", []string{"agents/caldav"}, nil},
	{"github.com/emersion/go-vcard", []string{"agents/carddav"}, nil},
	{"github.com/kaptinlin/jsonrepair", []string{"agents/llm"}, nil},
	{"github.com/modelcontextprotocol/go-sdk", []string{"agents/mcp", "tools/mcptools"}, []string{"cmd/podium/service"}},
	{"github.com/goccy/go-yaml", []string{"cmd/podium/config/strictyaml", "tools/coverage"}, []string{"cmd/podium/config", "schemas", "supervisor/session"}},
	{"github.com/alecthomas/kong", []string{"cmd/podium", "cmd/podium-bench"}, nil},
	{"github.com/charmbracelet", []string{"cmd/podium/view"}, []string{"cmd/podium"}},
}

type listed struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func (p *listed) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func TestLayers(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for i := range packages {
		p := &packages[i]
		imports, ok := layerOf(p.name())
		if !ok {
			t.Errorf("%s: no layer; add a line to the table, or find its place in the house", p.name())
			continue
		}
		for _, imported := range p.Imports {
			name, own := strings.CutPrefix(imported, module)
			if own && !permitted(p.name(), name, imports) {
				t.Errorf("%s may not import %s", p.name(), name)
			}
			if own && slices.Contains(fixtures, name) && !slices.Contains(fixtures, p.name()) {
				t.Errorf("%s imports %s, which is for tests", p.name(), name)
			}
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			name, own := strings.CutPrefix(imported, module)
			if own && name != p.name() && !permitted(p.name(), name, slices.Concat(imports, forTests)) {
				t.Errorf("a test of %s may not import %s", p.name(), name)
			}
		}
	}
}

// TestLibraryRooms keeps each large library in its one room.
func TestLibraryRooms(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		for _, room := range rooms {
			within := func(imported string) bool {
				return imported == room.library || strings.HasPrefix(imported, room.library+"/")
			}
			inRoom := slices.ContainsFunc(room.packages, func(owner string) bool { return inside(owner, p.name()) })
			if !inRoom && slices.ContainsFunc(p.Imports, within) {
				t.Errorf("%s imports %s; only %s may", p.name(), room.library, strings.Join(room.packages, ", "))
			}
			inRoom = inRoom || slices.ContainsFunc(room.tests, func(owner string) bool { return inside(owner, p.name()) })
			if !inRoom && slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports), within) {
				t.Errorf("a test of %s imports %s; only those of %s may", p.name(), room.library, strings.Join(slices.Concat(room.packages, room.tests), ", "))
			}
		}
	}
}

// TestLayerTable keeps the rules above able to say no.
func TestLayerTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"bus", "schemas", true},
		{"schemas", "bus", false},
		{"bus", "bus/memory", false},
		{"bus/memory", "bus/jetstream", false},
		{"agents/mail", "bus", true},
		{"agents/mail", "bus/agent", true},
		{"agents/mail", "bus/history", false},
		{"bus", "bus/binding", false},
		{"bus/intake", "bus/agent", false},
		{"agents/mail", "agents/mail/smtpsink", true},
		{"agents/mail", "agents/chat", false},
		{"agents/mail", "supervisor", false},
		{"agents/mail", "cleartext", true},
		{"agents/chat", "cleartext", false},
		{"agents/mcp", "subprocess", true},
		{"agents/http", "subprocess", false},
		{"agents/llm", "schemas/validation", true},
		{"agents/chat", "schemas/validation", false},
		{"ingest/imap", "agents/mail", false},
		{"ingest/cloudevents", "ingest/problem", true},
		{"ingest/cloudevents", "ingest/chat", false},
		{"ingest/problem", "ingest/chat", false},
		{"ingest/chat", "ingest/webhook", true},
		{"ingest/chat", "ingest/runs", true},
		{"ingest/chat", "ingest/mime/text", true},
		{"ingest/chat", "ingest/mime", false},
		{"ingest/runs", "ingest/chat", false},
		{"ingest/webhook", "ingest/problem", false},
		{"ingest/admission", "ingest/problem", true},
		{"ingest/admission", "bus", false},
		{"ingest/imap", "ingest/mime", true},
		{"ingest/mime", "ingest/imap", false},
		{"ingest/mime", "bus", false},
		{"ingest/mime", "ingest/mime/trust", true},
		{"ingest/mime/text", "ingest/mime/structure", false},
		{"ingest/mime/structure", "ingest/mime/trust", false},
		{"ingest/imap/audit", "ingest/imap", false},
		{"ingest/imap/audit", "ingest/imap/mailbox", true},
		{"supervisor", "agents/echo", false},
		{"supervisor/plan", "bus", false},
		{"supervisor/route", "supervisor/plan", false},
		{"supervisor/arguments", "supervisor/route", true},
		{"supervisor/arguments", "supervisor/plan", false},
		{"cmd/podium", "supervisor", true},
		{"cmd/podium/egress", "bus", false},
	} {
		imports, ok := layerOf(c.from)
		if !ok || permitted(c.from, c.to, imports) != c.want {
			t.Errorf("%s importing %s: permitted is not %t", c.from, c.to, c.want)
		}
	}
	if _, ok := layerOf("util"); ok {
		t.Error("a package nobody knows has a layer")
	}
}

func layerOf(name string) (imports []string, ok bool) {
	for _, layer := range layers {
		if matched, _ := path.Match(layer.pattern, name); matched {
			return layer.imports, true
		}
	}
	return nil, false
}

func permitted(from, to string, imports []string) bool {
	ownRoom := strings.Count(from, "/") > 0 && from != to && inside(from, to)
	return ownRoom || to == forEveryone || slices.Contains(imports, "*") || slices.Contains(imports, to)
}

// inside reports whether a package is another or lies in its folder.
func inside(outer, inner string) bool { return inner == outer || strings.HasPrefix(inner, outer+"/") }

// list asks the go command for every package of the module.
func list(t *testing.T) []listed {
	t.Helper()
	out := run(t, "go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", module+"...")
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}
