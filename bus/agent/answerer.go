package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/jellydator/ttlcache/v3"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
)

// An Answerer answers requests whose handler has returned ErrElsewhere: with the very response that Serve would
// have given, by the same id, so that a repeat of it is known as one. It is safe for use by several goroutines at once.
type Answerer struct {
	server   *server
	maxFiles int64
}

// NewAnswerer returns the Answerer of an agent, for the same configuration that Serve has. Files in answers may have
// maxFiles bytes together. It fails on what is no JSON Schema.
func NewAnswerer(worker bus.Worker, config ServeConfig, maxFiles int64) (*Answerer, error) {
	s := newServer(worker, config)
	return &Answerer{server: s, maxFiles: maxFiles}, s.compileSchemas()
}

// Answer publishes the response that a body of a media type is to a request (see ReadBody), and returns once it is stored.
// Files that stand in its deliverables are kept before that. The same answer may be given again, also after an error.
//
// Errors: ErrUnreadable, when what was said is no answer; bus.ErrTooLarge, when it holds too much; else those
// of the bus, which says by bus.ErrFull that it takes no more.
func (a *Answerer) Answer(ctx context.Context, ticket *Ticket, said []byte, mediaType string) error {
	s := a.server
	e, request := ticket.open()
	request.Artifacts = s.worker.Artifacts(e.ID)
	log := s.log.With().Str("request", e.ID).Str("run", e.CorrelationID).Int("attempt", request.Attempt).Logger()
	said, err := decodeBody(said, mediaType)
	if err != nil {
		return err
	}
	if isCall(said) {
		return unreadable("the body is that of a call")
	}
	outcome, err := readDecoded(said, mediaType, request)
	if errors.Is(err, ErrUnreadable) {
		return err
	}
	if err == nil {
		if fault := outcome.check(); fault != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, fault)
		}
	}
	if lost := request.KeepFiles(ctx, &outcome, a.maxFiles); lost != nil {
		return lost
	}
	acted := s.config.Agent.SideEffects == schemas.SideEffectsExternal && request.Task().Context.Kind.IsWork()
	given, err := s.responseOf(e, request, ticket.Started, &outcome, err, acted)
	a.logFailure(log, e.ID, err)
	err = s.publishOnce(ctx, &given)
	if errors.Is(err, bus.ErrTooLarge) {
		given = s.tooLarge(e, request, given.acted)
		err = s.publishOnce(ctx, &given)
	}
	if err == nil {
		s.answered.Set(e.ID, outgoingResponse{}, ttlcache.NoTTL)
	}
	return err
}

// logFailure says that an answer is a failed one. What comes after another answer changes nothing, and warns nobody.
func (a *Answerer) logFailure(log zerolog.Logger, request string, err error) {
	const failed = "an answer by callback is a failed one"
	switch {
	case err == nil:
	case a.server.answered.Has(request):
		log.Info().Msg(failed + "; one before it counts")
	default:
		failureLine(log, err, nil).Msg(failed)
	}
}

// isCall reports whether what was said is a call: its signature is one of the secret that answers are signed with, so that anybody who has
// seen the call could post it as its own answer.
func isCall(said []byte) bool {
	var names struct {
		Type string `json:"type"`
	}
	return schemas.Unmarshal(said, &names) == nil && names.Type == schemas.EnvelopeTypeExecutionRequest
}
