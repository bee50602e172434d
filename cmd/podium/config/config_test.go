package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cockroachdb/datadriven"

	"podium/bus"
	"podium/bus/agent"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
	"podium/supervisor/plan"
)

const (
	webSecret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"
	nextSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"
)

func lookup(name string) (string, bool) {
	value, ok := map[string]string{
		"IMAP_PASSWORD": "p: # {not: yaml}\n- x", "WEB_SECRET": webSecret, "NEXT_SECRET": nextSecret,
		"WEB_TOKEN": "0123456789abcdef", "CONCURRENCY": "7", "WORDS": "words",
	}[name]
	return value, ok
}

func read(t *testing.T, name string) *Config {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	config, err := parse(body, name, lookup)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// tellsProblems holds what mistakes are answered with to a file of testdata.
func tellsProblems(t *testing.T, file string) {
	t.Helper()
	datadriven.RunTest(t, filepath.Join("testdata", file), func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		_, err := parse([]byte(d.Input), "podium.yaml", lookup)
		if err == nil {
			return "accepted"
		}
		if len(diagnostic.ProblemsOf(err)) == 0 {
			t.Errorf("%s: the error is %T", d.Pos, err)
		}
		return err.Error()
	})
}

// TestProblems shows what each mistake is answered with.
func TestProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "problems")
}

func TestFullFile(t *testing.T) {
	t.Parallel()
	config := read(t, "full.yaml")
	account := config.Mail.Accounts[0]
	web, old := config.Chat.Channels["web"], config.Chat.Channels["old"]
	for name, pair := range map[string][2]any{
		"durability":      {config.Ledger.Durability, DurabilityInterval},
		"nats":            {config.Ledger.NATS.Credentials, "/etc/podium/core.creds"},
		"listen":          {config.HTTP.Listen, "127.0.0.1:8088"},
		"since":           {account.Since.Date, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)},
		"variable":        {string(account.IMAP.Password), "p: # {not: yaml}\n- x"},
		"literal":         {string(account.SMTP.Password), "a${b}"},
		"one secret":      {fmt.Sprintf("%d %s", len(web.Secrets), string(web.Secrets[0])), "1 " + webSecret},
		"two secrets":     {string(old.Secrets[1]), nextSecret},
		"token":           {string(old.Token), "0123456789abcdef"},
		"number variable": {config.Agents["calculator"].Concurrency, 7},
		"command":         {strings.Join(config.Agents["summary"].Command, " "), "./summary.sh --short"},
		"timeout":         {config.Agents["summary"].Timeout, schemas.Duration(2 * time.Minute)},
		"delivery agent":  {config.Agents["mail"].Concurrency, 1},
		"chat agent":      {config.Agents["chat"].Kind, KindChat},
		"breaker":         {config.Agents["elsewhere"].Breaker, Breaker{Failures: 7, Within: schemas.Duration(20 * time.Second), Open: schemas.Duration(90 * time.Second)}},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	config := read(t, "least.yaml")
	profile := config.Profiles["plain"]
	for name, pair := range map[string][2]any{
		"data":       {config.Ledger.Data, "./podium-data"},
		"durability": {config.Ledger.Durability, DurabilityFsync},
		"listen":     {config.HTTP.Listen, "127.0.0.1:8080"},
		"pool":       {config.Agents["echo"].Concurrency, 3},
		"kinds":      {fmt.Sprint(config.Agents["echo"].Kinds), "[work]"},
		"breaker":    {config.Agents["echo"].Breaker, Breaker{Failures: 5, Within: schemas.Duration(30 * time.Second), Open: schemas.Duration(30 * time.Second)}},
		"agents":     {len(config.Agents), 2}, // echo and chat: there is no mail account
		"language":   {profile.Language, schemas.LanguageOfWriter},
		"execution":  {profile.Execution.Mode, schemas.ExecutionSingle},
		"retry":      {profile.Retry, Retry{Attempts: 2, Wait: schemas.Duration(time.Second), TimeoutGrowth: 1.5}},
		"delivery":   {profile.Delivery, Delivery{Attempts: 10, Wait: schemas.Duration(2 * time.Second)}},
		"deadlines":  {profile.Deadlines, Deadlines{Queue: schemas.Duration(time.Minute), Work: schemas.Duration(30 * time.Second)}},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
}

// TestRouterDefaults_P06_G31: the defaults stand in the profile that a run pins,
// so that other defaults later do not change what it decides.
func TestRouterDefaults_P06_G31(t *testing.T) {
	t.Parallel()
	config := Config{Profiles: map[string]Profile{"p": {Routers: []Router{
		{Kind: schemas.RouterScore},
		{Kind: schemas.RouterScore, KeywordWeight: 0.3, Floor: 0.1, Deadline: schemas.Duration(time.Second)},
		{Kind: schemas.RouterAgent, Agent: "echo"},
		{Kind: schemas.RouterKeywords, Match: schemas.ModeCompound, Groups: []Group{
			{Agent: "echo", Keywords: []Keyword{{Word: "a"}, {Word: "b", Mode: schemas.ModeSuffix}}},
			{Agent: "echo", Match: schemas.ModePrefix, Keywords: []Keyword{{Word: "a"}, {Word: "b", Mode: schemas.ModeWord}}},
		}},
	}}}}
	complete := config.WithDefaults()
	got := complete.Profile("p").Routers
	word := func(text string, mode schemas.KeywordMode) schemas.Keyword {
		return schemas.Keyword{Word: text, Mode: mode}
	}
	want := []schemas.Router{
		{Kind: schemas.RouterScore, SelfWeight: 0.6, KeywordWeight: 0.4, Floor: 0.5, Deadline: schemas.Duration(2 * time.Second)},
		{Kind: schemas.RouterScore, KeywordWeight: 0.3, Floor: 0.1, Deadline: schemas.Duration(time.Second)},
		{Kind: schemas.RouterAgent, Agent: "echo", Deadline: schemas.Duration(10 * time.Second)},
		{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{
			{Name: "echo", Agent: "echo", Keywords: []schemas.Keyword{word("a", schemas.ModeCompound), word("b", schemas.ModeSuffix)}},
			{Name: "echo", Agent: "echo", Keywords: []schemas.Keyword{word("a", schemas.ModePrefix), word("b", schemas.ModeWord)}},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestWhatIsWrittenWins: the time that a program has when nothing is said is no reason to wait longer than the profile says.
func TestWhatIsWrittenWins(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ agent, deadlines, want string }{
		{"", "", "35s"},
		{"", "deadlines: {work: 3s}", "3s"},
		{"", "deadlines: {work: 1m}", "1m0s"},
		{", timeout: 20s", "deadlines: {work: 3s}", "25s"},
	} {
		file := "agents:\n  slow: {kind: exec, command: [./slow.sh]" + test.agent + "}\nprofiles:\n  desk:\n    agents: [slow]\n    routers: [{kind: default, agent: slow}]\n"
		if test.deadlines != "" {
			file += "    " + test.deadlines + "\n"
		}
		config, err := Parse([]byte(file), "podium.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Duration(config.WorkDeadlines("slow")["desk"]).String(); got != test.want {
			t.Errorf("slow%s with %q has %s, want %s", test.agent, test.deadlines, got, test.want)
		}
	}
}

func TestDefaultPorts(t *testing.T) {
	t.Parallel()
	for encryption, ports := range map[Encryption][2]int{
		"": {993, 465}, EncryptionImplicit: {993, 465}, EncryptionStartTLS: {143, 587}, EncryptionNone: {143, 25},
	} {
		config := Config{Mail: Mail{Accounts: []Account{{IMAP: IMAP{TLS: encryption}, SMTP: SMTP{TLS: encryption}}}}}
		account := config.WithDefaults().Mail.Accounts[0]
		if got := [2]int{account.IMAP.Port, account.SMTP.Port}; got != ports {
			t.Errorf("%q: ports %v, want %v", encryption, got, ports)
		}
	}
}

// TestDefaultsAreACopy changes nothing of what it was given.
func TestDefaultsAreACopy(t *testing.T) {
	t.Parallel()
	config := Config{
		Mail:   Mail{Accounts: []Account{{Name: "a"}}},
		Agents: map[string]Agent{"echo": {Kind: KindEcho}},
		Profiles: map[string]Profile{"p": {
			Routers:    []Router{{Kind: schemas.RouterKeywords, Groups: []Group{{Agent: "echo", Keywords: []Keyword{{Word: "x"}}}}}},
			Complexity: &Complexity{Verbs: []Keyword{{Word: "do"}}},
		}},
	}
	before := fmt.Sprintf("%+v %+v", config, *config.Profiles["p"].Complexity)
	complete := config.WithDefaults()
	if after := fmt.Sprintf("%+v %+v", config, *config.Profiles["p"].Complexity); after != before {
		t.Errorf("it became\n%s\nfrom\n%s", after, before)
	}
	profile := complete.Profiles["p"]
	if profile.Routers[0].Groups[0].Name != "echo" || profile.Routers[0].Groups[0].Keywords[0].Mode != schemas.ModeWord {
		t.Errorf("router without defaults: %+v", profile.Routers[0])
	}
	if profile.Complexity.Verbs[0].Mode != schemas.ModeWord || profile.Execution.Mode != schemas.ExecutionSequence {
		t.Errorf("complexity without defaults: %+v", profile)
	}
}

// TestReadme keeps the example of the README valid.
func TestReadme(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(body), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("there is no example")
	}
	config, err := parse([]byte(example), "README.md", lookup)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Compile(config.Profile("desk")); err != nil {
		t.Error(err)
	}
	if err := compileSchema(t, Schema()).Validate(generic(t, []byte(example))); err != nil {
		t.Error(err)
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	config, err := parse([]byte(`
agents: {echo: &one {kind: echo}, other: *one}
profiles:
  a: &all {agents: [echo], routers: [{kind: default, agent: echo}], retry: &patient {attempts: 9, wait: 1s}, delivery: *patient}
  b: *all
`), "podium.yaml", lookup)
	if err != nil {
		t.Fatal(err)
	}
	if config.Agents["other"].Kind != KindEcho || config.Profiles["b"].Delivery.Attempts != 9 {
		t.Errorf("got %+v", config)
	}
}

// TestVariableWithDefault: a variable that is not set, or empty, has the default that stands behind it, whatever that looks like.
func TestVariableWithDefault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"${WORDS:-other}":                   "words",
		"${UNSET:-/Some_workspace}":         "/Some_workspace",
		"\"${UNSET:-a: [b], c}\"":           "a: [b], c",
		"${EMPTY:-full}":                    "full",
		"x${UNSET:-}y":                      "xy",
		"\"${UNSET:-a}/${WORDS}/$${A:-b}\"": "a/words/${A:-b}",
	} {
		config, err := parse([]byte("ledger: {data: "+text+"}\nagents: {echo: {kind: echo}}\nprofiles: {a: {agents: [echo], routers: [{kind: default, agent: echo}]}}\n"),
			"podium.yaml", func(name string) (string, bool) {
				if name == "EMPTY" {
					return "", true
				}
				return lookup(name)
			})
		if err != nil || config.Ledger.Data != want {
			t.Errorf("%s is %+v, want %q: %v", text, config, want, err)
		}
	}
}

func TestProfileGolden(t *testing.T) {
	t.Parallel()
	profile := read(t, "full.yaml").Profile("desk")
	if len(profile.Languages) < 2 {
		t.Errorf("it speaks %d languages", len(profile.Languages))
	}
	profile.Languages = nil
	body, err := schemas.Marshal(profile)
	if err != nil {
		t.Fatal(err)
	}
	compareFile(t, "testdata/profile.json", append(body, '\n'))
}

// TestHeartbeats_M36_M47: what is served here promises what agent.Serve keeps;
// what runs elsewhere promises what it says.
func TestHeartbeats_M36_M47(t *testing.T) {
	t.Parallel()
	config := read(t, "full.yaml")
	for name, want := range map[string]schemas.Duration{
		"calculator": schemas.Duration(agent.DefaultProgressEvery), "summary": schemas.Duration(agent.DefaultProgressEvery),
		"elsewhere": schemas.Duration(15 * time.Second), "lookup": 0, "planner": 0,
	} {
		agent := config.Agents[name]
		if got := agent.heartbeat(); got != want {
			t.Errorf("%s: %s, want %s", name, time.Duration(got), time.Duration(want))
		}
	}
}

// TestProfilesCompile lets the supervisor accept what the configuration builds.
func TestProfilesCompile(t *testing.T) {
	t.Parallel()
	for file, name := range map[string]string{"full.yaml": "desk", "least.yaml": "plain"} {
		first, err := plan.Compile(read(t, file).Profile(name))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		second, err := plan.Compile(read(t, file).Profile(name))
		if err != nil || first.Hash != second.Hash {
			t.Errorf("%s: hash %s, then %s (%v)", file, first.Hash, second.Hash, err)
		}
	}
}

func TestProfileWithoutName(t *testing.T) {
	t.Parallel()
	if profile := read(t, "least.yaml").Profile("other"); profile.Name != "" || profile.Agents != nil {
		t.Errorf("got %+v", profile)
	}
}

func TestLoadKnowsItsDirectory(t *testing.T) {
	t.Parallel()
	config, err := Load("testdata/least.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(config.Directory) || filepath.Base(config.Directory) != "testdata" {
		t.Errorf("directory %q", config.Directory)
	}
	if _, err = Load("testdata/absent.yaml"); err == nil || diagnostic.ProblemsOf(err) != nil {
		t.Errorf("an absent file: %v", err)
	}
}

// TestSecretsStayHidden prints and marshals a configuration in every usual way (G-37).
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	config := read(t, "full.yaml")
	marshaled, err := schemas.Marshal(config.Chat)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %v %s", *config, *config, *config, config.Chat.Channels, marshaled)
	for _, secret := range []string{webSecret, nextSecret, "0123456789abcdef", "not: yaml"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

// TestLanguages holds the words of every language to the same form.
func TestLanguages(t *testing.T) {
	t.Parallel()
	languages := Languages()
	if languages[0].Tag != "en" {
		t.Errorf("the first language is %q", languages[0].Tag)
	}
	for _, language := range languages {
		texts := language.Texts
		for name, text := range map[string]string{
			"task_failed": texts.TaskFailed, "timeout": texts.Timeout, "unavailable": texts.Unavailable, "no_route": texts.NoRoute, "undecided": texts.Undecided,
			"cancelled": texts.Cancelled, "partial": texts.Partial, "empty": texts.Empty,
		} {
			if text == "" {
				t.Errorf("%s: %s is missing", language.Tag, name)
			}
		}
		if !strings.Contains(texts.TaskFailed, "{detail}") {
			t.Errorf("%s: task_failed does not say why", language.Tag)
		}
		seen := map[string]bool{}
		for _, marker := range language.Markers {
			if marker != strings.ToLower(marker) || strings.ContainsAny(marker, " -") || seen[marker] {
				t.Errorf("%s: marker %q is not one word in lower case, once", language.Tag, marker)
			}
			seen[marker] = true
		}
		if len(language.Withdraw) < 10 {
			t.Errorf("%s: %d ways to take a request back are too few", language.Tag, len(language.Withdraw))
		}
		for i, phrase := range language.Withdraw {
			bare := strings.Join(strings.FieldsFunc(strings.ToLower(phrase), func(c rune) bool { return !unicode.IsLetter(c) && c != '\'' }), " ")
			if phrase != bare || slices.Index(language.Withdraw, phrase) != i {
				t.Errorf("%s: %q is not bare words in lower case, once", language.Tag, phrase)
			}
		}
		if len(seen) < 20 {
			t.Errorf("%s: %d markers are too few to tell", language.Tag, len(seen))
		}
	}
}

// TestLanguageIsTold lets each language's markers tell it from the others.
func TestLanguageIsTold(t *testing.T) {
	t.Parallel()
	profile, err := plan.Compile(read(t, "least.yaml").Profile("plain"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Please calculate 3 + 4 and then summarize the report below.":              "en",
		"Bitte berechnen Sie die Summe und fassen Sie den Bericht danach zusammen": "de",
		"Was kostet das?": "de",
		"What is 2+2":     "en",
		"42":              "en",
	} {
		if got := profile.LanguageFor(text, ""); got != want {
			t.Errorf("%q is taken for %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"full.yaml", "least.yaml"} {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	f.Add("a: &x [*x]")
	f.Add("${A}: ${B}")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := parse([]byte(text), "podium.yaml", lookup)
		if err != nil {
			if len(diagnostic.ProblemsOf(err)) == 0 {
				t.Errorf("not Problems: %v", err)
			}
			return
		}
		if err := config.Validate(); err != nil {
			t.Errorf("with its defaults it is not valid any more: %v", err)
		}
		for name := range config.Profiles {
			if _, err := schemas.Marshal(config.Profile(name)); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestEntry: words that name no profile go to the one that is no agent of another one, if there is one alone.
func TestEntry(t *testing.T) {
	t.Parallel()
	inner := map[string]Agent{"lab": {Kind: KindSupervisor, Profile: "inner"}}
	for _, c := range []struct {
		settings Config
		want     string
	}{
		{Config{Profiles: map[string]Profile{"outer": {}}}, "outer"},
		{Config{Profiles: map[string]Profile{"outer": {}, "inner": {}}, Agents: inner}, "outer"},
		{Config{Profiles: map[string]Profile{"outer": {}, "inner": {}}}, ""},
		{Config{Profiles: map[string]Profile{"inner": {}}, Agents: inner}, ""},
		{Config{}, ""},
	} {
		if entry := c.settings.Entry(); entry != c.want {
			t.Errorf("%d profiles, %d agents: %q, want %q", len(c.settings.Profiles), len(c.settings.Agents), entry, c.want)
		}
	}
}

// TestMoreAgentsThanALedgerServes: a server has so many consumers for the work stream, and `up` would wait for ever for one more. People
// need none.
func TestMoreAgentsThanALedgerServes(t *testing.T) {
	t.Parallel()
	faults := func(external, people int) string {
		settings := Config{Agents: map[string]Agent{}}
		for n := range external {
			settings.Agents[fmt.Sprintf("e%d", n)] = Agent{Kind: KindExternal}
		}
		for n := range people {
			settings.Agents[fmt.Sprintf("p%d", n)] = Agent{Kind: KindPerson}
		}
		return fmt.Sprint(settings.Validate())
	}
	const refusal = "there are 991 agents"
	if said := faults(bus.MaxAgents, 50); strings.Contains(said, refusal) || strings.Contains(said, "there are 1040") {
		t.Errorf("%d agents are refused", bus.MaxAgents)
	}
	if said := faults(bus.MaxAgents+1, 0); !strings.Contains(said, refusal) || !strings.Contains(said, "990") {
		t.Error("one agent more is not refused")
	}
}
