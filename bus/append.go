package bus

import "context"

// Append publishes one message and waits for the outcome. When ctx ends first
// the error is temporary and wraps ctx's: the message may be in the stream or not.
func Append(ctx context.Context, ledger Ledger, message Message, expect Expect) (Ack, error) {
	return AppendAsync(ledger, message, expect).Wait(ctx)
}

// An Appending is a message on its way into a stream.
type Appending struct {
	subject string
	done    chan appended
}

type appended struct {
	ack Ack
	err error
}

// AppendAsync publishes one message; Wait says what became of it.
func AppendAsync(ledger Ledger, message Message, expect Expect) Appending {
	a := Appending{subject: message.Subject, done: make(chan appended, 1)}
	ledger.Publish(message, expect, func(ack Ack, err error) { a.done <- appended{ack, err} })
	return a
}

// Wait is as Append says. It is called once.
func (a Appending) Wait(ctx context.Context) (Ack, error) {
	select {
	case o := <-a.done:
		return o.ack, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-a.done: // a known outcome outranks an ended context
		return o.ack, o.err
	default:
		return Ack{}, &TemporaryError{Op: "append to " + a.subject, Err: context.Cause(ctx)}
	}
}

// Next waits for the next message of a reader, or for the end of ctx.
func Next(ctx context.Context, reader Reader) (Message, error) {
	for {
		message, ok, err := reader.Next()
		if ok || err != nil {
			return message, err
		}
		select {
		case <-reader.Wake():
		case <-ctx.Done():
			return Message{}, context.Cause(ctx)
		}
	}
}
