// Package worker is an agent's connection to the ledger: it pulls the requests to one
// agent by its durable consumer, publishes what the agent says, and asks the core
// services. See bus.Worker for what it promises.
//
// What it has pulled and nobody has taken goes back to the stream. Its permissions are
// the server's: it reaches no other agent's requests or subjects.
package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/jetstream"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

const (
	agentAPI     = "CORE.API" // $JS.API as the agents' account imports it
	agentInbox   = "_INBOX_"  // followed by the agent's name
	cancelBuffer = 64         // signals that wait to be heard; more are lost
	permitBuffer = 256
)

// Config says as which agent to connect.
type Config struct {
	// URL of the server, or several with commas between.
	URL string
	// InProcess, when set, is a server in this process, reached without a socket.
	InProcess wire.InProcess
	// SeedFile holds the nkey seed of the agent.
	SeedFile string
	// Agent is its name; the server knows it by the key, and refuses another's subjects.
	Agent string
	// Core, when set, is the core's connection of the same process: what it holds back is
	// held back for the worker, too.
	Core   *jetstream.Core
	Logger zerolog.Logger
}

// Worker is one process of an agent, connected to the agents' account.
type Worker struct {
	agent      string
	core       *jetstream.Core // nil in a process of its own
	connection *nats.Conn
	returned   *wire.Signal
	denials    *denials
	cancelled  chan string
	permitted  chan schemas.PermitAnswer
	closing    chan struct{}
	closed     chan struct{} // by the connection, when it is
	close      sync.Once

	mu   sync.Mutex
	open *pull // left by a Fetch that did not wait for its end
}

var _ bus.Worker = (*Worker)(nil)

// Connect connects an agent. Its durable need not exist yet (see
// bus.Core.Declare): Fetch waits for it.
func Connect(ctx context.Context, config Config) (*Worker, error) {
	if !schemas.ValidAgentName(config.Agent) {
		return nil, fmt.Errorf("%q cannot be the name of an agent", config.Agent)
	}
	w := &Worker{
		agent: config.Agent, core: config.Core, returned: wire.NewSignal(), denials: &denials{waiting: make(map[*context.CancelCauseFunc]string)},
		cancelled: make(chan string, cancelBuffer), permitted: make(chan schemas.PermitAnswer, permitBuffer),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	connection, err := wire.Endpoint{
		URL: config.URL, Process: config.InProcess, SeedFile: config.SeedFile,
		Name: "podium agent " + config.Agent, Inbox: agentInbox + config.Agent,
		Returned: w.returned, Failed: w.denials.report,
		Closed: func() { close(w.closed) }, Logger: config.Logger,
	}.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w.connection = connection
	_, err = connection.Subscribe(bus.ServiceSubject(w.agent, bus.SignalCancel), w.hearCancel)
	if err == nil {
		_, err = connection.Subscribe(bus.ServiceSubject(w.agent, bus.SignalPermitted), w.hearPermit)
	}
	if err == nil {
		err = connection.Flush()
	}
	if err != nil {
		w.Close()
		return nil, wire.Classify("connect agent "+w.agent, err)
	}
	return w, nil
}

// Name implements bus.Worker.
func (w *Worker) Name() string { return w.agent }

// Cancelled implements bus.Worker.
func (w *Worker) Cancelled() <-chan string { return w.cancelled }

// Permitted implements bus.Worker.
func (w *Worker) Permitted() <-chan schemas.PermitAnswer { return w.permitted }

func (w *Worker) hearPermit(m *nats.Msg) {
	var answer schemas.PermitAnswer
	if schemas.Unmarshal(m.Data, &answer) != nil {
		return // whoever waits asks again
	}
	select {
	case w.permitted <- answer:
	default: // it comes again when it is asked for
	}
}

func (w *Worker) hearCancel(m *nats.Msg) {
	select {
	case w.cancelled <- string(m.Data):
	default: // it is a hint
	}
}

// Publish implements bus.Worker. A subject that is not the agent's gives
// bus.ErrDenied, as soon as the server says so.
func (w *Worker) Publish(ctx context.Context, message bus.Message) (bus.Ack, error) {
	const op = "publish"
	if w.core != nil {
		if reason := w.core.Held(); reason != nil {
			return bus.Ack{}, fmt.Errorf("%s: %w", op, reason)
		}
		var done context.CancelFunc
		ctx, done = w.core.Answered(ctx)
		defer done()
	}
	reply, err := w.request(ctx, op, &nats.Msg{Subject: message.Subject, Header: wire.Outgoing(message.Header), Data: message.Body})
	if err != nil {
		return bus.Ack{}, err
	}
	return wire.ReadPubAck(reply.Data, 1)
}

// Ask implements bus.Worker.
func (w *Worker) Ask(ctx context.Context, service string, body []byte) ([]byte, error) {
	op := "ask " + service
	reply, err := w.request(ctx, op, &nats.Msg{Subject: bus.ServiceSubject(w.agent, service), Data: body})
	if err != nil {
		return nil, err
	}
	return wire.ReadAnswer(op, reply)
}

// Artifacts implements bus.Worker.
func (w *Worker) Artifacts(request string) bus.Artifacts {
	return artifact.NewClient(w.Ask, request)
}

// request sends a message and waits for its answer, its refusal, or ctx.
func (w *Worker) request(ctx context.Context, op string, m *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	defer w.denials.watch(m.Subject, refuse)()
	reply, err := w.connection.RequestMsgWithContext(ctx, m)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, bus.ErrDenied) {
		err = cause
	}
	return reply, wire.Classify(op, err)
}

// Close gives back what came and was not taken, and closes the connection. A
// request that was just on its way comes again after its ack-wait. It may be
// called more than once.
func (w *Worker) Close() {
	w.close.Do(func() {
		close(w.closing)
		w.mu.Lock()
		left := w.open
		w.open = nil
		w.mu.Unlock()
		if left != nil {
			left.park(false)
			if w.isOnCluster() && w.connection.IsConnected() {
				left.awaitEnd()
			}
		}
		if w.connection.Drain() != nil { // it is not connected
			w.connection.Close()
		}
		<-w.closed // at the latest when the drain gives up
	})
}

// isOnCluster reports whether the server is a member of a cluster. The leader of the consumer may be another server there,
// which goes on with a pull whose agent is gone, and hands it a request that then waits for its ack-wait.
func (w *Worker) isOnCluster() bool { return w.connection.ConnectedClusterName() != "" }

// denials tells those who wait for an answer that the server refuses them. The
// server says so apart from any request, naming the subject only.
type denials struct {
	mu      sync.Mutex
	waiting map[*context.CancelCauseFunc]string // for an answer on which subject
}

// watch has refuse called when the subject is denied, until stop is called.
func (d *denials) watch(subject string, refuse context.CancelCauseFunc) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[&refuse] = subject
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting, &refuse)
	}
}

// report reads an asynchronous error: permissions violation for publish to "subject".
func (d *denials) report(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	_, rest, _ := strings.Cut(err.Error(), `"`)
	subject, _, _ := strings.Cut(rest, `"`)
	d.mu.Lock()
	defer d.mu.Unlock()
	for refuse, asked := range d.waiting {
		if asked == subject {
			(*refuse)(bus.ErrDenied)
		}
	}
}
