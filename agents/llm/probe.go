package llm

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A probe knows whether a server enforces schemas for a model, once that was tried.
type probe struct {
	turn  chan struct{} // one tries, the others wait
	known *bool
}

func newProbe() probe { return probe{turn: make(chan struct{}, 1)} }

// usual is what is known of a server without trying: OpenAI and Azure hold answers to a schema.
func usual(api API, host string) Enforcing {
	if api == APIAzure || host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		return EnforcingAlways
	}
	return EnforcingNever
}

// enforced reports whether the server is asked to hold the answer to the schema.
func (s *asking) enforced(ctx context.Context) (bool, error) {
	switch s.agent.config.Structured {
	case EnforcingAlways:
		return true, nil
	case EnforcingNever, "":
		return false, nil
	case EnforcingProbe:
	}
	probe := &s.agent.probe
	select {
	case probe.turn <- struct{}{}:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	defer func() { <-probe.turn }()
	if probe.known == nil {
		found, err := s.tried(ctx)
		if err != nil {
			return false, err
		}
		probe.known = &found
	}
	return *probe.known, nil
}

// tried asks for one word, by a schema that allows no other word than a secret one: only a server that enforces says it.
// Some servers accept a schema and do not care.
func (s *asking) tried(ctx context.Context) (bool, error) {
	const most = 64
	secret := strings.ToLower(rand.Text()[:8])
	schema := `{"type":"object","properties":{"word":{"type":"string","const":"` + secret + `"}},"required":["word"],"additionalProperties":false}`
	made, err := s.ask(ctx, chat{
		system: "You answer with JSON.", user: `Answer with {"word": "apple"}.`, maxTokens: most,
		format: &format{name: "probe", schema: jsontext.Value(schema), strict: true},
	}, nil)
	if refused, is := errors.AsType[*statusError](err); is && refused.misunderstood() {
		return false, nil // it does not know what is asked of it
	}
	if errors.Is(err, errFiltered) {
		return false, nil
	}
	return strings.Contains(made.text, secret), err
}
