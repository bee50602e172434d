package llm

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"strings"

	"podium/bus/agent"
)

// Check reports whether the server answers the question which models it has, and lets the caller in. Which models it
// lists is no sign: many know a model by more names than they list. Its errors name neither URL nor key. Where no call may lead,
// or no key lets in, each answer says so.
func (a *Agent) Check(ctx context.Context) error {
	asked, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodGet, strings.TrimSuffix(a.config.BaseURL, "/")+"/models", nethttp.NoBody)
	if err != nil {
		return errors.New("the address of the model's server is not a URL")
	}
	if a.config.Key != "" {
		asked.Header.Set("Authorization", "Bearer "+a.config.Key)
	}
	reply, err := a.config.Client.Do(asked) //nolint:gosec // the client decides where it goes
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		err = fmt.Errorf("the server of the model does not answer: %w", err)
		if a.config.Reason != nil && a.config.Reason(err) == ReasonBarred {
			return agent.StillAnswers(err)
		}
		return err
	}
	_ = reply.Body.Close()
	status := &statusError{status: reply.StatusCode}
	switch {
	case status.refusesKey():
		return agent.StillAnswers(fmt.Errorf("%w: it does not take the key", status))
	case status.status == nethttp.StatusBadGateway, status.status == nethttp.StatusGatewayTimeout:
		return status
	}
	return nil // a server without this question answers others
}
