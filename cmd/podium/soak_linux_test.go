package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus/agent"
	"podium/bus/jetstream/worker"
)

// The length of the soak; `make soak` asks for ten minutes.
var (
	soakTime  = flag.Duration("soak.time", 6*time.Second, "how long the service is beset, in all")
	soakQuiet = flag.Duration("soak.quiet", 3*time.Second, "how long each quiet window is")
	soakPairs = flag.Int("soak.pairs", 1, "how often it is beset and left alone")
	soakFlood = flag.Int("soak.flood", 500, "messages a second of the flooding agent; one in a hundred has 900 KB")
	soakWith  = flag.String("soak.with", "readers flood slow garbage half", "what besets the service")
)

const (
	soakSenders  = 32 // that post at a time, at most
	soakPool     = 16
	soakToken    = "soak-0123456789abcdef"
	soakSlack    = 40      // descriptors, goroutines: what connections that are kept for reuse may hold
	soakConsumer = 100     // consumers of any stream at a time
	soakMemory   = 3 << 29 // bytes; what is written is kept in memory for 10 s, and 2,000 conversations are open
	// soakThreads is how many conversations there are: the ledger's index takes memory for each.
	soakThreads = 2000
)

const soakConfig = `
chat: {channels: {web: {profile: desk, token: ` + soakToken + `}}}
agents:
  worker: {kind: external, concurrency: 16}
  hostile: {kind: external, concurrency: 2}
profiles:
  desk:
    agents: [worker, hostile]
    routers:
      - {kind: keywords, groups: [{agent: hostile, keywords: [hostile]}]}
      - {kind: default, agent: worker}
`

// TestSoak: at half the rate that the machine can do, with readers that go away, a
// flooding agent, a slow reader and garbage, what the service holds stays what it is,
// and everybody is answered. It prints the latencies of all windows in which it was beset
// and of the quiet ones between them, and asserts none.
func TestSoak(t *testing.T) { //nolint:paralleltest // it measures, and wants the machine for itself
	s := newSoak(t)
	s.measure("young", *soakQuiet, 0) // until every conversation has begun, the ledger is faster than it will be
	most := s.measure("as fast as it can", *soakQuiet, 0)
	rate := most.perSecond() / 2
	s.measure("warm", *soakQuiet, rate)
	before := s.held()
	ctx, ended := context.WithCancel(t.Context())
	var watched sync.WaitGroup
	var samples []holding
	watched.Go(func() { samples = s.watch(ctx) })
	var quiet, beset []rating // side by side: the ledger grows, and one machine is not always as fast
	for range *soakPairs {
		relieve := s.besiege()
		beset = append(beset, s.measure("beset", *soakTime/time.Duration(*soakPairs), rate))
		relieve()
		quiet = append(quiet, s.measure("quiet", *soakQuiet, rate))
	}
	ended()
	watched.Wait()
	loud, usual := s.whole("all beset", beset), s.whole("all quiet", quiet)
	t.Logf("p99 beset to quiet: %.2f; p50: %.2f", loud.p99().Seconds()/usual.p99().Seconds(), loud.p50().Seconds()/usual.p50().Seconds())
	s.flat(before, samples)
	s.service.verify()
	s.service.stop()
}

type soak struct {
	t       *testing.T
	service *deployment
	client  *http.Client
	newest  atomic.Pointer[string] // path of the events of a run
	control jetstream.JetStream
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{t: t, service: install(t, soakConfig, "ledger: {shards: 2, durability: interval}")}
	s.service.up()
	s.client = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: soakSenders}}
	t.Cleanup(s.client.CloseIdleConnections)
	s.work()
	core, err := nats.NkeyOptionFromSeed(filepath.Join(s.service.data, "credentials", "core.nk"))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(s.service.instance().NATS, core, nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	if s.control, err = jetstream.New(connection); err != nil {
		t.Fatal(err)
	}
	return s
}

// work serves the external agent that does the work.
func (s *soak) work() {
	s.t.Helper()
	worker, err := worker.Connect(s.t.Context(), worker.Config{
		URL: s.service.instance().NATS, SeedFile: filepath.Join(s.service.data, "credentials", "agent-worker.nk"), Agent: "worker", Logger: zerolog.Nop(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var serving sync.WaitGroup
	serving.Go(func() {
		handler := agent.HandlerFunc(func(_ context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
			return agent.Text("done: " + r.Task().Description), nil
		})
		if err := agent.Serve(ctx, worker, handler, agent.ServeConfig{Concurrency: soakPool, Log: zerolog.Nop()}); err != nil {
			s.t.Errorf("the worker: %v", err)
		}
	})
	s.t.Cleanup(func() { stop(); serving.Wait(); worker.Close() })
}

// A rating is what senders saw.
type rating struct {
	times  []time.Duration // until an answer, in order of length
	length time.Duration
	used   time.Duration // processor time of the service
}

func (r *rating) p50() time.Duration { return r.times[len(r.times)/2] }
func (r *rating) p99() time.Duration { return r.times[len(r.times)*99/100] }
func (r *rating) perSecond() float64 { return float64(len(r.times)) / r.length.Seconds() }
func (r *rating) cores() float64     { return r.used.Seconds() / r.length.Seconds() }

// whole is several ratings taken together.
func (s *soak) whole(name string, parts []rating) (all rating) {
	for _, part := range parts {
		all.times = append(all.times, part.times...)
		all.length, all.used = all.length+part.length, all.used+part.used
	}
	slices.Sort(all.times)
	s.say(name, &all)
	return all
}

func (s *soak) say(name string, r *rating) {
	s.t.Logf("%-18s %7.1f answers/s, p50 %s, p99 %s, %.2f cores", name, r.perSecond(), r.p50().Round(100*time.Microsecond), r.p99().Round(100*time.Microsecond), r.cores())
}

// measure posts messages for a while, at a rate or as fast as they are answered, and
// waits for the answer to each. The time of an answer counts from when its message
// was due.
func (s *soak) measure(name string, length time.Duration, rate float64) rating {
	s.t.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var senders sync.WaitGroup
	var sent atomic.Int64
	began, used := time.Now(), s.used()
	for range soakSenders {
		senders.Go(func() {
			for {
				due, number := time.Now(), sent.Add(1)
				if rate > 0 {
					due = began.Add(time.Duration(float64(number) / rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				if time.Since(began) >= length {
					return
				}
				if err := s.post(fmt.Sprintf("please do %s %d", name, number), strconv.FormatInt(number%soakThreads, 10)); err != nil {
					s.t.Errorf("%s: %v", name, err)
					return
				}
				mu.Lock()
				times = append(times, time.Since(due))
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	if len(times) == 0 {
		s.t.Fatalf("%s: nothing was answered", name)
	}
	slices.Sort(times)
	r := rating{times: times, length: time.Since(began), used: s.used() - used}
	s.say(name, &r)
	return r
}

// used is the processor time that the service has taken.
func (s *soak) used() time.Duration {
	s.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.service.process.command.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:])) // those behind the name
	var ticks int
	for _, field := range fields[11:13] { // in user and in kernel mode, in hundredths of a second
		spent, err := strconv.Atoi(field)
		if err != nil {
			s.t.Fatal(err)
		}
		ticks += spent
	}
	return time.Duration(ticks) * time.Second / 100
}

// post posts a message and waits until it is answered.
func (s *soak) post(text, thread string) error {
	body, err := json.Marshal(map[string]string{"text": text, "thread": thread})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url("/v1/chat/web"), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+soakToken)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "wait=50")
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var told struct {
		Status string `json:"status"`
		Events string `json:"events"`
	}
	if err := json.Unmarshal(answer, &told); err != nil || response.StatusCode != http.StatusOK || told.Status != "completed" {
		return fmt.Errorf("%s: %s", response.Status, answer)
	}
	s.newest.Store(&told.Events)
	return nil
}

func (s *soak) url(path string) string { return "http://" + s.service.listen + path }

// A holding is what the service holds at a moment.
type holding struct {
	Memory      int // bytes, resident
	Descriptors int
	Goroutines  int
	Consumers   int // of all streams
}

// held looks at the process from outside.
func (s *soak) held() holding {
	s.t.Helper()
	process := fmt.Sprintf("/proc/%d/", s.service.process.command.Process.Pid)
	open, err := os.ReadDir(process + "fd")
	if err != nil {
		s.t.Fatal(err)
	}
	h := holding{Descriptors: len(open)}
	status, err := os.ReadFile(process + "status")
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kilobytes, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			h.Memory, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"))
			h.Memory <<= 10
		}
	}
	_, metrics := s.service.fetch("/metrics")
	for line := range strings.Lines(metrics) {
		if count, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			h.Goroutines, _ = strconv.Atoi(strings.TrimSpace(count))
		}
	}
	streams := s.control.ListStreams(s.t.Context())
	for stream := range streams.Info() {
		h.Consumers += stream.State.Consumers
	}
	if err := streams.Err(); err != nil || h.Memory == 0 || h.Goroutines == 0 {
		s.t.Fatalf("%+v: %v", h, err)
	}
	return h
}

// watch looks once a second, and says what it saw once in thirty.
func (s *soak) watch(ctx context.Context) (samples []holding) {
	every(ctx, 1, func() { //nolint:contextcheck // the last look is a whole one
		h := s.held()
		if samples = append(samples, h); len(samples)%30 == 1 {
			s.t.Logf("after %3d s: %+v", len(samples), h)
		}
	})
	return samples
}

// flat fails when what was held has grown.
func (s *soak) flat(before holding, samples []holding) {
	s.t.Helper()
	after := s.held()
	within(s.t, patience, "what was held is given back", func() bool {
		after = s.held()
		return after.Goroutines <= before.Goroutines+soakSlack && after.Descriptors <= before.Descriptors+soakSlack && after.Consumers <= before.Consumers+2
	})
	s.t.Logf("before %+v, after %+v", before, after)
	for i, h := range samples {
		if h.Consumers > before.Consumers+soakConsumer || h.Memory > soakMemory {
			s.t.Fatalf("in second %d: %+v", i, h)
		}
	}
	// For four minutes conversations come into being, and the ledger's blocks and caches with them.
	if third := len(samples) / 3; third >= 150 {
		early, late := median(samples[third*5/4:third*7/4]), median(samples[len(samples)-third/2:])
		s.t.Logf("early %+v, late %+v", early, late)
		if late.Memory > early.Memory*5/4 || late.Goroutines > early.Goroutines+soakSlack || late.Descriptors > early.Descriptors+soakSlack {
			s.t.Errorf("it grows: early %+v, late %+v", early, late)
		}
	}
}

func median(samples []holding) (m holding) {
	for _, field := range []func(*holding) *int{
		func(h *holding) *int { return &h.Memory }, func(h *holding) *int { return &h.Descriptors },
		func(h *holding) *int { return &h.Goroutines }, func(h *holding) *int { return &h.Consumers },
	} {
		sorted := slices.SortedFunc(slices.Values(samples), func(a, b holding) int { return *field(&a) - *field(&b) })
		*field(&m) = *field(&sorted[len(sorted)/2])
	}
	return m
}
