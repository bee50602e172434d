package validation_test

import (
	"testing"

	"podium/schemas/validation"
)

// TestReaderChecksAllThatItsSchemaSays: a schema that says more than a reader checks makes none.
func TestReaderChecksAllThatItsSchemaSays(t *testing.T) {
	t.Parallel()
	type pair struct {
		Word  string `json:"word"`
		Count int    `json:"count"`
	}
	const before = `{"type":"object","required":["word"],"properties":{"count":{"type":"integer","minimum":0,"maximum":9},"word":{"type":"string",`
	read, err := validation.NewReader[pair]([]byte(before + `"minLength":1,"maxLength":3,"pattern":"^a"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"word":"abc","count":9,"other":null}`: "",
		`{"count":1}`:                           `invalid message: lacks "word"`,
		`{"word":""}`:                           "invalid message at /word: is empty",
		`{"word":"abcd"}`:                       "invalid message at /word: is longer than 3 characters",
		`{"word":"b"}`:                          "invalid message at /word: does not match ^a",
		`{"word":"a","count":10}`:               "invalid message at /count: is more than 9",
		`{"word":"a","word":"a"}`:               "invalid message at /word: is a duplicate name",
	} {
		got := ""
		if _, err := read([]byte(body)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	for _, more := range []string{
		`"oneOf":[]}}}`, `"pattern":"("}}}`, `"enum":[1]}}}`, `"minLength":2}}}`, `"minLength":1},"more":{"type":"integer","minimum":1,"maximum":9}}}`,
		`"minLength":1},"more":{"type":"number"}}}`, `"minLength":1},"more":{"type":"array","items":{"type":"string"},"maxItems":9}}}`,
	} {
		if _, err := validation.NewReader[pair]([]byte(before + more)); err == nil {
			t.Errorf("%s is not checked", more)
		}
	}
}
