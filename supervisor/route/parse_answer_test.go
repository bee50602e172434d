package route_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/route"
)

func TestParseDecision_O10_O11_O34(t *testing.T) {
	t.Parallel()
	const object = `{"next_agent": "red", "reasoning": "a {brace} and a \"quote\"", "response": "hi"}`
	for _, test := range []struct {
		name, data, text string
		want             string // next agent
	}{
		{"data", object, "", "red"},
		{"data before text", object, `{"next_agent":"green"}`, "red"},
		{"data inside something", `{"decision":` + object + `}`, "", "red"},
		{"data without it", `{"answer":1}`, object, "red"},
		{"text", "", object, "red"},
		{"fenced", "", "```json\n" + object + "\n```", "red"},
		{"prose around it", "", "I think:\n" + object + "\nGood luck :-}", "red"},
		{"braces before it", "", "{ so {\"a\":1} { " + object, "red"},
		{"the last of several", "", `Not {"next_agent":"green"} but ` + object, "red"},
		{"the outer one", "", `{"next_agent":"red","others":[{"next_agent":"green"}]}`, "red"},
		{"one in a string", "", `{"next_agent":"red","reasoning":"not {\"next_agent\":\"green\"}"}`, "red"},
		{"members of null", "", `{"next_agent":"red","reasoning":null,"response":null}`, "red"},
		{"more members", "", `{"next_agent":"red","confidence":0.9}`, "red"},
		{"behind much prose", "", strings.Repeat("thinking { ", 10_000) + object, ""},
		{"behind very much prose", "", strings.Repeat("thinking, ", 20_000) + object, "red"},
		{"cut off", "", object[:len(object)-1], ""},
		{"a blank name", "", `{"next_agent":" "}`, ""},
		{"another type", "", `{"next_agent":["red"]}`, ""},
		{"the name twice", "", `{"next_agent":"red","next_agent":"green"}`, ""},
		{"another case", "", `{"Next_Agent":"red"}`, ""},
		{"prose alone", "", "red", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := route.ParseDecision(schemas.Result{Data: jsontext.Value(test.data), Text: test.text})
			if got.NextAgent != test.want || errors.Is(err, route.ErrNoDecision) != (test.want == "") {
				t.Errorf("%+v, %v, want %q", got, err, test.want)
			}
		})
	}
	got, err := route.ParseDecision(schemas.Result{Text: `{"next_agent":"red","reasoning":"why","response":"hi","router":"assigned","degraded":true,"candidates":[{"agent":"x","router":"y","score":1}]}`})
	if err != nil || got.Reasoning != "why" || got.Response != "hi" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseAssessment_P06(t *testing.T) {
	t.Parallel()
	const none = -1
	for _, test := range []struct {
		name, data, text string
		want             float64
	}{
		{"data score", `{"score":0.7}`, "", 0.7},
		{"data can_handle", `{"can_handle":0.7}`, "", 0.7},
		{"score before can_handle", `{"score":0.2,"can_handle":0.7}`, "", 0.2},
		{"yes", `{"can_handle":true}`, "", 1},
		{"no", `{"can_handle":false}`, "", 0},
		{"bare data", `0.25`, "", 0.25},
		{"data before text", `{"score":0}`, "0.9", 0},
		{"data without it", `{"cost":3}`, "0.9", 0.9},
		{"bare text", "", " 0.7\n", 0.7},
		{"whole numbers", "", "1", 1},
		{"at the end of a sentence", "", "I can do 0.7.", 0.7},
		{"behind a colon", "", "Score:0.7", 0.7},
		{"fenced", "", "```json\n{\"score\": 0.7}\n```", 0.7},
		{"marked", "", "**0.7**, `maybe`", 0.7},
		{"an exponent", "", "7e-1", 0.7},
		{"two numbers", "", "0.7 of 1", none},
		{"a share of ten", "", "7/10", none},
		{"percent", "", "70%", none},
		{"a comma", "", "0,7", none},
		{"above", "", "1.1", none},
		{"below", "", "-0.1", none},
		{"data above", `{"score":70}`, "", none},
		{"text of data", `{"score":"0.7"}`, "", none},
		{"not a number", "", "NaN", none},
		{"words", "", "I can do that", none},
		{"nothing", "", "", none},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := route.ParseAssessment(schemas.Result{Data: jsontext.Value(test.data), Text: test.text})
			if test.want == none {
				if !errors.Is(err, route.ErrNoAssessment) {
					t.Errorf("%v, %v, want none", got, err)
				}
			} else if got != test.want || err != nil {
				t.Errorf("%v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"score":0.7}`, `{"next_agent":"red"}`)
	f.Add(`0.5`, "```json\n{{\"next_agent\":\"r\\\"ed\"}}\n``` 0.7")
	f.Fuzz(func(t *testing.T, data, text string) {
		result := schemas.Result{Data: jsontext.Value(data), Text: text}
		if score, err := route.ParseAssessment(result); err == nil && !(score >= 0 && score <= 1) {
			t.Errorf("score %v", score)
		}
		if d, err := route.ParseDecision(result); err == nil && strings.TrimSpace(d.NextAgent) == "" {
			t.Errorf("%+v", d)
		}
	})
}
