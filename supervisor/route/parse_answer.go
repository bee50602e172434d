package route

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"podium/schemas"
)

// ParseDecision reads what an agent that was asked to route has answered (O-10,
// O-11, O-34): an object with next_agent, reasoning and response, in its data,
// else in its text, where it may be fenced and stand in prose; of several the
// last. Whether the name is one of the closed set is for DecideWith to say (O-12).
// Nothing else is read. The error is ErrNoDecision.
func ParseDecision(result schemas.Result) (Said, error) {
	var found Said
	read := func(object string) bool {
		var said Said
		if schemas.Unmarshal([]byte(object), &said) != nil || strings.TrimSpace(said.NextAgent) == "" {
			return false
		}
		found = said
		return true
	}
	if !objects(string(result.Data), read) && !objects(result.Text, read) {
		return Said{}, ErrNoDecision
	}
	return found, nil
}

// ErrNoDecision reports an answer in which there is no decision.
var ErrNoDecision = errors.New("it holds no next_agent")

// ErrNoAssessment reports an answer in which there is no assessment.
var ErrNoAssessment = errors.New("it holds no score between 0 and 1")

// ParseAssessment reads how well an agent says that it could do a task (P-06):
// an object with score or can_handle, or nothing but the number, in its data,
// else in its text, where an object may be fenced and stand in prose, and a
// number must be the only one. True is 1 and false is 0. The error is
// ErrNoAssessment.
func ParseAssessment(result schemas.Result) (float64, error) {
	var score float64
	read := func(object string) bool {
		var said struct {
			Score     any `json:"score"`
			CanHandle any `json:"can_handle"`
		}
		if schemas.Unmarshal([]byte(object), &said) != nil {
			return false
		}
		value := said.Score
		if value == nil {
			value = said.CanHandle
		}
		number, ok := share(value)
		if ok {
			score = number
		}
		return ok
	}
	var bare any
	if len(result.Data) > 0 && schemas.Unmarshal(result.Data, &bare) == nil {
		if number, ok := share(bare); ok {
			return number, nil
		}
	}
	if objects(string(result.Data), read) || objects(result.Text, read) {
		return score, nil
	}
	if number, ok := onlyNumber(result.Text); ok {
		return number, nil
	}
	return 0, ErrNoAssessment
}

// share reads a JSON value that is a share of one.
func share(value any) (float64, bool) {
	switch v := value.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case float64:
		return v, v >= 0 && v <= 1
	}
	return 0, false
}

// onlyNumber reads the number of a text that holds exactly one.
func onlyNumber(text string) (float64, bool) {
	number, found := "", 0
	for word := range strings.FieldsFuncSeq(head(text, answerLimit), func(c rune) bool {
		return unicode.IsSpace(c) || c == ':' || c == '='
	}) {
		word = strings.TrimFunc(word, func(c rune) bool { return unicode.IsPunct(c) && c != '-' && c != '%' || c == '`' })
		if strings.ContainsFunc(word, unicode.IsDigit) {
			number, found = word, found+1
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	return value, found == 1 && err == nil && value >= 0 && value <= 1
}

// What is read of an answer, so that no answer makes reading it long.
const (
	answerLimit = 64 << 10        // bytes, from the end
	objectLimit = 256             // that may begin
	readLimit   = 4 * answerLimit // bytes of objects in objects
)

// objects calls read for the JSON objects in a text and, where one is not what
// is looked for, for those in it. It reports whether read said so of any.
func objects(text string, read func(object string) bool) bool {
	text = text[max(0, len(text)-answerLimit):]
	found, wasRead := false, 0
	for tries := 0; tries < objectLimit && wasRead < readLimit; tries++ {
		begin := strings.IndexByte(text, '{')
		if begin < 0 {
			break
		}
		text = text[begin:]
		skip := 1
		end := objectEnd(text)
		if wasRead += end; end > 0 && read(text[:end]) {
			found, skip = true, end
		}
		text = text[skip:]
	}
	return found
}

// objectEnd returns where the object that a text begins with ends, or 0.
func objectEnd(text string) int {
	depth, quoted := 0, false
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return 0
}
