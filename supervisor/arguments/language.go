package arguments

import (
	"embed"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

//go:embed languages/*.json
var languageFiles embed.FS

// A language is what a file in languages says of it. Its words are folded.
type language struct {
	Tag      string `json:"tag"`
	Decimal  string `json:"decimal"`
	DayFirst bool   `json:"day_first"` // in 3/12/2026
	// CapitalNouns: the name of a thing ends in a word with a capital letter.
	CapitalNouns bool `json:"capital_nouns"`

	// Endings are those that the forms of a word have, and no other word that is put together with it: buchen and Buchung, not Buchhaltung.
	Endings []string `json:"endings"`

	// Clock24: an hour is of 24 unless a part of the day is said.
	Clock24 bool `json:"clock_24"`

	Months   [][]string `json:"months"`
	Weekdays [][]string `json:"weekdays"` // from Monday on
	// ShortWeekdays are words of their own as well: they count only before a date.
	ShortWeekdays []string            `json:"short_weekdays"`
	Days          map[string]int      `json:"days"` // from today
	NotDayAfter   map[string][]string `json:"not_day_after"`
	Numbers       map[string]string   `json:"numbers"`
	VagueNumbers  []string            `json:"vague_numbers"` // behind a word for a number: how many is not said
	Next          []string            `json:"next"`          // may skip one
	Coming        []string            `json:"coming"`        // skips none
	This          []string            `json:"this"`
	Last          []string            `json:"last"`
	In            []string            `json:"in"`
	Ago           []string            `json:"ago"`
	Periods       map[string]int      `json:"periods"` // in days
	MonthPeriods  []string            `json:"month_periods"`
	Week          []string            `json:"week"`
	VagueDays     []string            `json:"vague_days"`
	VagueMonth    []string            `json:"vague_month"`
	Ordinals      map[string]int      `json:"ordinals"`
	OrdinalEnds   []string            `json:"ordinal_ends"` // of a day written in digits
	DayBefore     []string            `json:"day_before"`   // of a day alone
	Fillers       []string            `json:"fillers"`      // between a word and what it governs
	Of            []string            `json:"of"`           // between a day and its month
	Bounds        []string            `json:"bounds"`       // what follows is a limit, not the thing itself
	Joiners       []string            `json:"joiners"`      // between the ends of a range, or two choices
	Spans         []string            `json:"spans"`        // behind a number that is no hour, besides periods

	HourAfter     []string `json:"hour_after"`
	HourBefore    []string `json:"hour_before"`
	Half          []string `json:"half"`
	HalfTo        bool     `json:"half_to"` // half three is 2:30
	Quarter       []string `json:"quarter"`
	ThreeQuarters []string `json:"three_quarters"`
	Past          []string `json:"past"`
	To            []string `json:"to"`
	Forenoon      []string `json:"forenoon"`
	Afternoon     []string `json:"afternoon"`
	// DayParts are parts of the day that are one word with the day of the week before them, each with the word that stands for it alone.
	DayParts map[string]string `json:"day_parts"`
	Noon     []string          `json:"noon"`
	Midnight []string          `json:"midnight"`

	Negations       []string `json:"negations"`
	NegationFillers []string `json:"negation_fillers"` // between a negation and what it negates
	NegatesBackward []string `json:"negates_backward"` // a negation behind what it negates
	Plain           []string `json:"plain"`            // words and wordings that change nothing
	Requests        []string `json:"requests"`         // by which a question asks to do something
	Doubts          []string `json:"doubts"`           // by which all that is said may be meant otherwise
	Reservations    []string `json:"reservations"`     // by which a sentence takes back what another asks for, or binds it to something
	Tells           []string `json:"tells"`            // by which a clause says what is, or what somebody does
	Wishes          []string `json:"wishes"`           // by which a clause asks for something, whatever else it tells
	Definite        []string `json:"definite"`         // before a thing that is known already
	Makes           []string `json:"makes"`            // by which it is made all the same
	Own             []string `json:"own"`              // what is the writer's own
	Theirs          []string `json:"theirs"`           // what is somebody else's
	NotInPhrases    []string `json:"not_in_phrases"`   // what is no part of the name of a thing, besides what is plain
	True            []string `json:"true"`
	False           []string `json:"false"`

	Titles        []string `json:"titles"`
	Degrees       []string `json:"degrees"`
	Particles     []string `json:"particles"`
	Salutations   []string `json:"salutations"`
	Greetings     []string `json:"greetings"`   // before a part of the day, which then says nothing
	Relations     []string `json:"relations"`   // who is spoken of, and has not written
	Acts          []string `json:"acts"`        // what a person does who is named before it
	Possessives   []string `json:"possessives"` // endings of a name
	Introductions []string `json:"introductions"`
	Closings      []string `json:"closings"`
	NotNames      []string `json:"not_names"`

	Times     []string `json:"times"`
	Divided   []string `json:"divided"`
	DividedBy []string `json:"divided_by"` // a word that may follow an operator
	Plus      []string `json:"plus"`
	Minus     []string `json:"minus"`
	Power     []string `json:"power"`
	List      []string `json:"list"` // between the last two of a list
}

// languages reads all of them, in the order of their files.
func languages() ([]*language, error) {
	entries, err := languageFiles.ReadDir("languages")
	if err != nil {
		return nil, fmt.Errorf("read the languages of the program: %w", err)
	}
	var all []*language
	for _, entry := range entries {
		body, err := languageFiles.ReadFile("languages/" + entry.Name())
		l := new(language)
		if err == nil {
			err = json.Unmarshal(body, l, json.RejectUnknownMembers(true))
		}
		if err != nil {
			return nil, fmt.Errorf("read language %s of the program: %w", entry.Name(), err)
		}
		all = append(all, l)
	}
	return all, nil
}

// languageOf is the language with the tag, or with its first part; one without words if
// there is none.
func (f *Filler) languageOf(tag string) *lexicon {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	for _, l := range f.languages {
		if l.Tag == first {
			return l
		}
	}
	return f.neutral
}
