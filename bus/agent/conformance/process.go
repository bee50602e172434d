package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// endWithin bounds the end of a process that was told to: agent.Serve lets requests under way finish for 30 s.
const endWithin = 40 * time.Second

func comesBack(ctx context.Context, x *exchange) error {
	x.Program.Process.Cut()
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, _, err := x.ask(ctx, x.Task); err != nil {
		return err
	}
	_, err = x.nextAnswer(ctx, r, max(patience, x.patience()))
	if errors.Is(err, errSilent) {
		return fmt.Errorf("its connection was cut, and within %s it has not answered the next request", max(patience, x.patience()))
	}
	if err != nil {
		return fmt.Errorf("its connection was cut, and %w", err)
	}
	return nil
}

func losesNothing(ctx context.Context, x *exchange) error {
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if x.Program.Slow != nil {
		if _, err := x.begins(ctx); err != nil {
			return err
		}
	}
	ending, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	switch err := x.Program.Process.End(ending); {
	case errors.Is(err, ErrNotOurs):
		return &NotChecked{"somebody else runs it: have it started by `podium agent check -- COMMAND`"}
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it was told to end (SIGTERM), and %s later it goes on", endWithin)
	case err != nil:
		return err
	}
	if err := x.Program.Process.Start(ctx); err != nil {
		return fmt.Errorf("started again, %w", err)
	}
	if x.Program.Slow == nil {
		return x.answered(ctx)
	}
	if _, err = x.nextAnswer(ctx, r, longest/2); errors.Is(err, errSilent) {
		return errors.New("what it had under way when it was told to end is never answered")
	}
	return err
}

func keepsToItsSubjects(_ context.Context, x *exchange) error {
	if found := x.Program.Process.Violations(); len(found) > 0 {
		slices.Sort(found)
		return errors.New(found[0])
	}
	return nil
}
