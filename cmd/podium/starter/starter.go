// Package starter writes the beginning of an agent, in one of four languages: a program
// that does all that Podium expects, a test of its work, and a configuration.
//
// What it writes are the examples of deploy/examples/agents under another name: a program
// that is shown to work, of which the work is replaced.
package starter

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"podium/schemas"
)

//go:generate go test -run ^TestTemplatesAreTheExamples$ . -update

// templates are the files of the examples, each behind a line that names it.
//
//go:embed templates.txtar
var templates string

// example is the name of the agent in the examples.
const example = "clerk"

// configuration is the file that stands beside the program in every language.
const configuration = "podium.yaml"

// A Config says what is written.
type Config struct {
	Language string // go, js, py or sh
	Name     string // of the agent
	Dir      string // it is made if need be
}

// Made is what was written, and what to do with it.
type Made struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"` // with their directory
	Next  []string `json:"next"`  // commands
}

var (
	// ErrName reports a name that no agent, or none in that language, can have.
	ErrName = errors.New("the agent cannot be called that")
	// ErrInTheWay reports a file that is there already.
	ErrInTheWay = errors.New("nothing is overwritten")
)

// A language is the folder of its example, and how its program is tested and started.
type language struct{ folder, test, start string }

func languages() map[string]language {
	return map[string]language{
		"go": {"go", "go build -o clerk . && go test .", "./clerk"},
		"js": {"javascript", "npm ci && npm test", "node clerk.mjs"},
		"py": {"python", "/usr/bin/python3 -m unittest", "/usr/bin/python3 clerk.py"}, // the system's, which has python3-nacl
		"sh": {"shell", "./test.sh", "podium agent exec --name clerk --concurrency 2 --heartbeat 5s -- ./clerk.sh"},
	}
}

// usable are names that files, modules and packages can have, too.
var usable = regexp.MustCompile(`^[a-z0-9]`)

// Write writes the beginning of an agent. It writes nothing when one of its files is there.
func Write(config Config) (Made, error) {
	spoken, ok := languages()[config.Language]
	if !ok {
		return Made{}, fmt.Errorf("there is no example in %q", config.Language)
	}
	if !schemas.ValidAgentName(config.Name) || !usable.MatchString(config.Name) {
		return Made{}, fmt.Errorf("%w: %q is to be 1 to 63 of a-z, 0-9, _ and -, to begin with a letter or digit, and to hold a letter", ErrName, config.Name)
	}
	files := map[string]string{}
	var order []string
	for _, file := range archived() {
		name, of := strings.CutPrefix(file.name, spoken.folder+"/")
		if !of && file.name != configuration {
			continue
		}
		name = strings.ReplaceAll(name, example, config.Name)
		if _, twice := files[name]; twice {
			return Made{}, fmt.Errorf("%w: %s is a file beside the program", ErrName, name)
		}
		if regexp.MustCompile(`(?m)^(import|from) ` + regexp.QuoteMeta(config.Name) + `\b`).MatchString(file.text) {
			return Made{}, fmt.Errorf("%w: the program needs a module %s", ErrName, config.Name)
		}
		files[name] = strings.ReplaceAll(file.text, example, config.Name)
		order = append(order, name)
	}
	made := Made{Dir: config.Dir, Next: []string{
		"cd " + quoted(config.Dir) + " && " + spoken.test,
		`podium agent check -c podium.yaml --slow "in 10 seconds" -- ` + spoken.start,
		"podium up    # and in another terminal: " + spoken.start,
	}}
	for i := 0; i < len(made.Next); i++ {
		made.Next[i] = strings.ReplaceAll(made.Next[i], example, config.Name)
	}
	for _, name := range order {
		if _, err := os.Lstat(filepath.Join(config.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return Made{}, fmt.Errorf("%w: %s is there already; name another directory by --dir", ErrInTheWay, filepath.Join(config.Dir, name))
		}
	}
	if err := os.MkdirAll(config.Dir, 0o755); err != nil { //nolint:gosec // a program is no secret
		return Made{}, err
	}
	for _, name := range order {
		path := filepath.Join(config.Dir, name)
		if err := writeNew(path, files[name]); err != nil {
			return made, err
		}
		made.Files = append(made.Files, path)
	}
	return made, nil
}

// writeNew writes a file that is not there yet.
func writeNew(path, text string) error {
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./~-]+$`).MatchString(path) && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

type file struct{ name, text string }

// archived reads the templates.
func archived() (files []file) {
	for part := range strings.SplitSeq("\n"+templates, "\n-- ") {
		name, text, ok := strings.Cut(part, " --\n")
		if !ok {
			continue
		}
		files = append(files, file{name: name, text: strings.TrimSuffix(text, "\n") + "\n"})
	}
	return files
}
