package file

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"podium/bus/agent"
)

const (
	maxName      = 180 // bytes of a part of a path
	recordFolder = ".podium"
)

// Places are those that a pattern may have.
func Places() []string { return []string{"time", "date", "run", "task", "file"} }

var place = regexp.MustCompile(`\{([^{}]*)\}`)

// A Pattern says what files are called.
type Pattern struct{ text string }

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	for _, found := range place.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(Places(), found[1]) {
			return Pattern{}, fmt.Errorf("unknown {%s}; it can be: %s", found[1], strings.Join(Places(), ", "))
		}
	}
	plain := place.ReplaceAllString(text, "x")
	switch {
	case text == "":
		return Pattern{}, errors.New("it is empty")
	case strings.ContainsAny(plain, `{}\:*?"<>|`):
		return Pattern{}, errors.New(`a name has none of {}\:*?"<>| outside of places such as {run}`)
	case path.IsAbs(plain) || path.Clean(plain) != plain || strings.HasPrefix(plain, ".."):
		return Pattern{}, errors.New("it is no path inside of the folder")
	}
	for part := range strings.SplitSeq(plain, "/") {
		if clean(part) != part || strings.EqualFold(part, recordFolder) {
			return Pattern{}, fmt.Errorf("%q is no name: it begins or ends with a point or a blank, is reserved, or has a sign that cannot be seen", part)
		}
	}
	return Pattern{text: text}, nil
}

// takesFiles reports whether it is for the files that came along.
func (p Pattern) takesFiles() bool { return strings.Contains(p.text, "{file}") }

// name is the path of a file inside of the folder.
func (p Pattern) name(request *agent.Request, now time.Time, file string) string {
	parts := strings.Split(p.text, "/")
	for i := range parts {
		parts[i] = clean(strings.NewReplacer(
			"{time}", now.UTC().Format("20060102-150405"), "{date}", now.UTC().Format(time.DateOnly),
			"{run}", request.Run, "{task}", request.Task().TaskID, "{file}", clean(file),
		).Replace(parts[i]))
	}
	return path.Join(parts...)
}

// numbered is the n-th name for a file whose own is taken; 1 is its own.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ending := path.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ending), n, ending)
}

// reserved are names that are devices on Windows.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)

// clean is a text as the name of a file: one part of a path that can be seen as it is, everywhere.
func clean(name string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case strings.ContainsRune(`/\:*?"<>|`, c), c == utf8.RuneError:
			return '_'
		case unicode.IsControl(c), unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp): // marks of direction are among Cf
			return -1
		case unicode.IsSpace(c):
			return ' '
		}
		return c
	}, norm.NFC.String(strings.ToValidUTF8(name, "_")))
	name = strings.TrimRight(strings.TrimLeft(name, "-. "), ". ")
	if reserved.MatchString(name) {
		name = "_" + name
	}
	ending := path.Ext(name)
	if len(ending) > 20 {
		ending = ""
	}
	if stem := strings.TrimSuffix(name, ending); len(name) > maxName {
		name = strings.TrimRight(strings.ToValidUTF8(stem[:maxName-len(ending)], ""), ". ") + ending
	}
	if name == "" {
		return "file"
	}
	return name
}
