package carddav

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A field is a line of a card, as it is written.
type field struct{ name, value string }

// fields are the lines for what a contact says, and nothing for what it does not.
func fields(contact *Contact) []field {
	var all []field
	add := func(name, value string) {
		if value != "" {
			all = append(all, field{name, escaped(value)})
		}
	}
	add("TEL", contact.Phone)
	add("EMAIL", contact.Email)
	if contact.Address != "" {
		all = append(all, field{"ADR", address(contact.Address)})
	}
	add("BDAY", contact.BirthDate)
	add(fieldNumber, contact.Number)
	return all
}

// escaped is a value of a card: a text on one line, and each of its structural letters after a backslash.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`).Replace(text)
}

// address writes an address that stands on one line. What stands behind a comma and begins with a number of four to six
// digits is the place with its code.
func address(text string) string {
	street, code, place := text, "", ""
	if before, behind, found := strings.Cut(text, ","); found {
		first, rest, _ := strings.Cut(strings.TrimSpace(behind), " ")
		if len(first) >= 4 && len(first) <= 6 && strings.Trim(first, "0123456789") == "" && rest != "" {
			street, code, place = strings.TrimSpace(before), first, strings.TrimSpace(rest)
		}
	}
	return strings.Join([]string{"", "", escaped(street), escaped(place), "", escaped(code), ""}, ";")
}

// newCard is the card that a request makes.
func newCard(name string, contact *Contact, now time.Time) []byte {
	given, family := "", contact.Name
	if first, last, found := strings.Cut(contact.Name, ","); found {
		given, family = strings.TrimSpace(last), strings.TrimSpace(first)
	} else if at := strings.LastIndex(contact.Name, " "); at >= 0 {
		given, family = contact.Name[:at], contact.Name[at+1:]
	}
	lines := []string{"BEGIN:VCARD", "VERSION:3.0"}
	for _, one := range append([]field{
		{"PRODID", "-//podium//carddav//EN"},
		{"UID", name},
		{fieldEffect, name},
		{"REV", now.UTC().Format("20060102T150405Z")},
		{"FN", escaped(strings.TrimSpace(given + " " + family))},
		{"N", escaped(family) + ";" + escaped(given) + ";;;"},
	}, fields(contact)...) {
		lines = append(lines, one.name+":"+one.value)
	}
	return []byte(strings.Join(append(lines, "END:VCARD", ""), "\r\n"))
}

// changedCard is a card with other values for what a contact says. Of several lines of one kind the preferred one is
// replaced, else the first. All others stay as they are, byte for byte.
func changedCard(body []byte, name string, contact *Contact, now time.Time) ([]byte, error) {
	lines := linesOf(body)
	end := slices.IndexFunc(lines, func(line string) bool { return strings.EqualFold(strings.TrimSpace(line), "END:VCARD") })
	if end < 0 || slices.ContainsFunc(lines[end+1:], func(line string) bool { return strings.TrimSpace(line) != "" }) {
		return nil, errCard
	}
	lines = lines[:end]
	changes := append(fields(contact), field{"REV", now.UTC().Format("20060102T150405Z")}, field{fieldEffect, name})
	for _, change := range changes {
		if change.name == "BDAY" && slices.Contains(lines, "VERSION:4.0") {
			change.value = strings.ReplaceAll(change.value, "-", "") // its form of a day
		}
		at, best := -1, 0
		for i, line := range lines {
			if named, parameters := nameOfLine(line); named == change.name {
				if rank := preference(parameters); at < 0 || rank < best {
					at, best = i, rank
				}
			}
		}
		if at < 0 {
			lines = append(lines, change.name+":"+change.value)
			continue
		}
		lines[at] = kept(lines[at]) + ":" + change.value
	}
	return []byte(strings.Join(append(lines, "END:VCARD", ""), "\r\n")), nil
}

// linesOf are the lines of a card, each with the breaks that only keep it short.
func linesOf(body []byte) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(string(bytes.TrimSpace(body)), "\r\n", "\n"), "\n") {
		if last := len(lines) - 1; last >= 0 && strings.HasPrefix(line, " ") || last >= 0 && strings.HasPrefix(line, "\t") {
			lines[last] += "\r\n" + line
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// kept is the beginning of a line whose value is replaced: its name, and those parameters that are not about the value.
func kept(line string) string {
	return strings.Join(slices.DeleteFunc(headParts(line), func(part string) bool {
		name, _, is := strings.Cut(strings.ToUpper(part), "=")
		return is && name != "TYPE" && name != "PREF"
	}), ";")
}

func unfold(line string) string {
	return strings.NewReplacer("\r\n ", "", "\r\n\t", "").Replace(line)
}

// headOf is where the value of a line begins: behind the first colon outside of quotation marks.
func headOf(line string) int {
	quoted := false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ':' && !quoted:
			return i
		}
	}
	return len(line)
}

// headParts are the name of a line and its parameters.
func headParts(line string) []string {
	head := unfold(line[:headOf(line)])
	var parts []string
	quoted, begin := false, 0
	for i := range len(head) {
		switch {
		case head[i] == '"':
			quoted = !quoted
		case head[i] == ';' && !quoted:
			parts, begin = append(parts, head[begin:i]), i+1
		}
	}
	return append(parts, head[begin:])
}

// nameOfLine is the name of a line without its group, and its parameters.
func nameOfLine(line string) (name string, parameters []string) {
	parts := headParts(line)
	if name = parts[0]; strings.Contains(name, ".") {
		_, name, _ = strings.Cut(name, ".")
	}
	return strings.ToUpper(name), parts[1:]
}

// leastPreferred is the rank of a value that does not say how much it is preferred, as the library reads it.
const leastPreferred = 100

// preference is the rank of a value among those of its name, 1 for the one that is preferred most.
func preference(parameters []string) int {
	for _, parameter := range parameters {
		switch name, value, _ := strings.Cut(strings.ToUpper(parameter), "="); {
		case name == "PREF" && value != "":
			rank, _ := strconv.Atoi(strings.Trim(value, `"`)) // what is no number is preferred, as the library reads it
			return rank
		case name == "PREF", name == "TYPE" && slices.Contains(strings.Split(strings.Trim(value, `"`), ","), "PREF"):
			return 1
		}
	}
	return leastPreferred
}
