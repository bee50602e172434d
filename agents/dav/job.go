package dav

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// A Job is one request at work.
type Job struct {
	Request  *agent.Request
	Language string // of whoever has asked

	server *Client
	words  sentences.Catalog
}

// Job begins a request, which is answered in these words.
func (c *Client) Job(request *agent.Request, words sentences.Catalog) Job {
	return Job{Request: request, Language: request.Task().Context.Language(), server: c, words: words}
}

// Say is a sentence in the language of the request.
func (j *Job) Say(key string, places ...string) string {
	return j.words.Say(j.Language, key, places...)
}

// Repeated reports whether the request may have been worked on before.
func (j *Job) Repeated() bool { return j.Request.Attempt > 1 || j.Request.Deliveries != 1 }

// A permitError is why there was no permit, which is told as it is.
type permitError struct{ err error }

// Error implements error.
func (p *permitError) Error() string { return p.err.Error() }

func (p *permitError) Unwrap() error { return p.err }

// Permit asks for the permit to act. Stopped knows its error.
func (j *Job) Permit(ctx context.Context) error {
	if err := j.Request.Permit(ctx); err != nil {
		return &permitError{err}
	}
	return nil
}

// Stopped is how a request ends that nobody has refused: without its permit, by its context, or by a call that has failed. A
// write that is left open is told even when nobody waits any more.
func (j *Job) Stopped(ctx context.Context, err error) error {
	if stopped, is := errors.AsType[*permitError](err); is {
		return stopped.err
	}
	if _, wrote := errors.AsType[*WriteError](err); ctx.Err() != nil && !wrote {
		return fmt.Errorf("the request was stopped: %w", context.Cause(ctx))
	}
	return j.server.Failure(j.Language, err)
}

// Ask is the outcome that asks for an argument by its name and schema, in every language that the agent has.
func (j *Job) Ask(name, schema string, question func(language string) string) agent.Outcome {
	asked := map[string]string{}
	for _, language := range slices.Sorted(maps.Keys(j.words)) {
		asked[language] = question(language)
	}
	return agent.Outcome{Status: schemas.StatusBlocked, Needs: []schemas.Need{{
		Name: name, Question: asked, Schema: []byte(schema), From: schemas.NeededFromRequester,
	}}}
}
