package bus

import "context"

// Append publishes one message and waits for the outcome. When ctx ends first
// the error is temporary and wraps ctx's: the message may be in the stream or not.
func Append(ctx context.Context, ledger Ledger, message Message, expect Expect) (Ack, error) {
	return begin(ledger, message, expect).wait(ctx)
}

// An appending is a message on its way into a stream.
type appending struct {
	subject string
	done    chan appended
}

type appended struct {
	ack Ack
	err error
}

func begin(ledger Ledger, message Message, expect Expect) appending {
	a := appending{subject: message.Subject, done: make(chan appended, 1)}
	ledger.Publish(message, expect, func(ack Ack, err error) { a.done <- appended{ack, err} })
	return a
}

// wait is as Append says. It is called once.
func (a appending) wait(ctx context.Context) (Ack, error) {
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
