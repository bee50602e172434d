package approval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/approval"
)

// TestEdit_O31: a change names what it changes, and all else stays.
func TestEdit_O31(t *testing.T) {
	t.Parallel()
	large := `{"a":"` + strings.Repeat("x", schemas.RecordInlineLimit) + `"}`
	for name, c := range map[string]struct{ given, change, want string }{
		"one":            {`{"a":1,"b":2}`, `{"a":3}`, `{"a":3,"b":2}`},
		"one more":       {`{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		"one less":       {`{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		"inside":         {`{"a":{"b":1,"c":2}}`, `{"a":{"b":null,"d":3}}`, `{"a":{"c":2,"d":3}}`},
		"object for one": {`{"a":1}`, `{"a":{"b":null,"c":1}}`, `{"a":{"c":1}}`},
		"a list whole":   {`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		"large numbers":  {`{"a":9007199254740993}`, `{"b":1e400}`, `{"a":9007199254740993,"b":1e400}`},
		"of nothing":     {``, `{"a":1}`, `{"a":1}`},
		"no object":      {`{"a":1}`, `[1]`, ``},
		"null":           {`{"a":1}`, `null`, ``},
		"broken":         {`{"a":1}`, `{"a":`, ``},
		"twice":          {`{"a":1}`, `{"a":1,"a":2}`, ``},
		"too large":      {`{"b":1}`, large, ``},
		"deep":           {`{}`, strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300), ``},
	} {
		got, err := approval.Edit(jsontext.Value(c.given), jsontext.Value(c.change))
		if string(got) != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, approval.ErrEdit) {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
}

// TestWritten_O31: a change is the one object below the word that decides. What may have been meant as one is no agreement.
func TestWritten_O31(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"approve": "",
		"approve\n\nRegards, Anna: see you tomorrow":         "",
		"approve\n{\"amount\": 10}":                          `{"amount": 10}`,
		"approve\n\nSo:\n\n{\n \"amount\": 10\n}\n\nRegards": "{\n \"amount\": 10\n}",
		"approve\n```json\n{\"amount\": 10}\n```\nRegards":   `{"amount": 10}`,
		"approve\n```\n{\"amount\": 10}\n```":                `{"amount": 10}`,
		"approve\n{\"amount\": 10":                           "no",
		"approve\n{amount: 10}":                              "no",
		"approve\n[10]":                                      "no",
		"approve\n{\"amount\": 10}\n{\"amount\": 11}":        "no",
		"approve\n```\namount 10\n```":                       "no",
		"approve\namount: 10":                                "no",
		"approve\n- Amount = 10":                             "no",
		"approve\n  * \"amount\": 10":                        "no",
	} {
		got, err := approval.Written(words, []string{"amount", "to"})
		if (err != nil) != (want == "no") || err == nil && string(got) != want {
			t.Errorf("%q: %q (%v), want %q", words, got, err, want)
		}
	}
}

// TestWithoutEdit: what is said around a change of arguments is said, and what stands inside of it is not.
func TestWithoutEdit(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"":                                  "",
		"See you.":                          "See you.",
		"{\"subject\": \"Lunch?\"}":         "",
		"So:\n{\"a\": \"b?\"}\nOr not?":     "So:\n\nOr not?",
		"```json\n{\"a\": \"b?\"}\n```\nOr": "\n```\nOr",
		"{\"a\": b?}":                       "{\"a\": b?}",
	} {
		if got := approval.WithoutEdit(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// FuzzWritten: whatever is written, what is taken for a change is one object of it.
func FuzzWritten(f *testing.F) {
	for _, seed := range []string{"approve\n{\"a\":1}", "yes\n```json\n{}\n```", "yes\n\n{", "yes\r\n{\"a\":{}}\r\n}", "yes\n```"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, words string) {
		change, err := approval.Written(words, []string{"a"})
		if err != nil || len(change) == 0 {
			return
		}
		if change.Kind() != '{' || !change.IsValid() || !strings.Contains(words, string(change)) {
			t.Errorf("%q is read as %q", words, change)
		}
		if made, err := approval.Edit(jsontext.Value(`{"a":1}`), change); err == nil && !made.IsValid() {
			t.Errorf("%q makes %q", change, made)
		}
	})
}
