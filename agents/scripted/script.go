package scripted

import (
	"bytes"
	"cmp"
	"maps"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
)

// A Script is what an agent answers. It is never written to once an agent has it.
type Script struct {
	Cases []Case // the first that fits counts
	// Otherwise is for what fits none; nil is a failure.
	Otherwise *Answer
}

// A Case is an answer and what it is for: all of its conditions have to hold.
type Case struct {
	// Words reports whether it is for the words of a task, or for those of a person when a plan is asked
	// for; nil takes any.
	Words func(words string) bool
	// Kind is that of the requests; empty is work.
	Kind schemas.RequestKind
	// Arguments are an object: a request has to have each of its members, with an equal value. Others
	// do not matter.
	Arguments jsontext.Value
	// Answered reports whether it is for the newest of the answers that people have given about the task, and is not
	// asked while there is none; nil takes any, and none.
	Answered func(words string) bool
	// Values are an object: what the words of people say (schemas.InquiryAnswer.Values) has to have each of its members,
	// with an equal value. Of several answers that say a member the newest counts.
	Values  jsontext.Value
	Attempt int // 1 is the first; 0 is any
	Answer
}

// An Answer is what becomes of a request.
type Answer struct {
	Place string        // in the script, for the log
	Delay time.Duration // before anything else
	Text  *Template     // of the result, or of the failure; nil is none
	Made  agent.Outcome // all the rest of the outcome
	Files []File        // each is a deliverable
	Acts  bool          // asks for a permit
	Fails Failing       // empty: it does not
}

// A File is kept anew for each answer. What it is stands in About, but for its artifact.
type File struct {
	MediaType string
	Content   []byte
	About     schemas.Deliverable // Path is its name
}

// Failing is how an answer fails.
type Failing string

// The ways to fail.
const (
	FailsTemporary Failing = "temporary" // another attempt may help
	FailsPermanent Failing = "permanent" // none can
	FailsResource  Failing = "resource"  // the agent is well, and has no room for this now
	FailsUnknown   Failing = "unknown"   // what was permitted may have happened
)

// answer returns what a request gets; nil when the script has nothing.
func (s *Script) answer(request *agent.Request) *Answer {
	for i := range s.Cases {
		if s.Cases[i].fits(request) {
			return &s.Cases[i].Answer
		}
	}
	return s.Otherwise
}

func (c *Case) fits(request *agent.Request) bool {
	told := &request.Task().Context
	return cmp.Or(c.Kind, schemas.KindWork) == cmp.Or(told.Kind, schemas.KindWork) &&
		(c.Attempt == 0 || c.Attempt == request.Attempt) &&
		(c.Words == nil || c.Words(askedFor(request))) &&
		(len(c.Arguments) == 0 || hasMembers(told.Arguments, c.Arguments)) &&
		(c.Answered == nil || len(told.Answers) > 0 && c.Answered(told.Answers[len(told.Answers)-1].Text)) &&
		(len(c.Values) == 0 || hasMembers(valuesOf(told.Answers), c.Values))
}

// valuesOf are what the words of people say by name, the newest for each: an object.
func valuesOf(answers []schemas.InquiryAnswer) jsontext.Value {
	said := map[string]jsontext.Value{}
	for i := range answers {
		var values map[string]jsontext.Value
		if schemas.Unmarshal(answers[i].Values, &values) == nil {
			maps.Copy(said, values)
		}
	}
	object, err := schemas.Marshal(said)
	if err != nil {
		return nil
	}
	return object
}

// askedFor are the words of a task, which are what routers read, too. A plan is asked for in a person's words.
func askedFor(request *agent.Request) string {
	if request.Task().Context.Kind == schemas.KindPlan {
		return wordsOf(request)
	}
	return cmp.Or(request.Task().Description, request.Task().Context.Request)
}

// wordsOf are a person's words, or the task's when there are none.
func wordsOf(request *agent.Request) string {
	return cmp.Or(request.Task().Context.Request, request.Task().Description)
}

// hasMembers reports whether an object has all members of another one.
func hasMembers(object, wanted jsontext.Value) bool {
	var has, want map[string]jsontext.Value
	if schemas.Unmarshal(object, &has) != nil || schemas.Unmarshal(wanted, &want) != nil {
		return false
	}
	for name, value := range want {
		if !equal(has[name], value) {
			return false
		}
	}
	return true
}

// equal compares two values as JSON: the order of members and the spelling of numbers do not matter.
func equal(one, other jsontext.Value) bool {
	one, other = one.Clone(), other.Clone()
	return one.Canonicalize() == nil && other.Canonicalize() == nil && bytes.Equal(one, other)
}
