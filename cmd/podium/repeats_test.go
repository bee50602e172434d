package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/cmd/podium/installation"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

// deskConfig is a profile that calculates. One shard, so that what comes later
// is decided later.
const deskConfig = `
chat: {channels: {web: {profile: desk, secret: %q, callback: %q}}}
agents:
  calculator: {kind: calculator}
profiles:
  desk:
    agents: [calculator]
    routers: [{kind: default, agent: calculator}]
`

const oneShard = "ledger: {shards: 1}"

func (i *deployment) runs() []workflow.RunHistory {
	i.t.Helper()
	return lines[workflow.RunHistory](i.t, i.podium("runs", "-o", "json", "--limit", "100000"))
}

// arrivals counts the messages that came in, by event id.
func (i *deployment) arrivals() map[string]int {
	i.t.Helper()
	count := map[string]int{}
	for _, line := range lines[replayed](i.t, i.podium("replay", "--subject", "podium.in.>", "-o", "json")) {
		var event struct {
			ID string `json:"id"`
		}
		if err := schemas.Unmarshal(line.Event, &event); err != nil {
			i.t.Fatal(err)
		}
		count[event.ID]++
	}
	return count
}

// TestSameWebhookFourTimes_X02_X03: a provider that repeats itself, also to a process that
// has forgotten everything, gets one run.
func TestSameWebhookFourTimes_X02_X03(t *testing.T) {
	t.Parallel()
	var given answers
	i := install(t, fmt.Sprintf(deskConfig, webSecret, callback(t, &given)), oneShard)
	i.up()
	repeated := webhook{id: "repeated", text: "6 * 7", thread: "one"}
	first := repeated.send(t, i.listen)
	if second := repeated.send(t, i.listen); second != first {
		t.Errorf("the repeat is accepted as %+v, the first as %+v", second, first)
	}
	i.kill()
	i.up()
	for range 2 {
		if again := repeated.send(t, i.listen); again.ID != first.ID || again.Session != first.Session {
			t.Errorf("the repeat is accepted as %+v, the first as %+v", again, first)
		}
	}
	webhook{id: "another", text: "6 * 8", thread: "one"}.send(t, i.listen)
	eventually(t, "the message behind the repeats is answered", func() bool { return len(given.to("another")) > 0 })
	if runs := i.runs(); len(runs) != 2 {
		t.Errorf("%d runs for two messages: %+v", len(runs), runs)
	}
	if got := i.arrivals()[first.ID]; got < 2 {
		t.Errorf("the ledger holds %d deliveries: the new process did not meet the repeat", got)
	}
	if all := given.to("repeated"); !sameID(all) || !strings.Contains(all[0].text, "42") {
		t.Errorf("the answers are %+v", all)
	}
	status, body, err := webhook{id: "waits", text: "5 * 5", prefer: "wait=30"}.post(t.Context(), i.listen)
	if err != nil || status != http.StatusOK || !strings.Contains(string(body), "25") {
		t.Errorf("a sender that waits gets %d, %s, %v", status, body, err)
	}
	i.stop()
	i.verify()
}

// sameID reports whether there is one answer. A crash right after it was given
// lets it be given again, and its id says that it is the same one.
func sameID(given []answer) bool {
	for _, one := range given {
		if one.id != given[0].id {
			return false
		}
	}
	return len(given) > 0
}

// TestSameMailAgain_X01_X03: a mail is seen again after a lost connection, a crash, a
// cursor of the past and a renumbered mailbox, and stays one run.
func TestSameMailAgain_X01_X03(t *testing.T) {
	t.Parallel()
	var given answers
	mailbox := dovecot.Start(t, dovecot.Options{})
	sink := outbox(t, &given)
	var none answers
	i := install(t, mailAccount(mailbox.Port, sink.Port())+fmt.Sprintf(deskConfig, webSecret, callback(t, &none)), oneShard)
	i.up()
	mails := 0
	mail := func() { // whose answer shows that everything before it was dealt with
		t.Helper()
		mails++
		id := mailID(mails)
		mailbox.Deliver(t, letter(id, "Figures", fmt.Sprintf("%d * 7", mails)))
		eventually(t, "mail "+id+" is answered", func() bool { return len(given.to(id)) > 0 })
		if runs := i.runs(); len(runs) != mails {
			t.Errorf("%d runs for %d mails", len(runs), mails)
		}
	}
	mail()
	mailbox.Kick(t)
	mail()
	i.kill()
	i.up()
	mail()
	i.stop()
	i.atRest(setBackCursor)
	i.up()
	mail()
	arrivals := i.arrivals()
	if len(arrivals) != mails {
		t.Errorf("%d mails came as %v", mails, arrivals)
	}
	for id, count := range arrivals {
		if last := strings.HasSuffix(id, fmt.Sprintf(":%d", mails)); count < 2 && !last {
			t.Errorf("%s came %d times: the cursor of the past did not bring it again", id, count)
		}
	}
	mailbox.SetUIDValidity(t, 4242)
	mailbox.Kick(t)
	mail()
	for number := 1; number <= mails; number++ {
		if all := given.to(mailID(number)); !sameID(all) {
			t.Errorf("mail %d is answered by several ids: %+v", number, all)
		}
	}
	i.stop()
	i.verify()
}

// TestForeignProcessID: after a power cut the file of the instance is still
// there, and its process id may be that of any other process. Nobody has to clean up.
func TestForeignProcessID(t *testing.T) {
	t.Parallel()
	var given answers
	i := install(t, fmt.Sprintf(deskConfig, webSecret, callback(t, &given)), oneShard)
	i.up()
	webhook{id: "one", text: "6 * 7"}.send(t, i.listen)
	eventually(t, "it is answered", func() bool { return i.ended() == 1 })
	left := i.instance()
	i.kill()
	left.PID = os.Getpid()
	body, err := json.Marshal(left)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(i.data, "instance.json"), body, 0o600); err != nil {
		t.Fatal(err)
	}
	i.verify()
	i.up()
	if got := i.instance().PID; got != i.process.command.Process.Pid {
		t.Errorf("the instance is process %d", got)
	}
	i.stop()
}

// TestStopWhileStarting: a service that is told to stop at any moment of its
// start stops in order.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	var given answers
	i := install(t, fmt.Sprintf(deskConfig, webSecret, callback(t, &given)), oneShard)
	for range 5 {
		i.start()
		for began := time.Now(); i.process.stdout.String() == "" && time.Since(began) < patience; {
			runtime.Gosched() // the owner takes over within a millisecond
		}
		i.stop()
	}
	i.verify()
}

// TestVerifyFindsForgery_X07: a record that does not follow from the one before
// it is named, and the exit code says so.
func TestVerifyFindsForgery_X07(t *testing.T) {
	t.Parallel()
	var given answers
	i := install(t, fmt.Sprintf(deskConfig, webSecret, callback(t, &given)), oneShard)
	i.up()
	accepted := webhook{id: "one", text: "6 * 7"}.send(t, i.listen)
	eventually(t, "it is answered", func() bool { return i.ended() == 1 })
	i.stop()
	i.verify()
	i.atRest(func(ctx context.Context, ledger *installation.Ledger) error {
		last, err := ledger.Core.Last(ctx, bus.SessionSubject(accepted.Session, 1))
		if err == nil {
			_, err = bus.Append(ctx, ledger.Core, bus.Message{Subject: last.Subject, Header: last.Header, Body: last.Body}, bus.Expect{})
		}
		return err
	})
	if o := i.podium("replay", "--verify"); o.code != exitDiffers || !strings.Contains(o.stdout, accepted.Session) {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// ended counts the runs that have ended.
func (i *deployment) ended() (count int) {
	i.t.Helper()
	for _, run := range i.runs() {
		if run.Phase == workflow.PhaseComplete {
			count++
		}
	}
	return count
}

// setBackCursor makes the ledger of each mailbox what it was before anything was taken, as
// a loss of power may.
func setBackCursor(ctx context.Context, ledger *installation.Ledger) error {
	store := ledger.Core.KeyValue(bus.MailboxBucket)
	keys, err := store.Keys(ctx)
	for _, key := range keys {
		value, revision, getting := store.Get(ctx, key)
		var position map[string]any
		if err = errors.Join(err, getting, json.Unmarshal(value, &position)); err != nil {
			return err
		}
		position["low_water"] = 0
		delete(position, "dispositions")
		delete(position, "recent")
		if value, err = json.Marshal(position); err == nil {
			_, err = store.Update(ctx, key, value, revision)
		}
	}
	return err
}

// atRest works on the ledger of a stopped deployment.
func (i *deployment) atRest(do func(context.Context, *installation.Ledger) error) {
	i.t.Helper()
	ctx := i.t.Context()
	ledger, err := installation.OpenAtRest(ctx, i.data, zerolog.Nop())
	if err != nil {
		i.t.Fatal(err)
	}
	if err := errors.Join(do(ctx, ledger), ledger.Close()); err != nil {
		i.t.Fatal(err)
	}
}
