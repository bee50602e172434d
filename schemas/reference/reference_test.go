package reference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/reference"
)

// A and B stand for two artifacts in the tables below.
var letters = strings.NewReplacer("A", strings.Repeat("a", 64), "B", strings.Repeat("b", 64))

func TestGrantsAreTakenAndGiven(t *testing.T) {
	t.Parallel()
	give := func(sha256 string) string {
		if sha256 == strings.Repeat("a", 64) {
			return "g"
		}
		return ""
	}
	for _, c := range []struct{ from, bare, taken, given string }{
		{`{"sha256":"A","size":1,"grant":"x"}`, `{"sha256":"A","size":1}`, "A x", `{"sha256":"A","grant":"g","size":1}`},
		{`{"grant":"x","sha256":"A"}`, `{"sha256":"A"}`, "A x", `{"sha256":"A","grant":"g"}`},
		{`{ "grant" : "x" , "sha256" : "A" }`, `{ "sha256" : "A" }`, "A x", `{ "sha256" : "A","grant":"g" }`},
		{`{"sha256":"A","grant":"x","size":1}`, `{"sha256":"A","size":1}`, "A x", `{"sha256":"A","grant":"g","size":1}`},
		{`{"sha256":"B","grant":"x"}`, `{"sha256":"B"}`, "B x", `{"sha256":"B"}`},
		{`{"sha256":"A"}`, `{"sha256":"A"}`, "", `{"sha256":"A","grant":"g"}`},
		{
			`[{"a":[{"sha256":"A","in":{"sha256":"B","grant":"y"},"grant":"x"}]},{"sha256":"A"}]`,
			`[{"a":[{"sha256":"A","in":{"sha256":"B"}}]},{"sha256":"A"}]`, "A x, B y",
			`[{"a":[{"sha256":"A","grant":"g","in":{"sha256":"B"}}]},{"sha256":"A","grant":"g"}]`,
		},
		// A grant that is no text, or that holds what looks like a reference, goes as well.
		{`{"sha256":"A","grant":{"sha256":"B","grant":"y"}}`, `{"sha256":"A"}`, "", `{"sha256":"A","grant":"g"}`},
		{`{"sha256":"A","grant":null}`, `{"sha256":"A"}`, "", `{"sha256":"A","grant":"g"}`},
		{`{"sh\u0061256":"A","gr\u0061nt":"\u0078", "sha256 ":1}`, `{"sh\u0061256":"A", "sha256 ":1}`, "A x", `{"sh\u0061256":"A","grant":"g", "sha256 ":1}`},
		// These name no artifact.
		{`{"grant":"x","sha256":"AB"}`, `{"grant":"x","sha256":"AB"}`, "", ""},
		{`{"grant":"x","sha256":7,"b":{"sha256":null}}`, `{"grant":"x","sha256":7,"b":{"sha256":null}}`, "", ""},
		{`["sha256","A","grant"]`, `["sha256","A","grant"]`, "", ""},
		{`{"grant":"x"}`, `{"grant":"x"}`, "", ""},
		{`"sha256"`, `"sha256"`, "", ""},
		{``, ``, "", ""},
		{`{"sha256":"A"`, `{"sha256":"A"`, "", ""},
	} {
		from, want := letters.Replace(c.from), letters.Replace(c.bare)
		bare, grants := reference.TakeGrants(jsontext.Value(from))
		var taken []string
		for _, artifact := range grants {
			taken = append(taken, artifact.SHA256+" "+artifact.Grant)
		}
		if got := strings.Join(taken, ", "); string(bare) != want || got != letters.Replace(c.taken) {
			t.Errorf("%s\nbare  %s\ntaken %s", c.from, bare, got)
		}
		if want = letters.Replace(c.given); want == "" {
			want = from
		}
		if given := reference.GiveGrants(jsontext.Value(from), give); string(given) != want {
			t.Errorf("%s\ngiven %s", c.from, given)
		}
	}
}

// Nesting and number cost no more than their size.
func TestReferencesOfHostileJSON(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 64)
	deep := strings.Repeat(`{"a":`, 5000) + `{"sha256":"` + hash + `","grant":"x"}` + strings.Repeat("}", 5000)
	many := "[" + strings.Repeat(`{"sha256":"`+hash+`","grant":"x"},`, 100_000) + "0]"
	for name, text := range map[string]string{"deep": deep, "many": many} {
		bare, taken := reference.TakeGrants(jsontext.Value(text))
		if strings.Contains(string(bare), "grant") || len(taken) != strings.Count(text, "grant") || !bare.IsValid() {
			t.Errorf("%s: %d taken, %d bytes left", name, len(taken), len(bare))
		}
	}
}

func FuzzGrants(f *testing.F) {
	f.Add([]byte(letters.Replace(`{"grant":"x","sha256":"A","b":[{"sha256":"B"}]}`)))
	f.Add([]byte(letters.Replace(`[{"sha256":"A","grant":{}},{"grant":1 , "sha256":"B" }]`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		value := jsontext.Value(text)
		if !value.IsValid() {
			return
		}
		hashes := reference.Hashes(value)
		given := reference.GiveGrants(value, func(sha256 string) string { return "to " + sha256 })
		bare, taken := reference.TakeGrants(given)
		again, none := reference.TakeGrants(bare)
		if !given.IsValid() || !bare.IsValid() || len(none) > 0 || string(again) != string(bare) {
			t.Fatalf("%s\n%s\n%s", text, given, bare)
		}
		var got []string
		for _, artifact := range taken {
			got = append(got, artifact.SHA256)
			if artifact.Grant != "to "+artifact.SHA256 {
				t.Errorf("%+v", artifact)
			}
		}
		if !slices.Equal(got, hashes) {
			t.Errorf("%s", fmt.Sprint(got, hashes))
		}
	})
}
