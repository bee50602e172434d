package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus/bustest/loopback"
	"podium/schemas"
	"podium/schemas/workflow"
)

const agentExamples = "../../deploy/examples/agents/"

// A language is one way to write the agent of docs/write-an-agent.md.
type language struct {
	name    string
	kind    string // that it announces
	program string // its file in deploy/examples/agents
	build   string // as the page says it; empty when nothing is built
	starts  string // likewise, in the folder of the program
}

var languages = []language{
	{name: "JavaScript", kind: "javascript", program: "javascript/clerk.mjs", build: "npm ci", starts: "node clerk.mjs"},
	{name: "Go", kind: "go", program: "go/main.go", build: "go build -o clerk .", starts: "./clerk"},
	{name: "Python", kind: "python", program: "python/clerk.py", starts: "/usr/bin/python3 clerk.py"},
	{
		name: "shell", kind: "exec", program: "shell/clerk.sh",
		starts: "podium agent exec --name clerk --concurrency 2 --heartbeat 5s -- ./clerk.sh",
	},
}

// TestAgentsInOtherLanguages starts each of the programs as the page says, and
// gives it work of every kind.
func TestAgentsInOtherLanguages(t *testing.T) {
	t.Parallel()
	page := readFile(t, "../../docs/write-an-agent.md")
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, says := range []string{l.build, l.starts, "(../deploy/examples/agents/" + l.program + ")"} {
				if !strings.Contains(page, says) {
					t.Errorf("the page does not say %q", says)
				}
			}
			c := &clerkAtWork{deployment: installClerk(t), t: t, language: l}
			c.build()
			c.up()
			c.watchConsumer()
			c.skipsThePast()
			c.answers("shout hooray", "SHOUT HOORAY")
			c.fails()
			c.worksLong()
			c.goesOnAfterARestart()
			c.isReplaced()
			c.isCutOff()
			c.verify()
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// installClerk installs the configuration of the page, with a profile beside it
// that waits for nobody.
func installClerk(t *testing.T) *deployment {
	t.Helper()
	_, config, found := strings.Cut(readFile(t, agentExamples+"podium.yaml"), "\n") // its listener is the test's
	if !found {
		t.Fatal("podium.yaml is empty")
	}
	return install(t, config+`  hasty:
    agents: [clerk]
    routers: [{kind: default, agent: clerk}]
    deadlines: {queue: 300ms, work: 300ms}
    retry: {attempts: 1}
`)
}

// A clerkAtWork is a deployment with one of the programs.
type clerkAtWork struct {
	*deployment

	t        *testing.T
	language language
	home     string // of the program
	program  *background
	js       jetstream.JetStream
	asked    uint64 // requests so far
}

// build copies the program to a folder of its own, and builds it there.
func (c *clerkAtWork) build() {
	c.t.Helper()
	c.home = filepath.Join(c.folder, "program")
	if err := os.CopyFS(c.home, os.DirFS(agentExamples+filepath.Dir(c.language.program))); err != nil {
		c.t.Fatal(err)
	}
	if c.language.build == "" {
		return
	}
	build := shell(c.t, c.home, c.language.build)
	build.Env = append(build.Env, "CGO_ENABLED=0", "npm_config_prefer_offline=true", "npm_config_audit=false", "npm_config_fund=false")
	if output, err := build.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v (`make tools` installs what is missing)\n%s", c.language.build, err, output)
	}
}

// shell is a command of the page. It finds `podium` in its PATH.
func shell(t *testing.T, folder, command string) *exec.Cmd {
	t.Helper()
	made := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-euc", command)
	made.Dir = folder
	made.Env = append(os.Environ(), "PATH="+filepath.Dir(binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
	return made
}

// starts begins a process of the program and waits until it takes requests.
func (c *clerkAtWork) starts() {
	c.t.Helper()
	c.launches()
	c.program.says(c.t, "takes requests")
	eventually(c.t, "it is known", func() bool {
		return c.listedAgent("clerk").Kind == c.language.kind
	})
}

func (c *clerkAtWork) launches() {
	c.t.Helper()
	start := c.language.starts
	if c.language.kind == "exec" {
		start = strings.Replace(start, "podium ", "podium --data "+c.data+" ", 1)
	} else {
		start += " " + c.data
	}
	c.program = launch(c.t, shell(c.t, c.home, "exec "+start))
}

// watchConsumer connects as the core, who may look at everything.
func (c *clerkAtWork) watchConsumer() {
	c.t.Helper()
	core := connectBy(c.t, c.instance().NATS, filepath.Join(c.data, "credentials", "core.nk"), "core")
	js, err := jetstream.New(core.conn)
	if err != nil {
		c.t.Fatal(err)
	}
	c.js = js
}

// consumer is what the server knows of the agent's requests.
func (c *clerkAtWork) consumer() *jetstream.ConsumerInfo {
	c.t.Helper()
	consumer, err := c.js.Consumer(c.t.Context(), "PODIUM_WORK", "clerk")
	if err != nil {
		c.t.Fatal(err)
	}
	return consumer.CachedInfo()
}

// dealtWith waits until every request is acknowledged.
func (c *clerkAtWork) dealtWith() {
	c.t.Helper()
	eventually(c.t, "everything is acknowledged", func() bool {
		info := c.consumer()
		return info.NumPending == 0 && info.NumAckPending == 0
	})
}

// said counts the messages of the agent by their subjects.
func (c *clerkAtWork) said(kind string) (count uint64) {
	c.t.Helper()
	for _, name := range []string{"PODIUM_0", "PODIUM_1", "PODIUM_WORK"} {
		stream, err := c.js.Stream(c.t.Context(), name)
		if err != nil {
			c.t.Fatal(err)
		}
		info, err := stream.Info(c.t.Context(), jetstream.WithSubjectFilter("podium.agent.clerk."+kind+".>"))
		if err != nil {
			c.t.Fatal(err)
		}
		for _, messages := range info.State.Subjects {
			count += messages
		}
	}
	return count
}

// asks begins to ask for something.
func (c *clerkAtWork) asks(arguments ...string) *background {
	c.t.Helper()
	c.asked++
	return spawn(c.t, append([]string{"--data", c.data, "send", "--wait"}, arguments...)...)
}

// skipsThePast is begun after its first request has expired.
func (c *clerkAtWork) skipsThePast() {
	c.t.Helper()
	c.asks("--profile", "hasty", "too late").ends(c.t, exitFailed)
	eventually(c.t, "it has expired", func() bool {
		message, err := c.js.Stream(c.t.Context(), "PODIUM_WORK")
		if err != nil {
			c.t.Fatal(err)
		}
		last, err := message.GetLastMsgForSubject(c.t.Context(), "podium.agent.clerk.request")
		if err != nil {
			c.t.Fatal(err)
		}
		until, err := time.Parse(time.RFC3339, last.Header.Get("ce-expires"))
		return err == nil && time.Now().After(until)
	})
	c.starts()
	c.dealtWith()
	if answers, progress := c.said("response"), c.said("progress"); answers+progress != 0 {
		c.t.Errorf("%d answers and %d signs of life for what has expired", answers, progress)
	}
}

func (c *clerkAtWork) answers(words, answer string) {
	c.t.Helper()
	asking := c.asks("--profile", "desk", words)
	asking.ends(c.t, exitOK)
	if told := strings.TrimSpace(asking.stdout.String()); !strings.HasSuffix(told, answer) {
		c.t.Errorf("%q is answered by %q", words, tail(told))
	}
}

// fails says for good that it cannot do something.
func (c *clerkAtWork) fails() {
	c.t.Helper()
	asking := c.asks("--profile", "desk", "2 + 2")
	asking.ends(c.t, exitFailed)
	if told := asking.stdout.String(); !strings.Contains(told, "There is no letter in it.") || strings.Contains(told, "attempt 2") {
		c.t.Errorf("a failure is told as %q", told)
	}
}

// worksLong works for longer than a request, or an agent, may say nothing; beside
// it stops what is cancelled, and passes on what is too large for a message.
func (c *clerkAtWork) worksLong() {
	c.t.Helper()
	long := c.asks("--profile", "desk", "say it in 18 seconds")
	long.says(c.t, "seconds to go")

	cancelled := c.asks("--profile", "desk", "never mind, in 900 seconds")
	cancelled.says(c.t, "seconds to go")
	for _, run := range c.runs() {
		if strings.HasPrefix(run.Message.Text.Text, "never mind") {
			c.podium("runs", "cancel", run.ID).succeeds(c.t)
		}
	}
	cancelled.ends(c.t, exitFailed)
	eventually(c.t, "it has stopped", func() bool { return c.consumer().NumAckPending == 1 })

	large := strings.Repeat("otters ", 90_000) // more than one piece of the store
	plan := c.write("large.json", fmt.Sprintf(`{"tasks": [{"task_id": "t1", "description": %q, "assigned_to": "clerk"}]}`, large))
	asking := c.asks("--profile", "desk", "--plan", plan)
	asking.ends(c.t, exitOK)
	if got := strings.Count(asking.stdout.String(), "OTTERS"); got != 90_000 {
		c.t.Errorf("a large answer has %d words", got)
	}

	long.ends(c.t, exitOK)
	if told := long.stdout.String(); !strings.Contains(told, "SAY IT IN 18 SECONDS") || strings.Contains(told, "attempt 2") {
		c.t.Errorf("long work is told as %q", told)
	}
	c.dealtWith()
	if delivered := c.consumer().Delivered.Consumer; delivered != c.asked {
		c.t.Errorf("%d requests were handed out %d times", c.asked, delivered)
	}
	answered := c.asked - 2 // but for what expired and what was cancelled
	if c.language.kind == "exec" {
		answered++ // it says of what was cancelled that it did not work, which changes nothing
	}
	if answers := c.said("response"); answers != answered {
		c.t.Errorf("%d answers to %d requests", answers, c.asked)
	}
}

// begins asks for something without waiting for it, and returns its run when the agent is at it.
func (c *clerkAtWork) begins(words string) (run string) {
	c.t.Helper()
	c.podium("send", "--profile", "desk", words).succeeds(c.t)
	eventually(c.t, "the agent is at it", func() bool {
		all := c.runs()
		at := slices.IndexFunc(all, func(r workflow.RunHistory) bool { return r.Message.Text.Text == words })
		if at < 0 || len(all[at].Tasks) == 0 {
			return false
		}
		run = all[at].ID
		return all[at].Tasks[0].State == workflow.TaskRunning
	})
	return run
}

// isDone expects that a run was answered, at its first attempt.
func (c *clerkAtWork) isDone(run string) {
	c.t.Helper()
	eventually(c.t, "it is answered", func() bool { return !c.run(run).Settled.IsZero() })
	if task := c.run(run).Tasks[0]; task.State != workflow.TaskCompleted || task.Attempt != 1 {
		c.t.Errorf("the task is %+v", task)
	}
}

// goesOnAfterARestart has Podium stopped and started while it works.
func (c *clerkAtWork) goesOnAfterARestart() {
	c.t.Helper()
	run := c.begins("on and on, in 8 seconds")
	c.stop()
	c.up()
	c.watchConsumer()
	c.isDone(run)
	c.answers("still there", "STILL THERE")
	c.dealtWith()
}

// isReplaced is stopped while it works: another process of it does the work.
func (c *clerkAtWork) isReplaced() {
	c.t.Helper()
	run := c.begins("take turns, in 5 seconds")
	first := c.program
	if c.language.kind == "exec" { // it ends what it has begun, so that the other one has to be there before
		c.starts()
		first.stop(c.t)
	} else {
		first.stop(c.t)
		c.starts()
	}
	c.isDone(run)
	c.dealtWith()
}

// isCutOff is revoked, and ends with a sentence that says so; and when it is started again, too.
func (c *clerkAtWork) isCutOff() {
	c.t.Helper()
	c.podium("agents", "revoke", "clerk").succeeds(c.t)
	c.program.ends(c.t, exitFailed)
	if said := c.program.stderr.String(); !strings.Contains(said, "odium does not let clerk in: it was revoked") {
		c.t.Errorf("cut off, it says\n%s", said)
	}
	c.launches()
	eventually(c.t, "it ends", func() bool { return !c.program.running() })
	if said := c.program.stderr.String(); c.program.command.ProcessState.Success() || !strings.Contains(said, "revoked") && !strings.Contains(said, "ENOENT") && !strings.Contains(said, "no such file") {
		c.t.Errorf("started again, it says\n%s", said)
	}
	c.stop()
}

// TestPageOfAFirstAgent does what the page says under "In fifteen minutes", in the
// words of the page, with the program that it names. Only the port of the listener is the test's.
func TestPageOfAFirstAgent(t *testing.T) {
	t.Parallel()
	page := readFile(t, "../../docs/write-an-agent.md")
	_, chapter, _ := strings.Cut(page, "\n## In fifteen minutes\n")
	chapter, program, _ := strings.Cut(chapter, "\n## The program\n")
	commands, programs := blocks(chapter, "sh"), blocks(program, "js")
	if len(commands) != 5 || len(programs) != 1 {
		t.Fatalf("the page has %d steps and %d programs", len(commands), len(programs))
	}
	clerk := readFile(t, agentExamples+"javascript/clerk.mjs")
	if !strings.Contains(clerk, programs[0]) {
		t.Error("what the page shows of the program does not stand in deploy/examples/agents/javascript/clerk.mjs")
	}
	if config := readFile(t, agentExamples+"podium.yaml"); !strings.Contains(commands[1], config) {
		t.Errorf("the configuration of the page is not deploy/examples/agents/podium.yaml")
	}
	if commands[0] != "make build\nexport PATH=\"$PWD/bin:$PATH\"\n" { // the tests have built it by themselves
		t.Errorf("the page begins with %q", commands[0])
	}

	home := t.TempDir()
	terminal := func(commands string) *exec.Cmd {
		// A signal has to reach the last command, which goes on.
		before, last := commands[:strings.LastIndex(strings.TrimSpace(commands), "\n")+1], strings.TrimSpace(commands)
		last = last[strings.LastIndex(last, "\n")+1:]
		made := shell(t, home, before+"exec "+last)
		made.Env = append(made.Env, "HOME="+home, "npm_config_cache="+npmCache(t), "npm_config_prefer_offline=true")
		return made
	}
	podium := launch(t, terminal(strings.Replace(commands[1], "127.0.0.1:8080", loopback.Reserve(t), 1)))
	podium.says(t, "podium is up")
	if output, err := terminal(commands[2]).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v (`make tools` installs what is missing)\n%s", commands[2], err, output)
	}
	folder := filepath.Join(home, "clerk")
	if err := os.WriteFile(filepath.Join(folder, "clerk.mjs"), []byte(clerk), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := launch(t, terminal("cd ~/clerk\n"+commands[3]))
	agent.says(t, "clerk takes requests; Ctrl-C stops it")
	eventually(t, "it is known", func() bool {
		listed, err := shell(t, folder, "podium agents").CombinedOutput()
		return err == nil && regexp.MustCompile(`(?m)^clerk +javascript +ok +2 `).Match(listed)
	})
	sending := launch(t, terminal(commands[4]))
	sending.ends(t, exitOK)
	for _, says := range []string{"\nSHOUT HOORAY\n", "seconds to go", "\nNO HURRY, IN 20 SECONDS WILL DO\n"} {
		if !strings.Contains(sending.stdout.String(), says) {
			t.Errorf("%q is missing in\n%s", says, sending.stdout)
		}
	}
	agent.stop(t)
	podium.stop(t)
}

// npmCache is where npm of this user keeps what it has fetched, whatever its home is.
func npmCache(t *testing.T) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "npm", "config", "get", "cache").Output()
	if err != nil {
		t.Fatalf("npm: %v (`make tools` installs what is missing)", err)
	}
	return strings.TrimSpace(string(output))
}

// blocks returns the examples of a language in a page.
func blocks(page, language string) (found []string) {
	for rest := page; ; {
		_, after, more := strings.Cut(rest, "\n```"+language+"\n")
		if !more {
			return found
		}
		block, left, _ := strings.Cut(after, "\n```")
		found, rest = append(found, block+"\n"), left
	}
}

// TestRealRequestOfThePage: the request that the page shows, with its headers, is
// the one that comes, but for ids and times.
func TestRealRequestOfThePage(t *testing.T) {
	t.Parallel()
	i := installClerk(t)
	i.up()
	i.podium("send", "--profile", "desk", "A report about otters, please").succeeds(t)
	request := connectPlain(t, i, "clerk").pull()
	page := pageOf(t, "write-an-agent.md").bodies[schemas.EnvelopeTypeExecutionRequest]
	if len(page) != 1 {
		t.Fatalf("the page has %d requests", len(page))
	}
	var want, got any
	if err := json.Unmarshal([]byte(impersonal(page[0])), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(impersonal(string(request.message.Data))), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the page has\n%v\nand what comes is\n%v", want, got)
	}
	var headers []string
	for name, values := range request.message.Header {
		headers = append(headers, impersonal(name+": "+values[0]))
	}
	slices.Sort(headers)
	var shown []string
	for line := range strings.Lines(readFile(t, "../../docs/write-an-agent.md")) {
		if strings.HasPrefix(line, "ce-") {
			shown = append(shown, impersonal(strings.TrimSpace(line)))
		}
	}
	slices.Sort(shown)
	if !slices.Equal(headers, shown) {
		t.Errorf("the page has\n%s\nand what comes has\n%s", strings.Join(shown, "\n"), strings.Join(headers, "\n"))
	}
}

// impersonal puts words in the place of ids, times, shards and servers.
func impersonal(text string) string {
	for _, each := range []struct{ expression, word string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "id"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "time"},
		{`\bN[A-Z2-7]{55}\b`, "server"},
		{`response\.\d+`, "response.shard"},
	} {
		text = regexp.MustCompile(each.expression).ReplaceAllString(text, each.word)
	}
	return text
}
