package callback

import (
	"net/http"
	"strconv"

	"podium/ingest/problem"
)

func problemUnauthentic() *problem.Document {
	return problem.New(http.StatusUnauthorized, "unauthentic", "The answer is of nobody who was asked",
		"Send it to the address in Podium-Callback as it stands there, and sign the body by Standard Webhooks 1.0 with the secret "+
			"that the call was signed with and a clock that is right within five minutes.")
}

func problemGone() *problem.Document {
	return problem.New(http.StatusGone, "too-late", "Nobody waits for this answer any more",
		"Nothing was taken. Do not send it again; the work may be asked for by another call.")
}

func problemUnreadable(err error) *problem.Document {
	return problem.New(http.StatusBadRequest, "invalid-answer", "The answer cannot be read",
		"Nothing was taken: "+err.Error()+". Correct it and send it again.")
}

func problemFormat() *problem.Document {
	return problem.UnreadFormat("Send JSON or text in UTF-8, uncompressed.")
}

func problemTooLarge() *problem.Document {
	return problem.New(http.StatusRequestEntityTooLarge, "too-large", "The answer is too large",
		"Send at most "+strconv.Itoa(MaxBody)+" bytes, and files of at most half of that.")
}

func problemBusy() *problem.Document {
	return problem.New(http.StatusServiceUnavailable, "busy", "Too many answers are being worked on",
		"Nothing was taken. Send it again.").After(problem.RetryUnavailable)
}

func problemUnavailable() *problem.Document {
	return problem.LedgerUnavailable("Send it again: should the answer have been stored after all, its repeat changes nothing.")
}

func problemNoPage() *problem.Document {
	return problem.NoPage("Send an answer to the address in Podium-Callback.")
}
