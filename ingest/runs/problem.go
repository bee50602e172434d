package runs

import (
	"net/http"

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

func problemUnreadableRun() *problem.Document {
	return problem.New(http.StatusServiceUnavailable, "ledger-unavailable", "The ledger does not answer",
		"Ask again; the run itself is not affected.").After(problem.RetryUnavailable)
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
