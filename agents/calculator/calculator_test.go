package calculator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/calculator"
	"podium/bus/agent"
	"podium/bus/bustest/cputime"
	"podium/schemas"
)

func newAgent(tb testing.TB) *calculator.Agent {
	tb.Helper()
	agent, err := calculator.New()
	if err != nil {
		tb.Fatal(err)
	}
	return agent
}

func requestWith(language, arguments, description, words string) *agent.Request {
	task := schemas.Task{TaskID: "t1", Description: description, Context: schemas.TaskContext{
		Arguments:   jsontext.Value(arguments),
		Request:     words,
		Constraints: jsontext.Value(`{"language":"` + language + `"}`),
	}}
	return &agent.Request{ExecutionRequest: schemas.ExecutionRequest{
		Payload: schemas.RequestPayload{Tasks: []schemas.Task{task}},
	}}
}

func ignore(int, string) {}

// value returns what the agent answers, and its text.
func value(t *testing.T, request *agent.Request) (data, text string) {
	t.Helper()
	result, err := newAgent(t).Handle(t.Context(), request, ignore)
	if err != nil {
		if failure, ok := errors.AsType[*agent.Failure](err); ok {
			t.Fatalf("%v: %s", err, failure.Message)
		}
		t.Fatal(err)
	}
	var answer calculator.Answer
	if err := schemas.Unmarshal(result.Data, &answer); err != nil {
		t.Fatal(err)
	}
	return string(answer.Value), result.Text
}

func TestFormulaAndInputsByArgument_G12(t *testing.T) {
	t.Parallel()
	tests := []struct{ arguments, value, text string }{
		{`{"formula":"(12.5*8)/4","inputs":{}}`, "25", "(12.5*8)/4 = 25"},
		{`{"formula":"weight / height^2","inputs":{"weight":82,"height":1.8}}`, "25.3086419753086", "weight/height^2 = 25.3086419753086 (weight = 82; height = 1.8)"},
		{`{"formula":"0.1+0.2"}`, "0.3", "0.1 + 0.2 = 0.3"},
		{`{"formula":"Größe * 2","inputs":{"Größe":2}}`, "4", "Größe*2 = 4 (Größe = 2)"},
		{`{"formula":"in + not","inputs":{"in":1,"not":2,"unused":3}}`, "3", "in + not = 3 (in = 1; not = 2)"},
		{`{"formula":"x*e","inputs":{"x":3,"e":2}}`, "6", "x*e = 6 (x = 3; e = 2)"},
		{`{"formula":"82/1,8^2"}`, "25.3086419753086", "82/1.8^2 = 25.3086419753086"},
		{`{"formula":"5"}`, "5", "5 = 5"},
		{`{"formula":"a/2","inputs":{"a":7},"says":"Rate: {value} ml/h."}`, "3.5", "Rate: 3.5 ml/h.\na/2 = 3.5 (a = 7)"},
		{`{"formula":"a-b","inputs":{"a":-1,"b":-2.5}}`, "1.5", "a - b = 1.5 (a = -1; b = -2.5)"},
	}
	for _, test := range tests {
		t.Run(test.arguments, func(t *testing.T) {
			t.Parallel()
			data, text := value(t, requestWith("en", test.arguments, "ignored 1+1", "ignored 2+2"))
			if data != test.value || text != test.text {
				t.Errorf("value %s, text %q; want %s, %q", data, text, test.value, test.text)
			}
		})
	}
}

func TestArithmetic(t *testing.T) {
	t.Parallel()
	for formula, want := range map[string]string{
		"2+3*4":                   "14",
		"(2+3)*4":                 "20",
		"-2^2":                    "-4",
		"(-2)^2":                  "4",
		"2^-1":                    "0.5",
		"2^3^2":                   "512",
		"2**3":                    "8",
		"10-4-3":                  "3",
		"100/10/5":                "2",
		"2*-3":                    "-6",
		"--3":                     "3",
		"17 % 5":                  "2",
		"17.5 mod 5":              "2.5",
		"-7 mod 3":                "-1",
		"15% * 80":                "12",
		"80 + 15%":                "92",
		"80 - 15% + 2":            "70",
		"100 + 20 + 10%":          "132",
		"80 + 15% * 2":            "80.3",
		"10% + 5%":                "0.15",
		"3² + 4³":                 "73",
		"-3²":                     "-9",
		"[1+2]*3":                 "9",
		"6 × 7 ÷ 2 − 1 · 1":       "20",
		"1e3 + 2.5E-1":            "1000.25",
		".5 * 4":                  "2",
		"sqrt(16) + abs(-3)":      "7",
		"round(2.5)":              "3",
		"round(-2.5)":             "-3",
		"round(1.005, 2)":         "1.01",
		"round(1234.5; -2)":       "1200",
		"max(3,5) + min(1, 2, 3)": "6",
		"max(3,5; 2)":             "3.5",
		"sum(1,2,3) / mean(2,4)":  "2",
		"ln(e) + log10(1000)":     "4",
		"sin(pi/2) + cos(0)":      "2",
		"sin(pi)":                 "1.22464679914735e-16",
		"deg(pi)":                 "180",
		"pow(2, 10)":              "1024",
		"mod(7, 4)":               "3",
		"9007199254740993 * 1":    "9.00719925474099e+15",
		"999999999999 + 1":        "1000000000000",
		"1/3":                     "0.333333333333333",
		"0 * -1":                  "0",
		"9223372036854775807 + 1": "9.22337203685478e+18",
		"(-8)^(1/3) * 0 + 1":      "",
	} {
		t.Run(formula, func(t *testing.T) {
			t.Parallel()
			arguments, err := schemas.Marshal(map[string]string{"formula": formula})
			if err != nil {
				t.Fatal(err)
			}
			request := requestWith("en", string(arguments), "", "")
			if want == "" {
				if _, err := newAgent(t).Handle(t.Context(), request, ignore); err == nil {
					t.Error("no error")
				}
				return
			}
			if got, _ := value(t, request); got != want {
				t.Errorf("%s is %s, want %s", formula, got, want)
			}
		})
	}
}

func TestFormulaFoundInText_G12(t *testing.T) {
	t.Parallel()
	tests := []struct{ language, words, value, text string }{
		{"en", "Please calculate (12.5*8)/4 and summarize the text below.", "25", "(12.5*8)/4 = 25"},
		{"de", "Was ist 3 + 4·5?", "23", "3 + 4*5 = 23"},
		{"en", "BMI = 82 / 1.8^2", "25.3086419753086", "82/1.8^2 = 25.3086419753086"},
		{"de", "Bitte berechne 82 / 1,80² für Frau Müller", "25.3086419753086", "82/1,8^2 = 25,3086419753086"},
		{"de", "Was ist 2.500,50 + 1?", "2501.5", "2500,5 + 1 = 2501,5"},
		{"en", "What is 2,500.50 + 1?", "2501.5", "2500.5 + 1 = 2501.5"},
		{"de", "Berechne 1.234 * 2", "2468", "1234*2 = 2468"},
		{"en", "Calculate 1.234 * 2", "2.468", "1.234*2 = 2.468"},
		{"en", "Calculate 1,234 * 2", "2468", "1234*2 = 2468"},
		{"en", "With weight=82, height=1.80: weight / height^2", "25.3086419753086", "weight/height^2 = 25.3086419753086 (weight = 82; height = 1.8)"},
		{"de", "Gewicht: 82 kg, Größe: 1,80 m. Rechne Gewicht / Größe^2 aus.", "25.3086419753086", "Gewicht/Größe^2 = 25,3086419753086 (gewicht = 82; größe = 1,8)"},
		{"en", "15% of 80", "12", "15%*80 = 12"},
		{"de", "Wie viel ist 15 Prozent von 80?", "12", "15%*80 = 12"},
		{"de", "zwölf? Nein: 12 mal 5 plus 3", "63", "12*5 + 3 = 63"},
		{"en", "20 divided by 4, please", "5", "20/4 = 5"},
		{"de", "100 geteilt durch 8", "12.5", "100/8 = 12,5"},
		{"de", "Was ist 10 : 4?", "2.5", "10/4 = 2,5"},
		{"en", "3x4 boxes", "12", "3*4 = 12"},
		{"en", "3 x 4", "12", "3*4 = 12"},
		{"en", "12/4", "3", "12/4 = 3"},
		{"en", "what's 2 + 2", "4", "2 + 2 = 4"},
		{"de", "Wurzel(16) + 1", "5", "sqrt(16) + 1 = 5"},
		{"de", "Was ist max(2,5; 3,5)?", "3.5", "max(2,5; 3,5) = 3,5"},
		{"en", "On 2024-05-17 at 10:30, tel. 030-1234, ref 24/7: compute 6*7.", "42", "6*7 = 42"},
		{"en", "We are open 24/7. The total is 3 + 4.", "7", "3 + 4 = 7"},
		{"en", "Order 3 + 4 is late. What is 5 * 5?", "25", "5*5 = 25"},
		{"en", "What is 10/4? Not 3 + 4.", "2.5", "10/4 = 2.5"},
		{"en", "Calculate the sum of the following: 1 + 2", "3", "1 + 2 = 3"},
		{"en", "- first point\n- calculate 7 * 6\n- thanks", "42", "7*6 = 42"},
		{"en", "calculate (12.5 * 8)\n/ 4 please", "25", "(12.5*8)/4 = 25"},
		{"en", "calculate 1 + 2\n\n3 times", "3", "1 + 2 = 3"},
		{"en", "Total (2 + 3) is known", "5", "(2 + 3) = 5"},
		{"en", "calculate(2 + 3)", "5", "(2 + 3) = 5"},
		{"en", "Result - 3 + 4", "7", "3 + 4 = 7"},
		{"en", "calculate -3 + 4", "1", "-3 + 4 = 1"},
		{"fr", "3 + 4,5", "7.5", "3 + 4.5 = 7.5"},
	}
	for _, test := range tests {
		t.Run(test.words, func(t *testing.T) {
			t.Parallel()
			data, text := value(t, requestWith(test.language, "", test.words, "What is 1 + 1?"))
			if data != test.value || text != test.text {
				t.Errorf("value %s, text %q; want %s, %q", data, text, test.value, test.text)
			}
		})
	}
}

func TestRequestStandsInForADescriptionWithoutCalculation(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{"", "null", "{}"} {
		data, _ := value(t, requestWith("en", arguments, "Step 1: do the calculation", "What is 6 * 7?"))
		if data != "42" {
			t.Errorf("arguments %q: value %s, want 42", arguments, data)
		}
	}
}

func TestBadInputIsAnsweredClearly_G12(t *testing.T) {
	t.Parallel()
	tests := []struct{ arguments, words, message string }{
		{`{"formula":""}`, "", "The formula is missing"},
		{`{"inputs":{"a":1}}`, "1+1", "The formula is missing"},
		{`{"formula":7}`, "", "The arguments are unreadable"},
		{`[1]`, "", "The arguments are unreadable"},
		{`{"formula":"a","inputs":[]}`, "", "The arguments are unreadable"},
		{`{"formula":"a","inputs":{"a":"82"}}`, "", "“a” is not usable"},
		{`{"formula":"a","inputs":{"a":null}}`, "", "“a” is not usable"},
		{`{"formula":"a","inputs":{"a b":1}}`, "", "“a b” is not usable"},
		{`{"formula":"a","inputs":{"a":1e999}}`, "", "“a” is not usable"},
		{`{"formula":"weight / height"}`, "", "uses “weight”"},
		{`{"formula":"W / 2","inputs":{"w":1}}`, "", ""},
		{`{"formula":"log(10)"}`, "", "no function “log”"},
		{`{"formula":"round()"}`, "", "“)” cannot be understood"},
		{`{"formula":"round(1,2,3)"}`, "", "“round” has the wrong number"},
		{`{"formula":"pow(2)"}`, "", "“pow” has the wrong number"},
		{`{"formula":"1 +"}`, "", "incomplete"},
		{`{"formula":"(1 + 2"}`, "", "incomplete"},
		{`{"formula":"1 + 2)"}`, "", "“)” cannot be understood"},
		{`{"formula":"1 2"}`, "", "“2” cannot be understood"},
		{`{"formula":"1 + \"a\""}`, "", "“\"” cannot be understood"},
		{`{"formula":"now()"}`, "", "no function “now”"},
		{`{"formula":"map(1..9, {#})"}`, "", "no function “map”"},
		{`{"formula":"env.x"}`, "", "uses “env”"},
		{`{"formula":"1 ? 2 : 3"}`, "", "“?” cannot be understood"},
		{`{"formula":"1,234 * 2"}`, "", "“1,234” is ambiguous"},
		{`{"formula":"1/0"}`, "", "1/0 divides by zero"},
		{`{"formula":"1/(1/(2-2))"}`, "", "divides by zero"},
		{`{"formula":"7 mod 0"}`, "", "divides by zero"},
		{`{"formula":"0^-1"}`, "", "divides by zero"},
		{`{"formula":"sqrt(-1)"}`, "", "no result among the real numbers"},
		{`{"formula":"ln(0)"}`, "", "no result among the real numbers"},
		{`{"formula":"1/(10^200*10^200)"}`, "", "too large"},
		{`{"formula":"1e999"}`, "", "too large"},
		{`{"formula":"` + strings.Repeat("(", 100) + `"}`, "", "nested too deeply"},
		{`{"formula":"` + strings.Repeat("-", 100) + `1"}`, "", "nested too deeply"},
		{`{"formula":"` + strings.Repeat("1+", 600) + `1"}`, "", "too long"},
		{"", "Please send me the report.", "no calculation in the text"},
		{"", "We are open from 10:30, call 030-1234 on 2024-05-17.", "no calculation in the text"},
		{"", "calculate 3 + 4 * tax", "uses “tax”"},
		{"", "calculate tax * 3 + 4", "“*” cannot be understood"},
		{"", "calculate log(100) * 2", "no function “log”"},
		{"", "calculate foo(1, 2 + 3)", "no function “foo”"},
		{"", "calculate (3 + 4 people) * 2", "“*” cannot be understood"},
		{"", "calculate tax * (3 + 4 people)", "“*” cannot be understood"},
		{"", "What is 5 / 0?", "5/0 divides by zero"},
	}
	for _, test := range tests {
		t.Run(test.arguments+test.words, func(t *testing.T) {
			t.Parallel()
			_, err := newAgent(t).Handle(t.Context(), requestWith("en", test.arguments, test.words, ""), ignore)
			if test.message == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var failure *agent.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v, want a *agent.Failure", err)
			}
			if !failure.Permanent || !strings.Contains(failure.Message, test.message) {
				t.Errorf("permanent %v, message %q, want %q in it", failure.Permanent, failure.Message, test.message)
			}
			if strings.ContainsAny(failure.Message, "{}") && !strings.Contains(failure.Message, `{"formula"`) {
				t.Errorf("message %q has an empty place", failure.Message)
			}
			if failure.Err == nil || strings.Contains(failure.Error(), "tax") {
				t.Errorf("the error for the log is %q", failure.Error())
			}
		})
	}
}

func TestRefusalsInTheLanguageOfTheRequest(t *testing.T) {
	t.Parallel()
	_, err := newAgent(t).Handle(t.Context(), requestWith("de", `{"formula":"1,5/0"}`, "", ""), ignore)
	var failure *agent.Failure
	if !errors.As(err, &failure) || failure.Message != "Die Rechnung 1,5/0 teilt durch null. Bitte einen Divisor angeben, der nicht null ist." {
		t.Errorf("got %v", failure)
	}
}

func TestDataNamesOnlyTheInputsUsed(t *testing.T) {
	t.Parallel()
	result, err := newAgent(t).Handle(t.Context(),
		requestWith("de", `{"formula":"a*2,5","inputs":{"a":1.5,"b":2}}`, "", ""), ignore)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"formula":"a*2.5","inputs":{"a":1.5},"value":3.75}`; string(result.Data) != want {
		t.Errorf("data %s, want %s", result.Data, want)
	}
	if want := "a*2,5 = 3,75 (a = 1,5)"; result.Text != want {
		t.Errorf("text %q, want %q", result.Text, want)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	entry := newAgent(t).Description()
	if entry.Name != "" || entry.Kind != "calculator" || entry.SideEffects != "" || !entry.InputSchema.IsValid() {
		t.Errorf("unexpected entry %+v", entry)
	}
}

// TestLongTextsAreReadInTime proves that reading a text takes time in proportion
// to its length, whatever it holds: four times the text takes four times as long, and
// not sixteen times.
//
//nolint:paralleltest,tparallel // its subtests measure
func TestLongTextsAreReadInTime(t *testing.T) {
	agent := newAgent(t)
	reading := func(piece string, length int) func() {
		request := requestWith("de", "", strings.Repeat(piece, length/len(piece)), "")
		return func() { _, _ = agent.Handle(t.Context(), request, ignore) }
	}
	for _, piece := range []string{"(", "1+(", "-", "max(", "a=1 ", "1,", "word ", "1^", "2%", "what is ", "1 + 1 ", "max(1;", "[1]", "1²", "\n", "'", "1.", "x", " ", "\n", "1 ", "(1)", "a(1)", "- "} {
		t.Run(piece, func(t *testing.T) {
			long := reading(piece, 32<<10)
			if cputime.Of(t, long) > 50*time.Millisecond {
				cputime.Proportion(t, "a text of 32 KiB", 10, reading(piece, 8<<10), long)
			}
		})
	}
}

// FuzzText proves that no text breaks the agent, and that what it answers is a
// number with the formula it comes from, or a refusal without empty places.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"Please calculate (12.5*8)/4 and …", "Was ist 3 + 4·5?", "BMI = 82 / 1.8^2", "weight=82: weight^2%",
		"max(1,2;3) mod 4", "((((1", "1e9^9^9", "3x4²³ % of 7", "1.234.567,89 + 1'234", "a=1 b:2 a-b--b", "10 : 0",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	agent := newAgent(f)
	f.Fuzz(func(t *testing.T, text string, german bool) {
		language := "en"
		if german {
			language = "de"
		}
		checkOutcome(t, agent, requestWith(language, "", text, ""))
	})
}

// FuzzFormula does the same for formulas given as argument.
func FuzzFormula(f *testing.F) {
	for _, seed := range []string{"a+b", "(1)", "a^b^a", "1%%2", "sum(a,b;1)", "f_power(1,2)", "v0", "1/a", "-a²", "a[0]", "a?.b", "let x = 1; x"} {
		f.Add(seed, 1.5, -2.0)
	}
	agent := newAgent(f)
	f.Fuzz(func(t *testing.T, formula string, a, b float64) {
		arguments, err := schemas.Marshal(map[string]any{"formula": formula, "inputs": map[string]float64{"a": a, "b": b}})
		if err != nil {
			return // not a JSON value
		}
		checkOutcome(t, agent, requestWith("en", string(arguments), "", ""))
	})
}

func checkOutcome(t *testing.T, tested *calculator.Agent, request *agent.Request) {
	t.Helper()
	result, err := tested.Handle(t.Context(), request, ignore)
	if err != nil {
		var failure *agent.Failure
		if !errors.As(err, &failure) || !failure.Permanent || failure.Message == "" {
			t.Fatalf("not a clear refusal: %v", err)
		}
		if strings.Contains(fmt.Sprint(failure.Err), "library") {
			t.Fatalf("the parser accepts what the library refuses: %v", failure.Err)
		}
		return
	}
	var answer calculator.Answer
	if err := schemas.Unmarshal(result.Data, &answer); err != nil {
		t.Fatalf("data %s: %v", result.Data, err)
	}
	if answer.Value.Kind() != '0' || answer.Formula == "" || !strings.Contains(result.Text, " = ") {
		t.Fatalf("data %s, text %q", result.Data, result.Text)
	}
}
