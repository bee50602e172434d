package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	"github.com/nats-io/nats.go"

	"podium/bus"
)

// advice says how an account of a server's own comes to what Podium needs.
const advice = "`podium nats accounts` prints the accounts that the server needs"

// refusal tells what nobody but an operator can mend from what another try may
// not meet, which is temporary.
func (e endpoint) refusal(ctx context.Context, err error) error {
	const op = "connect to the ledger"
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	for _, refused := range [...]error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrNkeysNotSupported} {
		if errors.Is(err, refused) {
			return fmt.Errorf("%s: the server does not know the key in %s; %s: %w: %w", op, e.seedFile, advice, bus.ErrDenied, err)
		}
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return fmt.Errorf("%s: this machine does not trust the server's certificate; add its authority to those of the system: %w", op, err)
	}
	if _, invalid := errors.AsType[*url.Error](err); invalid || errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrSecureConnRequired) {
		return fmt.Errorf("%s: %w; correct its URL", op, err)
	}
	return &bus.TemporaryError{Op: op, Err: err}
}

// A denial is an answer of the server to something that the permissions of a user
// do not cover. It comes apart from the request, which has no answer then.
func (e endpoint) denial(err error) error {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	return fmt.Errorf("open the ledger: %w: the user of %s has to be one of the core account, without permissions that narrow it; %s (%w)",
		bus.ErrDenied, e.seedFile, advice, err)
}
