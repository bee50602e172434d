//go:build profiles

package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/dav/radicale"
	"podium/agents/mail/smtpsink"
	"podium/cmd/podium/config"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

var fiveMessages = flag.Int("five.messages", 40, "how many messages the five systems get together")

const profilesFolder = "../../deploy/profiles"

// What the service may hold more of in the last quarter of the time than in the one after the first.
const (
	fiveDescriptors = 40       // connections that are kept for reuse, and programs at work
	fiveBytes       = 64 << 20 // in memory: the ledger's caches, which have a bound of their own
)

// A share is what of 25 messages goes to a system, and in how many at a time.
var fiveShares = map[string]struct{ of25, beside int }{
	"practice": {10, 0}, "assistant": {7, 3}, "loop": {5, 3}, "pattern": {2, 1}, "tactical": {1, 1},
}

// fiveSystems installs the five as they are, with servers of the practice's mail, calendar and address book.
func fiveSystems(t *testing.T) *playedDay {
	t.Helper()
	needs(t, "xtb", "git", "flake8")
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	d := &playedDay{mailbox: dovecot.Start(t, dovecot.Options{LMTP: true}), sink: sink, dav: radicale.Start(t), sessions: map[string]string{}, patience: time.Hour, beneath: "practice"}
	d.deployment = installTree(t, profilesFolder, `http: {listen: "127.0.0.1:8080"}`, "")
	for name, replaced := range map[string][]*strings.Replacer{
		"assistant": {strings.NewReplacer("${OHMind_workspace:-/OHMind_workspace}", t.TempDir())},
		"practice": {
			strings.NewReplacer(practiceServers(d.dav.URL, d.mailbox.Port, sink.Port())...),
			strings.NewReplacer("username: agent, password", "authserv_ids: [praxis.example], username: agent, password", "    closed: [", "    # closed: ["),
		},
		"pattern":  {strings.NewReplacer("${PATTERN_CHAT_TOKEN}", strings.Repeat("token", 8))},
		"tactical": {strings.NewReplacer("${TACTICAL_TOOLS:-node_modules}", packagesOfProfiles(t))},
	} {
		file := filepath.Join(name, "podium.yaml")
		text, err := os.ReadFile(filepath.Join(d.folder, file))
		if err != nil {
			t.Fatal(err)
		}
		said := string(text)
		for _, words := range replaced {
			said = words.Replace(said)
		}
		d.write(file, said)
	}
	return d
}

// TestProfilesAtOnce has all five systems in one `podium up` work on messages of all kinds at the same time: each goes to agents of its own profile and comes to what its
// scenario says, nothing personal is shown, the ledger verifies, and memory and descriptors stay what they were.
func TestProfilesAtOnce(t *testing.T) {
	t.Parallel()
	d := fiveSystems(t)
	d.podium("check", "-c", d.config).succeeds(t)
	practice := newDay(t)
	now := time.Now().In(practice.berlin)
	weeks := weeksAhead(t, now)
	d.prepare(weeks)
	d.up("-vv")
	day := d.dayOfFive(weeks, now)
	var systems sync.WaitGroup
	began, held := time.Now(), d.watch()
	for _, name := range slices.Sorted(maps.Keys(fiveShares)) {
		if name != "practice" {
			systems.Go(func() { d.playSome(name) })
		}
	}
	d.send(day)
	systems.Wait()
	quarters := held()
	t.Logf("%d messages in %s; the medians of four quarters of the time: %+v", *fiveMessages, time.Since(began).Round(time.Second), quarters)
	if early, late := quarters[1], quarters[3]; late.descriptors > early.descriptors+fiveDescriptors || late.resident > early.resident+fiveBytes {
		t.Errorf("late it holds %+v, early %+v", late, early)
	}
	d.staysInside(len(day))
	d.hides(d.shownToAll(), day)
	scored := d.podium("score").succeeds(t).stdout
	for name := range fiveShares {
		if !strings.Contains(scored, name) {
			t.Errorf("%s has no score\n%s", name, scored)
		}
	}
	d.stop()
	d.verify()
}

func shareOf(name string) int { return max(1, *fiveMessages*fiveShares[name].of25/25) }

// dayOfFive are messages of the practice's day that begin a conversation.
func (d *playedDay) dayOfFive(weeks int, now time.Time) (day []*dayMessage) {
	d.t.Helper()
	messages := shiftedMessages(d.t, weeks, now)
	for i := range messages {
		if messages[i].Thread == "" && len(day) < shareOf("practice") {
			day = append(day, &messages[i])
		}
	}
	return day
}

// playSome plays the scenarios of a system, and again from the first one, until it has had its share.
func (d *playedDay) playSome(name string) {
	all, next := readScenarios(d.t, filepath.Join(profilesFolder, name, "scenarios.yaml")), make(chan *scenario)
	var workers sync.WaitGroup
	for range fiveShares[name].beside {
		workers.Go(func() {
			for one := range next {
				d.play(name, one)
			}
		})
	}
	for n := range shareOf(name) {
		one := all[n%len(all)]
		if one.Request != "" { // each is a plan of its own: the same one twice is worked on once
			one.Request = fmt.Sprintf("plan-%d.json", n)
			d.write(one.Request, string(d.planOf(filepath.Base(all[n%len(all)].Request))))
		}
		next <- &one
	}
	close(next)
	workers.Wait()
}

// staysInside holds each run to the agents of its profile.
func (d *playedDay) staysInside(day int) {
	d.t.Helper()
	settings, err := config.Load(d.config)
	if err != nil {
		d.t.Fatal(err)
	}
	runs, tasks := map[string]int{}, 0
	for _, run := range d.runs() {
		runs[run.Profile]++
		profile := settings.Profiles[run.Profile]
		for _, task := range run.Tasks {
			tasks++
			own := func(use config.AgentUse) bool { return use.Name == task.Agent }
			if task.Agent != "" && !slices.ContainsFunc(profile.Agents, own) {
				d.t.Errorf("a run of %s has a task of %s", run.Profile, task.Agent)
			}
		}
		if run.Status == schemas.RunCompleted && len(run.Tasks) == 0 && run.Profile != "practice" {
			d.t.Errorf("a run of %s has no task", run.Profile)
		}
	}
	for name := range fiveShares {
		if want := shareOf(name); name != "practice" && runs[name] < want || name == "practice" && runs[name] < day {
			d.t.Errorf("%d runs of %s, want %d", runs[name], name, want)
		}
	}
	if tasks < *fiveMessages {
		d.t.Errorf("only %d tasks of all runs were looked at", tasks)
	}
}

// held is what the service holds of the system.
type held struct {
	descriptors int
	resident    int64 // bytes
}

// watch looks at the service until it is called to return the medians of four quarters of the time.
func (d *playedDay) watch() (quarters func() [4]held) {
	done, seen := make(chan struct{}), make(chan []held)
	go func() {
		var all []held
		for {
			select {
			case <-done:
				seen <- all
				return
			case <-time.After(200 * time.Millisecond):
				all = append(all, d.held())
			}
		}
	}()
	return func() (medians [4]held) {
		close(done)
		all := <-seen
		for n := range medians {
			part := all[len(all)*n/4 : len(all)*(n+1)/4]
			if len(part) == 0 {
				d.t.Fatalf("%d looks are too few to prove anything", len(all))
			}
			by := func(of func(held) int64) int64 {
				values := make([]int64, len(part))
				for i, one := range part {
					values[i] = of(one)
				}
				slices.Sort(values)
				return values[len(values)/2]
			}
			medians[n] = held{int(by(func(h held) int64 { return int64(h.descriptors) })), by(func(h held) int64 { return h.resident })}
		}
		return medians
	}
}

func (d *playedDay) held() held {
	process := fmt.Sprintf("/proc/%d/", d.process.command.Process.Pid)
	open, err := os.ReadDir(process + "fd")
	if err != nil {
		d.t.Error(err)
	}
	status, err := os.ReadFile(process + "statm")
	if err != nil {
		d.t.Error(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(status), &size, &resident); err != nil {
		d.t.Error(err)
	}
	return held{descriptors: len(open), resident: resident * int64(os.Getpagesize())}
}
