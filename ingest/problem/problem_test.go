package problem_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/ingest/problem"
	"podium/schemas"
)

// extended is a problem with extension members (RFC 9457, section 3.2).
type extended struct {
	problem.Document
	Errors []string `json:"errors,omitzero"`
}

// TestDocuments shows documents and headers byte for byte: programs branch on them.
func TestDocuments(t *testing.T) {
	t.Parallel()
	waiting := func(status int, wait time.Duration) *problem.Document {
		made := problem.New(status, "full", "The ledger takes no more", "Send it again later.")
		made.RetryAfter = wait
		return made
	}
	const full = `"title":"The ledger takes no more"`
	for name, test := range map[string]struct {
		told    problem.Problem
		status  int
		body    string
		headers map[string]string
	}{
		"a document": {
			told: waiting(http.StatusBadRequest, 0), status: http.StatusBadRequest,
			body:    `{"type":"urn:podium:problem:full",` + full + `,"status":400,"detail":"Send it again later."}` + "\n",
			headers: map[string]string{"Retry-After": "", "WWW-Authenticate": ""},
		},
		"extension members follow": {
			told:   &extended{Document: *waiting(http.StatusBadRequest, 0), Errors: []string{"a", "b"}},
			status: http.StatusBadRequest,
			body:   `{"type":"urn:podium:problem:full",` + full + `,"status":400,"detail":"Send it again later.","errors":["a","b"]}` + "\n",
		},
		"a wait is rounded up, so that nobody comes too early": {
			told: waiting(http.StatusTooManyRequests, 1001*time.Millisecond), status: http.StatusTooManyRequests,
			body:    `{"type":"urn:podium:problem:full",` + full + `,"status":429,"detail":"Send it again later."}` + "\n",
			headers: map[string]string{"Retry-After": "2"},
		},
		"credentials are asked for": {
			told: waiting(http.StatusUnauthorized, 0), status: http.StatusUnauthorized,
			body:    `{"type":"urn:podium:problem:full",` + full + `,"status":401,"detail":"Send it again later."}` + "\n",
			headers: map[string]string{"WWW-Authenticate": `Bearer realm="podium"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := httptest.NewRecorder()
			problem.Write(answer, test.told)
			if answer.Code != test.status || answer.Body.String() != test.body {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
			private(t, answer.Header(), "application/problem+json")
			for header, want := range test.headers {
				if got := answer.Header().Get(header); got != want {
					t.Errorf("%s: %q", header, got)
				}
			}
		})
	}
}

// private checks that nothing on the way keeps an answer or learns its URL.
func private(t *testing.T, header http.Header, mediaType string) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": mediaType, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestMethodNamesThoseThatAreAllowed(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	problem.WriteMethod(answer, "GET, HEAD")
	const body = `{"type":"urn:podium:problem:method","title":"The method is not allowed here","status":405,"detail":"Use GET, HEAD."}` + "\n"
	if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" || answer.Body.String() != body {
		t.Errorf("%d %v %s", answer.Code, answer.Header(), answer.Body)
	}
}

func TestJSONForItsReaderAlone(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	problem.WriteJSON(answer, http.StatusAccepted, schemas.MediaTypeJSON, map[string]int{"sequence": 7})
	if answer.Code != http.StatusAccepted || answer.Body.String() != `{"sequence":7}`+"\n" {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	private(t, answer.Header(), schemas.MediaTypeJSON)
	answer = httptest.NewRecorder()
	problem.WriteJSON(answer, http.StatusAccepted, schemas.MediaTypeJSON, func() {})
	if answer.Code != http.StatusInternalServerError {
		t.Errorf("what has no JSON form is answered with %d", answer.Code)
	}
}

func TestProblemOfAnErrorOfTheLedger(t *testing.T) {
	t.Parallel()
	full, tooLarge, unavailable := &problem.Document{}, &problem.Document{}, &problem.Document{}
	for err, want := range map[error]*problem.Document{
		fmt.Errorf("publish: %w", bus.ErrFull):     full,
		fmt.Errorf("publish: %w", bus.ErrTooLarge): tooLarge,
		errors.New("no answer"):                    unavailable,
	} {
		if problem.OfLedger(err, full, tooLarge, unavailable) != want {
			t.Errorf("%v has the problem of another error", err)
		}
	}
}

// TestRefusalsOfEveryAdapter shows documents and waits byte for byte.
func TestRefusalsOfEveryAdapter(t *testing.T) {
	t.Parallel()
	for want, told := range map[string]*problem.Document{
		`no-such-page","title":"There is nothing here","status":404,"detail":"Do this."}`:                   problem.NoPage("Do this."),
		`format","title":"The body is in a format that is not read here","status":415,"detail":"Do this."}`: problem.UnreadFormat("Do this."),
		`ledger-full","title":"The ledger takes no more","status":429,"detail":"Do this."} 30`:              problem.LedgerFull(http.StatusTooManyRequests, "Do this."),
		`ledger-full","title":"The ledger takes no more","status":503,"detail":"Do this."} 30`:              problem.LedgerFull(http.StatusServiceUnavailable, "Do this."),
		`ledger-unavailable","title":"The ledger does not answer","status":503,"detail":"Do this."} 2`:      problem.LedgerUnavailable("Do this."),
	} {
		answer := httptest.NewRecorder()
		problem.Write(answer, told)
		got := strings.TrimSpace(strings.TrimSuffix(answer.Body.String(), "\n") + " " + answer.Header().Get("Retry-After"))
		if got != `{"type":"urn:podium:problem:`+want || answer.Code != told.Status {
			t.Errorf("HTTP %d %s, want %s", answer.Code, got, want)
		}
	}
}
