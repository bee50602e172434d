package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"podium/schemas"
)

// inQuarantine lists what is in quarantine, by reason.
func (i *deployment) inQuarantine(arguments ...string) map[schemas.QuarantineReason][]quarantined {
	i.t.Helper()
	by := map[schemas.QuarantineReason][]quarantined{}
	for line := range strings.Lines(i.podium(append([]string{"quarantine", "list", "-o", "json"}, arguments...)...).succeeds(i.t).stdout) {
		var one quarantined
		if err := schemas.Unmarshal([]byte(line), &one); err != nil {
			i.t.Fatalf("%v in %s", err, line)
		}
		by[one.Reason] = append(by[one.Reason], one)
	}
	return by
}

// TestQuarantine_X06: whatever an agent says wrongly is kept where a person finds it, and
// the run goes on to its end.
func TestQuarantine_X06(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	alpha, beta := connectPlain(t, i, "alpha"), connectPlain(t, i, "beta")
	sending := spawn(t, "--data", i.data, "send", "Who answers?", "--wait", "-o", "json")
	first := alpha.pull()

	// Five that nobody can use.
	alpha.publish(first.replyTo, strings.Replace(first.response("alpha", "completed", "shouted"), `"completed"`, `"COMPLETED"`, 1))
	alpha.publish(first.replyTo, "this is no JSON")
	shard := first.replyTo[strings.LastIndexByte(first.replyTo, '.'):]
	beta.publish("podium.agent.beta.response"+shard, first.response("beta", "completed", "not mine"))
	for _, words := range []string{"to nobody", "to nobody either"} {
		stranger := first
		stranger.MessageID = uuid.NewString()
		alpha.publish("podium.agent.alpha.response", stranger.response("alpha", "completed", words))
	}
	eventually(t, "the five are in quarantine", func() bool {
		found := i.inQuarantine()
		return len(found[schemas.QuarantineMalformed]) == 2 && len(found[schemas.QuarantineWrongAgent]) == 1 && len(found[schemas.QuarantineUnknownRun]) == 2
	})

	// The first of them has ended the attempt that it names. Its answer comes after all
	// when another is under way.
	alpha.acknowledge(first)
	second := alpha.pull()
	if second.MessageID == first.MessageID {
		t.Fatal("the second attempt is the first one again")
	}
	alpha.publish(first.replyTo, first.response("alpha", "completed", "late, without a word on the attempt"))
	alpha.publishEvent(first, first.response("alpha", "completed", "late, and it says so"))
	alpha.publish(second.replyTo, second.response("alpha", "completed", "in time"))
	alpha.acknowledge(second)
	sending.ends(t, exitOK)
	var ended struct{ Status, Answer string }
	if err := json.Unmarshal([]byte(sending.stdout.String()), &ended); err != nil || ended.Status != "completed" || ended.Answer != "in time" {
		t.Errorf("the run ended as %s (%v)", sending.stdout, err)
	}
	if late := i.podium("replay").succeeds(t).stdout; !strings.Contains(late, "an answer of alpha to attempt 1 came too late to count") {
		t.Errorf("replay does not show the late answer:\n%s", late)
	}
	if facts := i.podium("replay", "-o", "json").succeeds(t).stdout; strings.Count(facts, `"response_late"`) != 2 {
		t.Errorf("replay -o json has %d late answers", strings.Count(facts, `"response_late"`))
	}
	if runs := i.runs(); len(runs) != 1 || runs[0].Late != 2 || runs[0].Tasks[0].Failure().Cause != schemas.FailureMalformed || runs[0].Tasks[0].Attempt != 2 {
		t.Errorf("the runs are %+v", runs)
	}
	found := i.inQuarantine()
	if unknown := found[schemas.QuarantineUnknownRun]; len(unknown) != 2 || !strings.Contains(string(unknown[1].Body), "to nobody either") {
		t.Errorf("in quarantine for an unknown run are %+v", unknown)
	}
	i.dealWith(found)
	i.stop()
	i.verify()
}

// dealWith shows one quarantined message, retries another and discards a third.
func (i *deployment) dealWith(found map[schemas.QuarantineReason][]quarantined) {
	t := i.t
	t.Helper()
	malformed, wrong, unknown := found[schemas.QuarantineMalformed][0], found[schemas.QuarantineWrongAgent][0], found[schemas.QuarantineUnknownRun][0]
	// What names a run goes by that run's records first, so a later message of the same
	// shard may be quarantined before it.
	if !strings.Contains(string(malformed.Body), "COMPLETED") {
		malformed = found[schemas.QuarantineMalformed][1]
	}
	if !strings.Contains(malformed.Detail, "status") || !strings.Contains(string(malformed.Body), "COMPLETED") {
		t.Errorf("the malformed one says %q and holds %s", malformed.Detail, malformed.Body)
	}
	if !strings.Contains(wrong.Detail, "beta") || !strings.Contains(wrong.Detail, "alpha") {
		t.Errorf("the one of the wrong agent says %q", wrong.Detail)
	}
	shown := i.podium("quarantine", "show", malformed.ID).succeeds(t).stdout
	for _, words := range []string{malformed.ID, "malformed", malformed.Detail, "shouted", malformed.Subject} {
		if !strings.Contains(shown, words) {
			t.Errorf("quarantine show does not say %q:\n%s", words, shown)
		}
	}
	if shortest := i.podium("quarantine", "show", malformed.ID[:len(malformed.ID)-1]); shortest.code != exitOK && !strings.Contains(shortest.stderr, "name one in full") {
		t.Errorf("by the beginning of its id: exit code %d, %s", shortest.code, shortest.stderr)
	}
	if o := i.podium("quarantine", "show", "PODIUM_"); o.code != exitUsage || !strings.Contains(o.stderr, "name one in full") {
		t.Errorf("by the beginning of several ids: exit code %d, %s", o.code, o.stderr)
	}
	if list := i.podium("quarantine").succeeds(t).stdout; strings.Count(list, "\n") != 6 || !strings.Contains(list, wrong.ID) {
		t.Errorf("quarantine lists\n%s", list)
	}
	i.podium("quarantine", "discard", unknown.ID, "--reason", "nobody asked").succeeds(t)
	i.podium("quarantine", "retry", malformed.ID).succeeds(t)
	eventually(t, "the retried one is back under another number", func() bool {
		now := i.inQuarantine()[schemas.QuarantineMalformed]
		return len(now) == 2 && now[0].ID != malformed.ID && now[1].ID != malformed.ID
	})
	if open := i.inQuarantine()[schemas.QuarantineUnknownRun]; len(open) != 1 || open[0].ID == unknown.ID {
		t.Errorf("the discarded one is still there: %+v", open)
	}
	if all := i.inQuarantine("--all"); all[schemas.QuarantineUnknownRun][0].State != "discarded" || len(all[schemas.QuarantineMalformed]) != 3 {
		t.Errorf("with --all there are %+v", all)
	}
	for _, verb := range []string{"show", "retry", "discard"} {
		if o := i.podium("quarantine", verb, "PODIUM_0:999999"); o.code != exitNotFound || !strings.Contains(o.stderr, "podium quarantine --all") {
			t.Errorf("quarantine %s of nothing: exit code %d, %s", verb, o.code, o.stderr)
		}
	}
}

// TestMalformedAnswersAreSaid: an answer that cannot be read ends its attempt at
// once, and the run names it by its id in quarantine.
func TestMalformedAnswersAreSaid(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	agent := connectPlain(t, i, "alpha")
	sending := spawn(t, "--data", i.data, "send", "Who answers?", "--wait")
	first := agent.pull()
	agent.publish(first.replyTo, strings.Replace(first.response("alpha", "completed", "lost"), `"status":"completed"`, `"status":"splendid"`, 1))
	agent.acknowledge(first)
	within(t, patience, "it is said while the message is watched", func() bool {
		return strings.Contains(sending.stdout.String(), "attempt 1 failed (malformed)")
	})
	run := i.run(i.runs()[0].ID)
	shown := i.podium("runs", "show", run.ID).succeeds(t).stdout
	if !strings.Contains(shown, "podium quarantine show "+run.Tasks[0].Failure().Quarantine) || run.Tasks[0].Failure().Quarantine == "" {
		t.Errorf("runs show says\n%s", shown)
	}
	if found := i.podium("quarantine", "show", run.Tasks[0].Failure().Quarantine).succeeds(t).stdout; !strings.Contains(found, "splendid") {
		t.Errorf("in quarantine:\n%s", found)
	}
	second := agent.pull()
	agent.publish(second.replyTo, second.response("alpha", "completed", "found"))
	agent.acknowledge(second)
	sending.ends(t, exitOK)
	i.stop()
	i.verify()
}
