package runs

import (
	"net/http"
	"strconv"

	"podium/ingest/problem"
)

func problemUnauthorized() *problem.Document {
	return problem.New(http.StatusUnauthorized, "unauthorized", "Reading needs a key or a token",
		"Use the URL that the message was answered with, its key included, or send the channel's token as \"Authorization: Bearer …\".")
}

func problemUnknownRun() *problem.Document {
	return problem.New(http.StatusNotFound, "unknown-run", "There is no such run",
		"Check the reference and the key: both stand in the URL that the message was answered with.")
}

func problemUnknownFile() *problem.Document {
	return problem.New(http.StatusNotFound, "unknown-file", "The answer of the run has no such file",
		"Read the run: its files stand there with their URLs, once its outcome is fixed.")
}

func problemUnreadableRun() *problem.Document {
	return problem.LedgerUnavailable("Ask again; the run itself is not affected.")
}

func problemBrokenRun() *problem.Document {
	return problem.New(http.StatusInternalServerError, "unreadable-run", "The run's records cannot be read",
		"Tell the operator, who finds out more with \"podium replay --verify\". The message itself is kept.")
}

func problemBusy() *problem.Document {
	return problem.New(http.StatusServiceUnavailable, "too-many-readers", "Too many readers are being served",
		"Ask again, or read the run itself instead of its events.").After(problem.RetryUnavailable)
}

func problemEventID() *problem.Document {
	return problem.New(http.StatusBadRequest, "last-event-id", "Last-Event-ID is not one of this stream's",
		"Send the id of an event as it was received, or leave the header out to begin at the start.")
}

func problemNothingAsked() *problem.Document {
	return problem.New(http.StatusConflict, "nothing-asked", "The run does not ask that",
		"Read the run: inquiry says what it asks at the moment, if anything. Somebody may have answered before, or nobody waits for it any more.")
}

func problemAnswer() *problem.Document {
	return problem.New(http.StatusBadRequest, "invalid-answer", "The answer cannot be read",
		"Send the words as text/plain, or as the member \"text\" of a JSON object; they must not be blank.")
}

func problemAnswerType() *problem.Document {
	return problem.New(http.StatusUnsupportedMediaType, "media-type", "The body is not of a type that answers have",
		"Send the header \"Content-Type: text/plain\" or \"Content-Type: application/json\", in UTF-8.")
}

func problemLongAnswer() *problem.Document {
	return problem.New(http.StatusRequestEntityTooLarge, "too-large", "The answer is too large",
		"Send at most "+strconv.Itoa(MaxAnswer)+" bytes; put larger material where a link can lead to it.")
}

func problemFull() *problem.Document {
	return problem.LedgerFull(http.StatusServiceUnavailable, "Nothing was stored. Send the answer again later.")
}

func problemUnavailable() *problem.Document {
	return problem.LedgerUnavailable("Read the run: if it still asks, send the answer again. The first word counts, and a second one changes nothing.")
}
