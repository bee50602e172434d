package arguments

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/validation"
	"podium/supervisor/route"
)

// A Filler fills the arguments of one agent. It does not change, and may be shared.
type Filler struct {
	input     Input
	document  *document
	schema    *validation.Schema
	rules     []rule
	order     []string // the paths of rules, each once
	trusted   []string
	hours     clockHours
	languages []*lexicon
	neutral   *lexicon // what profiles are written in: no words, and a decimal point
	fold      func(string) string
	emails    *regexp.Regexp
	known     phrases // of the profile
	endings   string  // of words in any language, as an expression
	intents   bool    // whether a rule wants it understood what is wanted
}

// A rule is a Rule that is ready.
type rule struct {
	Rule
	property *property
	pattern  *regexp.Regexp
	group    int
	choices  *keywordList
	when     *keywordList
	unless   *keywordList
	units    []unit
}

// Compile makes ready what a profile says of one agent. Its error joins every fault, and says where it is.
// The schema is that of the arguments: an object.
func Compile(spec Spec, schema jsontext.Value) (*Filler, error) {
	if len(schema) == 0 {
		schema = jsontext.Value(`{}`)
	}
	d, err := parseDocument(schema)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	f := &Filler{input: spec.Input, document: d, fold: route.NewFolding().Fold, emails: emailPattern()}
	if f.schema, err = validation.CompileAsserted(schema); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	known, err := languages()
	if err != nil {
		return nil, err
	}
	f.neutral = newLexicon(&language{Decimal: ".", DayFirst: true, Clock24: true}, f.fold)
	var endings []string
	for _, l := range known {
		f.languages = append(f.languages, newLexicon(l, f.fold))
		endings = append(endings, l.Endings...)
	}
	f.endings = "(?:" + strings.Join(endings, "|") + ")?"
	faults := f.compileSpec(spec)
	for i := range spec.Rules {
		r, err := f.compileRule(spec.Rules[i])
		if err != nil {
			faults = append(faults, fmt.Errorf("arguments, rule %d, %s: %w", i+1, spec.Rules[i].Path, err))
			continue
		}
		f.rules = append(f.rules, r)
		if !slices.Contains(f.order, r.Path) {
			f.order = append(f.order, r.Path)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	f.addWords()
	return f, nil
}

// Input says what the agent works on.
func (f *Filler) Input() Input { return f.input }

func (f *Filler) compileSpec(spec Spec) []error {
	var faults []error
	switch spec.Input {
	case InputWords, InputArguments, InputEither:
	case "":
		f.input = InputWords
		if slices.ContainsFunc(f.document.properties, func(p property) bool { return p.required }) || len(spec.Rules) > 0 {
			f.input = InputArguments
		}
	default:
		faults = append(faults, fmt.Errorf("input: %q is none of words, arguments, either", spec.Input))
	}
	for _, path := range spec.Trusted {
		if _, ok := f.document.property(path); !ok {
			faults = append(faults, fmt.Errorf("trusted: the schema has no %s", path))
		}
	}
	f.trusted, f.known = spec.Trusted, newPhrases(spec.Known, f.fold)
	if spec.Hours != (Hours{}) {
		from, errFrom := time.Parse("15:04", spec.Hours.From)
		until, errUntil := time.Parse("15:04", spec.Hours.Until)
		if errFrom != nil || errUntil != nil || !from.Before(until) {
			faults = append(faults, errors.New("hours: want from and until as in 07:00 and 19:00, the earlier first"))
		}
		f.hours = clockHours{from: from.Hour()*60 + from.Minute(), until: until.Hour()*60 + until.Minute()}
	}
	return faults
}

func (f *Filler) compileRule(configured Rule) (rule, error) {
	r := rule{Rule: configured}
	var ok bool
	if r.property, ok = f.document.property(configured.Path); !ok {
		return r, errors.New("the schema has no such place; name it from the root, with dots")
	}
	if err := f.checkSources(&r); err != nil {
		return r, err
	}
	switch configured.Understood {
	case "", UnderstoodMessage, UnderstoodSentence:
	case UnderstoodIntent:
		if len(configured.Map) == 0 && configured.Pattern == "" {
			return r, errors.New("understood: intent is of a map or a pattern, and there is none")
		}
		f.intents = true
	default:
		return r, fmt.Errorf("understood: %q is none of message, sentence, intent", configured.Understood)
	}
	if configured.Whole && configured.Understood != UnderstoodSentence && configured.Understood != UnderstoodIntent {
		return r, errors.New("whole: it goes with understood: sentence or intent; message has every sentence already")
	}
	if err := f.checkDefault(&r); err != nil {
		return r, err
	}
	var err error
	if r.pattern, r.group, err = compilePattern(configured.Pattern); err != nil {
		return r, err
	}
	words := make([]string, len(configured.Map))
	for i, choice := range configured.Map {
		words[i] = choice.Word
		if len(f.typed(r.property, choice.Value, "", nil)) != 1 {
			return r, fmt.Errorf("map: %q is no value that the schema takes there", choice.Value)
		}
	}
	if r.choices, err = f.keywords(words); err == nil {
		if r.when, err = f.keywords(configured.When); err == nil {
			r.unless, err = f.keywords(configured.Unless)
		}
	}
	if err != nil {
		return r, err
	}
	r.After, r.NotAfter = f.folded(configured.After), f.folded(configured.NotAfter)
	r.Never = f.folded(configured.Never)
	for _, u := range configured.Units {
		ready := unit{factor: u.Factor}
		if ready.factor == "" {
			ready.factor = "1"
		}
		if strings.Trim(ready.factor, "0123456789.") != "" || multiplied("1", ready.factor) == "0" || u.Word == "" {
			return r, fmt.Errorf("units: %q times %q: want a word and a decimal number", u.Word, u.Factor)
		}
		for _, t := range tokenize(u.Word, f.fold) {
			ready.tokens = append(ready.tokens, t.fold)
		}
		r.units = append(r.units, ready)
	}
	return r, nil
}

func (f *Filler) folded(words []string) []string {
	folded := make([]string, len(words))
	for i, word := range words {
		folded[i] = f.fold(word)
	}
	return folded
}

// checkSources wants exactly one source, and its place in the schema.
func (f *Filler) checkSources(r *rule) error {
	sources := 0
	for _, there := range []bool{
		len(r.Map) > 0, r.Pattern != "", r.Find != "", r.Entity != "", r.Attachments != "", len(r.Message) > 0, r.Words, r.Same != "", r.Constant != "",
	} {
		if there {
			sources++
		}
	}
	if sources > 1 || sources == 0 && r.Default == "" && len(r.Ask) == 0 && !r.Confirm {
		return errors.New("want one of map, pattern, find, entity, attachments, message, words, same, constant, default, or only ask")
	}
	for _, kind := range []Kind{r.Find, r.As} {
		switch kind {
		case "", KindDate, KindTime, KindNumber, KindName, KindEmail, KindPhone, KindExpression:
		default:
			return fmt.Errorf("%q is no kind; want date, time, number, name, email, phone or expression", kind)
		}
	}
	for _, member := range r.Message {
		if member != MemberFrom && member != MemberSubject && member != MemberText {
			return fmt.Errorf("message: %q is none of from, subject, text", member)
		}
	}
	paths := []string{}
	if r.Same != "" {
		paths = append(paths, r.Same)
	}
	for _, condition := range r.If {
		paths = append(paths, condition.Path)
	}
	for _, path := range paths {
		if _, ok := f.document.property(path); !ok {
			return fmt.Errorf("the schema has no %s, which it refers to", path)
		}
	}
	return nil
}

// checkDefault refuses a default that chooses an effect.
func (f *Filler) checkDefault(r *rule) error {
	for _, value := range []string{r.Default, r.Constant} {
		if value != "" && len(f.typed(r.property, value, r.As, nil)) != 1 {
			return fmt.Errorf("%q is no value that the schema takes there", value)
		}
	}
	chooses := len(r.property.choices) > 0 || len(r.Map) > 0
	if r.Default != "" && chooses && !slices.Contains(r.Harmless, r.Default) {
		return fmt.Errorf("the default %q is not among harmless: a default never chooses an effect; list the choices that cause none", r.Default)
	}
	return nil
}

func compilePattern(source string) (*regexp.Regexp, int, error) {
	if source == "" {
		return nil, 0, nil
	}
	pattern, err := regexp.Compile(source)
	if err != nil {
		return nil, 0, fmt.Errorf("pattern: not a regular expression (RE2): %w", err)
	}
	if pattern.MatchString("") {
		return nil, 0, errors.New("pattern: it matches where there is nothing")
	}
	group := pattern.SubexpIndex("value")
	if group < 0 {
		group = min(1, pattern.NumSubexp())
	}
	return pattern, group, nil
}

// addWords gives all words to the only thing that is required, if it is a plain text that
// no rule names.
func (f *Filler) addWords() {
	if f.input == InputWords {
		return
	}
	var required []*property
	for i := range f.document.properties {
		if p := &f.document.properties[i]; p.required && len(p.names) == 1 {
			required = append(required, p)
		}
	}
	if len(required) == 1 && required[0].kind == "string" && required[0].plain && !slices.Contains(f.order, required[0].path) {
		f.rules = append(f.rules, rule{Rule: Rule{Path: required[0].path, Words: true}, property: required[0]})
		f.order = append(f.order, required[0].path)
	}
}
