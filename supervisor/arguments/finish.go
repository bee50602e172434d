package arguments

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/validation"
)

// finish holds the values to the schema and says what is missing. What is required and an object
// begins empty, so that what is required in it is asked for, and not it.
func (s *filling) finish() Filled {
	var missing []Missing
	for {
		problems := s.problems(s.schema.Problems)
		if s.begin(problems) || s.removeWrong(problems) {
			continue
		}
		if all := s.problems(s.schema.Lacks); !slices.ContainsFunc(all, s.isAsked) {
			problems = all
		}
		for _, problem := range problems {
			if problem.Missing {
				missing = append(missing, s.asked(pathOf(problem.Pointer)))
			}
		}
		break
	}
	for _, path := range slices.Sorted(maps.Keys(s.unsure)) {
		if _, there := s.values.get(strings.Split(path, ".")); !there && !slices.ContainsFunc(missing, func(m Missing) bool { return m.Path == path }) {
			missing = append(missing, s.asked(path))
		}
	}
	s.inOrder(missing)
	filled := Filled{Sources: copied(s.sources), Missing: missing, Refused: s.refused}
	var err error
	if filled.Values, err = s.values.encode(); err != nil {
		filled.Values, filled.Refused = jsontext.Value(`{}`), append(filled.Refused, Refused{Reason: schemas.Because(schemas.ArgumentsUnsendable)})
	}
	return filled
}

// isAsked says whether there are questions already about what is missing.
func (s *filling) isAsked(problem validation.Problem) bool {
	_, unsure := s.unsure[pathOf(problem.Pointer)]
	return unsure
}

// problems are those of the values as they are now.
func (s *filling) problems(of func([]byte) ([]validation.Problem, error)) []validation.Problem {
	body, err := s.values.encode()
	if err == nil && len(body) > maxData {
		s.refused = append(s.refused, Refused{Reason: schemas.Because(schemas.ArgumentsTooLong, "limit", strconv.Itoa(maxData))})
		s.values, s.sources = object{}, map[string]Source{}
		return nil
	}
	var problems []validation.Problem
	if err == nil {
		problems, err = of(body)
	}
	if err != nil {
		s.refused = append(s.refused, Refused{Reason: schemas.Because(schemas.ArgumentsUnsendable)})
		s.values, s.sources = object{}, map[string]Source{}
		return nil
	}
	return problems
}

// begin puts empty objects where the schema requires one.
func (s *filling) begin(problems []validation.Problem) bool {
	begun := false
	for _, problem := range problems {
		p, ok := s.document.property(pathOf(problem.Pointer))
		if !problem.Missing || !ok || p.kind != "object" {
			continue
		}
		if _, unsure := s.unsure[p.path]; unsure {
			continue
		}
		if _, there := s.values.get(p.names); !there {
			begun = s.values.set(p.names, object{}) || begun
		}
	}
	return begun
}

// removeWrong takes out one value that breaks the schema. What was read from words is asked about, all else is refused.
func (s *filling) removeWrong(problems []validation.Problem) bool {
	for _, problem := range problems {
		if problem.Missing {
			continue
		}
		path := pathOf(problem.Pointer)
		for path != "" && s.sources[path] == "" {
			path, _ = cutLast(path)
		}
		if path == "" {
			refused := Invalid(pathOf(problem.Pointer), problem.Reason)
			if !slices.ContainsFunc(s.refused, func(other Refused) bool { return other.Path == refused.Path && other.Reason.Same(refused.Reason) }) {
				s.refused = append(s.refused, refused)
			}
			continue
		}
		names := strings.Split(path, ".")
		value, _ := s.values.get(names)
		if s.sources[path] == SourceGiven {
			s.refused = append(s.refused, Invalid(path, problem.Reason))
		} else {
			s.unsure[path] = []string{unquoted(value)}
		}
		s.values.remove(names)
		delete(s.sources, path)
		return true
	}
	return false
}

func cutLast(path string) (string, string) {
	at := strings.LastIndexByte(path, '.')
	if at < 0 {
		return "", path
	}
	return path[:at], path[at+1:]
}

func pathOf(pointer string) string {
	return strings.Join(slices.Collect(jsontext.Pointer(pointer).Tokens()), ".")
}

// mostChoices is how many choices a question lists.
const mostChoices = 8

func (s *filling) asked(path string) Missing { return s.missing(path, s.unsure[path]) }

func (f *Filler) missing(path string, readings []string) Missing {
	m := Missing{Path: path, Readings: readings}
	if p, ok := f.document.property(path); ok {
		m.Title = p.title
	}
	for i := range f.rules {
		if r := &f.rules[i]; r.Path == path && len(r.Ask) > 0 {
			m.Question = r.Ask
			break
		}
	}
	if p, ok := f.document.property(path); ok && len(m.Question) == 0 && len(m.Readings) == 0 && len(p.choices) > 1 && len(p.choices) <= mostChoices {
		m.Readings = p.choices
	}
	return m
}

// inOrder brings questions into the order of the profile's rules.
func (f *Filler) inOrder(missing []Missing) {
	slices.SortStableFunc(missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(f.rank(a.Path), f.rank(b.Path)), strings.Compare(a.Path, b.Path))
	})
}

func (f *Filler) rank(path string) int {
	if at := slices.Index(f.order, path); at >= 0 {
		return at
	}
	return len(f.order)
}
