package chat

import (
	"net/http"
	"strings"
	"time"

	"podium/bus/intake"
	"podium/ingest/problem"
	"podium/schemas"
)

// An exchange is one request to a channel and the way to answer it.
type exchange struct {
	adapter *Adapter
	writer  http.ResponseWriter
	request *http.Request
	name    string // of the channel
	channel *channel
	began   time.Time
}

// A result is what came of one message of a request.
type result struct {
	message *Message
	id      string // of the event
	receipt intake.Receipt
}

// runURL is where the run can be read, when the adapter knows its own address.
func (r *result) runURL(e *exchange) string {
	if e.adapter.config.Runs.BaseURL == "" {
		return ""
	}
	run, _ := e.adapter.runs.URLs(r.receipt)
	return run
}

// json answers 200 with a document.
func (e *exchange) json(document any) {
	problem.WriteJSON(e.writer, http.StatusOK, schemas.MediaTypeJSON, document)
}

// say answers 200 with words, as Slack and Mattermost take them.
func (e *exchange) say(kind, text string) {
	e.json(struct {
		Type string `json:"response_type"`
		Text string `json:"text"`
	}{Type: kind, Text: text})
}

// language is that of the adapter's own words to a sender.
func (e *exchange) language(message *Message) string {
	for _, tag := range []string{message.Language, message.Locale, e.channel.language} {
		primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if _, spoken := e.adapter.words[primary]; spoken {
			return primary
		}
	}
	return schemas.FallbackLanguage
}

// answerWithin waits for the words of the answer, or of a question, until the window
// closes, counted from the request's arrival. Then it returns where they will be.
func (e *exchange) answerWithin(r result, window time.Duration) string {
	language, state := e.language(r.message), "working"
	document, err := e.adapter.runs.AwaitWithin(e.writer, e.request, r.receipt, window-time.Since(e.began))
	switch {
	case err != nil:
		e.adapter.log.Warn().Err(err).Str("session", r.receipt.Session).Msg("an answer could not be waited for")
	case document == nil:
	case document.Status != "":
		return e.adapter.config.Render(e.channel.kind, document.Answer)
	case document.Done():
		return "" // nothing is to be said
	case document.Final():
		return e.adapter.config.Render(e.channel.kind, document.Inquiry.Question)
	default:
		if document.Inquiry != nil {
			state = "asked_other"
		}
		if _, spoken := e.adapter.words[document.Language]; spoken {
			language = document.Language // as the message was written, not as the program is set
		}
	}
	told := e.adapter.words.Say(language, state)
	if url := r.runURL(e); url != "" {
		told += "\n" + e.adapter.words.Say(language, "read", "{url}", url)
	}
	return told
}
