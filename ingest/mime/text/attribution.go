package text

import (
	"strings"
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
		line := s.lines[end-lines+1]
		if strings.TrimSpace(line) == "" || isMarked(line) || len(line)+len(joined) > maxMarkerLine {
			break
		}
		normal := s.normalized(end - lines + 1)
		joined, above = strings.TrimSuffix(normal+" "+joined, " "), normal+" "+above
		found, dated, is := s.attributed(joined)
		if is && (best.lines == 0 || dated && (!bestDated || hasYearOrTime(above))) {
			found.lines = lines
			best, bestDated, above = found, dated, ""
		}
	}
	if best.lines > 0 {
		best.line = end - best.lines + 1
		s.begins[best.line%window] = best
	}
}

// attributed compares lines joined into one with the templates. sure is whether
// they are an attribution also above a quotation that is not marked.
func (s *splitter) attributed(joined string) (found introduction, dated, is bool) {
	text, dashed := undash(joined)
	if !strings.HasSuffix(text, ":") {
		return introduction{}, false, false
	}
	for size := min(maxEnding, len(text)); size > 0; size-- {
		for _, known := range s.words.attributions[text[len(text)-size:]] {
			s.steps++
			name, matched := known.matches(text)
			if !matched {
				continue
			}
			is = true
			withDate := known.has(slotDate)
			found.sure = found.sure || dashed || known.has(slotAddress) ||
				withDate && (strings.Contains(text, "@") || hasYearOrTime(text)) && !s.byPronoun(name)
			dated = dated || withDate
		}
	}
	return found, dated, is
}

// byPronoun tells whether a name is no name: "On 5 May 2026 I wrote:" is what
// somebody writes.
func (s *splitter) byPronoun(name string) bool {
	words := strings.Fields(name)
	return len(words) > 0 && (s.words.pronouns[words[0]] || s.words.pronouns[words[len(words)-1]])
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
