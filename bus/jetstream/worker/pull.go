package worker

import (
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

const (
	pullWait = 10 * time.Second
	// clusterPullWait is how long a pull waits at a cluster: Close waits for the end of the last one there.
	clusterPullWait = 2 * time.Second
	// parkWait is how long messages behind a Fetch wait for the next one. Whoever
	// took less than it asked for has room, and is expected back at once.
	parkWait = 100 * time.Millisecond
)

// A pull is one request for messages.
type pull struct {
	subscription *nats.Subscription
	returned     <-chan struct{} // the connection was lost since
	expires      time.Time
	news         chan struct{}
	batch        int

	mu      sync.Mutex
	worker  *Worker
	arrived []bus.Delivery
	came    int // messages so far
	outcome pullOutcome
	refuse  bool        // nobody waits: what comes goes back
	parked  *time.Timer // turns a parked pull into a refusing one
}

// A pullOutcome is what the server has said of a pull.
type pullOutcome int

const (
	pullOpen    pullOutcome = iota // more may come
	pullOver                       // nothing comes any more
	pullCrowded                    // others wait for more than there is
	pullRefused                    // the server did not take the request
)

// newPull sends a request. One only, it waits for a single message; else it
// takes all that is there, up to n, or waits for the next.
func (w *Worker) newPull(n int, oneOnly bool) (*pull, error) {
	wait := pullWait
	if w.isOnCluster() {
		wait = clusterPullWait
	}
	p := &pull{worker: w, batch: n, returned: w.returned.Next(), expires: time.Now().Add(wait), news: make(chan struct{}, 1)}
	request := `{"expires":` + strconv.FormatInt(int64(wait), 10)
	if oneOnly {
		p.batch = 1
		request += `,"batch":1}`
	} else {
		request += `,"no_wait":true,"batch":` + strconv.Itoa(n) + `}`
	}
	inbox := w.connection.NewInbox()
	var err error
	p.mu.Lock()
	p.subscription, err = w.connection.Subscribe(inbox, p.receive)
	p.mu.Unlock()
	if err != nil {
		return nil, wire.Classify("fetch", err)
	}
	subject := agentAPI + ".CONSUMER.MSG.NEXT." + bus.WorkStream + "." + w.agent
	if err := w.connection.PublishRequest(subject, inbox, []byte(request)); err != nil {
		if err = wire.Classify("fetch", err); !bus.Temporary(err) {
			p.discard()
			return nil, err
		}
		p.mu.Lock()
		p.outcome = pullRefused
		p.mu.Unlock()
	}
	return p, nil
}

func (p *pull) receive(m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := wire.ParsePosition(m.Reply)
	switch {
	case !ok:
		p.status(m.Header.Get("Status"), m.Header.Get("Description"))
	case p.refuse:
		_ = m.Respond([]byte(nak))
		p.count()
	default:
		p.arrived = append(p.arrived, newDelivery(p.worker, m, at))
		p.count()
	}
	if p.refuse && p.outcome != pullOpen {
		_ = p.subscription.Unsubscribe()
	}
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// count notes one more message. The lock is held.
func (p *pull) count() {
	if p.came++; p.came == p.batch {
		p.outcome = pullOver
	}
}

// status reads what the server says of the request. The lock is held.
func (p *pull) status(status, description string) {
	switch {
	case status == "100": // a heartbeat
	case status == "404", status == "408" && description == "Request Timeout":
		p.outcome = pullOver
	case status == "408" && description == "Requests Pending":
		p.outcome = pullCrowded
	default:
		p.outcome = pullRefused
	}
}

func (p *pull) progress() (over, arrived bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcome != pullOpen, len(p.arrived) > 0
}

// take returns up to n messages.
func (p *pull) take(n int) ([]bus.Delivery, pullOutcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = min(n, len(p.arrived))
	taken := p.arrived[:n:n]
	p.arrived = p.arrived[n:]
	return taken, p.outcome
}

// park leaves the pull without anybody who waits. It keeps what comes for a
// moment if the next Fetch is expected, else it gives it back.
func (p *pull) park(expected bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if expected {
		p.parked = time.AfterFunc(parkWait, p.giveBack)
		return
	}
	p.giveBackLocked()
}

func (p *pull) giveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parked != nil { // it was not adopted meanwhile
		p.giveBackLocked()
	}
}

func (p *pull) giveBackLocked() {
	p.refuse, p.parked = true, nil
	for _, d := range p.arrived {
		_ = d.Nak(0)
	}
	p.arrived = nil
}

// adopt makes a parked pull the current one. It reports false when nothing can
// come of it any more.
func (p *pull) adopt() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parked != nil {
		p.parked.Stop()
		p.parked = nil
	}
	p.refuse = false
	lost := false
	select {
	case <-p.returned:
		lost = true
	default:
	}
	return len(p.arrived) > 0 || p.outcome == pullOpen && !lost && time.Now().Before(p.expires)
}

// awaitEnd waits until the server has ended the pull, or the connection is lost.
func (p *pull) awaitEnd() {
	late := time.NewTimer(time.Until(p.expires) + time.Second)
	defer late.Stop()
	for {
		if over, _ := p.progress(); over {
			return
		}
		select {
		case <-p.news:
		case <-p.returned:
			return
		case <-late.C:
			return
		}
	}
}

// discard ends a pull of which nothing is expected; messages that nobody took go back.
func (p *pull) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBackLocked()
	_ = p.subscription.Unsubscribe()
}
