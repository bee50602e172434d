package llm

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/kaptinlin/jsonrepair"

	"podium/schemas"
	"podium/schemas/validation"
)

// A shape is what an answer of data has to look like.
type shape struct {
	asked  jsontext.Value     // the schema that the model is told, and the server, if it enforces
	strict bool               // asked is within what servers can enforce to the letter
	held   *validation.Schema // what the answer is held to: asked, but for what does no harm
	// tidy leaves out of an answer what is of no use, before it is held to the schema. Nil leaves it.
	tidy func(jsontext.Value) jsontext.Value
}

// The bounds of looking for data in words.
const (
	maxRepair     = 64 << 10 // bytes of broken JSON
	maxBrackets   = 2 << 10  // in it
	maxBegin      = 256      // bytes that tell data from a bracket of prose
	maxValues     = 64       // that may begin in prose
	maxFaults     = 8        // that are told
	maxFaultBytes = 1 << 10
)

// read returns the data of an answer, or an invalidError with what is wrong with what comes closest.
func (s *shape) read(text string) (jsontext.Value, error) {
	text = withoutThoughts(text, false).answer
	closest := ""
	for _, candidate := range candidates(text) {
		value, fault := s.accept(candidate)
		if fault == "" {
			return value, nil
		}
		if closest == "" {
			closest = fault
		}
	}
	if value, ok := repaired(text); ok {
		value, fault := s.accept(value)
		if fault == "" {
			return value, nil
		}
		closest = cmp.Or(closest, fault)
	}
	if closest == "" {
		closest = "it holds no JSON object"
	}
	return nil, &invalidError{closest}
}

// accept holds a value to the schema, and what is in it if it does nothing but wrap. A fault that is told
// is that of the inner one.
func (s *shape) accept(value jsontext.Value) (accepted jsontext.Value, fault string) {
	for {
		tidied := value
		if s.tidy != nil {
			tidied = s.tidy(value)
		}
		if fault = s.faultOf(tidied); fault == "" {
			return tidied, ""
		}
		inner, wrapped := unwrap(value)
		if !wrapped {
			return nil, fault
		}
		value = inner
	}
}

func (s *shape) faultOf(value jsontext.Value) string {
	problems, err := s.held.Problems(value)
	if err != nil {
		return "it is not JSON"
	}
	var told []string
	for _, problem := range problems[:min(len(problems), maxFaults)] {
		told = append(told, strings.TrimSpace(problem.Pointer+" "+problem.Reason))
	}
	fault := strings.Join(told, "; ")
	return strings.ToValidUTF8(fault[:min(len(fault), maxFaultBytes)], "")
}

// wrappers are names under which models put what was asked for.
func wrappers() []string { return []string{"output", "response", "result"} }

// unwrap returns what is in an object of nothing but a wrapper: also as a text, and fenced.
func unwrap(value jsontext.Value) (inner jsontext.Value, wrapped bool) {
	var members map[string]jsontext.Value
	if value.Kind() != '{' || schemas.Unmarshal(value, &members) != nil || len(members) != 1 {
		return nil, false
	}
	for name, member := range members {
		if !slices.Contains(wrappers(), strings.ToLower(name)) {
			return nil, false
		}
		inner = member
	}
	if inner.Kind() == '"' {
		found := candidates(stringOf(inner))
		if len(found) == 0 {
			return nil, false
		}
		inner = found[0]
	}
	return inner, true
}

func stringOf(value jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(text)
}

// candidates are the JSON objects and lists in an answer, the likeliest first: all of it, what is fenced, what
// stands in prose; of several the last.
func candidates(text string) []jsontext.Value {
	if whole := jsontext.Value(strings.TrimSpace(text)); composite(whole) {
		return []jsontext.Value{whole}
	}
	var found []jsontext.Value
	for _, block := range slices.Backward(fenced(text)) {
		if value := jsontext.Value(block); composite(value) {
			found = append(found, value)
		}
	}
	return append(found, inProse(text)...)
}

func composite(value jsontext.Value) bool {
	return len(value) > 0 && (value[0] == '{' || value[0] == '[') && value.IsValid()
}

// begins finds where data begins, and not a bracket of prose.
func begins() *regexp.Regexp { return regexp.MustCompile(`\{\s*["'A-Za-z_][^{}]*?:|\[\s*[{"]`) }

// fenced are the texts between the fences of Markdown.
func fenced(text string) []string {
	var blocks []string
	for _, match := range regexp.MustCompile("(?s)```[A-Za-z0-9]*[ \t]*\r?\n(.*?)(?:```|$)").FindAllStringSubmatch(text, maxValues) {
		blocks = append(blocks, strings.TrimSpace(match[1]))
	}
	return blocks
}

func inProse(text string) []jsontext.Value {
	var found []jsontext.Value
	start := begins()
	rest := []byte(text)
	for range maxValues {
		at := bytes.IndexAny(rest, "{[")
		if at < 0 {
			break
		}
		rest = rest[at:]
		value, err := jsontext.NewDecoder(bytes.NewReader(rest)).ReadValue()
		if found := start.FindIndex(rest[:min(len(rest), maxBegin)]); err != nil && found != nil && found[0] == 0 {
			break // it is broken, and what is in it is not the answer
		}
		if err != nil {
			rest = rest[1:]
			continue
		}
		found = append(found, value.Clone())
		rest = rest[len(value):]
	}
	slices.Reverse(found)
	return found
}

// repaired mends the JSON that begins in a text: quotes, commas and brackets that are missing or too many.
func repaired(text string) (jsontext.Value, bool) {
	broken := text
	if blocks := fenced(text); len(blocks) > 0 {
		broken = blocks[len(blocks)-1]
	}
	at := strings.IndexAny(broken, "{[")
	if found := begins().FindStringIndex(broken[:min(len(broken), maxRepair)]); found != nil {
		at = found[0]
	}
	if at < 0 || len(broken)-at > maxRepair || strings.Count(broken, "{")+strings.Count(broken, "[") > maxBrackets {
		return nil, false
	}
	broken = broken[at:]
	if end := strings.LastIndexAny(broken, "}]"); end > 0 { // first without the words behind it
		if value, ok := mended(broken[:end+1]); ok {
			return value, true
		}
	}
	return mended(broken)
}

func mended(broken string) (jsontext.Value, bool) {
	text, err := jsonrepair.Repair(broken)
	value := jsontext.Value(text)
	return value, err == nil && composite(value)
}

// wordsIn are the words of an answer for a person: all of it, or what a lone member holds.
func wordsIn(text string) (string, error) {
	text = strings.TrimSpace(withoutThoughts(text, false).answer)
	var members map[string]jsontext.Value
	if strings.HasPrefix(text, "{") && schemas.Unmarshal([]byte(text), &members) == nil && len(members) == 1 {
		for name, member := range members {
			if slices.Contains(append(wrappers(), "text", "answer"), strings.ToLower(name)) && member.Kind() == '"' {
				text = strings.TrimSpace(withoutThoughts(stringOf(member), false).answer)
			}
		}
	}
	if text == "" {
		return "", errNoWords
	}
	return strings.ToValidUTF8(text, "\uFFFD"), nil
}

// wordsSoFar are those of an answer that goes on. There are none while the model thinks, or may be writing JSON. An
// end that may become a mark is held back.
func wordsSoFar(text string) string {
	text = strings.TrimSpace(withoutThoughts(text, true).answer)
	if strings.HasPrefix(text, "{") || strings.HasPrefix("analysis", text) {
		return ""
	}
	return strings.TrimSpace(text[:len(text)-len(markBegun(text))])
}

// maxToken bounds a mark that is made of several tokens, in bytes.
const maxToken = 500

// markBegun returns the end of a text that may become a mark of reasoning, or "".
func markBegun(text string) string {
	last := text[max(0, len(text)-maxToken):]
	if at := strings.Index(last, "<|"); at >= 0 {
		return last[at:]
	}
	at := strings.LastIndexAny(last, "<[◁")
	if at < 0 {
		return ""
	}
	begun := strings.TrimRight(strings.ToLower(last[at:]), " \t\r\n")
	if slices.ContainsFunc(spelledMarks(), func(whole string) bool { return strings.HasPrefix(whole, begun) }) {
		return last[at:]
	}
	return ""
}

// spelledMarks are the marks that are one word, in lower case.
func spelledMarks() []string {
	marks := []string{"<|", "[think]", "[/think]", "◁think▷", "◁/think▷", "<unused94>", "<unused95>", "<channel|>"}
	for _, name := range []string{
		"thinking", "thinks", "thoughts", "reasoning", "reflection", "scratchpad", "seed:think", "answer", "response", "output", "final_answer",
	} {
		marks = append(marks, "<"+name, "</"+name)
	}
	return marks
}

var errNoWords = errors.New("the answer holds no words")
