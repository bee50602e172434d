package llm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
	"podium/schemas"
)

func extraction(tb testing.TB) *shape {
	tb.Helper()
	made, err := extractorShape(&question{Schema: []byte(`{"type":"object","required":["day"],"properties":{"day":{"type":"string"},"required":{"type":"string"},
		"who":{"type":"object","required":["name"],"minProperties":1,"properties":{"name":{"type":"string"}}}},"additionalProperties":false}`)})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// TestRead: what is found in an answer, and what is not: never a part of what is broken.
func TestRead(t *testing.T) {
	t.Parallel()
	shaped := extraction(t)
	for text, want := range map[string]string{
		`{}`:                                           `{}`,
		`{"day": "x", "who": {}}`:                      `{"day":"x","who":{}}`,
		`{"day": 'x', "who": {}`:                       `{"day":"x","who":{}}`,
		`{"day": "x", "who": {"name": "y"}`:            `{"day":"x","who":{"name":"y"}}`,
		`Well: {day: "x",} is all.`:                    `{"day":"x"}`,
		`:-{ but {"day": "x"}`:                         `{"day":"x"}`,
		`{"who": {"name": null}, "required": "x"}`:     `{"required":"x","who":{}}`,
		`{"Response": "` + "```json\\n{}\\n```" + `"}`: `{}`,
		`{"response": "no data"}`:                      "",
		`{"day": 3}`:                                   "",
		`[1]`:                                          "",
		"":                                             "",
		"{":                                            `{}`,
		"no":                                           "",
	} {
		value, err := shaped.read(text)
		if invalid, is := errors.AsType[*invalidError](err); err != nil && (!is || invalid.fault == "") {
			t.Errorf("%s: %v", text, err)
		}
		var read any
		if len(value) > 0 {
			if err := schemas.Unmarshal(value, &read); err != nil {
				t.Fatal(err)
			}
			value, _ = schemas.Marshal(read)
		}
		if string(value) != want {
			t.Errorf("%s: %s (%v), want %s", text, value, err, want)
		}
	}
}

// TestReadEnds: no answer makes reading it endless.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	shaped := extraction(t)
	for _, piece := range []string{"[", "{", `{"a":`, `"`, "'", `\\`, "``` ", "{a:", "[{", `{"a":1},`, "/*", "x ", "\n", `{"a": "`, "```\n{"} {
		text := strings.Repeat(piece, maxAnswer/len(piece))
		cputime.Bound(t, fmt.Sprintf("%q", piece), time.Minute, func() {
			_, _ = shaped.read(text)
			_, _ = shaped.read(text[:maxRepair/2])
		})
	}
}

// TestStrict: to the letter only what servers can hold to the letter is asked for.
func TestStrict(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                  false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                              false,
		`{"type":"object"}`: false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`: false,
		`{"anyOf":[{"type":"string"}]}`: false,
	} {
		if got := strict([]byte(schema)); got != want {
			t.Errorf("%s: %t", schema, got)
		}
	}
	for _, agents := range [][]choice{{{Name: "a"}}, {{Name: "a", InputSchema: []byte(`{}`)}}} {
		made, err := plannerShape(&question{Agents: agents})
		if err != nil || made.strict != (len(agents[0].InputSchema) == 0) {
			t.Errorf("%v: %v, %v", agents, made, err)
		}
	}
}

// FuzzRead: whatever a model says is data that the schema allows, or an invalid answer.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"day": "x"}`, "```json\n{}\n```", `{"result": "{\"day\": 1}"}`, `{day: 'x',,`, "<think>a</think>{}", "[[[[{", `{"a":` + strings.Repeat(`{"a":`, 40), "\x00{\xff",
	} {
		f.Add(seed)
	}
	shaped := extraction(f)
	f.Fuzz(func(t *testing.T, text string) {
		value, err := shaped.read(text)
		if err == nil {
			if fault := shaped.faultOf(value); fault != "" || !value.IsValid() {
				t.Errorf("%q: %s, %s", text, value, fault)
			}
		} else if _, is := errors.AsType[*invalidError](err); !is {
			t.Errorf("%q: %v", text, err)
		}
		_, _ = wordsIn(text)
	})
}

// TestWordsSoFar: nothing is shown of what may turn out to be no words for a person.
func TestWordsSoFar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " ": "", "<": "", "<think": "", "<think>Hm": "", "<think>Hm</think>": "", "<think>Hm</think>\nIt is": "It is",
		"{": "", `{"text": "It`: "", "It is": "It is", " It {is} ": "It {is}", "<b>": "<b>",
	} {
		if got := wordsSoFar(text); got != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
}
