package http

import (
	"math"
	nethttp "net/http"
	"slices"
	"strconv"
	"time"

	"podium/schemas"
)

// A Problem is a problem document (RFC 9457). Detail says what to do next.
type Problem struct {
	Type     string     `json:"type"` // "urn:podium:problem:…", stable: programs may branch on it
	Title    string     `json:"title"`
	Status   int        `json:"status"`
	Detail   string     `json:"detail"`
	Errors   []Fault    `json:"errors,omitzero"`   // the events that were not taken, and why
	Accepted []Accepted `json:"accepted,omitzero"` // the events of the batch that were taken

	retryAfter time.Duration
}

// A Fault says what is wrong with an event. It repeats no value of it.
type Fault struct {
	Event     int    `json:"event"`              // its index in the batch; 0 is first
	Attribute string `json:"attribute,omitzero"` // the attribute, or "data"
	Pointer   string `json:"pointer,omitzero"`   // into the data: a JSON Pointer as a URI fragment (RFC 6901, section 6)
	Detail    string `json:"detail"`

	format bool // its data is of a type that cannot be read
}

const (
	mediaTypeProblem = "application/problem+json"
	problemPrefix    = "urn:podium:problem:"
)

// The waits that a refusal asks for.
const (
	retryFull        = 30 * time.Second
	retryUnavailable = 2 * time.Second
)

func problem(status int, name, title, detail string) *Problem {
	return &Problem{Type: problemPrefix + name, Title: title, Status: status, Detail: detail}
}

func (p *Problem) after(wait time.Duration) *Problem {
	p.retryAfter = wait
	return p
}

func problemUnauthentic() *Problem {
	return problem(nethttp.StatusUnauthorized, "unauthentic", "The sender is not known",
		"Send the source's token as \"Authorization: Bearer …\", or sign the body by Standard Webhooks 1.0 with the source's secret "+
			"and a clock that is right within five minutes. A source that does not exist is answered alike.")
}

func problemUnsigned() *Problem {
	return problem(nethttp.StatusUnauthorized, "unsigned-attributes", "The signature does not cover the event's attributes",
		"Send the event in structured mode (\"Content-Type: application/cloudevents+json\"), or send the source's token: "+
			"in binary mode the attributes are headers, which no signature covers.")
}

func problemQueryToken() *Problem {
	return problem(nethttp.StatusBadRequest, "query-token", "A token does not belong in a URL",
		"Send it as \"Authorization: Bearer …\", and replace it: every proxy on the way may have logged it.")
}

func problemFormat() *Problem {
	return problem(nethttp.StatusUnsupportedMediaType, "format", "The body is in a format that is not read here",
		"Send application/cloudevents+json, application/cloudevents-batch+json, or the data itself with the attributes as ce- headers; in UTF-8 and uncompressed.")
}

func problemTooLarge() *Problem {
	return problem(nethttp.StatusRequestEntityTooLarge, "too-large", "The body is too large",
		"Send at most "+strconv.Itoa(MaxBody)+" bytes, and of events that are too many for one request several batches.")
}

func problemTooMany() *Problem {
	return problem(nethttp.StatusRequestEntityTooLarge, "too-many", "The batch has too many events",
		"Nothing was taken. Send batches of at most "+strconv.Itoa(MaxBatch)+" events.")
}

func problemIncomplete() *Problem {
	return problem(nethttp.StatusBadRequest, "incomplete", "The body did not arrive whole", "Send it again.")
}

func problemSlow() *Problem {
	return problem(nethttp.StatusRequestTimeout, "slow", "The body took too long to arrive", "Send it again, all at once.")
}

func problemBusy() *Problem {
	return problem(nethttp.StatusTooManyRequests, "busy", "Too many requests are being worked on",
		"Nothing was taken. Send it again.").after(retryUnavailable)
}

func problemRate(wait time.Duration) *Problem {
	return problem(nethttp.StatusTooManyRequests, "rate", "The source sends more than it may",
		"Nothing was taken. Send it again after the time that Retry-After says, and fewer in a minute.").after(wait)
}

func problemFull() *Problem {
	return problem(nethttp.StatusTooManyRequests, "ledger-full", "The ledger takes no more",
		"Send it again later: an event that was taken changes nothing when it comes again.").after(retryFull)
}

func problemUnavailable() *Problem {
	return problem(nethttp.StatusServiceUnavailable, "ledger-unavailable", "The ledger does not answer",
		"Send it again: should an event have been stored after all, its repeat changes nothing.").after(retryUnavailable)
}

// problemEvents tells which events were not taken, and which were.
func problemEvents(batch bool, accepted []Accepted, faults []Fault) *Problem {
	made := problem(nethttp.StatusBadRequest, "invalid-event", "The event cannot be taken",
		"Correct what is named under errors and send it again.")
	if batch {
		made.Title = "Not every event of the batch can be taken"
		made.Detail = "Those under accepted are taken. Correct what is named under errors and send it again, alone or with the whole batch: " +
			"an event that was taken changes nothing when it comes again."
	}
	if !slices.ContainsFunc(faults, func(fault Fault) bool { return !fault.format }) {
		made.Status, made.Type = nethttp.StatusUnsupportedMediaType, problemPrefix+"format"
	}
	made.Errors = faults
	if len(accepted) > 0 {
		made.Accepted = accepted
	}
	return made
}

func problemNoPage() *Problem {
	return problem(nethttp.StatusNotFound, "no-such-page", "There is nothing here", "Send events to /v1/events/{source}.")
}

func problemMethod() *Problem {
	return problem(nethttp.StatusMethodNotAllowed, "method", "The method is not allowed here", "Use POST.")
}

// write sends the problem.
func (p *Problem) write(w nethttp.ResponseWriter) {
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	if p.Status == nethttp.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="podium"`)
	}
	writeJSON(w, p.Status, mediaTypeProblem, p)
}

// writeJSON sends a document; what is sent here is for its reader alone.
func writeJSON(w nethttp.ResponseWriter, status int, mediaType string, document any) {
	body, err := schemas.Marshal(document)
	if err != nil {
		// Every document of this package consists of strings, numbers and lists of them.
		nethttp.Error(w, "the answer cannot be written", nethttp.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the key of the run stands in the URL
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a sender that has gone needs no answer
}
