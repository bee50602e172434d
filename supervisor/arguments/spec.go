package arguments

import (
	"cmp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// A Spec is what a profile says about filling the arguments of one agent.
type Spec struct {
	Input Input  `json:"input,omitzero"`
	Rules []Rule `json:"arguments,omitzero"`
	// Trusted paths take nothing from tainted words: what stands there is asked about.
	Trusted []string `json:"trusted,omitzero"`
	// Hours are those in which a time of day is meant: "at 3" is 15:00 from 07:00 to 19:00.
	Hours Hours `json:"hours,omitzero"`
	// Known are words and wordings of this work that change nothing where a rule wants the words understood.
	Known []string `json:"known,omitzero"`
}

// Input says what an agent works on.
type Input string

// The inputs. Without one it is arguments if the schema requires any, else words.
const (
	InputWords     Input = "words"     // nothing is filled but what is given
	InputArguments Input = "arguments" // what is missing is asked
	InputEither    Input = "either"    // the agent can do with the words: what is missing need not be asked
)

// Hours are from one time of day, as in 07:00, until before another.
type Hours struct {
	From  string `json:"from"`
	Until string `json:"until"`
}

// A Rule says where the value of one place comes from: exactly one of Map, Pattern, Find,
// Entity, Attachments, Message, Words, Same and Constant, or a Default alone. Rules of the same path are tried in their order
// until one has a value, or several.
type Rule struct {
	Path string `json:"path"` // names from the root of the schema, with dots between them

	Map         []Choice `json:"map,omitzero"`         // two different hits ask
	Pattern     string   `json:"pattern,omitzero"`     // RE2; the group called value, or the first one, or all of it
	Find        Kind     `json:"find,omitzero"`        // what a recogniser finds
	Entity      string   `json:"entity,omitzero"`      // what the session is about, by name
	Attachments string   `json:"attachments,omitzero"` // the files of this media type, as in image/*
	Message     []Member `json:"message,omitzero"`     // members of the received message, as an object; alone, one is the value of a text
	Words       bool     `json:"words,omitzero"`       // all new words
	Same        string   `json:"same,omitzero"`        // the value at another path
	Constant    string   `json:"constant,omitzero"`    // what follows from the conditions of the rule

	// Default is taken when no rule of the path has anything. In a place that has choices it must be one of Harmless.
	Default  string   `json:"default,omitzero"`
	Harmless []string `json:"harmless,omitzero"` // choices that cause no effect

	If       []Condition `json:"if,omitzero"`        // values filled before; all must hold
	Received bool        `json:"received,omitzero"`  // only where a message with a sender was received
	When     []string    `json:"when,omitzero"`      // keywords as in Choice, one of which must stand in the words
	Unless   []string    `json:"unless,omitzero"`    // keywords, none of which may stand in the words
	After    []string    `json:"after,omitzero"`     // what is found counts right behind one of these words
	NotAfter []string    `json:"not_after,omitzero"` // and behind none of these
	As       Kind        `json:"as,omitzero"`        // how the text of a pattern is read
	Units    []Unit      `json:"units,omitzero"`     // a number counts before one of these words
	Past     bool        `json:"past,omitzero"`      // a date without a year is the last one, not the next
	Never    []string    `json:"never,omitzero"`     // what a pattern may match and is no value
	// NoDegrees leaves out persons with a degree and no other title: those who serve, where whoever is served is looked for.
	NoDegrees bool `json:"no_degrees,omitzero"`
	// Confirm: what is found is asked about, and never taken. Without a source, the rule asks where it applies.
	Confirm bool `json:"confirm,omitzero"`
	// Phrase: the text of a pattern is the name of a thing. A number, or a word that changes nothing, is no part of one.
	Phrase bool `json:"phrase,omitzero"`
	// Own: who has signed is meant only where they write of something that is theirs.
	Own bool `json:"own,omitzero"`
	// Understood: nothing of the text is taken before so much of it has been understood, each word of it.
	// In a question that asks for an answer only, the harmless choices are taken all the same, except by intent.
	Understood Understood `json:"understood,omitzero"`
	// Whole: with sentence and intent, every word of the other sentences as well. Only words that are taken as they were written may say anything,
	// up to the end of the sentence in which they begin.
	Whole bool `json:"whole,omitzero"`

	Ask map[string]string `json:"ask,omitzero"` // the question, by language
}

// A Choice is a keyword and the value that it stands for. absag* is the beginning of a word,
// *termin its end, *termin* any part of it, buch~ any form of it: buchen and Buchung, not Buchhaltung, ~invoices its beginning with a slip; between slashes stands an RE2 expression, which is
// matched against the folded text: without umlauts and capital letters.
type Choice struct {
	Word  string `json:"word"`
	Value string `json:"value"`
	// Weak words count only where no other one does.
	Weak bool `json:"weak,omitzero"`
	// Confirm: who writes this may mean it otherwise, and is asked.
	Confirm bool `json:"confirm,omitzero"`
}

// Understood is how much of the words has to be understood.
type Understood string

// How much: all of them, or the sentences in which a choice stands.
const (
	UnderstoodMessage  Understood = "message"
	UnderstoodSentence Understood = "sentence"
	// UnderstoodIntent: the sentences in which a choice stands, or what a pattern takes, and of the others that none takes it back.
	// Else nothing of the text is taken.
	UnderstoodIntent Understood = "intent"
)

// A Condition holds when the value at a path is one of several; without any, when there is one.
type Condition struct {
	Path string   `json:"path"`
	Is   []string `json:"is,omitzero"`
	Not  bool     `json:"not,omitzero"` // it holds when that is not so
}

// A Unit stands behind a number, which is multiplied.
type Unit struct {
	Word   string `json:"word"`
	Factor string `json:"factor,omitzero"` // a decimal number; 1 when empty
}

// Kind is what a recogniser finds.
type Kind string

// The kinds.
const (
	KindDate       Kind = "date"
	KindTime       Kind = "time"
	KindNumber     Kind = "number"
	KindName       Kind = "name" // of a person, without title
	KindEmail      Kind = "email"
	KindPhone      Kind = "phone"      // digits, and + before them
	KindExpression Kind = "expression" // of arithmetic
)

// Member is a member of a received message.
type Member string

// The members.
const (
	MemberFrom    Member = "from"
	MemberSubject Member = "subject"
	MemberText    Member = "text"
)

// Given is what is at hand.
type Given struct {
	Arguments jsontext.Value // of the plan or the request: an object, or nothing
	Words     string         // the new words of the message, without what they quote
	Tainted   bool           // whether somebody wrote them who may not say what to do
	Message   Message
	Entities  map[string]string
	Files     []File
	Language  string         // of the words, as in de or en-GB
	Moment    time.Time      // of the cause
	Location  *time.Location // where its days begin; nil: that of Moment
	Extracted jsontext.Value // the data of an extractor: an object, or nothing
	Before    *Before        // of an answer to questions
	// Offers has what was read in one way only, and is not sure, offered: along with what would be taken and asked for if it were so, so that one
	// answer can bring all of it. Without it, that is asked for afterwards.
	Offers bool
	// Lead is what the answer begins with, if that agrees to what was offered or declines it; Rest is what stands behind it.
	Lead Lead
	Rest string

	supposed object // what is offered, as if it were so
}

// Lead is what an answer begins with.
type Lead string

// The leads.
const (
	LeadAssent  Lead = "assent"
	LeadDecline Lead = "decline"
)

// A Message is what was received. Text is the new words when it is empty.
type Message struct{ From, Subject, Text string }

// A File came with the message. Reference is what the agent finds it by: its id or its name.
type File struct{ Reference, MediaType string }

// Before is what was known when the questions were asked.
type Before struct {
	Words  string // of the message that left the questions open
	Filled Filled
}

// Filled is what has come of it. Values satisfies the schema when nothing is missing or refused.
type Filled struct {
	Values  jsontext.Value    `json:"values"`
	Sources map[string]Source `json:"sources,omitzero"` // by path
	Missing []Missing         `json:"missing,omitzero"`
	Refused []Refused         `json:"refused,omitzero"`
}

// Complete says whether the task can be done with the values.
func (f *Filled) Complete() bool { return len(f.Missing) == 0 && len(f.Refused) == 0 }

// Source says whence a value is.
type Source string

// The sources.
const (
	SourceGiven     Source = "given"
	SourceJSON      Source = "json"
	SourceRule      Source = "rule"
	SourceDefault   Source = "default"
	SourceExtractor Source = "extractor"
	SourceAnswer    Source = "answer"
)

// Missing is what has to be asked.
type Missing struct {
	Path     string            `json:"path"`
	Title    string            `json:"title,omitzero"`    // of the schema
	Question map[string]string `json:"question,omitzero"` // of the profile, by language
	// Readings are what was read there and is not sure: several, or one that needs to be confirmed.
	Readings []string `json:"readings,omitzero"`
}

// longestOffer is how many bytes a value has at most that is offered: nobody agrees to a page.
const longestOffer = 200

// Refused is what was said outside of the words and cannot be used.
type Refused struct {
	Path   string         `json:"path,omitzero"`
	Reason schemas.Reason `json:"reason"`
}

// Invalid refuses what breaks a schema.
func Invalid(path, problem string) Refused {
	return Refused{Path: path, Reason: schemas.Because(schemas.ArgumentInvalid, "path", cmp.Or(path, "/"), "problem", problem)}
}
