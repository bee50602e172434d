package text

import "strings"

// A Purpose is what the header says of why a mail was written.
type Purpose struct {
	Forward bool // the mail passes another one on
	Reply   bool // it answers another one
}

// A languageSet has a bit for each language.
type languageSet uint64

// A subjectPrefix is how subjects of one kind begin, and in which languages.
type subjectPrefix struct {
	text      string
	languages languageSet
}

const maxPurposeLines = 500 // lines of a mail that are looked at to tell its language

// PurposeOf tells why a mail was written, by its normalized subject, whether its header says
// that it answers another one, and its words. Where a prefix means both, as VS: in Danish
// and Finnish, the language of the header that is copied into the words decides.
func (l *Languages) PurposeOf(subject string, answers bool, words string) Purpose {
	forward, reply := prefixLanguages(subject, l.forwardSubjects), prefixLanguages(subject, l.replySubjects)
	if forward == 0 || reply == 0 {
		return Purpose{Forward: forward != 0, Reply: answers || reply != 0}
	}
	labels := l.countLabels(words)
	forwards, replies := labels.most(forward&^reply), labels.most(reply&^forward)
	if forwards > replies || forwards == replies && !answers {
		return Purpose{Forward: true, Reply: answers}
	}
	return Purpose{Reply: true}
}

func prefixLanguages(subject string, prefixes []subjectPrefix) languageSet {
	var all languageSet
	for _, one := range prefixes {
		if strings.HasPrefix(subject, one.text) {
			all |= one.languages
		}
	}
	return all
}

// labelCounts are how many lines begin as fields of each language do.
type labelCounts [maxLanguages]int

func (l *Languages) countLabels(words string) labelCounts {
	var counts labelCounts
	lines := 0
	for line := range strings.Lines(words) {
		if lines++; lines > maxPurposeLines {
			break
		}
		if !mayBeLabel(line) {
			continue
		}
		for _, one := range l.labelsOf(Normalize(line[:min(len(line), maxMarkerLine)])) {
			counts[one.language]++
		}
	}
	return counts
}

// most returns the largest count of the languages of a set.
func (c *labelCounts) most(languages languageSet) int {
	most := 0
	for i, count := range c {
		if languages&(1<<i) != 0 {
			most = max(most, count)
		}
	}
	return most
}
