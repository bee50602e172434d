package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/llm/modelserver"
	"podium/schemas"
	"podium/schemas/workflow"
)

var crowdTasks = flag.Int("crowd.tasks", 150, "how many tasks TestCrowd has done, by a program, an endpoint and a model; `make crowd` asks for more")

const crowdConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  program: {kind: exec, concurrency: 8, command: [sh, -c, "cat >/dev/null; echo done"]}
  endpoint: {kind: http, concurrency: 8, url: %q, egress: local}
  model: {kind: llm, role: worker, concurrency: 8, base_url: %q, model: m}
profiles:
  desk:
    agents: [program, endpoint, model]
    routers:
      - kind: keywords
        groups: [{agent: endpoint, keywords: [endpoint]}, {agent: model, keywords: [model]}]
      - {kind: default, agent: program}
    deadlines: {queue: 10m, work: 1m}
`

// leftBehind is what a process has of what may be left behind.
type leftBehind struct{ descriptors, goroutines, children int }

// crowdSlack is what connections that are kept for reuse may hold.
const crowdSlack = 40

// TestCrowd: many tasks at a time are done by a program, an endpoint and a model, and nothing is left of them: no process, no
// descriptor, no goroutine.
func TestCrowd(t *testing.T) {
	t.Parallel()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status": "completed", "result": {"text": "done"}}`)
	}))
	t.Cleanup(endpoint.Close)
	model := modelserver.Start(t, func(*modelserver.Call) modelserver.Answer { return modelserver.Answer{Text: "done", Tokens: 3} })
	i := install(t, fmt.Sprintf(crowdConfig, webSecret, endpoint.URL, model.URL), "ledger: {shards: 2, durability: interval}")
	i.up()
	i.crowd("warm", 24)
	before := i.leaves()
	began := time.Now()
	i.crowd("task", *crowdTasks)
	t.Logf("%d runs by three kinds of agents, %.0f a second", *crowdTasks, float64(*crowdTasks)/time.Since(began).Seconds())
	within(t, patience, "nothing is left behind", func() bool {
		after := i.leaves()
		return after.children == 0 && after.descriptors <= before.descriptors+crowdSlack && after.goroutines <= before.goroutines+crowdSlack
	})
	i.stop()
	i.verify()
}

// crowd has so many messages answered, eight at a time.
func (i *deployment) crowd(name string, count int) {
	i.t.Helper()
	numbers := make(chan int)
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for number := range numbers {
				said := [...]string{"the program, please", "the endpoint, please", "the model, please"}[number%3]
				w := webhook{id: name + strconv.Itoa(number), text: said, prefer: "wait=30"}
				if _, _, err := w.deliver(i.t.Context(), i.listen); err != nil {
					i.t.Error(err)
				}
			}
		})
	}
	for number := range count {
		numbers <- number
	}
	close(numbers)
	senders.Wait()
	within(i.t, time.Minute, "every run has ended", func() bool {
		return i.podium("runs", "--status", "open", "-o", "json").succeeds(i.t).stdout == ""
	})
	completed := 0
	runs := lines[workflow.RunHistory](i.t, i.podium("runs", "--status", "completed", "--limit", "1000000", "-o", "json").succeeds(i.t))
	for n := range runs {
		if runs[n].Status == schemas.RunCompleted && strings.Contains(runs[n].Message.ID, name) {
			completed++
		}
	}
	if completed != count {
		i.t.Errorf("%d of %d runs are completed", completed, count)
	}
}

// leaves counts what the service has: of processes those that it has started.
func (i *deployment) leaves() leftBehind {
	i.t.Helper()
	pid := strconv.Itoa(i.process.command.Process.Pid)
	open, err := os.ReadDir(filepath.Join("/proc", pid, "fd"))
	if err != nil {
		i.t.Fatal(err)
	}
	left := leftBehind{descriptors: len(open), goroutines: int(i.metric("go_goroutines"))}
	tasks, err := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	if err != nil {
		i.t.Fatal(err)
	}
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if err == nil { // else that thread has ended
			left.children += len(strings.Fields(string(children)))
		}
	}
	return left
}
