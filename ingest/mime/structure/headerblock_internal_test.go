package structure

import (
	"strings"
	"testing"
)

// TestHeaderGoesOnBehindUnfoldedLines reads a header in which several lines of a value have lost their leading blank, and
// one whose blank line is missing, whose text is no part of it.
func TestHeaderGoesOnBehindUnfoldedLines(t *testing.T) {
	t.Parallel()
	unfolded := "Received: from a by b;\r\n today\r\nX-Scan: AAAA+Ng\r\nIg5drOCw\r\nZqZbLL1g\r\nWGlWSpXm\r\n"
	rest := "From: nora@example.org\r\nDate: Mon, 5 Jan 2026 09:00:00 +0000\r\nSubject: Offer 17\r\n\r\nPlease.\r\n"
	if h := ParseHeader([]byte(unfolded+rest), Limits{Header: 1 << 16}); h.First("from") != "nora@example.org" || h.First("subject") != "Offer 17" {
		t.Errorf("%v", h)
	}
	reply := strings.Replace(rest, "\r\n\r\n", "\r\nHello,\r\nyou wrote:\r\nFrom: someone@example.org\r\nDate: today\r\nBcc: x@example.org\r\n\r\n", 1)
	if h := ParseHeader([]byte(reply), Limits{Header: 1 << 16}); h.Count("from") != 1 || h.Has("bcc") {
		t.Errorf("%v", h)
	}
}
