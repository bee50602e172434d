package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"podium/bus/embedded/recovery"
)

const damageConfig = `
chat: {channels: {web: {profile: desk, token: damage-0123456789abcdef}}}
agents: {calculator: {kind: calculator}}
profiles: {desk: {agents: [calculator], routers: [{kind: default, agent: calculator}]}}
`

// sums is a digest of every file of a data directory.
func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "lock.pid" { // which says who has it open
			return err
		}
		content, err := os.ReadFile(name)
		all[name] = sha256.Sum256(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVerbsThatReadChangeNothing: after a stop in order and after kill -9, no verb that
// reads a ledger at rest changes a byte of it.
func TestVerbsThatReadChangeNothing(t *testing.T) {
	t.Parallel()
	i := install(t, damageConfig)
	for _, end := range []func(){i.stop, i.kill} {
		i.up()
		i.asks("6 * 7", "42")
		end()
		id := ""
		for range 2 {
			before := sums(t, i.data)
			for _, verb := range []string{"runs", "runs show " + id, "replay", "replay --verify", "agents", "quarantine", "ledger check"} {
				if o := i.podium(strings.Fields(verb)...); o.code != exitOK && id != "" {
					t.Errorf("podium %s: exit code %d\n%s%s", verb, o.code, o.stdout, o.stderr)
				}
			}
			if !maps.Equal(before, sums(t, i.data)) {
				t.Error("a verb that reads has changed something")
			}
			id = i.runs()[0].ID
		}
	}
}

// TestDamageIsSaid: one bit that the disk has flipped, after kill -9 and after a stop in
// order: the verification says it, the next start does nothing and says it, health says it;
// and nothing more is lost until somebody decides to go on without.
func TestDamageIsSaid(t *testing.T) {
	t.Parallel()
	i := install(t, damageConfig)
	for round, end := range []func(){i.stop, i.kill} {
		i.up()
		for n := range 8 {
			i.asks(strconv.Itoa(n)+" + "+strconv.Itoa(round), strconv.Itoa(n+round))
		}
		i.stop() // its marks say how far it goes
		i.up()
		end()
		i.flip()

		before := sums(t, i.data)
		for _, verb := range []string{"replay --verify", "ledger check"} {
			if o := i.podium(strings.Fields(verb)...); o.code != exitDiffers || !strings.Contains(o.stdout, "stream PODIUM_0 has lost message") || !strings.Contains(o.stdout, ", since 20") || !strings.Contains(o.stderr, "podium ledger repair") {
				t.Errorf("podium %s: exit code %d\n%s%s", verb, o.code, o.stdout, o.stderr)
			}
		}
		i.start()
		i.process.says(t, "podium does nothing: the ledger in "+i.data+" is damaged: stream PODIUM_0 has lost message")
		var health struct {
			OK     bool
			Ledger string
			Losses []recovery.Loss
		}
		eventually(t, "health says it", func() bool {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+i.listen+"/healthz", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return false // it does not listen yet
			}
			defer func() { _ = response.Body.Close() }()
			return response.StatusCode == http.StatusServiceUnavailable && json.NewDecoder(response.Body).Decode(&health) == nil
		})
		if health.OK || !strings.Contains(health.Ledger, "has lost message") || len(health.Losses) != 1 || health.Losses[0].Stream != "PODIUM_0" {
			t.Errorf("health says %+v", health)
		}
		if status, _ := i.fetch("/v1/chat/web"); status != http.StatusServiceUnavailable {
			t.Errorf("the chat adapter answers %d", status)
		}
		if after := sums(t, i.data); !maps.Equal(before, after) {
			t.Error("a start that does nothing has changed something")
		}
		waits := round == 0 // for the repair, and goes on by itself
		if !waits {
			i.process.endsWith(t, exitFailed)
		}

		if o := i.podium("ledger", "repair"); o.code != exitOK || !strings.Contains(o.stdout, "it was one flipped bit, and is restored") {
			t.Fatalf("repair: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		if waits {
			i.process.says(t, "podium looks again: somebody has changed the ledger")
			i.process.says(t, "podium is up")
		} else {
			i.up()
		}
		i.asks("6 * 7", "42")
		status, body := i.fetch("/healthz")
		if err := json.Unmarshal([]byte(body), &health); err != nil || status != http.StatusOK || len(health.Losses) != round+1 || !health.Losses[round].Accepted || !health.Losses[round].Restored {
			t.Errorf("after the repair health says %d %s, %v", status, body, err)
		}
		i.stop()
		i.verify()
	}
}

// TestAcceptedLossIsSaid: what a repair has left out is named ever after, as what it is: no
// loss on which somebody has to decide, and no riddle of the verification.
func TestAcceptedLossIsSaid(t *testing.T) {
	t.Parallel()
	i := install(t, damageConfig)
	i.up()
	for n := range 8 {
		i.asks(strconv.Itoa(n)+" + 1", strconv.Itoa(n+1))
	}
	i.stop()
	i.flip(0x40, 0x20)
	const accepted = "this was accepted"
	if o := i.podium("ledger", "check"); o.code != exitDiffers || strings.Contains(o.stdout, accepted) {
		t.Fatalf("before the repair: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := i.podium("runs"); !strings.Contains(o.stderr, "podium ledger check") {
		t.Errorf("runs of a damaged ledger says no word of it: exit code %d\n%s", o.code, o.stderr)
	}
	if o := i.podium("ledger", "repair").succeeds(t); !strings.Contains(o.stdout, "stream PODIUM_0 has lost message") || !strings.Contains(o.stdout, accepted) {
		t.Errorf("repair: %s", o.stdout)
	}
	said := func() {
		t.Helper()
		if o := i.podium("ledger", "check").succeeds(t); !strings.Contains(o.stdout, accepted) || !strings.Contains(o.stdout, "nothing else is lost") {
			t.Errorf("check: %s", o.stdout)
		}
		if o := i.podium("replay", "--verify"); !strings.Contains(o.stdout, accepted) || o.code != exitOK && !strings.Contains(o.stderr, "lost and accepted") {
			t.Errorf("verify: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	said()
	if o := i.podium("ledger", "repair").succeeds(t); strings.Contains(o.stdout, "has lost") {
		t.Errorf("a second repair: %s", o.stdout)
	}
	i.up()
	i.asks("6 * 7", "42")
	if o := i.podium("replay", "--verify"); !strings.Contains(o.stdout, accepted) {
		t.Errorf("verify while it runs: %s%s", o.stdout, o.stderr)
	}
	i.stop()
	said()
}

// TestLostRecordHoldsUpNobody: the records of a conversation build on each other, and one in
// their midst is lost for good. What comes for that conversation goes into quarantine and can
// be sent again; everybody else is answered, lists show the rest, and a stop is in order.
func TestLostRecordHoldsUpNobody(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(diskConfig, webSecret), "ledger: {shards: 1}")
	i.up()
	say := func(id, text, thread string) (status int, answer string) {
		t.Helper()
		status, body, err := webhook{id: id, text: text, thread: thread, prefer: "wait=20"}.post(t.Context(), i.listen)
		if err != nil {
			t.Fatal(err)
		}
		return status, string(body)
	}
	if status, answer := say("first", "1 + 1", "torn"); status != http.StatusOK {
		t.Fatalf("%d: %s", status, answer)
	}
	i.stop()
	i.loseRecord()
	i.podium("ledger", "repair").succeeds(t)
	i.up()
	var waits sync.WaitGroup
	waits.Go(func() { // it holds up nobody
		status, answer, err := webhook{id: "late", text: "6 * 7", thread: "torn", prefer: "wait=1"}.post(t.Context(), i.listen)
		if err != nil || status != http.StatusAccepted {
			t.Errorf("in the torn conversation: %d %s, %v", status, answer, err)
		}
	})
	if status, answer := say("other", "6 * 7", "whole"); status != http.StatusOK || !strings.Contains(answer, "42") {
		t.Errorf("in another conversation: %d %s", status, answer)
	}
	waits.Wait()
	eventually(t, "it is in quarantine", func() bool { return strings.Contains(i.podium("quarantine").stdout, "damaged") })
	if logged := i.process.stderr.String(); !strings.Contains(logged, "a session stands on something that the ledger has lost") {
		t.Error("the log says nothing of it")
	}
	if listed := i.podium("runs").succeeds(t); !strings.Contains(listed.stdout, "completed") || !strings.Contains(listed.stderr, "cannot be read behind record") {
		t.Errorf("runs: %s%s", listed.stdout, listed.stderr)
	}
	i.stop()
}

// loseRecord makes a record of a session unreadable, with others before and behind it and no
// snapshot.
func (i *deployment) loseRecord() {
	i.t.Helper()
	file := filepath.Join(i.data, "ledger", "jetstream", "CORE", "streams", "PODIUM_0", "msgs", "1.blk")
	content, err := os.ReadFile(file)
	if err != nil {
		i.t.Fatal(err)
	}
	last := bytes.LastIndex(content, []byte("podium.session.0."))
	before := bytes.LastIndex(content[:last], []byte("podium.session.0."))
	content[before+60] ^= 0x60
	if err = os.WriteFile(file, content, 0o600); err != nil {
		i.t.Fatal(err)
	}
}

// flip changes bits of one byte of a message in the midst of a shard; one bit when none is named.
func (i *deployment) flip(bits ...byte) {
	i.t.Helper()
	if len(bits) == 0 {
		bits = []byte{0x40}
	}
	file := filepath.Join(i.data, "ledger", "jetstream", "CORE", "streams", "PODIUM_0", "msgs", "1.blk")
	content, err := os.ReadFile(file)
	if err == nil {
		for _, bit := range bits {
			content[len(content)/2] ^= bit
		}
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// endsWith asks a process to end and expects an exit code.
func (b *background) endsWith(t *testing.T, code int) {
	t.Helper()
	if err := b.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	b.ends(t, code)
}
