package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
)

func answersOnce(ctx context.Context, x *exchange) error {
	request, e, err := x.ask(ctx, x.Task)
	if err != nil {
		return err
	}
	said, err := x.settle(ctx, request.MessageID)
	if err != nil {
		return err
	}
	if len(said) != 1 {
		return fmt.Errorf("there are %d responses to one request", len(said))
	}
	got := said[0]
	switch a := got.event; {
	case got.InReplyTo != request.MessageID, got.To != request.From:
		return fmt.Errorf("its answer is to %q in reply to %q, and the request is from %q with the message_id %q", got.To, got.InReplyTo, request.From, request.MessageID)
	case got.Payload.PlanID != request.Payload.PlanID:
		return fmt.Errorf("the plan_id of its answer is %q, and that of the request %q", got.Payload.PlanID, request.Payload.PlanID)
	case x.Program == nil && (a.Subject != e.Subject || a.CorrelationID != e.CorrelationID || a.Attempt != e.Attempt || a.EffectID != e.EffectID):
		return fmt.Errorf("the attributes of its answer are %+v", a)
	}
	if err := x.completed(got); err != nil {
		return err
	}
	if x.Program == nil || x.Program.Output == nil {
		return nil
	}
	data := []byte("null")
	if result := got.Payload.Result; result != nil && len(result.Data) > 0 {
		data = result.Data
	}
	if err := x.Program.Output.Validate(data); err != nil {
		return fmt.Errorf("the data of its answer breaks its own output_schema: %w", err)
	}
	return nil
}

// completed returns what a response is that does not complete a task of Stage.Task.
func (x *exchange) completed(s spoken) error {
	if s.Payload.Status == schemas.StatusCompleted {
		return nil
	}
	says := []string{"its answer is " + string(s.Payload.Status)}
	for _, issue := range s.Payload.IssuesEncountered {
		says = append(says, issue.Description)
	}
	if x.Program != nil {
		says = append(says, "it was asked what it may not be able to do, see --words and --arguments")
	}
	return errors.New(strings.Join(says, ": "))
}

func answersMany(ctx context.Context, x *exchange) error {
	count := 20
	if x.Program != nil {
		count = min(2*x.Program.Concurrency+1, 5) // it may be costly
	}
	for range count {
		if _, _, err := x.ask(ctx, x.Task); err != nil {
			return err
		}
	}
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	answered := map[string]bool{}
	for range count {
		s, err := x.hear(ctx, r)
		if err != nil {
			return fmt.Errorf("of %d requests %d are answered: %w", count, len(answered), err)
		}
		if answered[s.InReplyTo] {
			return fmt.Errorf("one of %d requests is answered twice, while others wait", count)
		}
		answered[s.InReplyTo] = true
	}
	said, err := x.settle(ctx)
	if err == nil && len(said) != count {
		return fmt.Errorf("there are %d responses to %d requests", len(said), count)
	}
	return err
}

// acknowledgeWithin bounds the wait for an acknowledgement whose time has come.
const acknowledgeWithin = 3 * time.Second

func acknowledges(ctx context.Context, x *exchange) error {
	if err := x.answered(ctx); err != nil {
		return err
	}
	free, err := x.free(ctx, acknowledgeWithin)
	if err == nil && !free {
		return fmt.Errorf("its answer is stored, and %s later the request is not acknowledged: it will be handed out again", acknowledgeWithin)
	}
	return err
}

// answered has one request completed.
func (x *exchange) answered(ctx context.Context) error {
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, _, err := x.ask(ctx, x.Task)
	if err != nil {
		return err
	}
	return x.hearAbout(ctx, r, request)
}

// hearAbout waits for a request to be completed.
func (x *exchange) hearAbout(ctx context.Context, r bus.Reader, request schemas.ExecutionRequest) error {
	got, err := x.hear(ctx, r)
	if err != nil {
		return err
	}
	if got.InReplyTo != request.MessageID {
		return errors.New("another request is answered than that which was made")
	}
	return x.completed(got)
}

func repeatsItsAnswer(ctx context.Context, x *exchange) error {
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, e := x.request(x.Task)
	var said [2]spoken
	for i := range said {
		if err := x.send(ctx, &e, &request); err != nil {
			return err
		}
		if said[i], err = x.hear(ctx, r); err != nil {
			return fmt.Errorf("the request was made %d times: %w", i+1, err)
		}
	}
	if said[0].MessageID != said[1].MessageID {
		return errors.New("a request that came again is answered under another message_id, so that its answer counts twice")
	}
	// What agent.Serve has answered it remembers; of others who know nothing of it the id is enough.
	if x.Program == nil && string(said[0].event.Data) != string(said[1].event.Data) {
		return fmt.Errorf("a repeat got another response:\n%s\n%s", said[0].event.Data, said[1].event.Data)
	}
	return nil
}

func repeatsWhatWasRefused(ctx context.Context, x *exchange) error {
	refused := x.Program.Process.RefuseNext()
	if err := x.answered(ctx); err != nil {
		if refused() {
			return fmt.Errorf("its answer was refused for now, and then %w", err)
		}
		return err
	}
	return nil
}
