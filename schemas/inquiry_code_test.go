package schemas_test

import (
	"slices"
	"testing"

	"podium/schemas"
)

// TestInquiryCode: each question has a code of its own, which is found again however a mail program quotes it.
func TestInquiryCode(t *testing.T) {
	t.Parallel()
	run := schemas.RunID("5f0c5f9e-7a3f-5d52-9a1e-2f6c0f6a8e11", 1)
	seen := map[string]bool{}
	for inquiry := 1; inquiry <= schemas.MaxInquiries; inquiry++ {
		code := schemas.InquiryCode(run, inquiry)
		if seen[code] || code != schemas.InquiryCode(run, inquiry) || !slices.Equal(schemas.InquiryCodes(code), []string{code}) {
			t.Errorf("inquiry %d has the code %s", inquiry, code)
		}
		seen[code] = true
	}
	code := schemas.InquiryCode(run, 1)
	for text, want := range map[string][]string{
		"> Code of this question: " + code + "\n": {code},
		"(" + code + ").":                         {code},
		"ask-0000-zzzz, " + code:                  {"ASK-0000-ZZZZ", code},
		"TASK-0000-0000":                          nil,
		"ASK-0000-00001":                          nil,
		"ASK-0000-000U":                           nil, // no letter of a code
		"Please ask-me, order 1234-5678 …":        nil,
	} {
		if got := schemas.InquiryCodes(text); !slices.Equal(got, want) {
			t.Errorf("%q has %q", text, got)
		}
	}
}
