package embedded_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// atOnce appends the first record of so many sessions at the same time, and
// returns how many were stored.
func atOnce(t *testing.T, c *jetstream.Core, from, count int) int {
	t.Helper()
	records := make([]bus.Message, count)
	for i := range records { // beforehand: it takes as long as an append
		records[i] = bus.Message{Subject: bus.SessionSubject(sessionOn(from+i), 2), Body: []byte(strconv.Itoa(i))}
	}
	var done sync.WaitGroup
	var mu sync.Mutex
	stored := 0
	done.Add(count)
	for i := range count {
		c.Publish(records[i], bus.ExpectLast(0), func(_ bus.Ack, err error) {
			defer done.Done()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("append %d: %v", i, err)
				return
			}
			stored++
		})
	}
	done.Wait()
	return stored
}

// batches returns how many messages of a shard were stored in batches, by the
// headers that the server keeps and no reader of the ledger sees.
func batches(t *testing.T, js natsjetstream.JetStream) map[string]int {
	t.Helper()
	stream, err := js.Stream(t.Context(), bus.ShardStream(0))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for sequence := range stream.CachedInfo().State.LastSeq {
		stored, err := stream.GetMsg(t.Context(), sequence+1)
		if err != nil {
			t.Fatal(err)
		}
		if id := stored.Header.Get("Nats-Batch-Id"); id != "" {
			found[id]++
		}
	}
	return found
}

// TestGroupCommit: with fsync, appends that wait for the same stream are stored
// together; with interval, where that would cost more than it saves, none is.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	for durability, want := range map[embedded.Durability]bool{embedded.Fsync: true, embedded.Interval: false} {
		t.Run(string(durability), func(t *testing.T) {
			t.Parallel()
			server := start(t, embedded.Config{Durability: durability})
			c := core(t, server)
			const count = 300
			if stored := atOnce(t, c, 0, count); stored != count {
				t.Errorf("%d of %d stored", stored, count)
			}
			found := batches(t, administrator(t, server))
			if (len(found) > 0) != want {
				t.Errorf("%d batches for %d appends at once", len(found), count)
			}
			for id, size := range found {
				if size < 16 || size > jetstream.MaxBatch {
					t.Errorf("batch %s has %d messages", id, size)
				}
			}
		})
	}
}

// TestAgentBatchIsItsOwnOnly_G40: a batch is no way around the subjects that an
// agent may write, and one with a foreign message in it stores nothing.
func TestAgentBatchIsItsOwnOnly_G40(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	alpha := intrude(t, server)
	before := holdings(t, c)
	own := bus.ResponseSubject("alpha", 0)
	for _, foreign := range []string{
		bus.ResponseSubject("beta", 0), bus.ControlSubject(0), bus.SessionSubject(sessionOn(0), 2), bus.InSubject("chat", 0),
	} {
		for i, subject := range []string{own, foreign} {
			if err := alpha.PublishMsg(inBatch(subject, foreign, i+1, false)); err != nil {
				t.Fatal(err)
			}
		}
		alpha.mustBeRefused("a batch with " + foreign)
		reply, err := alpha.RequestMsg(inBatch(own, foreign, 3, true), patience)
		if err != nil {
			t.Fatal(err)
		}
		if code := refusal(t, reply); code == 0 {
			t.Errorf("a batch with a message to %s was taken: %s", foreign, reply.Data)
		}
	}
	mustHold(t, c, before, "batches with foreign messages")
}

// TestBatchesWithoutEndHinderNobody: an agent can begin only so many batches
// and not end them, and whoever appends meanwhile does without.
func TestBatchesWithoutEndHinderNobody(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	alpha := intrude(t, server)
	refused := 0
	began := time.Now()
	for i := range 40 {
		reply, err := alpha.RequestMsg(inBatch(bus.ResponseSubject("alpha", 0), strconv.Itoa(i), 1, false), patience)
		if err != nil {
			t.Fatal(err)
		}
		if refusal(t, reply) != 0 {
			refused++
		}
	}
	// On a machine so slow that the first ones have expired, others take their place.
	if refused == 0 || refused != 32 && time.Since(began) < time.Second {
		t.Errorf("%d of 40 open batches were refused, want all but 8", refused)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const count = 300
	if stored := atOnce(t, c, 0, count); stored != count {
		t.Errorf("%d of %d stored beside batches without end", stored, count)
	}
	if ctx.Err() != nil {
		t.Error("the appends took more than 30 s")
	}
}

func inBatch(subject, id string, sequence int, commit bool) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Data = []byte("part")
	m.Header.Set("Nats-Batch-Id", id)
	m.Header.Set("Nats-Batch-Sequence", strconv.Itoa(sequence))
	if commit {
		m.Header.Set("Nats-Batch-Commit", "1")
	}
	return m
}

// refusal returns the server's error code, 0 when it took the message.
func refusal(t *testing.T, reply *nats.Msg) int {
	t.Helper()
	var answer struct {
		Error struct {
			Code int `json:"err_code"`
		} `json:"error"`
	}
	if len(reply.Data) > 0 {
		if err := json.Unmarshal(reply.Data, &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer.Error.Code
}
