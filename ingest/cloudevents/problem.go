package cloudevents

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"podium/ingest/problem"
)

// A Problem is a problem document (RFC 9457) about events. Detail says what to do next.
type Problem struct {
	problem.Document
	Errors   []Fault    `json:"errors,omitzero"`   // the events that were not taken, and why
	Accepted []Accepted `json:"accepted,omitzero"` // the events of the batch that were taken
}

// A Fault says what is wrong with an event. It repeats no value of it.
type Fault struct {
	Event     int    `json:"event"`              // its index in the batch; 0 is first
	Attribute string `json:"attribute,omitzero"` // the attribute, or "data"
	Pointer   string `json:"pointer,omitzero"`   // into the data: a JSON Pointer as a URI fragment (RFC 6901, section 6)
	Detail    string `json:"detail"`

	format bool // its data is of a type that cannot be read
}

func problemUnauthentic() *problem.Document {
	return problem.New(http.StatusUnauthorized, "unauthentic", "The sender is not known",
		"Send the source's token as \"Authorization: Bearer …\", or sign the body by Standard Webhooks 1.0 with the source's secret "+
			"and a clock that is right within five minutes. A source that does not exist is answered alike.")
}

func problemUnsigned() *problem.Document {
	return problem.New(http.StatusUnauthorized, "unsigned-attributes", "The signature does not cover the event's attributes",
		"Send the event in structured mode (\"Content-Type: application/cloudevents+json\"), or send the source's token: "+
			"in binary mode the attributes are headers, which no signature covers.")
}

func problemQueryToken() *problem.Document {
	return problem.New(http.StatusBadRequest, "query-token", "A token does not belong in a URL",
		"Send it as \"Authorization: Bearer …\", and replace it: every proxy on the way may have logged it.")
}

func problemFormat() *problem.Document {
	return problem.UnreadFormat("Send application/cloudevents+json, application/cloudevents-batch+json, or the data itself with the attributes as ce- headers; in UTF-8 and uncompressed.")
}

func problemTooLarge() *problem.Document {
	return problem.New(http.StatusRequestEntityTooLarge, "too-large", "The body is too large",
		"Send at most "+strconv.Itoa(MaxBody)+" bytes, and of events that are too many for one request several batches.")
}

func problemTooMany() *problem.Document {
	return problem.New(http.StatusRequestEntityTooLarge, "too-many", "The batch has too many events",
		"Nothing was taken. Send batches of at most "+strconv.Itoa(MaxBatch)+" events.")
}

func problemBusy() *problem.Document {
	return problem.New(http.StatusTooManyRequests, "busy", "Too many requests are being worked on",
		"Nothing was taken. Send it again.").After(problem.RetryUnavailable)
}

func problemRate(wait time.Duration) *problem.Document {
	return problem.New(http.StatusTooManyRequests, "rate", "The source sends more than it may",
		"Nothing was taken. Send it again after the time that Retry-After says, and fewer in a minute.").After(wait)
}

func problemFull() *problem.Document {
	return problem.LedgerFull(http.StatusTooManyRequests, "Send it again later: an event that was taken changes nothing when it comes again.")
}

func problemUnavailable() *problem.Document {
	return problem.LedgerUnavailable("Send it again: should an event have been stored after all, its repeat changes nothing.")
}

// problemEvents tells which events were not taken, and which were.
func problemEvents(batch bool, accepted []Accepted, faults []Fault) *Problem {
	status, name := http.StatusBadRequest, "invalid-event"
	if !slices.ContainsFunc(faults, func(fault Fault) bool { return !fault.format }) {
		status, name = http.StatusUnsupportedMediaType, "format"
	}
	made := &Problem{
		Document: *problem.New(status, name, "The event cannot be taken", "Correct what is named under errors and send it again."),
		Errors:   faults,
	}
	if batch {
		made.Title = "Not every event of the batch can be taken"
		made.Detail = "Those under accepted are taken. Correct what is named under errors and send it again, alone or with the whole batch: " +
			"an event that was taken changes nothing when it comes again."
	}
	if len(accepted) > 0 {
		made.Accepted = accepted
	}
	return made
}

func problemNoPage() *problem.Document {
	return problem.NoPage("Send events to /v1/events/{source}.")
}
