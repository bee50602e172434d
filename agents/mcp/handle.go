package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/validation"
)

// effectMeta is the member of _meta by which a server that looks for it knows the repeats of one piece of work.
const effectMeta = "podium/effect"

var errTimeout = errors.New("the tool took too long")

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	arguments, err := a.arguments(language, request)
	if err != nil {
		return agent.Outcome{}, err
	}
	live, err := a.ready(ctx, false)
	if err != nil {
		return agent.Outcome{}, a.unready(ctx, language, err)
	}
	if a.acts() {
		if err := request.PermitFor(ctx, schemas.Action{Summary: a.config.Tool, Data: arguments}); err != nil {
			return agent.Outcome{}, err
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, a.config.Timeout, errTimeout)
	defer cancel()
	called := a.calls.begin(live, request, report)
	result, err := live.call(called.in(limited), &sdk.CallToolParams{
		Meta: sdk.Meta{effectMeta: request.EffectID, "progressToken": called.token}, Name: a.config.Tool, Arguments: arguments,
	})
	called.end()
	if err == nil && !result.IsError {
		return a.outcome(ctx, language, request, result)
	}
	if asked := called.asked(); asked != nil && ctx.Err() == nil {
		return a.blocked(asked), nil
	}
	if err != nil {
		return agent.Outcome{}, a.failure(ctx, limited, language, called, err)
	}
	return agent.Outcome{}, a.refused(language, result)
}

// arguments are what the tool is called with: those of the task, or none.
func (a *Agent) arguments(language string, request *agent.Request) (jsontext.Value, error) {
	arguments := request.Task().Context.Arguments
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = jsontext.Value("{}")
	}
	if a.input == nil {
		return arguments, nil
	}
	if err := a.input.Validate(arguments); err != nil {
		fault := err.Error()
		if broken, is := errors.AsType[*validation.Error](err); is {
			fault = strings.TrimSpace(broken.Pointer + " " + broken.Reason)
		}
		return nil, &agent.Failure{
			Message: a.words.Say(language, "arguments", "{fault}", fault), Permanent: true, Category: schemas.CategoryValidation,
			Err: errors.New("the arguments break the tool's input schema"),
		}
	}
	return arguments, nil
}

// call calls the tool. When ctx ends it returns, although the server does not even read that the call was cancelled.
func (s *session) call(ctx context.Context, params *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	returned, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-returned:
			return
		case <-ctx.Done():
		}
		select {
		case <-returned:
		case <-time.After(stuckAfter):
			s.cut()
		}
	}()
	result, err := s.client.CallTool(ctx, params)
	close(returned)
	<-watched
	return result, err
}

// failure tells what became of a call that gave no result.
func (a *Agent) failure(ctx, limited context.Context, language string, called *call, err error) error {
	if ctx.Err() != nil {
		if a.acts() {
			return &agent.Failure{Unknown: true, Err: fmt.Errorf("the call was stopped: %w", context.Cause(ctx))}
		}
		return fmt.Errorf("the call was stopped: %w", context.Cause(ctx))
	}
	reason, live := called.why(err), called.session
	failure := &agent.Failure{Err: a.hide(wordless(reason)), Unknown: a.acts()}
	refused, isRefusal := errors.AsType[*jsonrpc.Error](reason)
	switch {
	case limited.Err() != nil:
		failure.Message, failure.Err = a.words.Say(language, "timeout", "{timeout}", a.config.Timeout.String()), errTimeout
		live.endUnlessWell(ctx)
	case errors.Is(reason, errTooMuch) || a.config.TooLarge != nil && a.config.TooLarge(reason):
		failure.Message, failure.Permanent = a.words.Say(language, "too_much", "{limit}", strconv.Itoa(a.config.MaxMessage)), true
	case isRefusal:
		failure.Message = a.words.Say(language, "said", "{said}", plain(refused.Message, maxSaid))
		failure.Permanent = refused.Code == jsonrpc.CodeInvalidParams || refused.Code == jsonrpc.CodeMethodNotFound
	case a.config.Barred != nil && a.config.Barred(reason):
		failure.Message, failure.Permanent = a.words.Say(language, "barred"), true
	default:
		failure.Message = a.words.Say(language, "broken")
		live.endUnlessWell(ctx)
	}
	return failure
}

// endUnlessWell ends a session whose server does not answer a ping: whoever calls next gets another one.
func (s *session) endUnlessWell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if s.client.Ping(ctx, nil) != nil {
		s.end()
	}
}

// refused is the failure of a tool that says that it has failed.
func (a *Agent) refused(language string, result *sdk.CallToolResult) error {
	failure := &agent.Failure{Message: a.words.Say(language, "failed"), Unknown: a.acts(), Err: errors.New("the tool says that it has failed")}
	if said := plain(textOf(result), maxSaid); said != "" {
		failure.Message = a.words.Say(language, "said", "{said}", said)
	}
	return failure
}

// unready is the failure of a request for which the tool could not be called.
func (a *Agent) unready(ctx context.Context, language string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the call was stopped: %w", err)
	}
	failure := &agent.Failure{Err: wordless(err)}
	key := "start"
	switch {
	case errors.Is(err, ErrUnpinned):
		key, failure.Permanent = "unpinned", true
	case errors.Is(err, ErrDrifted):
		key, failure.Permanent = "drifted", true
	case errors.Is(err, ErrNoTool):
		key, failure.Permanent = "no_tool", true
	case a.config.Barred != nil && a.config.Barred(err):
		key, failure.Permanent = "barred", true
	}
	failure.Message = a.words.Say(language, key, "{tool}", a.config.Tool, "{agent}", a.config.Agent)
	if key != "barred" && key != "start" {
		failure.Remedy = fmt.Sprintf("%v: look at it with `podium agent pin %s`, which pins it anew, and start again", err, a.config.Agent)
	}
	return failure
}
