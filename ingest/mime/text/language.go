package text

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A vocabulary is the words of one language by which mail programs announce what they quote and
// what they add. All are normalized.
type vocabulary struct {
	attributions    []template        // the line above a quotation
	signatures      []template        // lines that mail programs add by themselves
	pronouns        []string          // who writes, in lines that no program writes
	separators      []string          // between dashes, above a quotation
	forwards        []string          // between dashes or before a colon, above what was passed on
	forwardSubjects []string          // beginnings of the subjects of what was passed on
	replySubjects   []string          // beginnings of the subjects of answers
	header          map[role][]string // the fields of a copied header
	stubs           []string          // texts that only say that there is an HTML part
	bounces         []string          // beginnings of the subjects of bounces
	autoReplies     []string          // beginnings of the subjects of automatic replies
}

// A role is what a field of a copied header says.
type role uint8

const (
	roleFrom role = 1 << iota
	roleSent      // a date, by a word that only mail has
	roleDate
	roleTo
	roleSubject
	roleOther
)

func roleNames() map[string]role {
	return map[string]role{
		"from": roleFrom, "sent": roleSent, "date": roleDate, "to": roleTo, "subject": roleSubject, "other": roleOther,
	}
}

// Languages are all languages that mail is read in, ready to be asked. They
// never change and may be shared.
type Languages struct {
	tags         []string
	attributions map[templateEnds][]*template
	signatures   []template
	pronouns     map[string]bool
	separators   map[string]bool
	forwards     map[string]bool
	labels       map[string][]label

	datedBeginnings  map[string]bool // the first words of attributions with a date
	attributionWords map[string]bool // the words of attributions, of two characters at least

	forwardSubjects, replySubjects []subjectPrefix

	stubs, bounces, autoReplies []string
}

// A label is the name of a header's field in one language.
type label struct {
	language int
	role     role
}

// Tags returns the tags of the languages, in lexical order.
func (l *Languages) Tags() []string { return slices.Clone(l.tags) }

func compile(languages map[string]vocabulary) *Languages {
	all := &Languages{
		tags: slices.Sorted(maps.Keys(languages)), attributions: map[templateEnds][]*template{}, pronouns: map[string]bool{},
		separators: map[string]bool{}, forwards: map[string]bool{}, labels: map[string][]label{},
		datedBeginnings: map[string]bool{}, attributionWords: map[string]bool{},
	}
	for number, tag := range all.tags {
		one := languages[tag]
		for i := range one.attributions {
			if one.attributions[i].weight() == 0 {
				continue // the shape of an attribution tells as much
			}
			ends := endsOf(&one.attributions[i])
			all.attributions[ends] = append(all.attributions[ends], &one.attributions[i])
			includeWords(all.attributionWords, one.attributions[i].words())
			if words := strings.Fields(one.attributions[i].first); len(words) > 0 && one.attributions[i].has(slotDate) {
				all.datedBeginnings[words[0]] = true
			}
		}
		all.signatures = append(all.signatures, one.signatures...)
		include(all.pronouns, one.pronouns)
		include(all.separators, one.separators)
		include(all.forwards, one.forwards)
		for kind, names := range one.header {
			for _, name := range names {
				name = strings.TrimSuffix(name, ":")
				all.labels[name] = append(all.labels[name], label{language: number, role: kind})
			}
		}
		for _, prefix := range one.forwardSubjects {
			all.forwardSubjects = append(all.forwardSubjects, subjectPrefix{text: prefix, languages: 1 << number})
		}
		for _, prefix := range one.replySubjects {
			all.replySubjects = append(all.replySubjects, subjectPrefix{text: prefix, languages: 1 << number})
		}
		all.stubs = append(all.stubs, one.stubs...)
		all.bounces = append(all.bounces, one.bounces...)
		all.autoReplies = append(all.autoReplies, one.autoReplies...)
	}
	return all
}

// ruleSigns are what rules are made of, and what stands around the words in them.
const ruleSigns = "-_=–—─━ :"

func include(set map[string]bool, texts []string) {
	for _, text := range texts {
		set[strings.Trim(text, ruleSigns)] = true
	}
}

// includeWords adds the words of a text that have two characters at least.
func includeWords(set map[string]bool, text string) {
	for word := range strings.FieldsSeq(text) {
		if word = strings.Trim(word, ",.:;()<>\""); utf8.RuneCountInString(word) > 1 {
			set[word] = true
		}
	}
}

// maxEnding is how many bytes at the end of an attribution choose the templates
// that it is compared with.
const maxEnding = 6

// templateEnds are what chooses the templates that a line is compared with.
type templateEnds struct {
	word   string // the first word, or none where a place may stand in it
	ending string // the last bytes, at most maxEnding
}

func endsOf(t *template) templateEnds {
	word, _, whole := strings.Cut(t.first, " ")
	if !whole {
		word = ""
	}
	return templateEnds{word: word, ending: t.last[max(0, len(t.last)-maxEnding):]}
}

// stub tells whether a plain text only stands in for an HTML part.
func (l *Languages) stub(text string) bool {
	if len(text) > 500 {
		return false
	}
	normal := Normalize(text)
	return slices.ContainsFunc(l.stubs, func(words string) bool { return strings.Contains(normal, words) })
}

// signature tells whether a line, normalized, is one that a program adds by itself; written
// is the line as it is.
func (l *Languages) signature(line, written string) bool {
	return slices.ContainsFunc(l.signatures, func(known template) bool {
		_, matched := known.matches(line)
		return matched && !(known.isOpen() && isSentence(written, wordCount(known.words())))
	})
}

// AutoReplySubject tells whether a normalized subject is one that programs write by themselves.
func (l *Languages) AutoReplySubject(subject string) bool { return beginsAny(subject, l.autoReplies) }

// BounceSubject tells whether a normalized subject begins as that of a bounce, with or without tags in brackets
// before it, and whether it says nothing else, or goes on behind a colon or in parentheses.
func (l *Languages) BounceSubject(subject string) (begins, alone bool) {
	subject = BehindTags(subject)
	for _, phrase := range l.bounces {
		before, after, _ := strings.Cut(phrase, anyPlace)
		rest, found := strings.CutPrefix(subject, before)
		if found && after != "" {
			_, rest, found = strings.Cut(rest, after)
		}
		rest = strings.TrimLeft(rest, " ")
		begins = begins || found
		alone = alone || found && (rest == "" || strings.HasSuffix(phrase, ":") || rest[0] == ':' || rest[0] == '(')
	}
	return begins, alone
}

// anyPlace stands for anything in how a subject begins.
const anyPlace = "{any}"

// BehindTags returns a subject without the tags in brackets that programs put before it, such as the number of a
// ticket.
func BehindTags(subject string) string {
	for strings.HasPrefix(subject, "[") {
		_, behind, closed := strings.Cut(subject, "]")
		if !closed {
			break
		}
		subject = strings.TrimLeft(behind, " :-")
	}
	return subject
}

func beginsAny(text string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(text, beginning) })
}
