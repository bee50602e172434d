package text

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"podium/ingest/mime/charset"
)

// A Failure is what the words of a mail say of a delivery that failed, as mail systems write it
// that send no report for programs.
type Failure struct {
	Recipients []string // addresses before Returned, those beside an answer of a server first, each once
	Reply      string   // the answer of the server that refused the mail, from its code on where it has one
	Status     string   // RFC 3463, "5.1.1"
	Permanent  bool     // Reply or Status says that nothing is tried again
	Returned   string   // the header of the mail that was not delivered, as a block of fields
	MessageID  string   // the id of the mail that was not delivered, where a sentence names it
	Asks       bool     // a question stands before Returned
	Closing    string   // the address whose refusal ends the words, as programs list it; see closingAddress
}

// Bounds of what is read of a text, in bytes, lines, bytes of one line, and addresses.
const (
	maxFailure      = 128 << 10
	maxFailureLines = 2000
	maxFailureLine  = 998
	maxRecipients   = 50
)

// The answers of servers: with a status, a status behind a sign or a word, with a code alone.
var (
	extendedReply = regexp.MustCompile(`(?:^|[^\d.])([45]\d\d)[ \-:;,#]+\(?#?([45]\.\d{1,3}\.\d{1,3})(?:[^\d.]|\.?$|\. )`)
	markedStatus  = regexp.MustCompile(`(?i)(?:#|\b(?:status|errore?|erro|fehler|erreur|fout|fejl)(?: code)?[:=]? ?|\bdsn=)` +
		`([45]\.\d{1,3}\.\d{1,3})(?:[^\d.]|\.?$|\. )`)
	listedStatus = regexp.MustCompile(`(?i)^[\s>]*(?:--+|(?:reason|grund|motivo?|raison|causa|cause|reden|orsak|årsag|` +
		`przyczyna|причина|原因|理由)[:：])\s*([45]\.[0-7]\.\d{1,3})\s+\S`)
	plainReply = regexp.MustCompile(`(?:^|[^\d.\-])` +
		`((?:421|45\d|5[05]\d|52[1-3]|53\d)(?: <?[^\s@<>]+@|[ \-:;,]+[^\d\s\-]))`)
)

// A refusal by a server that a program lists: the answer alone in its line, and the form of Exchange before 2007.
var (
	listedReply = regexp.MustCompile(`(?i)^[\s>*#'"<-]*(?:remote (?:server|host) (?:returned|said)[\s:'"]*` +
		`|smtp error[\s:]*|diagnostic-code:\s*(?:smtp;)?\s*)?#?5\d\d[ \-]#?5\.\d{1,3}\.\d{1,3}(?:\D|$)`)
	listedStatusOfExchange = regexp.MustCompile(`^\s*<[\w.-]+ #5\.\d{1,3}\.\d{1,3}(?:\s[^<>]*)?>$`)
	addressAndReply        = regexp.MustCompile(`^[\s>*•·\-"'<(]*([^\s<>()"'@:]+@[^\s<>()"'@:]+)[>)"']*[\s:–-]+(\S.*)$`)
	greeting               = regexp.MustCompile(`[,!，！]$`)
	idInWords              = regexp.MustCompile(`(?i)\bmessage[- ]?id\b[\s:=]*<([^<>\s@]+@[^<>\s@]+)>`)
)

// What says that a code is one of a server: in its line, and in the line before.
var (
	ofServer = regexp.MustCompile(`(?i)smtp|\b(?:rcpt|said|says|response|replied|responded|returned)\b` +
		`|\b(?:error|reason|host|server|mx)\b|<<<|>>>`)
	beforeReply = regexp.MustCompile(`(?i)smtp|\b(?:rcpt|said|response|replied)\b|<<<|>>>|@\S+:$`)
)

var (
	anyAddress = regexp.MustCompile(`[^\s<>()\[\]{}:;,"'@\\|*=/]+` +
		`@(?:[^\s<>()\[\]{}:;,"'@\\|*=/.?!]+\.)+[\pL\d-]*\pL[\pL\d-]*`)
	aloneAddress = regexp.MustCompile(`^[\s>*•·\-"'<(]*[^\s<>()"'@]+@[^\s<>()"'@]+[\s>"')]*[:;,.]*$`)
	anyURL       = regexp.MustCompile(`(?i)\bhttps?://\S+`)
	fieldLine    = regexp.MustCompile(`^([A-Za-z][A-Za-z\d-]*)[ \t]*:`)
	question     = regexp.MustCompile(`[?？](?:[\s")'»”]|$)`)
)

// ReadFailure reads the words of a mail as those of a mail system.
func ReadFailure(words string) Failure {
	lines := failureLines(words)
	begin, end := returnedHeader(lines)
	found := Failure{}
	if end == begin {
		begin = len(lines)
	} else {
		found.Returned = block(lines[begin:end])
	}
	found.readLines(lines[:begin])
	found.Closing = closingAddress(lines[:begin])
	if found.Reply == "" && len(found.Recipients) == 0 && begin < len(lines) {
		found.readLines(lines[end:]) // the mail is named before what became of it
	}
	return found
}

// readLines reads what stands beside the header of the mail that was not delivered.
func (f *Failure) readLines(lines []string) {
	var beside, others []string
	for i, line := range lines {
		f.Asks = f.Asks || question.MatchString(line)
		replied := !strings.HasPrefix(line, "> ") && f.readReply(line, previousLine(lines, i))
		if match := idInWords.FindStringSubmatch(line); match != nil {
			f.MessageID, line = cmp.Or(f.MessageID, match[1]), idInWords.ReplaceAllString(line, "")
		}
		line = anyURL.ReplaceAllString(line, "")
		if namesNoRecipient(line) {
			continue
		}
		addresses := anyAddress.FindAllString(line, maxRecipients)
		if replied || aloneAddress.MatchString(line) || strings.Contains(strings.ToLower(line), "rcpt to") {
			beside = append(beside, addresses...)
		} else {
			others = append(others, addresses...)
		}
	}
	f.Recipients = unique(append(beside, others...))
}

// failureLines returns the lines that are read, without their ends.
func failureLines(words string) []string {
	words = charset.Truncate(words, maxFailure)
	lines := strings.SplitN(words, "\n", maxFailureLines+1)
	lines = lines[:min(len(lines), maxFailureLines)]
	for i, line := range lines {
		lines[i] = strings.TrimRight(charset.Truncate(line, maxFailureLine), " \t\r")
	}
	return lines
}

// readReply notes what a line says of the answer of a server, and tells whether it says anything.
// Of several, the first that is final counts. A code without a status is one where its line, or the one
// before, speaks of a server.
func (f *Failure) readReply(line, before string) bool {
	at, from, status := -1, 0, ""
	if match := extendedReply.FindStringSubmatchIndex(line); match != nil {
		at, from, status = match[2], match[2], line[match[4]:match[5]]
	} else if match := markedStatus.FindStringSubmatchIndex(line); match != nil {
		at, status = match[2], line[match[2]:match[3]]
	} else if match := listedStatus.FindStringSubmatchIndex(line); match != nil {
		at, from, status = match[2], match[2], line[match[2]:match[3]]
	} else if match := plainReply.FindStringSubmatchIndex(line); match != nil {
		if !strings.Contains(line[match[2]:match[3]], "@") && !ofServer.MatchString(line) &&
			!beforeReply.MatchString(before) {
			return false
		}
		at, from = match[2], match[2]
	}
	if at < 0 {
		return false
	}
	permanent := strings.HasPrefix(line[at:], "5") || strings.HasPrefix(status, "5") || status == "4.4.7"
	if f.Reply == "" || permanent && !f.Permanent {
		f.Reply, f.Status, f.Permanent = strings.TrimRight(strings.TrimSpace(line[from:]), `'"`), status, permanent
	}
	return true
}

// closingAddress returns the address that the last lines list with the final answer of a server, or "": the address
// at the beginning of the line of the answer, or alone in the one before. A heading may follow. Words that begin with a
// greeting have none, and those behind which a name or a sentence stands.
func closingAddress(lines []string) string {
	var filled []string
	for _, line := range lines {
		if line != "" {
			filled = append(filled, line)
		}
	}
	for len(filled) > 1 && strings.HasSuffix(filled[len(filled)-1], ":") {
		filled = filled[:len(filled)-1]
	}
	if len(filled) == 0 || greeting.MatchString(filled[0]) {
		return ""
	}
	last := len(filled) - 1
	if listedStatusOfExchange.MatchString(filled[last]) {
		return anyAddress.FindString(strings.Join(filled[max(0, last-2):last], "\n"))
	}
	for at := last; at >= max(0, last-2); at-- {
		if at < last && !isWrapped(filled[at], filled[last]) {
			continue
		}
		if match := addressAndReply.FindStringSubmatch(filled[at]); match != nil && listedReply.MatchString(match[2]) {
			return match[1]
		}
		if at > 0 && listedReply.MatchString(filled[at]) && aloneAddress.MatchString(filled[at-1]) {
			return anyAddress.FindString(filled[at-1])
		}
	}
	return ""
}

// isWrapped tells whether the answer of a server ends in a later line: there a sign closes what it has opened.
func isWrapped(reply, last string) bool {
	closes := func(sign string) bool { return strings.HasSuffix(strings.TrimRight(last, "."), sign) }
	return strings.Count(reply, "'")%2 == 1 && closes("'") || strings.Count(reply, "(") > strings.Count(reply, ")") && closes(")") ||
		!strings.HasSuffix(reply, "##") && closes("##")
}

// previousLine returns the last line before one that is not empty, or "".
func previousLine(lines []string, at int) string {
	for i := at - 1; i >= max(0, at-3); i-- {
		if lines[i] != "" {
			return lines[i]
		}
	}
	return ""
}

// namesNoRecipient tells whether the addresses in a line are no recipients: those of a sender or an
// id of a mail.
func namesNoRecipient(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc([]string{
		"message-id", "message id", "in-reply-to", "from:",
		"sender:", "reply-to", "return-path", "references:", "mail from:", "content-id",
	},
		func(words string) bool { return strings.Contains(line, words) })
}

// unique returns addresses each once, without those of mail systems and of people to ask.
func unique(addresses []string) []string {
	var found []string
	for _, one := range addresses {
		one = strings.TrimRight(strings.TrimLeft(one, "."), ".-")
		local, _, _ := strings.Cut(strings.ToLower(one), "@")
		switch local {
		case "", "postmaster", "mailer-daemon", "abuse", "hostmaster", "support", "helpdesk":
			continue
		}
		known := slices.ContainsFunc(found, func(other string) bool { return strings.EqualFold(one, other) })
		if !known && len(found) < maxRecipients {
			found = append(found, one)
		}
	}
	return found
}

// returnedHeader returns the first block of lines that is the header of a mail with an id, or else
// the first that is one of two fields at least that each mail has. No block is an empty one.
func returnedHeader(lines []string) (begin, end int) {
	for at := 0; at < len(lines); {
		prefix := indentation(lines[at])
		last, named, known := at, false, 0
		for ; last < len(lines) && strings.HasPrefix(lines[last], prefix); last++ {
			line := lines[last][len(prefix):]
			match := fieldLine.FindStringSubmatch(line)
			if match == nil && (last == at || !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t")) {
				break
			}
			if match == nil {
				continue
			}
			switch name := strings.ToLower(match[1]); name {
			case "message-id":
				named = named || strings.Contains(line, "@") || last+1 < len(lines) &&
					strings.Contains(lines[last+1], "@")
			case "from", "to", "subject", "date", "received", "return-path", "mime-version":
				known++
			}
		}
		if named {
			return at, last
		}
		if known > 1 && end == 0 {
			begin, end = at, last
		}
		at = max(last, at+1)
	}
	return begin, end
}

// indentation returns the marks of a quotation and the blanks that a line begins with.
func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t>|"))] }

// block joins lines without what each begins with.
func block(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	prefix := indentation(lines[0])
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(strings.TrimPrefix(line, prefix) + "\n")
	}
	return out.String()
}

// IsDelay tells whether the subject of a bounce says that the mail is late, and not that it failed.
func IsDelay(subject string) bool {
	subject = Normalize(subject)
	return slices.ContainsFunc([]string{
		"delay", "warning", "transient", "verzöger", "retard", "retras", "ritard", "atras",
		"vertrag", "försen", "forsink", "opóźn", "задерж", "затрим", "延迟", "延遲", "遅延",
	},
		func(word string) bool { return strings.Contains(subject, word) })
}
