package main

import "regexp"

// usageFaults puts what the parser of the command line says into plain words.
var usageFaults = [...]struct { //nolint:gochecknoglobals // never written
	said  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`expected duration but got ("(?:[^"\\]|\\.)*").*`), `${1} is not a duration such as 500ms, 30s or 5m`},
	{regexp.MustCompile(`expected (?:an? )?valid \d+ bit u?int but got ("(?:[^"\\]|\\.)*").*`), `${1} is not a whole number`},
	{regexp.MustCompile(`expected (?:an? )?(?:valid )?(?:\d+ bit )?float but got ("(?:[^"\\]|\\.)*").*`), `${1} is not a number`},
	{regexp.MustCompile(`expected bool value but got ("(?:[^"\\]|\\.)*").*`), `${1} is neither true nor false`},
	{regexp.MustCompile(`expected \w+ value but got "EOL".*`), `a value is missing behind it`},
	{regexp.MustCompile(`expected \w+ value but got ("(?:[^"\\]|\\.)*") \((?:short|long) flag\); perhaps try (--[^?]+)\?`), `${1} is taken for another flag; write ${2}`},
	{regexp.MustCompile(`^expected "(<[^"]+>)(?: \.\.\.)?".*`), `${1} is missing`},
	{regexp.MustCompile(`(must be one of )"",`), `${1}`},
}

// plainUsage says what is wrong with a command line, without the words of a parser.
func plainUsage(said string) string {
	for _, fault := range usageFaults {
		if fault.said.MatchString(said) {
			return fault.said.ReplaceAllString(said, fault.plain)
		}
	}
	return said
}
