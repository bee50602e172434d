package runs

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// preferredWait returns how long the sender is ready to wait for the outcome,
// from "Prefer: wait=N" (RFC 7240, section 4.3; N in whole seconds). It is false
// when there is no such preference, or one that cannot be read, which the RFC
// says to ignore. The first one counts (section 2).
func preferredWait(header http.Header) (time.Duration, bool) {
	for _, line := range header.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";") // parameters of the preference
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err != nil {
				return 0, false
			}
			return time.Duration(seconds) * time.Second, true //nolint:gosec // below 2^31
		}
	}
	return 0, false
}
