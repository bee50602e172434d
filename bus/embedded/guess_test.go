package embedded_test

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// requestAtOnce publishes so many requests to alpha at the same time.
func requestAtOnce(t *testing.T, c *jetstream.Core, from, count int) {
	t.Helper()
	var done sync.WaitGroup
	done.Add(count)
	for i := range count {
		c.Publish(bus.Message{Subject: bus.RequestSubject("alpha"), Body: []byte(strconv.Itoa(from + i))}, bus.Expect{}, func(_ bus.Ack, err error) {
			defer done.Done()
			if err != nil {
				t.Errorf("request %d: %v", from+i, err)
			}
		})
	}
	done.Wait()
}

// requests returns how often each request is stored, and the ids of their
// batches, which the agent sees as well.
func requests(t *testing.T, js natsjetstream.JetStream) (times map[string]int, ids []string) {
	t.Helper()
	stream, err := js.Stream(t.Context(), bus.WorkStream)
	if err != nil {
		t.Fatal(err)
	}
	times = map[string]int{}
	seen := map[string]bool{}
	for sequence := range stream.CachedInfo().State.LastSeq {
		stored, err := stream.GetMsg(t.Context(), sequence+1)
		if err != nil {
			t.Fatal(err)
		}
		if stored.Subject != bus.RequestSubject("alpha") {
			continue
		}
		times[string(stored.Data)]++
		if id := stored.Header.Get("Nats-Batch-Id"); id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return times, ids
}

// following counts on from the last two ids, as if they were numbers with 62
// digits.
func following(ids []string, ahead int64) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	number := func(id string) *big.Int {
		n := new(big.Int)
		for _, letter := range id {
			n.Mul(n, big.NewInt(62)).Add(n, big.NewInt(int64(strings.IndexRune(alphabet, letter))))
		}
		return n
	}
	last, digit := number(ids[len(ids)-1]), new(big.Int)
	step := new(big.Int).Sub(last, number(ids[len(ids)-2]))
	last.Add(last, step.Mul(step, big.NewInt(ahead))).Abs(last)
	id := make([]byte, len(ids[0]))
	for i := len(id) - 1; i >= 0; i-- {
		last.DivMod(last, big.NewInt(62), digit)
		id[i] = alphabet[digit.Int64()]
	}
	return string(id)
}

// TestBatchCannotBeGuessed: an agent that has seen the batches of its requests
// cannot add an end to the next ones: the server would store one part and refuse
// the other, and all of it would be stored once more.
func TestBatchCannotBeGuessed(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c := core(t, server)
	js := administrator(t, server)
	const before, burst, bursts, guesses = 600, 40, 100, 120
	requestAtOnce(t, c, 0, before/2)
	requestAtOnce(t, c, before/2, before/2)
	_, ids := requests(t, js)
	if len(ids) < 2 {
		t.Fatalf("%d batches", len(ids))
	}
	guessed := make([]string, guesses)
	for i := range guessed {
		guessed[i] = following(ids, int64(i+1))
	}
	alpha := intrude(t, server)
	stop := make(chan struct{})
	var attack sync.WaitGroup
	attack.Go(func() {
		for i := 0; ; i++ {
			for _, id := range guessed {
				if alpha.PublishMsg(inBatch("podium.agent.alpha.response", id, 2+i%(burst-2), true)) != nil {
					return
				}
			}
			if alpha.Flush() != nil {
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range bursts {
		requestAtOnce(t, c, before+i*burst, burst)
	}
	close(stop)
	attack.Wait()
	times, after := requests(t, js)
	twice := 0
	for _, stored := range times {
		if stored > 1 {
			twice++
		}
	}
	for _, id := range after[len(ids):] {
		if slices.Contains(guessed, id) {
			t.Errorf("batch %s follows from %v", id, ids)
			break
		}
	}
	if all := before + bursts*burst; twice > 0 || len(times) != all {
		t.Errorf("%d of %d requests are stored, %d of them twice", len(times), all, twice)
	}
}
