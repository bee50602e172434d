package pointer_test

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/pointer"
)

// TestFollowsTheExamplesOfItsStandard holds both ways of reading to section 5 of RFC 6901.
func TestFollowsTheExamplesOfItsStandard(t *testing.T) {
	t.Parallel()
	const document = `{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}`
	for at, want := range map[jsontext.Pointer]string{
		"": document, "/foo": `["bar", "baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3", "/g|h": "4", `/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8",
	} {
		holds(t, document, at, want)
	}
}

func TestLeadsToNothing(t *testing.T) {
	t.Parallel()
	const document = `{"list": [1, null, {"deep": false}], "empty": {}, "null": null, "00": 1}`
	holds(t, document, "/list/2/deep", "false")
	holds(t, document, "/list/1", "null")
	holds(t, document, "/null", "null")
	holds(t, document, "/00", "1") // the name of a member
	for _, at := range []jsontext.Pointer{
		"/other", "/list/3", "/list/-", "/list/-1", "/list/01", "/list/+1", "/list/00", "/list/1e0", "/list/ 1", "/list/", "/list/99999999999999999999",
		"/list/0/deep", "/null/deep", "/empty/deep", "/list/deep", "list", "/list~", "/list~2", "#/list",
	} {
		holds(t, document, at, "")
	}
}

// TestUnreadableLeadsToNothing: what cannot be read, or names a member twice, has no value at any place.
func TestUnreadableLeadsToNothing(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"", "{", `{"a": 1, "a": 2}`, `["a"`, "a"} {
		if value, found := pointer.Value(jsontext.Value(document), "/a"); found || value != nil {
			t.Errorf("%q: %s", document, value)
		}
	}
}

// holds reads a document in both ways; want is empty where nothing is to be found.
func holds(t *testing.T, document string, at jsontext.Pointer, want string) {
	t.Helper()
	if value, found := pointer.Value(jsontext.Value(document), at); string(value) != want || found != (want != "") {
		t.Errorf("%q leads to %s, %t, want %s", at, value, found, want)
	}
	var decoded any
	if err := json.Unmarshal([]byte(document), &decoded); err != nil {
		t.Fatal(err)
	}
	value, found := pointer.Decoded(decoded, at)
	if found != (want != "") {
		t.Errorf("%q leads to %v, %t, decoded", at, value, found)
	}
	if !found {
		return
	}
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(value); string(got) != string(must(json.Marshal(wanted))) {
		t.Errorf("%q leads to %s, want %s", at, got, want)
	}
}

func must(body []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return body
}

func FuzzBothWaysAgree(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": null}]}`), "/a/1/b")
	f.Add([]byte(`[[[]]]`), "/0/0")
	f.Add([]byte(`{"~": {"/": 1}}`), "/~0/~1")
	f.Fuzz(func(t *testing.T, document []byte, at string) {
		var decoded any
		if !jsontext.Value(document).IsValid() || json.Unmarshal(document, &decoded) != nil {
			return
		}
		value, found := pointer.Value(document, jsontext.Pointer(at))
		if again, also := pointer.Decoded(decoded, jsontext.Pointer(at)); also != found || found && (again == nil) != (value.Kind() == 'n') {
			t.Errorf("%s in %s: %s, %t; decoded %v, %t", at, document, value, found, again, also)
		}
	})
}
