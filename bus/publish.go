package bus

import "context"

// Append publishes one message and waits for the outcome. When ctx ends first
// the error is temporary and wraps ctx's: the message may be in the stream or not.
func Append(ctx context.Context, ledger Ledger, message Message, expect Expect) (Ack, error) {
	type outcome struct {
		ack Ack
		err error
	}
	done := make(chan outcome, 1)
	ledger.Publish(message, expect, func(ack Ack, err error) { done <- outcome{ack, err} })
	select {
	case o := <-done:
		return o.ack, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // a known outcome outranks an ended context
		return o.ack, o.err
	default:
		return Ack{}, &TemporaryError{Op: "append to " + message.Subject, Err: context.Cause(ctx)}
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
