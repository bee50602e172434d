package supervisor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor"
)

// blind is a ledger that cannot read one session any more.
type blind struct {
	bus.Core
	subject string
}

func (c *blind) spoil(m bus.Message) bus.Message {
	if m.Subject == c.subject {
		m.Body = []byte("{")
	}
	return m
}

func (c *blind) Last(ctx context.Context, subject string) (bus.Message, error) {
	m, err := c.Core.Last(ctx, subject)
	return c.spoil(m), err
}

func (c *blind) LastOf(ctx context.Context, shard int, subjects []string) ([]bus.Message, error) {
	ms, err := c.Core.LastOf(ctx, shard, subjects)
	for i := range ms {
		ms[i] = c.spoil(ms[i])
	}
	return ms, err
}

// One session that cannot be read holds back no other one, when a shard is taken over.
func TestAnUnreadableSessionDoesNotKeepAShardClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	for i := range 3 {
		d.say(fmt.Sprint("thread", i), fmt.Sprint("m", i), "do it")
	}
	d.spin(o, 10*time.Second)
	id, _ := d.session("thread1")
	second := d.owner("two", &blind{Core: d.ledger, subject: bus.SessionSubject(id, 1)}, 0)
	if err := second.Open(t.Context(), d.now); err != nil {
		t.Fatalf("the shard stays closed for all its sessions: %v", err)
	}
}

// One session that cannot be read holds back no other one, when an orphan answer comes.
func TestAnUnreadableSessionAndAnOrphan(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("one", d.ledger, 0)
	d.say("bad", "m1", "do it")
	d.must(d.work(first))
	d.deliverAll(first, "worker", "chat")
	d.spin(first, 10*time.Second)
	d.say("another", "m0", "do it")
	d.must(d.work(first))
	d.deliverAll(first, "worker", "chat")
	d.spin(first, 10*time.Second)
	id, _ := d.session("bad")
	o := supervisor.NewOwner(d.owner("two", &blind{Core: d.ledger, subject: bus.SessionSubject(id, 1)}, 0).Config)
	d.must(o.Open(t.Context(), d.now))
	d.spin(o, 5*time.Second)
	d.say("bad", "m2", "and this")
	d.must(d.work(o))
	d.bareAnswer()
	d.must(d.work(o))
	d.say("good", "m3", "do it")
	d.spin(o, time.Hour)
	if n := len(d.askedOf("good")); n == 0 {
		t.Errorf("after an hour the worker was asked %d times for another session", n)
	}
	_ = strings.Repeat
	_ = schemas.TypeRecord
}
