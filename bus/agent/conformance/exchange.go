package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

const (
	// shard is where every request says that its answer goes.
	shard = 1
	// patience bounds the wait for an answer of a program that says nothing else.
	patience = 30 * time.Second
	// handlerPatience bounds the wait for an answer of an agent in this process, also on a busy machine.
	handlerPatience = 2 * time.Minute
	// quiet is how long nothing may be said before all is said.
	quiet = 300 * time.Millisecond
	// waited is how long a program's request says that somebody waits for its answer.
	waited = 5 * time.Minute
)

// An exchange is what one check says to an agent and hears of it.
type exchange struct {
	*Stage

	from, fromWork uint64          // where in the streams stands what is said from now on
	own            map[string]bool // the message_ids of its requests

	mu        sync.Mutex
	refuse    schemas.PermitReason // of permits; empty grants them
	questions map[string]int       // for permits, by the request they are about
	fault     error                // the first question that is no valid one
}

// begin begins an exchange in which permits are answered until end is called.
func (s *Stage) begin(ctx context.Context) (x *exchange, end func() error, err error) {
	if s.nonce == "" {
		s.nonce, s.made = uuid.NewString(), make(map[string]bool)
	}
	x = &exchange{Stage: s, questions: make(map[string]int), own: make(map[string]bool)}
	if err := x.fromNowOn(ctx); err != nil {
		return nil, nil, err
	}
	r, err := s.Core.Read(ctx, bus.ShardStream(shard), x.from, bus.PermitSubject(s.Agent, shard))
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var answering sync.WaitGroup
	answering.Go(func() {
		for m, err := bus.Next(ctx, r); err == nil; m, err = bus.Next(ctx, r) {
			x.permit(m)
		}
	})
	return x, func() error {
		cancel()
		answering.Wait()
		r.Close()
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.fault
	}, nil
}

// fromNowOn leaves out what was said before.
func (x *exchange) fromNowOn(ctx context.Context) error {
	for _, place := range [...]struct {
		stream string
		next   *uint64
	}{{bus.ShardStream(shard), &x.from}, {bus.WorkStream, &x.fromWork}} {
		state, err := x.Core.State(ctx, place.stream)
		if err != nil {
			return err
		}
		*place.next = state.Last + 1
	}
	return nil
}

// permit answers one question for a permit, as the owner of the shard would.
func (x *exchange) permit(m bus.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, err := binding.Decode(m)
	if err == nil {
		err = schemas.Validate(schemas.EnvelopeTypePermitRequest, e.Data)
	}
	if err == nil {
		x.questions[e.CausationID]++
		var answer []byte
		answer, err = schemas.Marshal(schemas.PermitAnswer{Permit: e.ID, Granted: x.refuse == "", Reason: x.refuse})
		if err == nil {
			err = x.Core.Signal(bus.ServiceSubject(x.Agent, bus.SignalPermitted), answer)
		}
	}
	if err != nil && x.fault == nil {
		x.fault = fmt.Errorf("its question for a permit is not valid: %w", err)
	}
}

// questionsFor returns how often a permit was asked for.
func (x *exchange) questionsFor(request string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.questions[request]
}

// request returns a new request for a task, and the event that carries it.
func (x *exchange) request(of func(n int) schemas.Task) (schemas.ExecutionRequest, schemas.Event) {
	x.asked++
	run := schemas.RunID(schemas.SessionID("conformance", x.nonce), x.asked)
	task := of(x.asked)
	task.AssignedTo = x.Agent
	request := schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: schemas.RequestID(shard, 1, run, task.TaskID, 1), From: "supervisor", To: x.Agent,
			Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: time.Now().UTC(),
		},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(run), RequestID: run, Tasks: []schemas.Task{task},
			AgentAssignments:   map[string][]string{x.Agent: {task.TaskID}},
			ValidationCriteria: []string{}, Risks: []schemas.Risk{},
		},
	}
	x.made[request.MessageID], x.own[request.MessageID] = true, true
	e := schemas.Event{
		ID: request.MessageID, Source: binding.SourceOf("supervisor"), Type: schemas.TypeExecutionRequest,
		Subject: run + "/" + task.TaskID, Time: request.Timestamp, DataContentType: schemas.MediaTypeJSON,
		PartitionKey: "key", CorrelationID: run, CausationID: uuid.NewString(), Attempt: 1,
		EffectID: schemas.EffectID(run, task.TaskID), ReplyTo: bus.ResponseSubject(x.Agent, shard),
	}
	if x.Program != nil {
		e.Expires = time.Now().Add(waited).UTC()
	}
	return request, e
}

// ask makes a request and sends it.
func (x *exchange) ask(ctx context.Context, of func(n int) schemas.Task) (schemas.ExecutionRequest, schemas.Event, error) {
	request, e := x.request(of)
	err := x.send(ctx, &e, &request)
	return request, e, err
}

// send publishes an event, with a request as its data unless that is nil.
func (x *exchange) send(ctx context.Context, e *schemas.Event, request *schemas.ExecutionRequest) (err error) {
	if request != nil {
		if e.Data, err = schemas.Marshal(*request); err != nil {
			return err
		}
	}
	m, err := binding.Encode(bus.RequestSubject(x.Agent), e)
	if err != nil {
		return err
	}
	return x.sendRaw(ctx, m)
}

func (x *exchange) sendRaw(ctx context.Context, m bus.Message) error {
	m.Subject = bus.RequestSubject(x.Agent)
	_, err := bus.Append(ctx, x.Core, m, bus.Expect{})
	return err
}

// A spoken message is a response with the event that carried it.
type spoken struct {
	schemas.ExecutionResponse
	event schemas.Event
}

// answers reads what is answered to requests that name the shard.
func (x *exchange) answers(ctx context.Context) (bus.Reader, error) {
	return x.Core.Read(ctx, bus.ShardStream(shard), x.from, bus.ResponseSubject(x.Agent, shard))
}

// strayAnswers reads what is answered to requests that name none.
func (x *exchange) strayAnswers(ctx context.Context) (bus.Reader, error) {
	return x.Core.Read(ctx, bus.WorkStream, x.fromWork, bus.ServiceSubject(x.Agent, string(bus.KindResponse)))
}

// errSilent reports that nothing was said in time.
var errSilent = errors.New("nothing was said")

// next waits for the next message of a reader, or for the end of the process.
func (x *exchange) next(ctx context.Context, r bus.Reader, limit time.Duration) (bus.Message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	if x.Program == nil {
		return bus.Next(ctx, r)
	}
	ctx, gone := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-x.Program.Process.Ended():
			gone(errEnded)
		case <-ctx.Done():
		}
	})
	defer watching.Wait()
	defer gone(nil)
	return bus.Next(ctx, r)
}

// errEnded reports an agent whose process is gone.
var errEnded = errors.New("its process has ended")

// hear waits for the next response.
func (x *exchange) hear(ctx context.Context, r bus.Reader) (spoken, error) {
	s, err := x.nextAnswer(ctx, r, x.patience())
	if errors.Is(err, errSilent) {
		err = fmt.Errorf("no answer came within %s", x.patience())
	}
	return s, err
}

// nextAnswer waits for the next answer to a request of the exchange. Programs may say more
// of earlier ones: an acknowledgement that was lost has its request come again.
func (x *exchange) nextAnswer(ctx context.Context, r bus.Reader, limit time.Duration) (spoken, error) {
	for end := time.Now().Add(limit); ; {
		m, err := x.next(ctx, r, time.Until(end))
		if err != nil {
			return spoken{}, err
		}
		if s, err := x.understand(ctx, m); err != nil || x.Program == nil || x.own[s.InReplyTo] {
			return s, err
		}
	}
}

func (x *exchange) patience() time.Duration {
	if x.Program == nil {
		return handlerPatience
	}
	return cmp.Or(x.Program.Patience, patience)
}

// understand checks what holds for every response.
func (x *exchange) understand(ctx context.Context, m bus.Message) (spoken, error) {
	e, err := binding.Decode(m)
	if err != nil {
		return spoken{}, fmt.Errorf("its answer cannot be read: %w", err)
	}
	if body := e.Artifact; body != nil {
		grants, err := artifact.OpenGrants(ctx, x.Core, time.Now())
		if err != nil {
			return spoken{}, err
		}
		if !grants.HasPut(body.Grant, x.Agent, body.SHA256) {
			return spoken{}, errors.New("its answer refers to a body in the store without the grant that it got for that")
		}
	}
	if err := artifact.Resolve(ctx, x.Core.Artifacts(), &e); err != nil {
		return spoken{}, err
	}
	if err := schemas.Validate(schemas.EnvelopeTypeExecutionResponse, e.Data); err != nil {
		return spoken{}, fmt.Errorf("its answer breaks the schema execution_response: %w", err)
	}
	s := spoken{event: e}
	if err := schemas.Unmarshal(e.Data, &s.ExecutionResponse); err != nil {
		return spoken{}, err
	}
	switch {
	case !x.made[s.InReplyTo]:
		err = errors.New("its answer names a request in in_reply_to that was never made")
	case s.From != x.Agent:
		err = fmt.Errorf("its answer is from %q, and the agent is %q", s.From, x.Agent)
	case s.MessageID != e.ID, s.InReplyTo != e.CausationID, e.Source != binding.SourceOf(x.Agent), e.Time.IsZero():
		err = errors.New("the headers of its answer say something else than its body")
	}
	return s, err
}

// settle sends one more request and listens until it and all awaited requests are answered and then nothing comes for
// quiet. It returns all other responses, also when an awaited request got none in time.
func (x *exchange) settle(ctx context.Context, awaited ...string) ([]spoken, error) {
	r, err := x.answers(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	last, _, err := x.ask(ctx, x.Task)
	if err != nil {
		return nil, err
	}
	var others []spoken
	answered := make(map[string]bool)
	isUnanswered := func(request string) bool { return !answered[request] }
	end := time.Now().Add(x.patience()) // however much else is said meanwhile
	for {
		limit := time.Until(end)
		if answered[last.MessageID] && !slices.ContainsFunc(awaited, isUnanswered) {
			limit = quiet
		}
		s, err := x.nextAnswer(ctx, r, limit)
		switch {
		case answered[last.MessageID] && errors.Is(err, errSilent):
			return others, x.progressIsValid(ctx)
		case errors.Is(err, errSilent):
			return nil, fmt.Errorf("no answer came within %s", x.patience())
		case err != nil:
			return nil, err
		}
		answered[s.InReplyTo] = true
		if s.InReplyTo != last.MessageID {
			others = append(others, s)
		}
	}
}

// progressIsValid reads all progress of the exchange.
func (x *exchange) progressIsValid(ctx context.Context) error {
	percentage := make(map[string]int)
	for m, err := range x.Core.Scan(ctx, bus.ShardStream(shard), x.from, bus.ProgressSubject(x.Agent, shard)) {
		if err != nil {
			return err
		}
		update, err := readProgress(m)
		if err != nil {
			return err
		}
		if update.Payload.ProgressPercentage < percentage[update.InReplyTo] {
			return fmt.Errorf("its progress fell to %d%%", update.Payload.ProgressPercentage)
		}
		percentage[update.InReplyTo] = update.Payload.ProgressPercentage
	}
	return nil
}

func readProgress(m bus.Message) (update schemas.ProgressUpdate, err error) {
	e, err := binding.Decode(m)
	if err != nil {
		return update, fmt.Errorf("its progress cannot be read: %w", err)
	}
	if err := schemas.Validate(schemas.EnvelopeTypeProgressUpdate, e.Data); err != nil {
		return update, fmt.Errorf("its progress breaks the schema progress_update: %w", err)
	}
	return update, schemas.Unmarshal(e.Data, &update)
}

// free waits until no request is handed out any more; false when that is not within the limit.
func (x *exchange) free(ctx context.Context, limit time.Duration) (bool, error) {
	return x.awaits(ctx, limit, func(state bus.PoolState) bool { return state.Working == 0 })
}

func (x *exchange) awaits(ctx context.Context, limit time.Duration, holds func(bus.PoolState) bool) (bool, error) {
	const look = 50 * time.Millisecond
	for end := time.Now().Add(limit); ; {
		state, err := x.Core.PoolState(ctx, x.Agent)
		if err != nil || holds(state) {
			return err == nil, err
		}
		if time.Now().After(end) {
			return false, nil
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
