package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// attribution returns the attribution that begins at line i: what a program writes above a
// quotation, such as "Am 5. Mai 2026 schrieb Ana:".
func (s *splitter) attribution(i int) (found introduction, is bool) {
	for ; s.seen < min(i+attributionLines, len(s.lines)); s.seen++ {
		if mayEndAttribution(s.lines[s.seen]) {
			s.endsAttribution(s.seen)
		}
	}
	found = s.begins[i%window]
	return found, found.lines > 0 && found.line == i
}

// endsAttribution finds the attribution whose last line is the one at end. A
// date makes it certain, so dated ones come first. Of several beginnings the
// last is taken, because what stands above is more likely the author's; lines
// above that hold a date belong to it as well.
func (s *splitter) endsAttribution(end int) {
	var best introduction
	joined, bestDated, above := "", false, ""
	for lines := 1; lines <= attributionLines && end-lines+1 >= 0; lines++ {
		at := end - lines + 1
		line := s.lines[at]
		if strings.TrimSpace(line) == "" || len(line)+len(joined) > maxMarkerLine ||
			isMarked(line) && (lines > 1 || !s.closesBracket(end)) {
			break
		}
		normal := s.normalized(at)
		below, written := joined, writtenLines{first: line, others: s.lines[at+1 : end+1]}
		joined, above = joinLines(normal, joined), normal+" "+above
		found, dated, is := s.attributed(joined, written)
		if own, cut, has := s.attributedBehindWords(written, below); has {
			found, dated, is = cut, true, true
			found.own = own
		}
		if s.opensAbove(at, joined) {
			continue // its address begins on the line above
		}
		if is && (best.lines == 0 || dated && (!bestDated || hasYearOrTime(above))) {
			found.lines, found.evidence = lines, evidenceOf(joined)
			best, bestDated, above = found, dated, ""
		}
	}
	if best.lines > 0 {
		best.line = end - best.lines + 1
		s.begins[best.line%window] = best
	}
}

// writtenLines are lines as they are written, of which the first may be cut off at its beginning.
type writtenLines struct {
	first  string
	others []string
}

func (w writtenLines) words() []string {
	words := strings.Fields(w.first)
	for _, line := range w.others {
		words = append(words, strings.Fields(line)...)
	}
	return words
}

// joinLines joins normalized lines. No blank stands before a bracket that was wrapped.
func joinLines(above, below string) string {
	if below == "" || strings.HasPrefix(below, ">") {
		return above + below
	}
	return above + " " + below
}

// closesBracket tells whether line i, which begins as a quoted one does, is the end of an
// attribution that was wrapped before the bracket behind its address.
func (s *splitter) closesBracket(i int) bool {
	return strings.HasPrefix(s.lines[i], ">") && s.opensAbove(i, ">")
}

// opensAbove tells whether a bracket is closed in lines from i on that was opened above.
func (s *splitter) opensAbove(i int, joined string) bool {
	end := strings.IndexByte(joined, '>')
	if end < 0 || i == 0 || strings.Contains(joined[:end], "<") || isMarked(s.lines[i-1]) {
		return false
	}
	above := s.lines[i-1]
	open := strings.LastIndexByte(above, '<')
	return open >= 0 && open > strings.LastIndexByte(above, '>')
}

// attributed compares lines joined into one with the templates; written are the same
// lines. sure is whether they are an attribution also above a quotation
// that is not marked.
func (s *splitter) attributed(joined string, written writtenLines) (found introduction, dated, is bool) {
	text, dashed := undash(joined)
	if !strings.HasSuffix(text, ":") {
		return introduction{}, false, false
	}
	if found, dated, is = s.matchTemplates(text, written); !is {
		if apart := spaceAddress(text); apart != text {
			found, dated, is = s.matchTemplates(apart, written)
		}
	}
	if !is {
		found.sure, is = s.shape(text, written, dashed)
		dated = is
	}
	if is && dashed {
		found.sure, found.dashed = true, true
	}
	return found, dated, is
}

func (s *splitter) matchTemplates(text string, written writtenLines) (found introduction, dated, is bool) {
	word, _, _ := strings.Cut(text, " ")
	compare := func(templates []*template) {
		for _, known := range templates {
			s.steps++
			name, matched := known.matches(text)
			if !matched {
				continue
			}
			is = true
			found.sure = found.sure || s.isSure(known, text, name, written)
			dated = dated || known.has(slotDate)
		}
	}
	for size := min(maxEnding, len(text)); size > 0; size-- {
		ending := text[len(text)-size:]
		compare(s.words.attributions[templateEnds{ending: ending}])
		compare(s.words.attributions[templateEnds{word: word, ending: ending}])
	}
	return found, dated, is
}

// isSure tells whether a line that matches a template is one of a program, and no sentence
// of a person, also where no marked lines stand below.
func (s *splitter) isSure(known *template, text, name string, written writtenLines) bool {
	if s.byPronoun(name) || wordCount(text) > maxAttributionWords {
		return false
	}
	address := strings.Contains(text, "@")
	if !known.has(slotDate) {
		return known.has(slotAddress) && wordCount(text) <= maxUndatedWords
	}
	switch {
	case !hasYearOrTime(text), !known.isDateNear(text):
		return false
	case address:
		return wordsBeforeAddress(text) <= maxAddressedWords
	}
	return !beginsLower(written.first) && isNameOfPerson(strings.Fields(name), written.words())
}

// wordsBeforeAddress counts the words between the last digit and the address of a line.
func wordsBeforeAddress(text string) int {
	before, _, found := strings.Cut(text, "<")
	if !found {
		before, _, _ = strings.Cut(text, "@")
	}
	return wordCount(before[strings.LastIndexFunc(before, unicode.IsDigit)+1:])
}

const (
	maxAttributionWords = 30 // of a line that a program writes
	maxUndatedWords     = 10 // of one without a date
	maxBeforeDigit      = 4  // words of a date before its first digit
	maxWeekdayWords     = 2  // of a date with which a line begins, before its first digit
	maxNameWords        = 6
	maxAddressedWords   = 9 // of the name of one with an address
)

// isDateNear tells whether the date of a line begins where the template has it: prose has
// more words before the first digit.
func (t *template) isDateNear(text string) bool {
	if len(t.slots) == 0 || t.slots[0] != slotDate {
		return true
	}
	before, _, _ := strings.Cut(text[min(len(t.first), len(text)):], "@")
	at := strings.IndexFunc(before, unicode.IsDigit)
	most := maxBeforeDigit
	if t.first == "" {
		most = maxWeekdayWords
	}
	return at >= 0 && wordCount(before[:at]) <= most
}

// isNameOfPerson tells whether a name is written as one: in few words, of which the first
// and the last are not in small letters, where a script has them. The words of the name are
// normalized; written are those of its line. Digits and the half of the day before the
// name belong to the time.
func isNameOfPerson(name, written []string) bool {
	begin := 0
	for i, word := range name {
		if i+1 < len(name) && (strings.ContainsFunc(word, unicode.IsDigit) || isHalfOfDay(word)) {
			begin = i + 1
		}
	}
	name = name[begin:]
	if len(name) == 0 || len(name) > maxNameWords {
		return false
	}
	return !writtenLower(name[0], written) && !writtenLower(name[len(name)-1], written)
}

func isHalfOfDay(word string) bool {
	switch strings.Trim(word, ",") {
	case "am", "pm", "a.m.", "p.m.", "uhr", "h", "г.", "klo", "kl", "kl.":
		return true
	}
	return false
}

// writtenLower tells whether a normalized word begins with a small letter in the line.
func writtenLower(word string, written []string) bool {
	word = strings.Trim(word, ",:")
	for _, one := range slices.Backward(written) {
		if strings.Trim(Normalize(one), ",:") == word {
			return beginsLower(one)
		}
	}
	return false
}

func beginsLower(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \t*"))
	return unicode.IsLower(first)
}

func wordCount(text string) int {
	count := 0
	for range strings.FieldsSeq(text) {
		count++
	}
	return count
}

// attributedBehindWords finds an attribution that shares its first line with words of
// the writer: behind dashes, or from a word on with which dated attributions begin. own
// is how many bytes of the line are the writer's.
func (s *splitter) attributedBehindWords(written writtenLines, below string) (own int, found introduction, is bool) {
	line := written.first
	if !strings.ContainsFunc(line, unicode.IsDigit) {
		return 0, introduction{}, false
	}
	tried := 0
	for at := len(line) - 1; at > 0 && tried < maxCuts; at-- {
		dashes := s.dashesEnd(line, at)
		if !dashes && !s.beginsDated(line, at) {
			continue
		}
		before := strings.TrimRight(line[:at], "-–— \t")
		if !strings.ContainsFunc(before, isWordRune) {
			return 0, introduction{}, false
		}
		tried++
		rest := joinLines(Normalize(line[at:]), below)
		if dashes && strings.HasSuffix(rest, "--") {
			rest = "-- " + rest
		}
		if !hasYearOrTime(rest) || !dashes && !strings.Contains(rest, "@") && !endsSentence(before) {
			continue
		}
		written.first = line[at:]
		if found, dated, matched := s.attributed(rest, written); matched && dated && found.sure {
			return len(before), found, true
		}
	}
	return 0, introduction{}, false
}

const maxCuts = 2 // places of a line at which an attribution is tried

// dashesEnd tells whether at least two dashes, or a long one, end before a place.
func (s *splitter) dashesEnd(line string, at int) bool {
	if line[at] == '-' || line[at] == ' ' || !utf8.RuneStart(line[at]) {
		return false
	}
	before := strings.TrimRight(line[:at], " ")
	return strings.HasSuffix(before, "--") || strings.HasSuffix(before, "—") || strings.HasSuffix(before, "–")
}

// beginsDated tells whether a word that is written with a capital letter begins at a
// place, and is one with which dated attributions begin.
func (s *splitter) beginsDated(line string, at int) bool {
	if before, _ := utf8.DecodeLastRuneInString(line[:at]); isWordRune(before) || !utf8.RuneStart(line[at]) {
		return false
	}
	if first, _ := utf8.DecodeRuneInString(line[at:]); !unicode.IsUpper(first) {
		return false
	}
	word, _, more := strings.Cut(line[at:], " ")
	return more && s.words.datedBeginnings[Normalize(word)]
}

func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?…", last)
}

// byPronoun tells whether a name is no name: "On 5 May 2026 I wrote:" is what
// a person writes.
func (s *splitter) byPronoun(name string) bool {
	words := strings.Fields(name)
	return len(words) > 0 && (s.words.pronouns[words[0]] || s.words.pronouns[words[len(words)-1]])
}

// spaceAddress puts the blanks around an address that some programs leave out.
func spaceAddress(text string) string {
	open := strings.LastIndexByte(text, '<')
	if open < 0 {
		return text
	}
	end := strings.IndexByte(text[open:], '>')
	if end < 0 || !strings.Contains(text[open:open+end], "@") {
		return text
	}
	end += open + 1
	before, address, after := text[:open], text[open:end], text[end:]
	if last, _ := utf8.DecodeLastRuneInString(before); isWordRune(last) || last == '"' {
		before += " "
	}
	if first, _ := utf8.DecodeRuneInString(after); isWordRune(first) {
		after = " " + after
	}
	return before + address + after
}

// undash takes the dashes off that some programs put on both sides of an
// attribution, and gives it the colon that they leave out.
func undash(line string) (text string, dashed bool) {
	if !strings.HasPrefix(line, "--") || !strings.HasSuffix(line, "--") {
		return line, false
	}
	text = strings.Trim(line, "- ")
	if !strings.HasSuffix(text, ":") {
		text += ":"
	}
	return text, true
}

// hasYearOrTime tells whether a line holds what programs write of a date and people
// seldom do: the year or the time of the day.
func hasYearOrTime(line string) bool {
	digits := 0
	for i := range len(line) {
		c := line[i]
		if c >= '0' && c <= '9' {
			if digits++; digits == 4 && (strings.HasPrefix(line[i-3:], "19") || strings.HasPrefix(line[i-3:], "20")) {
				return true
			}
			continue
		}
		if (c == ':' || c == '.' || c == 'h') && digits > 0 && i+2 < len(line) && isDigit(line[i+1]) && isDigit(line[i+2]) {
			return true
		}
		digits = 0
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// mayEndAttribution is true of every line that ends with a colon or a dash when
// it is normalized, and of few others.
func mayEndAttribution(line string) bool {
	end := strings.TrimRight(line, " \t*\r")
	if end == "" || len(line) > maxMarkerLine {
		return false
	}
	last := end[len(end)-1]
	return last == ':' || last == '-' || last >= utf8.RuneSelf
}
