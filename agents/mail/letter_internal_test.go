package mail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"podium/bus/agent"
	"podium/schemas"
)

func prefixesForTest(tb testing.TB) []string {
	tb.Helper()
	prefixes, err := loadPrefixes()
	if err != nil {
		tb.Fatal(err)
	}
	return prefixes
}

func TestSubjectHasExactlyOneReplyPrefix(t *testing.T) {
	t.Parallel()
	prefixes := prefixesForTest(t)
	for subject, want := range map[string]string{
		"":                        "Re:",
		"Hello":                   "Re: Hello",
		"Re: Hello":               "Re: Hello",
		"RE: re: AW: Hello":       "Re: Hello",
		"Re[2]: Hello":            "Re: Hello",
		"Antw (3): Re : Hello":    "Re: Hello",
		"回复：Hello":                "Re: Hello",
		"Fwd: Re: Hello":          "Re: Fwd: Re: Hello",
		"Regarding: Hello":        "Re: Regarding: Hello",
		"Re:":                     "Re:",
		"Re: a: b":                "Re: a: b",
		"  spaced\t\r\n  out ":    "Re: spaced out",
		"Rechnung: Re: 7":         "Re: Rechnung: Re: 7",
		strings.Repeat("ä", 1000): "Re: " + strings.Repeat("ä", subjectLimit),
	} {
		if got := replySubject(subject, prefixes); got != want {
			t.Errorf("%q: %q, want %q", subject, got, want)
		}
	}
}

func TestReferencesKeepTheRootAndTheNewest(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("<%d@x>", i))
	}
	thread := threadOf(many, "parent@x")
	if len(thread) != maxReferences || thread[0] != "0@x" || thread[1] != "32@x" || thread[maxReferences-1] != "parent@x" {
		t.Errorf("thread %q", thread)
	}
	got := threadOf([]string{"a@x", "<parent@x>", "a@x", "no id", "ü@x", "", "b@x"}, "parent@x")
	if want := []string{"a@x", "b@x", "parent@x"}; !slices.Equal(got, want) {
		t.Errorf("thread %q, want %q", got, want)
	}
	if got := threadOf(nil, ""); got != nil {
		t.Errorf("thread %q of nothing", got)
	}
}

func TestMessageIDIsTheSameForEveryAttempt(t *testing.T) {
	t.Parallel()
	from := &sender{domain: "x.example"}
	request := &agent.Request{EffectID: "0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11", Attempt: 1}
	request.Payload = schemas.RequestPayload{PlanID: "plan", Tasks: []schemas.Task{{TaskID: "reply"}}}
	if got, want := from.messageID(request, 0), "0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11@x.example"; got != want {
		t.Errorf("message id %q, want %q", got, want)
	}
	seen := make(map[string]bool)
	for _, effect := range []string{"", "x\r\nBcc: y", "{0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11}"} {
		request.EffectID, request.Attempt = effect, 1
		first := from.messageID(request, 0)
		request.Attempt = 2
		if second := from.messageID(request, 0); first != second {
			t.Errorf("attempts of %q differ: %q, %q", effect, first, second)
		}
		if _, clean := cleanID(first); !clean || seen[first] {
			t.Errorf("%q gives %q", effect, first)
		}
		seen[first] = true
	}
}

// FuzzSubject proves that a subject is one line with one prefix, and that
// answering an answer does not change it.
func FuzzSubject(f *testing.F) {
	prefixes := prefixesForTest(f)
	for _, seed := range []string{"Re: a", "aw[2]: re : x", "：", "a\r\nb", "\xff:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		got := replySubject(subject, prefixes)
		if !strings.HasPrefix(got, "Re:") || strings.ContainsAny(got, "\r\n\x00") || !utf8.ValidString(got) {
			t.Errorf("%q gives %q", subject, got)
		}
		if again := replySubject(got, prefixes); again != got && utf8.RuneCountInString(got) < subjectLimit {
			t.Errorf("%q gives %q, and that gives %q", subject, got, again)
		}
	})
}

// FuzzAddress proves that an accepted address is exactly itself.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"a@b", "a@b\r\nBcc: c@d", "\"a b\"@c", "a@b,c@d", "<a@b>", "a@[127.0.0.1]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := parseAddress(text)
		if err != nil {
			return
		}
		if parsed.Address != text || strings.ContainsAny(text, "\r\n<>,\x00") && !strings.HasPrefix(text, `"`) {
			t.Errorf("accepted %q as %q", text, parsed.Address)
		}
	})
}
