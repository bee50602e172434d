package bus

import "context"

type precedenceKey struct{}

// WithPrecedence says that what is opened with the context belongs to an owner of
// a shard or to somebody else on whom all work depends. A ledger bounds how many
// readers a stream has: those with precedence wait for no turn and find room when
// everybody else does not (ErrTooManyReaders).
func WithPrecedence(ctx context.Context) context.Context {
	return context.WithValue(ctx, precedenceKey{}, true)
}

// HasPrecedence reports whether WithPrecedence made the context, or one that it derives from.
func HasPrecedence(ctx context.Context) bool { return ctx.Value(precedenceKey{}) != nil }
