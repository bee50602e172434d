package http

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"

	"podium/bus/agent"
)

// Check reports whether the endpoint answers: whatever it says to HEAD, which changes nothing, unless a
// proxy in front of it says that it is away. Its errors do not name the URL. Where no call may lead, each answer says so.
func (a *Agent) Check(ctx context.Context) error {
	asked, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodHead, a.config.URL, nethttp.NoBody)
	if err != nil {
		return errors.New("the endpoint's address is not a URL")
	}
	asked.Header.Set("User-Agent", "podium")
	reply, err := a.config.Client.Do(asked) //nolint:gosec // the client decides where it goes
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		err = fmt.Errorf("the endpoint does not answer: %w", err)
		if a.config.Barred != nil && a.config.Barred(err) {
			return agent.StillAnswers(err)
		}
		return err
	}
	_ = reply.Body.Close()
	switch reply.StatusCode {
	case nethttp.StatusBadGateway, nethttp.StatusServiceUnavailable, nethttp.StatusGatewayTimeout:
		return &statusError{status: reply.StatusCode}
	}
	return nil
}
