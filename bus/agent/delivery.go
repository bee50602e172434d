package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jellydator/ttlcache/v3"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// handleRequest is the life of one delivery.
func (s *server) handleRequest(ctx context.Context, d bus.Delivery) {
	ctx, held := s.keepLease(ctx, d)
	defer held.end()
	e, err := binding.Decode(d.Message())
	if err != nil {
		s.refuse(ctx, d, e, nil, err)
		return
	}
	request, err := s.open(ctx, &e)
	if err != nil {
		s.refuse(ctx, d, e, request, err)
		return
	}
	log := s.log.With().Str("request", e.ID).Str("run", e.CorrelationID).Int("attempt", request.Attempt).Logger()
	worked, cancel := withExpiry(ctx, request.Expires)
	defer cancel(nil)
	known, repeat, running := s.begin(e.ID, cancel)
	switch {
	case running:
		s.giveBack(ctx, d, log, "the request is under way here already")
		return
	case repeat && known.elsewhere:
		s.end(e.ID, nil)
		log.Info().Msg("a repeated request is worked on elsewhere")
		s.acknowledge(ctx, d, log)
		return
	case repeat:
		log.Info().Msg("a repeated request gets the same response")
	case expired(request.Expires):
		s.end(e.ID, nil)
		log.Info().Msg("an expired request is not worked on")
		s.acknowledge(ctx, d, log)
		return
	default:
		response, err := s.work(worked, held, &e, request, log)
		if err != nil {
			s.end(e.ID, nil)
			s.giveBack(ctx, d, log, err.Error())
			return
		}
		known = response
	}
	if known.elsewhere {
		s.end(e.ID, &known)
		s.acknowledge(ctx, d, log)
		return
	}
	published := s.publish(ctx, &known, &e, request, log)
	if known.refused {
		s.end(e.ID, nil)
	} else {
		s.end(e.ID, &known)
	}
	if published != nil {
		s.giveBack(ctx, d, log, "the response could not be published")
		return
	}
	s.acknowledge(ctx, d, log)
}

// expired reports whether a moment is over; the zero moment never is.
func expired(expires time.Time) bool { return !expires.IsZero() && !time.Now().Before(expires) }

// withExpiry ends a context at a moment; the zero moment is never.
func withExpiry(ctx context.Context, expires time.Time) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if expires.IsZero() {
		return ctx, cancel
	}
	ctx, stop := context.WithDeadlineCause(ctx, expires, errExpired)
	return ctx, func(cause error) {
		cancel(cause)
		stop()
	}
}

// begin claims a request for this delivery, unless it is known or claimed.
func (s *server) begin(request string, cancel context.CancelCauseFunc) (known outgoingResponse, repeat, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, running = s.running[request]; running {
		return outgoingResponse{}, false, true
	}
	s.running[request] = cancel
	if answer := s.answered.Get(request); answer != nil {
		return answer.Value(), true, false
	}
	return outgoingResponse{}, false, false
}

// end gives up the claim and remembers the answer, if there is one.
func (s *server) end(request string, given *outgoingResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, request)
	if given != nil {
		s.answered.Set(request, *given, ttlcache.NoTTL)
	}
}

// open reads the request that an event carries, and fetches its body if need be. A
// *MalformedError means that no other try can help; request is then set as far as it is
// needed to answer.
func (s *server) open(ctx context.Context, e *schemas.Event) (*Request, error) {
	if e.Type != schemas.TypeExecutionRequest {
		return answerable(&Request{event: e}, e), &bus.MalformedError{Detail: "its type is not " + schemas.TypeExecutionRequest}
	}
	artifacts := s.worker.Artifacts(e.ID)
	switch err := artifact.Resolve(ctx, artifacts, e); {
	case errors.Is(err, bus.ErrNotGranted) && expired(e.Expires):
		return nil, errExpired // its grant has, too
	case errors.Is(err, bus.ErrNotFound), errors.Is(err, bus.ErrTooLarge), errors.Is(err, bus.ErrCorrupt), errors.Is(err, bus.ErrNotGranted):
		return nil, &bus.MalformedError{Detail: err.Error()}
	case err != nil:
		return nil, err
	}
	var err error
	request := &Request{event: e, Attempt: max(e.Attempt, 1), EffectID: e.EffectID, Expires: e.Expires, Run: e.CorrelationID, Artifacts: artifacts}
	if request.ExecutionRequest, err = schemas.DecodeExecutionRequest(e.Data); err != nil {
		return answerable(request, e), &bus.MalformedError{Detail: err.Error()}
	}
	if request.MessageID != e.ID {
		return nil, &bus.MalformedError{Detail: "its id is not its message_id"}
	}
	if request.EffectID == "" {
		request.EffectID = schemas.EffectID(request.Payload.PlanID, request.Task().TaskID)
	}
	return request, nil
}

// answerable fills in as much of a request that breaks its schema as an answer
// needs, or returns nil. Of nothing else it matters what it is.
func answerable(request *Request, e *schemas.Event) *Request {
	var lax struct {
		MessageID string `json:"message_id"`
		From      string `json:"from"`
		Payload   struct {
			PlanID string `json:"plan_id"`
		} `json:"payload"`
	}
	if schemas.Unmarshal(e.Data, &lax) != nil || lax.MessageID != e.ID || uuid.Validate(e.ID) != nil {
		return nil
	}
	for _, required := range [...]string{lax.From, lax.Payload.PlanID} {
		if required == "" || len(required) > 256 {
			return nil
		}
	}
	request.MessageID, request.From, request.Payload = lax.MessageID, lax.From, schemas.RequestPayload{PlanID: lax.Payload.PlanID}
	return request
}

// refuse ends a request that cannot be read: by a failed response if it says
// enough to be answered, else by an ack, once it is in quarantine. It comes again when
// reading it failed for another reason.
func (s *server) refuse(ctx context.Context, d bus.Delivery, e schemas.Event, request *Request, err error) {
	log := s.log.With().Uint64("sequence", d.Message().Sequence).Logger()
	if errors.Is(err, errExpired) {
		log.Info().Msg("an expired request is not read")
		s.acknowledge(ctx, d, log)
		return
	}
	var malformed *bus.MalformedError
	if !errors.As(err, &malformed) {
		log.Warn().Err(err).Msg("a request cannot be read now")
		s.giveBack(ctx, d, log, "its body is out of reach")
		return
	}
	log.Error().Str("detail", malformed.Detail).Uint64("malformed_total", s.malformed.Add(1)).Msg("a malformed request is refused")
	switch {
	case request != nil:
		s.decline(ctx, d, &e, request, &Failure{Message: "The request is not valid: " + malformed.Detail, Permanent: true}, log)
		return
	case s.quarantine != nil:
		if err := s.quarantine(ctx, d.Message(), malformed.Detail); err != nil {
			log.Warn().Err(err).Msg("a malformed request is not isolated yet")
			s.giveBack(ctx, d, log, "it could not be isolated")
			return
		}
	}
	s.acknowledge(ctx, d, log)
}

// decline ends a request that is not worked on by a failed response.
func (s *server) decline(ctx context.Context, d bus.Delivery, e *schemas.Event, request *Request, failure *Failure, log zerolog.Logger) {
	failed := s.failed(e, request, time.Now(), nil, failure)
	if s.publish(ctx, &failed, e, request, log) != nil {
		s.giveBack(ctx, d, log, "the response could not be published")
		return
	}
	s.acknowledge(ctx, d, log)
}

// undeclared returns the failure of a request of a kind that the agent does not
// declare, or nil.
func (s *server) undeclared(request *Request) *Failure {
	kind, found := request.Undeclared(s.config.Agent.Kinds...)
	if !found {
		return nil
	}
	declared := make([]string, len(s.config.Agent.Kinds))
	for i, kind := range s.config.Agent.Kinds {
		declared[i] = string(kind)
	}
	err := fmt.Errorf("%w: a request of kind %s comes to an agent that declares %s", bus.ErrUndeclared, kind, strings.Join(declared, ", "))
	return &Failure{
		Message:   fmt.Sprintf("This agent does not answer requests of kind %s. It declares: %s.", kind, strings.Join(declared, ", ")),
		Permanent: true, Err: err,
	}
}

// work has the handler do a request, with progress, unless it is of a kind that the
// agent does not declare. It fails when the right to the request was lost on the way,
// or when the agent is stopping.
func (s *server) work(ctx context.Context, held *lease, e *schemas.Event, request *Request, log zerolog.Logger) (outgoingResponse, error) {
	started := time.Now()
	failure := s.undeclared(request)
	if failure == nil {
		failure = s.argumentFault(request)
	}
	if failure == nil {
		end, allowed := s.config.Crashes.begin(s.worker.Name() + "/" + e.ID)
		if allowed {
			defer end()
		} else {
			failure = crashedFailure()
		}
	}
	if failure != nil {
		s.logFailure(log, failure, nil)
		return s.failed(e, request, started, nil, failure), nil
	}
	progress := s.startProgress(ctx, e, request, started)
	_, question := request.Undeclared(schemas.KindWork)
	permitted := permit{
		server: s, request: e, question: question, tainted: len(request.Task().Context.Tainted) > 0, first: bus.IsFirstDelivery(e, held.delivery), log: log,
		supersede: func() { held.lose(errLeaseLost) },
	}
	request.permit = permitted.ask
	if count := held.delivery.Deliveries(); permitted.first || count > 1 {
		request.Deliveries = count
	}
	endPartials := s.startPartials(ctx, request)
	outcome, err := s.call(ctx, held, request, progress.report, log)
	endPartials()
	progress.end()
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errLeaseLost):
		return outgoingResponse{}, cause
	case errors.Is(err, ErrElsewhere):
		log.Debug().Dur("took", time.Since(started)).Msg("the work of a request goes on elsewhere")
		return outgoingResponse{elsewhere: true}, s.sayElsewhere(ctx, e, progress)
	case errors.Is(err, bus.ErrUnapproved):
		given := s.respond(e, request, started, new(permitted.proposed(&outcome)), permitted.acted())
		given.refused = true
		log.Info().Msg("a request is answered as blocked")
		return given, nil
	case err != nil:
		err = permitted.doubt(err)
	}
	given, err := s.responseOf(e, request, started, &outcome, err, permitted.acted())
	switch {
	case errors.Is(cause, errDrained) && err != nil:
		return outgoingResponse{}, cause
	case err != nil:
		s.logFailure(log, err, cause)
		given.refused = errors.Is(err, bus.ErrNotPermitted)
	default:
		log.Debug().Dur("took", time.Since(started)).Msg("a request is done")
	}
	return given, nil
}

// crashedFailure is that of a request which has ended the process twice. What an earlier process was permitted may have happened.
func crashedFailure() *Failure {
	return &Failure{
		Message: "The agent has broken down twice over this task.", Crashed: true, Unknown: true,
		Err: errors.New("the process has ended twice while it worked on this request; it is not worked on again"),
	}
}

type called struct {
	outcome Outcome
	err     error
}

// call calls the handler in a goroutine of its own, so that neither a panic nor
// runtime.Goexit reaches further. A handler that goes on for an ack-wait after
// its context has ended loses its lease: the request must not wait for it.
func (s *server) call(ctx context.Context, held *lease, request *Request, report Report, log zerolog.Logger) (Outcome, error) {
	done := make(chan called, 1)
	go func() {
		o := called{err: errors.New("the handler ended its goroutine")}
		defer func() { done <- o }()
		defer func() {
			if value := recover(); value != nil {
				o.err = panicked(value, log)
			}
		}()
		o.outcome, o.err = s.handler.Handle(ctx, request, report)
	}()
	select {
	case o := <-done:
		return o.outcome, o.err
	case <-ctx.Done():
	}
	timer := time.AfterFunc(s.config.AckWait, func() {
		log.Error().Msg("the handler goes on although its context has ended")
		held.lose(errLeaseLost)
	})
	defer timer.Stop()
	o := <-done
	return o.outcome, o.err
}

// panicked logs where a handler panicked. The value may hold personal data, so
// only the runtime's own words are logged.
func panicked(value any, log zerolog.Logger) error {
	text := fmt.Sprintf("%T", value)
	var fault runtime.Error
	if err, ok := value.(error); ok && errors.As(err, &fault) {
		text = fault.Error()
	}
	log.Error().Str("panic", text).Bytes("stack", debug.Stack()).Msg("the handler panicked")
	return errors.New("the handler panicked")
}

func (s *server) logFailure(log zerolog.Logger, err, cause error) {
	failureLine(log, err, cause).Msg("a request failed")
}

// failureLine is a line about the error that a failed response stands for, without its message.
func failureLine(log zerolog.Logger, err, cause error) *zerolog.Event {
	told := log.Warn()
	if faultIn(err) != "" { // whoever writes the program reads nothing else
		told = log.Error()
	}
	if failure, ok := errors.AsType[*Failure](err); ok {
		err = failure.Err // the message is for the person and may speak of them
		if failure.Remedy != "" {
			told = told.Str("remedy", failure.Remedy)
		}
	}
	return told.Err(err).AnErr("cause", cause)
}

func (s *server) acknowledge(ctx context.Context, d bus.Delivery, log zerolog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTimeout)
	defer cancel()
	if err := d.Ack(ctx); err != nil {
		log.Warn().Err(err).Msg("a request could not be acknowledged and will come again")
	}
}

// giveBack lets the request be handed out again. Whose lease is lost has nothing
// to give back.
func (s *server) giveBack(ctx context.Context, d bus.Delivery, log zerolog.Logger, reason string) {
	wait := s.config.AckWait / 3
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLeaseLost):
		log.Warn().Str("reason", reason).Msg("a request is left to others")
		return
	case errors.Is(cause, errDrained):
		wait = 0
	}
	log.Warn().Str("reason", reason).Dur("wait", wait).Msg("a request is given back")
	if err := d.Nak(wait); err != nil {
		log.Warn().Err(err).Msg("a request could not be given back and will come again after its ack-wait")
	}
}
