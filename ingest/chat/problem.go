package chat

import (
	"net/http"
	"strconv"

	"podium/ingest/problem"
)

// A Problem is a problem document (RFC 9457) about a body. Detail says what to do next.
type Problem struct {
	problem.Document
	Errors []ProblemPlace `json:"errors,omitzero"` // what is wrong with the body, and where
}

// A ProblemPlace is one thing wrong with a body.
type ProblemPlace struct {
	Detail  string `json:"detail"`
	Pointer string `json:"pointer"` // a JSON Pointer as a URI fragment (RFC 6901, section 6); "#" is the whole body
}

// String is for whoever looks at the quarantine.
func (p ProblemPlace) String() string { return p.Detail + " at " + p.Pointer }

func problemUnauthentic() *problem.Document {
	return problem.New(http.StatusUnauthorized, "unauthentic", "The sender is not known",
		"Sign the request as the channel's provider does (Standard Webhooks 1.0 unless another one is configured), with the channel's "+
			"secret and a clock that is right within five minutes, or send the channel's token as \"Authorization: Bearer …\". "+
			"A channel that does not exist is answered alike.")
}

func problemTooLarge() *problem.Document {
	return problem.New(http.StatusRequestEntityTooLarge, "too-large", "The body is too large",
		"Send at most "+strconv.Itoa(MaxBody)+" bytes beside the files of a message, and "+strconv.Itoa(MaxBodyWithFiles)+" with them; put larger material where a link can lead to it.")
}

func problemMediaType() *problem.Document {
	return problem.New(http.StatusUnsupportedMediaType, "media-type", "The body is not of a type that the channel takes",
		"Send the header \"Content-Type: application/json\".")
}

func problemBody(place ProblemPlace) *Problem {
	return &Problem{
		Document: *problem.New(http.StatusBadRequest, "invalid-message", "The message cannot be read",
			"Correct what is named under errors and send it again."),
		Errors: []ProblemPlace{place},
	}
}

func problemWebhookID(wrong string) *problem.Document {
	return problem.New(http.StatusBadRequest, "invalid-id", "The header Webhook-Id cannot be used",
		"Send an id of your own making, the same for every repeat of one message: "+wrong+".")
}

func problemFull() *problem.Document {
	return problem.LedgerFull(http.StatusServiceUnavailable, "Nothing was stored. Send it again later, with the same id.")
}

func problemUnavailable() *problem.Document {
	return problem.LedgerUnavailable("Send it again with the same id: should the first one have been stored after all, the second changes nothing.")
}

func problemNoPage() *problem.Document {
	return problem.NoPage("Send messages to /v1/chat/{channel}; read runs at /v1/runs/{ref} and /v1/runs/{ref}/events.")
}
