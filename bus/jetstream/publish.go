package jetstream

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

const (
	// publishWait is long enough for a full window of publishes, each with its
	// own fsync.
	publishWait   = 30 * time.Second
	overdueCheck  = time.Second
	publishWindow = 1 << 17
	throughMark   = "-" // behind the number: the answer is to ask
)

// A publisher sees to it that every publish has exactly one outcome. The client
// library's own asynchronous publishing may report none (the connection was
// closed) or two (a timeout while the send failed), and costs a timer and a
// reflected JSON value each.
type publisher struct {
	connection    *nats.Conn
	inbox         string     // an answer comes to this and the publication's number
	batchers      []*batcher // by shard, and that of the work stream; none: each message goes at once
	hold          *hold
	lastSequences *lastSequences

	mu        sync.Mutex
	changed   sync.Cond               // nothing is open any more
	sent      map[uint64]*publication // by number: whoever takes one out reports its outcome
	number    uint64
	open      int // publications without an outcome
	watching  bool
	failed    []failure
	reporting bool // a goroutine reports what has failed
	closed    bool
}

// A publication is a message on its way.
type publication struct {
	subject string
	header  nats.Header
	body    []byte
	checked bool // it expects something of its subject
	done    func(bus.Ack, error)
	batcher *batcher       // that it has entered; nil: none
	since   time.Time      // it was sent then
	before  []*publication // the others of the batch whose last one it is
	batch   string         // the id of that batch
	asked   bool           // the server was asked whether it is through with the batch
}

// A failure waits to be reported by a goroutine of its own: callers may hold a
// lock that their function needs.
type failure struct {
	publication *publication
	err         error
}

func newPublisher() *publisher {
	p := &publisher{sent: make(map[uint64]*publication), hold: new(hold), lastSequences: &lastSequences{streams: make(map[string]*lastSequence)}}
	p.changed.L = &p.mu
	return p
}

func (p *publisher) attach(connection *nats.Conn) error {
	p.connection = connection
	p.inbox = connection.NewInbox() + "."
	answers, err := connection.Subscribe(p.inbox+"*", p.answered)
	if err == nil {
		err = answers.SetPendingLimits(-1, -1) // the window bounds them
	}
	return wire.Classify("open the ledger", err)
}

func (p *publisher) publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	publishing := &publication{
		subject: message.Subject, header: wire.Outgoing(message.Header), body: message.Body,
		checked: expect.Check, done: done,
	}
	if expect.Check {
		publishing.header = wire.Expecting(message.Header, expect.Last)
	}
	p.mu.Lock()
	p.open++
	closed, crowded := p.closed, p.open > publishWindow
	p.mu.Unlock()
	switch {
	case closed:
		p.fail(publishing, nats.ErrConnectionClosed)
	case crowded:
		p.fail(publishing, wire.ErrCrowded)
	default:
		if batcher := p.batcherOf(publishing.subject); batcher != nil {
			batcher.enter(publishing)
		} else {
			p.send(publishing, publishing.header)
		}
	}
}

// send puts a message on the wire with the headers given.
func (p *publisher) send(publishing *publication, header nats.Header) {
	if reason := p.hold.refusing(); reason != nil { // it may have waited in its batcher
		p.fail(publishing, reason)
		return
	}
	p.mu.Lock()
	p.number++
	number := p.number
	publishing.since = time.Now()
	p.sent[number] = publishing
	if !p.watching {
		p.watching = true
		time.AfterFunc(overdueCheck, p.overdue)
	}
	p.mu.Unlock()
	err := p.connection.PublishMsg(&nats.Msg{
		Subject: publishing.subject, Reply: p.inbox + strconv.FormatUint(number, 36), Header: header, Data: publishing.body,
	})
	if err != nil && p.take(number) != nil {
		p.unsent(publishing, err)
	}
}

// unsent is told why a message was not sent, or only in part. A batch that the
// client refuses has no end at the server. Its batcher's lock is held.
func (p *publisher) unsent(publishing *publication, err error) {
	err = wire.Unsendable(err)
	if len(publishing.before) > 0 && !bus.Temporary(err) && !p.connection.IsClosed() {
		publishing.batcher.apart(publishing)
		return
	}
	p.fail(publishing, err)
}

// take returns what was sent under a number, to one caller only.
func (p *publisher) take(number uint64) *publication {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.sent[number]
	delete(p.sent, number)
	return taken
}

// answered reads what the server says.
func (p *publisher) answered(m *nats.Msg) {
	token, through := strings.CutSuffix(m.Subject[len(p.inbox):], throughMark)
	number, err := strconv.ParseUint(token, 36, 64)
	if err != nil {
		return
	}
	publishing := p.take(number)
	if publishing == nil {
		return // answered or given up before
	}
	if through {
		p.fail(publishing, jetstream.ErrInvalidJSAck) // a part of the batch may stand
		return
	}
	if len(m.Data) == 0 {
		p.fail(publishing, jetstream.ErrNoStreamResponse) // no stream holds the subject
		return
	}
	ack, err := wire.ReadPubAck(m.Data, len(publishing.before)+1)
	if err == nil && !p.lastSequences.advance(ack, len(publishing.before)) {
		err = &bus.TemporaryError{Op: "publish", Err: errLedgerShrank} // what it stands in is not the ledger's stream
	}
	switch {
	case err == nil:
		p.acked(publishing, ack)
	case len(publishing.before) > 0 && (!bus.Temporary(err) || errors.Is(err, wire.ErrInProcess)):
		publishing.batcher.part(publishing)
	default:
		p.fail(publishing, err)
	}
}

func (p *publisher) acked(last *publication, ack bus.Ack) {
	count := len(last.before) + 1
	if last.batcher != nil {
		last.batcher.leave(count) // those who wait need not wait for the callers
	}
	first := ack.Sequence - uint64(len(last.before))
	for i, publishing := range last.before {
		publishing.done(bus.Ack{Stream: ack.Stream, Sequence: first + uint64(i)}, nil) //nolint:gosec // an index
	}
	last.done(ack, nil)
	p.settle(count)
}

func (p *publisher) settle(count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open -= count; p.open == 0 {
		p.changed.Broadcast()
	}
}

// fail reports a publication, and all of its batch, as failed.
func (p *publisher) fail(last *publication, err error) {
	err = wire.Classify("publish", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, publishing := range last.before {
		p.failed = append(p.failed, failure{publishing, err})
	}
	last.before = nil
	p.failed = append(p.failed, failure{last, err})
	if !p.reporting {
		p.reporting = true
		go p.report()
	}
}

// report hands failures to their callers until there are none.
func (p *publisher) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.failed) > 0 {
		failed := p.failed
		p.failed = nil
		p.mu.Unlock()
		for _, f := range failed {
			if f.publication.batcher != nil {
				f.publication.batcher.leave(1)
			}
			f.publication.done(bus.Ack{}, f.err)
		}
		p.settle(len(failed))
		p.mu.Lock()
	}
	p.reporting = false
	p.changed.Broadcast()
}

// overdue gives up what the server has not answered for too long.
func (p *publisher) overdue() {
	p.mu.Lock()
	p.watching = len(p.sent) > 0
	if p.watching {
		time.AfterFunc(overdueCheck, p.overdue)
	}
	late := make(map[uint64]*publication)
	for number, publishing := range p.sent {
		if publishing.batch != "" && !publishing.asked && time.Since(publishing.since) > overdueCheck {
			publishing.asked = true
			late[number] = publishing
		}
	}
	p.mu.Unlock()
	for number, publishing := range late {
		p.ask(publishing.subject, publishing.batch, number)
	}
	p.giveUp(time.Now().Add(-publishWait), nats.ErrTimeout)
}

// ask has the server say that it is through with a batch, by one more end, which
// it refuses: it takes one message after the other. A batch of which it could store
// a part only, because the store is full or fails, it does not answer itself, and
// counts it as open until then.
func (p *publisher) ask(subject, batch string, number uint64) {
	header := batched(nil, batch, MaxBatch+1)
	header[batchCommitHeader] = []string{"1"}
	_ = p.connection.PublishMsg(&nats.Msg{ // unsent: the batch is given up in time
		Subject: subject, Reply: p.inbox + strconv.FormatUint(number, 36) + throughMark, Header: header,
	})
}

// lost is told when the connection is: what was sent may have arrived or not, and
// no answer to it will come. Closing it is one way to lose it.
func (p *publisher) lost() {
	err := nats.ErrDisconnected
	p.mu.Lock()
	if p.closed {
		err = nats.ErrConnectionClosed
	}
	p.mu.Unlock()
	p.lastSequences.settle() // before anything is sent on the next connection
	p.giveUp(time.Now(), err)
}

// giveUp fails what was sent until then, in the order in which it was sent.
func (p *publisher) giveUp(until time.Time, err error) {
	var numbers []uint64
	p.mu.Lock()
	for number, publishing := range p.sent {
		if !publishing.since.After(until) {
			numbers = append(numbers, number)
		}
	}
	p.mu.Unlock()
	slices.Sort(numbers)
	for _, number := range numbers {
		if publishing := p.take(number); publishing != nil {
			p.fail(publishing, err)
		}
	}
}

// drain refuses what comes and waits for what is under way, for a while.
func (p *publisher) drain(wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	expired := false
	timer := time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		expired = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	for p.open > 0 && !expired {
		p.changed.Wait()
	}
}

// close ends what is left with bus.ErrClosed. The connection is closed before, so
// that what waits in a batcher fails when its turn comes.
func (p *publisher) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.giveUp(time.Now(), nats.ErrConnectionClosed)
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.open > 0 || p.reporting {
		p.changed.Wait()
	}
}
