package chat

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"podium/schemas"
)

// A callback is where a channel takes answers.
type callback struct {
	url    string
	key    []byte
	client *http.Client
}

// A Delivery is the body of a call: the payload form that Standard Webhooks
// 1.0 recommends.
type Delivery struct {
	Type      string    `json:"type"` // always "message"
	Timestamp time.Time `json:"timestamp"`
	Data      Message   `json:"data"`
}

// A Message is one answer, or a question, on its way to a channel.
type Message struct {
	Channel   string `json:"channel"`
	Thread    string `json:"thread,omitzero"`
	InReplyTo string `json:"in_reply_to,omitzero"` // id of the chat message that it answers
	Text      string `json:"text"`
	Run       string `json:"run,omitzero"`
	ReplyID   string `json:"reply_id"` // the same for every attempt; equal to webhook-id
	// Inquiry is the id of the question that the text asks: the next message of whoever asked answers it.
	Inquiry string `json:"inquiry,omitzero"`
}

// deliver makes one signed call. A receiver knows repeats by their webhook-id, so
// that an answer with an error status leaves no doubt.
func (a *Agent) deliver(ctx context.Context, target callback, answer Message) error {
	now := a.now()
	body, err := schemas.Marshal(Delivery{Type: "message", Timestamp: now.UTC(), Data: answer})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the callback is not a URL")
	}
	request.Header.Set("Content-Type", schemas.MediaTypeJSON)
	sign(request.Header, target.key, answer.ReplyID, now, body)
	_, err = call(target.client, request)
	if answered, ok := errors.AsType[*statusError](err); ok {
		answered.doubt = false
	}
	return err
}
