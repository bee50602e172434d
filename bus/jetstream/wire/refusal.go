package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	"github.com/nats-io/nats.go"

	"podium/bus"
)

// Advice says how an account of a server's own comes to what Podium needs.
const Advice = "`podium nats accounts` prints the accounts that the server needs"

// refusal tells what nobody but an operator can mend from what another try may
// not meet, which is temporary.
func (e Endpoint) refusal(ctx context.Context, err error) error {
	const op = "connect to the ledger"
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if bus.IsAny(err, nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrNkeysNotSupported) {
		return fmt.Errorf("%s: the server does not know the key in %s; %s: %w: %w", op, e.SeedFile, Advice, bus.ErrDenied, err)
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return fmt.Errorf("%s: this machine does not trust the server's certificate; add its authority to those of the system: %w", op, err)
	}
	if _, invalid := errors.AsType[*url.Error](err); invalid || errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrSecureConnRequired) {
		return fmt.Errorf("%s: %w; correct its URL", op, err)
	}
	return &bus.TemporaryError{Op: op, Err: err}
}

// Denial returns bus.ErrDenied for an answer of the server to something that the
// permissions of a user do not cover, else nil. It comes apart from the request, which has no answer then.
func (e Endpoint) Denial(err error) error {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	return fmt.Errorf("open the ledger: %w: the user of %s has to be one of the core account, without permissions that narrow it; %s (%w)",
		bus.ErrDenied, e.SeedFile, Advice, err)
}
