package conformance

import (
	"context"
	"errors"
	"fmt"

	"podium/schemas"
)

func asksForPermit(ctx context.Context, x *exchange) error {
	if !x.Program.External {
		return &NotChecked{"it has no side effects outside, as far as it or podium.yaml says"}
	}
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, _, err := x.ask(ctx, x.Task)
	if err != nil {
		return err
	}
	if err := x.hearAbout(ctx, r, request); err != nil {
		return err
	}
	if x.questionsFor(request.MessageID) == 0 {
		return errors.New("it has side effects outside, and has answered without asking for a permit")
	}
	return nil
}

func obeysRefusal(ctx context.Context, x *exchange) error {
	if !x.Program.External {
		return &NotChecked{"it has no side effects outside, as far as it or podium.yaml says"}
	}
	x.mu.Lock()
	x.refuse = schemas.PermitCancelled
	x.mu.Unlock()
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, _, err := x.ask(ctx, x.Task)
	if err != nil {
		return err
	}
	s, err := x.nextAnswer(ctx, r, acknowledgeWithin)
	if err == nil {
		switch {
		case x.questionsFor(request.MessageID) == 0:
			return &NotChecked{"it asks for no permit: see asks-for-a-permit"}
		case s.Payload.Status != schemas.StatusFailed:
			return fmt.Errorf("its permit was refused, and its answer is %s", s.Payload.Status)
		}
	}
	if err != nil && !errors.Is(err, errSilent) {
		return err
	}
	if x.questionsFor(request.MessageID) == 0 {
		return errors.New("it neither asks for a permit nor answers")
	}
	free, err := x.free(ctx, acknowledgeWithin)
	if err == nil && !free {
		return errors.New("its permit was refused because nobody waits any more, and it does not acknowledge the request")
	}
	return err
}
