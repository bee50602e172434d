package admission

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"podium/ingest/problem"
)

// ReadBody reads the body of a request once and whole, as its sender signed it. It
// returns tooLarge for more than limit bytes, and problems of its own for a body that
// takes longer than within, breaks off or finds no room. The time stops counting with
// the body: an answer may be awaited for as long as the server allows. The body keeps
// its room until Taken is called or the request ends.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64, within time.Duration, tooLarge *problem.Document) ([]byte, *problem.Document) {
	controller := http.NewResponseController(w)
	// A writer without deadlines has none to set.
	_ = controller.SetReadDeadline(time.Now().Add(within))
	body, err := io.ReadAll(&bounded{from: http.MaxBytesReader(w, r.Body, limit), visit: visitOf(r)})
	if err == nil {
		_ = controller.SetReadDeadline(time.Time{})
		return body, nil
	}
	Taken(r)
	if _, exceeded := errors.AsType[*http.MaxBytesError](err); exceeded {
		return nil, tooLarge
	}
	if noRoom, ok := errors.AsType[*problem.Document](err); ok {
		Dismiss(w, r)
		return nil, noRoom
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, problem.New(http.StatusRequestTimeout, "slow", "The body took too long to arrive", "Send it again, all at once.")
	}
	return nil, problem.New(http.StatusBadRequest, "incomplete", "The body did not arrive whole", "Send it again.")
}

// A bounded body has room for what was read of it.
type bounded struct {
	from  io.Reader
	visit *visit // nil is not bounded
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if n > 0 && b.visit != nil {
		if noRoom := b.visit.take(int64(n)); noRoom != nil {
			return 0, noRoom
		}
	}
	return n, err
}
