package problem

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// ReadBody reads the body of a request once and whole, as its sender signed it. It
// returns tooLarge for more than limit bytes, and problems of its own for a body that
// takes longer than within or breaks off. The time stops counting with the body: an
// answer may be awaited for as long as the server allows.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64, within time.Duration, tooLarge *Document) ([]byte, *Document) {
	controller := http.NewResponseController(w)
	// A writer without deadlines has none to set.
	_ = controller.SetReadDeadline(time.Now().Add(within))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var exceeded *http.MaxBytesError
	var told Document
	switch {
	case errors.As(err, &exceeded):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		told = New(http.StatusRequestTimeout, "slow", "The body took too long to arrive", "Send it again, all at once.")
		return nil, &told
	case err != nil:
		told = New(http.StatusBadRequest, "incomplete", "The body did not arrive whole", "Send it again.")
		return nil, &told
	}
	_ = controller.SetReadDeadline(time.Time{})
	return body, nil
}
