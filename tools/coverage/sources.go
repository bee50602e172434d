package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

const (
	itemsFile      = "docs/requirements.md"
	judgementsFile = "docs/coverage.yaml"
	pageFile       = "docs/COVERAGE.md"

	// hazards is how many hazards of mail docs/mail.md numbers, from I01 on. They are not
	// requirements, and tests bear their numbers in the same way.
	hazards = 25
)

// An item is one requirement.
type item struct {
	id      string // such as X-01
	section string // the heading that it stands below
	text    string
}

// A test is a function of the tests, or one of the stories that such a function plays.
type test struct {
	name    string // unique: the directory, a point, the function, and the story behind a slash
	file    string // the Go file or the story, from the root on
	numbers []string
	faults  []string
}

// A judgement is what somebody has written of an item. Without any word it is done.
type judgement struct {
	Partly string   `yaml:"partly"`  // what is missing
	NotYet string   `yaml:"not yet"` // why
	Tests  []string `yaml:"tests"`   // what shows it besides the tests with its number
}

func readItems(file string) ([]item, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	line := regexp.MustCompile(`^- ([XOGPCM]-\d\d) \[([ECD])\] (.+)$`)
	var items []item
	section := ""
	for text := range strings.Lines(string(body)) {
		text = strings.TrimSpace(text)
		if heading, ok := strings.CutPrefix(text, "## "); ok {
			section = heading
		}
		if match := line.FindStringSubmatch(text); match != nil {
			items = append(items, item{id: match[1], section: section, text: match[3]})
		}
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: no requirements", file)
	}
	return items, nil
}

func readJudgements(file string) (map[string]judgement, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseJudgements(body)
}

// parseJudgements refuses unknown keys, and an item that is there twice.
func parseJudgements(body []byte) (map[string]judgement, error) {
	var judgements map[string]judgement
	err := yaml.NewDecoder(bytes.NewReader(body), yaml.Strict()).Decode(&judgements)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", judgementsFile, err)
	}
	return judgements, nil
}

// readTests returns the tests of every directory below root but those that Git, the
// compiler and the tests themselves fill.
func readTests(root string) ([]test, error) {
	var tests []test
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); file != root && (name == "bin" || name == "testdata" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		found, err := testsIn(filepath.ToSlash(relative), body)
		if err != nil {
			return err
		}
		tests = append(tests, found...)
		if slices.ContainsFunc(found, func(t test) bool { return strings.HasSuffix(t.name, ".TestStories") }) {
			stories, err := filepath.Glob(filepath.Join(filepath.Dir(file), "testdata", "stories", "*.txt"))
			if err != nil {
				return err
			}
			for _, story := range stories {
				tests = append(tests, storyIn(filepath.ToSlash(filepath.Dir(relative)), filepath.Base(story)))
			}
		}
		return nil
	})
	if err == nil && len(tests) == 0 {
		err = errors.New("no tests")
	}
	return tests, err
}

// testsIn returns the functions of a file that `go test` runs, benchmarks too.
func testsIn(file string, body []byte) ([]test, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, body, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var tests []test
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Recv != nil || !isTest(function.Name.Name) {
			continue
		}
		name := function.Name.Name
		numbers, faults := numbersOf(name)
		if strings.HasPrefix(name, "Benchmark") && len(numbers) > 0 {
			faults = append(faults, "a benchmark is not run by tests, and shows no requirement")
		}
		tests = append(tests, test{name: path.Dir(file) + "." + name, file: file, numbers: numbers, faults: faults})
	}
	return tests, nil
}

func isTest(name string) bool {
	return name != "TestMain" &&
		(strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Benchmark"))
}

// numbersOf reads what stands behind the first underscore of a name: TestX_O08_I03 bears
// O-08, and the hazard I03, which is no requirement.
func numbersOf(name string) (numbers, faults []string) {
	number := regexp.MustCompile(`^[XOGPCM]\d\d$`)
	hazard := regexp.MustCompile(`^I\d\d$`)
	for _, part := range strings.Split(name, "_")[1:] {
		switch {
		case number.MatchString(part):
			numbers = append(numbers, part[:1]+"-"+part[1:])
		case hazard.MatchString(part):
			if n, err := strconv.Atoi(part[1:]); err != nil || n < 1 || n > hazards {
				faults = append(faults, fmt.Sprintf("there is no hazard %s of mail, only I01 to I%d", part, hazards))
			}
		default:
			faults = append(faults, fmt.Sprintf("%q is no number of a requirement", part))
		}
	}
	return numbers, faults
}

// storyIn reads the name of a story: O-08_O-09_words.txt bears both, and
// G-15_to_G-23_words.txt those and all in between.
func storyIn(directory, base string) test {
	story := strings.TrimSuffix(base, ".txt")
	t := test{name: directory + ".TestStories/" + story, file: directory + "/testdata/stories/" + base}
	number := regexp.MustCompile(`^[XOGPCM]-\d\d$`)
	through := false
	for part := range strings.SplitSeq(story, "_") {
		switch {
		case number.MatchString(part):
			if through {
				t.numbers = append(t.numbers, between(t.numbers[len(t.numbers)-1], part)...)
			}
			t.numbers, through = append(t.numbers, part), false
		case part == "to" && len(t.numbers) > 0:
			through = true
		default:
			return t
		}
	}
	return t
}

// between returns the numbers after the first and before the last, which have one letter.
func between(first, last string) []string {
	from, err := strconv.Atoi(first[2:])
	if err != nil || first[:2] != last[:2] {
		return nil
	}
	to, err := strconv.Atoi(last[2:])
	if err != nil {
		return nil
	}
	var numbers []string
	for n := from + 1; n < to; n++ {
		numbers = append(numbers, fmt.Sprintf("%s%02d", first[:2], n))
	}
	return numbers
}
