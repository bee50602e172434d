package chat

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"podium/bus/intake"
	"podium/ingest/admission"
	"podium/ingest/problem"
	"podium/schemas"
)

// receive is the one way of a request: raw body, verification, handshake, the
// messages in it, the ledger's acknowledgment, the answer. Nothing of a body is read
// for a channel that does not exist, or from a sender who shows no proof.
func (d *Adapter) receive(w http.ResponseWriter, r *http.Request) {
	e, known := d.meet(w, r)
	name, from := e.name, e.channel
	if !known || !from.provider.Claims(r.Header, d.config.Now()) {
		e.dismiss()
		return
	}
	body, fault := admission.ReadBody(w, r, from.bodyLimit(), d.config.BodyTimeout, problemTooLarge())
	if fault != nil {
		e.refuse(fault)
		return
	}
	if !from.provider.Verify(body, r.Header, d.config.Now()) {
		e.dismiss()
		return
	}
	admission.Known(r)
	if answer := from.provider.Handshake(body, r.Header); answer != nil {
		answer.write(w)
		return
	}
	messages, err := from.provider.Normalize(body, r.Header)
	if told, ok := errors.AsType[problem.Problem](err); ok {
		e.refuse(told)
		return
	}
	if err != nil {
		messages = nil
		err = d.quarantine(r.Context(), e, body, err.Error())
	}
	var results []result
	if err == nil {
		results, err = d.take(r.Context(), e, messages)
	}
	if err != nil {
		from.tally.failed.Add(1)
		d.log.WithLevel(problem.Severity(err)).Err(err).Str("channel", name).Msg("a chat message could not be published")
		problem.Write(w, problem.OfLedger(err, problemFull(), problemTooLarge(), problemUnavailable()))
		return
	}
	admission.Taken(r) // the answer may be awaited
	from.provider.Acknowledge(e, results)
}

// meet begins the answer to a request; known is whether its channel exists.
func (d *Adapter) meet(w http.ResponseWriter, r *http.Request) (e *exchange, known bool) {
	name := r.PathValue("channel")
	from, known := d.channels[name]
	if !known {
		from = d.stranger
	}
	return &exchange{adapter: d, writer: w, request: r, name: name, channel: from, began: time.Now()}, known
}

// recognize answers 204 to whoever shows the token of a channel, and anybody else as
// receive does. It reads no body and takes nothing in.
func (d *Adapter) recognize(w http.ResponseWriter, r *http.Request) {
	e, known := d.meet(w, r)
	if !known || !e.channel.provider.Reads(r.Header) {
		e.dismiss()
		return
	}
	admission.Known(r)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// dismiss answers a sender whom nothing proves.
func (e *exchange) dismiss() {
	admission.Dismiss(e.writer, e.request)
	e.refuse(problemUnauthentic())
}

// refuse tells the sender that nothing was taken.
func (e *exchange) refuse(fault problem.Problem) {
	e.channel.tally.refused.Add(1)
	problem.Write(e.writer, fault)
}

// take brings the messages onto the ledger, one after the other. It fails with
// the first that the ledger does not take: the sender's repeat brings all of them
// again, and those that were taken change nothing.
func (d *Adapter) take(ctx context.Context, e *exchange, messages []Message) ([]result, error) {
	results := make([]result, 0, len(messages))
	for i := range messages {
		message := &messages[i]
		taken := result{message: message}
		switch {
		case message.Fault != nil:
			e.channel.tally.refused.Add(1)
		case message.Ignored != "":
			e.channel.tally.ignored.Add(1)
			d.log.Debug().Str("channel", e.name).Str("reason", message.Ignored).Msg("a chat message is ignored")
		default:
			var err error
			if taken.id, taken.receipt, err = d.submit(ctx, e, message); err != nil {
				return nil, err
			}
		}
		results = append(results, taken)
	}
	return results, nil
}

// submit makes the event of a message and publishes it.
func (d *Adapter) submit(ctx context.Context, e *exchange, message *Message) (id string, receipt intake.Receipt, err error) {
	now := d.config.Now()
	from := envelope{
		channel: e.name, kind: e.channel.kind, profile: e.channel.profile,
		traceParent: e.request.Header.Get("Traceparent"), now: now,
	}
	if message.Route != nil && d.config.Sealer != nil {
		route := *message.Route
		route.Received = now.UTC()
		if from.replyRef, err = d.config.Sealer.Seal(e.name, &route, now.Add(d.config.ReplyWithin)); err != nil {
			return "", receipt, err
		}
	}
	if err = d.keepFiles(ctx, message); err != nil {
		return "", receipt, err
	}
	event, named, err := message.event(from)
	if err != nil {
		return "", receipt, err
	}
	receipt, repeated, err := d.deliver(ctx, &event, named)
	switch {
	case err != nil:
	case repeated:
		e.channel.tally.repeated.Add(1)
	default:
		e.channel.tally.accepted.Add(1)
		d.tell(e, message, receipt)
		if e.channel.progress && from.replyRef != "" {
			d.showProgress(ctx, e, message, receipt, from.replyRef)
		}
	}
	return event.ID, receipt, err
}

// tell says that a message was taken, without saying whose it is to anybody who does not know already.
func (d *Adapter) tell(e *exchange, message *Message, receipt intake.Receipt) {
	said := d.log.Debug().Str("channel", e.name).Str("session", receipt.Session)
	if d.config.Pseudonym != nil && message.User.ID != "" {
		said = said.Str("sender", d.config.Pseudonym(message.User.ID))
	}
	said.Msg("a chat message is taken")
}

// deliver publishes an event, or returns the receipt of an earlier delivery.
func (d *Adapter) deliver(ctx context.Context, event *schemas.Event, named bool) (receipt intake.Receipt, repeated bool, err error) {
	submit := func() (intake.Receipt, error) {
		// The outcome is awaited even if the sender has gone: its repeat wants it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.config.PublishTimeout)
		defer cancel()
		return d.intake.Submit(ctx, adapterName, *event)
	}
	if !named {
		receipt, err = submit()
		return receipt, false, err
	}
	// An id is a repeat only inside one conversation, as in the session's memory.
	return d.receipts.once(ctx, event.PartitionKey+"\x00"+event.ID, submit)
}

// isJSON reports whether a body is plain JSON in UTF-8 by its headers (RFC 8259, section 8.1).
func isJSON(header http.Header) bool {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, coding := parameters["charset"], header.Get("Content-Encoding")
	return err == nil && mediaType == schemas.MediaTypeJSON &&
		(charset == "" || strings.EqualFold(charset, "utf-8")) &&
		(coding == "" || strings.EqualFold(coding, "identity"))
}

// isForm reports whether a body is an HTML form by its headers.
func isForm(header http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && mediaType == "application/x-www-form-urlencoded"
}
