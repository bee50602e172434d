package intake

import (
	"context"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// A ControlReceipt says where a person's word about a run went, and by which id a session tells what became of it.
type ControlReceipt struct {
	ID       string // of the event
	Sequence uint64 // in the shard's stream
}

// SubmitControl publishes what a person says about a run or a quarantined message, and waits until the
// ledger has it. The source is who passes it on, and the subject
// the run that it is about. A word with a text is refused where Submit refuses an
// event; one without makes room. Errors: ErrFull, ErrTooLarge, and temporary errors, after which the word
// may be on the ledger or not.
func (i *Intake) SubmitControl(ctx context.Context, source string, shard int, control *schemas.Control) (ControlReceipt, error) {
	if control.Text != "" {
		if err := i.admit(ctx, shard); err != nil {
			return ControlReceipt{}, err
		}
	}
	body, err := schemas.Marshal(control)
	if err != nil {
		return ControlReceipt{}, err
	}
	event := schemas.Event{
		ID: uuid.NewString(), Source: source, Type: schemas.TypeControl, Time: time.Now(),
		Subject: control.Run, DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	if err = artifact.Offload(ctx, i.core.Artifacts(), &event); err != nil {
		return ControlReceipt{}, err
	}
	message, err := binding.Encode(bus.ControlSubject(shard), &event)
	if err != nil {
		return ControlReceipt{}, err
	}
	ack, err := bus.Append(ctx, i.core, message, bus.Expect{})
	return ControlReceipt{ID: event.ID, Sequence: ack.Sequence}, err
}
