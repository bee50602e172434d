package arguments_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/arguments"
)

var utterancesFile = flag.String("utterances", "", "measure on this file instead of holding testdata to be right")

// An utterance is a message, and what it says.
type utterance struct {
	ID          string         `json:"id"`
	Language    string         `json:"language"`
	Agent       string         `json:"agent"`
	Channel     string         `json:"channel"`
	Subject     string         `json:"subject"`
	Text        string         `json:"text"`
	Quoted      string         `json:"quoted"`
	Attachments []attachment   `json:"attachments"`
	Sent        time.Time      `json:"sent"`
	PatientID   string         `json:"patient_id"`
	From        string         `json:"from"`
	Want        map[string]any `json:"want"`
	Ask         []string       `json:"ask"`
	Effect      bool           `json:"effect"`
}

// An attachment is a name with a media type.
type attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
}

// A practiceAgent is what the profile of the practice says of one agent.
type practiceAgent struct {
	Spec   arguments.Spec  `json:"spec"`
	Schema json.RawMessage `json:"schema"`
}

func practiceAgents(tb testing.TB) map[string]practiceAgent {
	tb.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "practice.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var written struct {
		Agents map[string]practiceAgent `json:"agents"`
	}
	if err := json.Unmarshal(body, &written); err != nil {
		tb.Fatal(err)
	}
	return written.Agents
}

func practice(tb testing.TB) map[string]*arguments.Filler {
	tb.Helper()
	agents, fillers := practiceAgents(tb), map[string]*arguments.Filler{}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		filler, err := arguments.Compile(agents[name].Spec, jsontext.Value(agents[name].Schema))
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		fillers[name] = filler
	}
	return fillers
}

func utterances(tb testing.TB, file string) []utterance {
	tb.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var all []utterance
	if err := json.Unmarshal(body, &all); err != nil {
		tb.Fatal(err)
	}
	return all
}

// A verdict on one utterance.
type verdict string

const (
	right       verdict = "right"
	asked       verdict = "asked" // nothing wrong, but something asked that was there
	wrong       verdict = "wrong without effect"
	wrongEffect verdict = "wrong with effect"
)

// TestUtterances fills the nine calls of the practice from examples in German and English. With
// -utterances it measures on another file and tells what it finds.
func TestUtterances(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "examples.json")
	measuring := *utterancesFile != ""
	if measuring {
		file = *utterancesFile
	}
	fillers := practice(t)
	count, agents := map[verdict]int{}, map[string]int{}
	all := utterances(t, file)
	for i := range all {
		u := &all[i]
		filler, ok := fillers[u.Agent]
		if !ok {
			t.Fatalf("%s: no agent %s", u.ID, u.Agent)
		}
		filled := filler.Fill(u.given(t))
		verdict, why := u.judge(t, filled)
		count[verdict]++
		agents[u.Agent]++
		if verdict == right {
			continue
		}
		say := t.Errorf
		if measuring {
			say = t.Logf
		}
		say("%s %s %s: %s\n\t%q\n\tvalues %s\n\task %s\n\twant %s\n\task %s", u.ID, u.Agent, verdict, why, u.Text,
			filled.Values, paths(filled), mustJSON(t, u.Want), u.Ask)
	}
	t.Logf("%d utterances: %d right, %d asked, %d wrong with effect, %d wrong without effect",
		len(all), count[right], count[asked], count[wrongEffect], count[wrong])
	if !measuring && (len(all) < 60 || len(agents) != 9) {
		t.Errorf("%d examples of %d agents, want at least 60 of 9", len(all), len(agents))
	}
}

// TestHoldouts holds what became of the files that others have written: right, asked, wrong with an effect and without one. A message that gets
// better or worse has to be looked at. Of holdout2.json, whose formats left open what free text holds, nearly all that is wrong differs in that.
func TestHoldouts(t *testing.T) {
	t.Parallel()
	fillers := practice(t)
	for file, want := range map[string][4]int{
		"holdout.json": {146, 54, 0, 0}, "holdout2.json": {74, 78, 44, 4}, "holdout3.json": {104, 96, 0, 0}, "holdout4.json": {103, 96, 0, 1},
		"holdout5.json": {87, 110, 2, 1},
	} {
		count := map[verdict]int{}
		all := utterances(t, filepath.Join("testdata", file))
		for i := range all {
			u := &all[i]
			verdict, _ := u.judge(t, fillers[u.Agent].Fill(u.given(t)))
			count[verdict]++
		}
		if got := [4]int{count[right], count[asked], count[wrongEffect], count[wrong]}; got != want {
			t.Errorf("%s: %v right, asked, wrong with an effect and without one, want %v", file, got, want)
		}
	}
}

// TestAttacks: what is negated, corrected, only mentioned, doubted or of somebody else is asked about. Nothing
// may be wrong there; what is asked besides is not held against the rules.
func TestAttacks(t *testing.T) {
	t.Parallel()
	fillers, count := practice(t), map[verdict]int{}
	all := utterances(t, filepath.Join("testdata", "attacks.json"))
	for i := range all {
		u := &all[i]
		filled := fillers[u.Agent].Fill(u.given(t))
		verdict, why := u.judge(t, filled)
		count[verdict]++
		if verdict == wrong || verdict == wrongEffect {
			t.Errorf("%s %s %s: %s\n\t%q\n\tvalues %s\n\task %s", u.ID, u.Agent, verdict, why, u.Text, filled.Values, paths(filled))
		}
	}
	t.Logf("%d attacks: %d right, %d asked", len(all), count[right], count[asked])
	if len(all) < 60 {
		t.Errorf("%d attacks, want at least 60", len(all))
	}
}

func (u *utterance) given(tb testing.TB) arguments.Given {
	tb.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		tb.Fatal(err)
	}
	given := arguments.Given{
		Words: u.Text, Language: u.Language, Moment: u.Sent, Location: berlin,
	}
	if u.From != "" {
		given.Message = arguments.Message{From: u.From, Subject: u.Subject}
	}
	if u.PatientID != "" {
		given.Entities = map[string]string{"patient_id": u.PatientID}
	}
	for _, file := range u.Attachments {
		given.Files = append(given.Files, arguments.File{Reference: file.Name, MediaType: file.MediaType})
	}
	return given
}

// judge compares what was filled with what the utterance says. Context is not scored unless it is wanted, and all of the words, which are
// taken with the answer, not where it is asked which document they order.
func (u *utterance) judge(tb testing.TB, filled arguments.Filled) (verdict, string) {
	tb.Helper()
	bad := wrong
	if u.Effect {
		bad = wrongEffect
	}
	var values map[string]any
	if err := json.Unmarshal(filled.Values, &values); err != nil {
		tb.Fatal(err)
	}
	got, want := leaves(values), leaves(u.Want)
	questions := paths(filled)
	if len(filled.Refused) > 0 {
		return bad, fmt.Sprint("refused ", filled.Refused)
	}
	over := []string{}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		value, there := got[path]
		switch {
		case there && !u.equal(path, value, want[path]):
			return bad, fmt.Sprintf("%s is %v, want %v", path, value, want[path])
		case !there && slices.Contains(questions, path):
			over = append(over, path)
		case !there && !u.hides(path, questions) && !(want[path] == "$text" && slices.Contains(questions, "document_type")):
			return bad, path + " is neither filled nor asked"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok && path != "context" {
			return bad, fmt.Sprintf("%s is %v, and was not said", path, got[path])
		}
	}
	for _, path := range u.Ask {
		if !slices.Contains(questions, path) && !u.hides(path, questions) && !u.alternative(path, questions) {
			return bad, path + " is not asked"
		}
	}
	for _, path := range questions {
		if !slices.Contains(u.Ask, path) && !slices.ContainsFunc(u.Ask, func(ask string) bool { return u.alternative(ask, []string{path}) }) && !slices.Contains(over, path) {
			over = append(over, path)
		}
	}
	if len(over) > 0 {
		return asked, "asked for " + strings.Join(over, ", ")
	}
	return right, ""
}

// hides says whether a question comes first on which all others depend.
func (u *utterance) hides(path string, questions []string) bool {
	return slices.ContainsFunc(questions, func(q string) bool { return (q == "action" || q == "formula") && path != q })
}

// alternative says whether a question is as good as the one that is expected.
func (u *utterance) alternative(path string, questions []string) bool {
	const date, name = "appointment_data.date", "appointment_data.patient_name"
	return path == date && slices.Contains(questions, name) || path == name && slices.Contains(questions, date)
}

func paths(filled arguments.Filled) []string {
	found := make([]string, len(filled.Missing))
	for i, missing := range filled.Missing {
		found[i] = missing.Path
	}
	return found
}

// leaves are the values that are no object, by their paths.
func leaves(object map[string]any) map[string]any {
	flat := map[string]any{}
	for name, value := range object {
		inner, ok := value.(map[string]any)
		if !ok {
			flat[name] = value
			continue
		}
		for path, leaf := range leaves(inner) {
			flat[name+"."+path] = leaf
		}
	}
	return flat
}

// degree is one or several before a name.
var degree = regexp.MustCompile(`^(?:(?:Dr|Prof|med|Professor|Doktor)\b\.?\s*)+`)

// equal compares two values as the formats of the measurement say: without case, phone numbers without
// separators, and any part of the words as good as all of them.
func (u *utterance) equal(path string, got, want any) bool {
	if wanted, ok := want.(string); ok {
		text, isText := got.(string)
		if !isText {
			return false
		}
		if wanted == "$text" {
			wanted = u.Text
		}
		if path == "content" && strings.TrimSpace(text) == strings.TrimSpace(u.Text) {
			return strings.Contains(u.Text, strings.TrimSpace(wanted))
		}
		if strings.HasSuffix(path, "name") || path == "recipient" {
			// Files whose formats did not say whether a degree belongs to a name have it without.
			if bare := degree.ReplaceAllString(text, ""); degree.FindString(wanted) == "" && strings.Contains(u.Text, text) {
				text = bare
			}
		}
		if strings.HasSuffix(path, "phone") {
			return digits(text) == digits(wanted)
		}
		return strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(wanted))
	}
	return mustEqualJSON(got, want)
}

func mustEqualJSON(a, b any) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && strings.EqualFold(string(one), string(other))
}

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '+' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
}

func mustJSON(tb testing.TB, value any) string {
	tb.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return string(body)
}
