package cloudevents

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"podium/ingest/problem"
)

// handshake answers whoever asks whether it may send here (HTTP 1.1 Web Hooks for
// CloudEvents 1.0.2, section 4). An origin that is not allowed, and a source that does
// not exist, get the same refusal. Nobody is called back.
func (d *Adapter) handshake(w http.ResponseWriter, r *http.Request) {
	from := d.source(r)
	origin := strings.TrimSpace(r.Header.Get("Webhook-Request-Origin"))
	if origin == "" || !slices.ContainsFunc(from.Origins, func(allowed string) bool { return strings.EqualFold(allowed, origin) }) {
		problem.WriteMethod(w, http.MethodPost)
		return
	}
	header := w.Header()
	header.Set("Allow", http.MethodPost)
	header.Set("Webhook-Allowed-Origin", origin)
	if rate := from.allowedRate(r.Header.Get("Webhook-Request-Rate")); rate != "" {
		header.Set("Webhook-Allowed-Rate", rate)
	}
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Webhook-Request-Origin")
	w.WriteHeader(http.StatusOK)
}

// allowedRate is how many requests a minute are allowed: what is asked for, at most
// what is configured. Without a limit and a question nothing is to be said.
func (s *source) allowedRate(asked string) string {
	wanted, err := strconv.Atoi(strings.TrimSpace(asked))
	switch {
	case s.PerMinute == 0 && asked == "":
		return ""
	case s.PerMinute == 0 && (err != nil || wanted < 1):
		return "*"
	case s.PerMinute == 0:
		return strconv.Itoa(wanted)
	case err != nil || wanted < 1:
		return strconv.Itoa(s.PerMinute)
	}
	return strconv.Itoa(min(wanted, s.PerMinute))
}
