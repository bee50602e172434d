package text

import (
	"math/bits"
	"strings"
	"unicode"
)

// copiedHeader tells whether line i begins a header that was copied into the
// text: three fields in one language, one of which says from whom, and one that
// only mail has, unless a rule stands above.
func (s *splitter) copiedHeader(i int, ruled bool) bool {
	var roles [maxLanguages]role
	if !s.labels(i, &roles) {
		return false
	}
	mail := ruled || strings.Contains(s.lines[i], "@")
	others := 0 // lines in a row that continue a field, or none
	for at := i; at < min(i+maxHeaderLines, len(s.lines)) && others <= maxGap; at++ {
		line := s.lines[at]
		if len(line) > 4*maxMarkerLine {
			break // long lists of addresses stand in one line
		}
		if at > i && !s.labels(at, &roles) {
			others++
			continue
		}
		others = 0
		mail = mail || strings.Contains(line, "@")
		for language := range s.words.tags {
			if roles[language].header(mail) {
				return true
			}
		}
	}
	return false
}

// hasHeaderShape tells whether the lines from below on have the shape of a header that Outlook
// copies under its long rule, which is line i, in any language: fields in a row of which the
// first has an address in brackets and another the year and the time.
func (s *splitter) hasHeaderShape(i, below int) bool {
	rule := strings.TrimRight(s.lines[i], " \t\r*")
	if !strings.HasSuffix(rule, strings.Repeat("_", minOutlookRule)) {
		return false
	}
	fields, dated := 0, false
	for at := below; at < min(below+maxHeaderLines, len(s.lines)); at++ {
		if len(s.lines[at]) > maxMarkerLine {
			break
		}
		name, value, found := strings.Cut(s.normalized(at), ":")
		if !found || wordCount(name) > maxLabelWords || strings.TrimSpace(value) == "" {
			break
		}
		if _, _, addressed := cutAddress(value); at == below && !addressed {
			return false
		}
		fields++
		dated = dated || evidenceOf(value) == evidenceYear+evidenceClock
	}
	return fields >= minShapedFields && dated
}

const (
	minOutlookRule  = 20 // signs
	minShapedFields = 4  // author, date, recipient, subject
	maxLabelWords   = 3
)

// mayBeLabel is true of every line that begins with the name of a field, and of rows of a table.
func mayBeLabel(line string) bool {
	begin := line[:min(len(line), 60)]
	return strings.Contains(begin, ":") || strings.Contains(begin, "：") || isRow(begin)
}

// isRow tells whether a line is a row of a table: "| From | Ana |".
func isRow(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "|") }

// header tells whether fields of one language make a header.
func (r role) header(mail bool) bool {
	others := bits.OnesCount8(uint8(r & (roleSent | roleDate | roleTo | roleSubject)))
	return r&roleFrom != 0 && others >= 2 && (mail || r&(roleSent|roleSubject) != 0)
}

// labels adds what the label of line i says in each language, and tells whether
// there is one.
func (s *splitter) labels(i int, roles *[maxLanguages]role) bool {
	line := s.lines[i]
	if !mayBeLabel(line) {
		return false
	}
	s.steps++
	var normal string
	if len(line) <= maxMarkerLine {
		normal = s.normalized(i)
	} else {
		normal = Normalize(strings.ToValidUTF8(line[:maxMarkerLine], ""))
	}
	found := s.words.labelsOf(normal)
	for _, one := range found {
		roles[one.language] |= one.role
	}
	return len(found) > 0
}

// labelsOf returns what the name of the field says that a normalized line begins with. A
// name of several words may go without its colon: "Message du 05/01/2026 13:20".
func (l *Languages) labelsOf(normal string) []label {
	if isRow(normal) {
		normal, _, _ = strings.Cut(strings.TrimLeft(normal, "| "), "|")
	}
	name, _, _ := strings.Cut(strings.TrimSpace(normal), ":")
	if found := l.labels[name]; len(found) > 0 {
		return found
	}
	if at := strings.IndexFunc(name, unicode.IsDigit); at > 0 && strings.Contains(name[:at-1], " ") {
		return l.labels[strings.TrimSpace(name[:at])]
	}
	return nil
}
