package cmd_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A recipe is a section of CONTRIBUTING.md with a table of all places that one more of
// something needs. In it <name> and <Name> stand for the new one: task_routed, TaskRouted.
type recipe struct {
	title  string
	places []place
}

// A place is a row: what has to stand in one of these files.
type place struct {
	files  []string // globs
	holds  []string
	notFor []string // those that need no such place
}

// kinds says for each recipe where what it adds is declared.
var kinds = map[string]func(fs.FS) ([]string, error){
	"Add a chat provider, messages in": declaredBy("schemas/chat_received.go", `ChatProvider = "(\w+)"`),
	"Add a chat provider, answers out": declaredBy("schemas/chat_received.go", `ChatProvider = "(\w+)"`),
	"Add an agent kind":                declaredBy("cmd/podium/config/config.go", `AgentKind = "(\w+)"`),
	"Add an agent that delivers":       declaredBy("cmd/podium/config/defaults.go", `\w+Agent = "(\w+)"`),
	"Add a fact":                       factsOf("schemas/record.schema.json"),
}

func declaredBy(file, pattern string) func(fs.FS) ([]string, error) {
	return func(tree fs.FS) (names []string, err error) {
		body, err := fs.ReadFile(tree, file)
		for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(body, -1) {
			names = append(names, string(match[1]))
		}
		return names, err
	}
}

func factsOf(file string) func(fs.FS) ([]string, error) {
	return func(tree fs.FS) (names []string, err error) {
		body, err := fs.ReadFile(tree, file)
		if err != nil {
			return nil, err
		}
		var schema struct {
			Defs struct {
				Fact struct{ Properties map[string]any }
			} `json:"$defs"`
		}
		err = json.Unmarshal(body, &schema)
		for name := range schema.Defs.Fact.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		return names, err
	}
}

// TestRecipes walks every recipe for all that there is of its kind: whoever adds one, and
// leaves out a place, is told which.
func TestRecipes(t *testing.T) {
	t.Parallel()
	for _, fault := range recipeFaults(os.DirFS("..")) {
		t.Error(fault)
	}
}

// recipeFaults says in a sentence each what a tree lacks by its own CONTRIBUTING.md.
func recipeFaults(tree fs.FS) (faults []string) {
	read := &readTree{tree, map[string][]string{}}
	body, err := fs.ReadFile(tree, "CONTRIBUTING.md")
	if err != nil {
		return []string{err.Error()}
	}
	recipes := readRecipes(string(body))
	for title, enumerate := range kinds {
		at := slices.IndexFunc(recipes, func(r recipe) bool { return r.title == title })
		if at < 0 || len(recipes[at].places) == 0 {
			faults = append(faults, fmt.Sprintf("CONTRIBUTING.md has no table of places under %q", title))
			continue
		}
		names, err := enumerate(tree)
		if err != nil || len(names) < 2 {
			faults = append(faults, fmt.Sprintf("%s: only %v are declared: %v", title, names, err))
		}
		for _, p := range recipes[at].places {
			for _, fault := range p.faults(read, names) {
				faults = append(faults, title+": "+fault)
			}
		}
	}
	slices.Sort(faults)
	return faults
}

func readRecipes(text string) (recipes []recipe) {
	quoted := regexp.MustCompile("`([^`]+)`")
	words := func(cell string) (found []string) {
		for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
			found = append(found, match[1])
		}
		return found
	}
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		_, table, found := strings.Cut(rest, "\n| place | holds | what to do |\n")
		if !found {
			continue
		}
		r := recipe{title: title}
		for line := range strings.Lines(table) {
			if !strings.HasPrefix(line, "|") {
				break
			}
			if cells := strings.Split(line, "|"); len(cells) == 5 && !strings.HasPrefix(line, "|--") {
				holds, notFor, _ := strings.Cut(cells[2], "not for")
				r.places = append(r.places, place{words(cells[1]), words(holds), words(notFor)})
			}
		}
		recipes = append(recipes, r)
	}
	return recipes
}

func (p *place) faults(tree *readTree, names []string) (faults []string) {
	for _, name := range p.notFor {
		if !slices.Contains(names, name) {
			faults = append(faults, fmt.Sprintf("%s does without %v, but there is no %s", name, p.files, name))
		}
	}
	for _, name := range names {
		fill := strings.NewReplacer("<name>", name, "<Name>", camel(name)).Replace
		lacks := p.lacks(tree, fill)
		switch excepted := slices.Contains(p.notFor, name); {
		case lacks != "" && !excepted:
			faults = append(faults, fmt.Sprintf("%s is missing: %s", name, lacks))
		case lacks == "" && excepted:
			faults = append(faults, fmt.Sprintf("%s is in %v, which says that it is not", name, p.files))
		}
	}
	return faults
}

// lacks says what is not there of a place; "" is nothing.
func (p *place) lacks(tree *readTree, fill func(string) string) string {
	var texts []string
	for _, pattern := range p.files {
		found := tree.read(fill(pattern))
		if len(found) == 0 {
			return "there is no " + fill(pattern)
		}
		texts = append(texts, found...)
	}
	for _, held := range p.holds {
		if !slices.ContainsFunc(texts, func(text string) bool { return holds(text, fill(held)) }) {
			return fmt.Sprintf("%s does not have %q", fill(strings.Join(p.files, " or ")), fill(held))
		}
	}
	return ""
}

var letter = regexp.MustCompile(`^\w`)

// holds reports whether words stand in a text, and not inside of longer ones.
func holds(text, words string) bool {
	for {
		before, after, found := strings.Cut(text, words)
		if !found || !letter.MatchString(before[max(len(before)-1, 0):]) && !letter.MatchString(after) {
			return found
		}
		text = after
	}
}

// A readTree reads what a glob names once.
type readTree struct {
	fs.FS
	texts map[string][]string
}

func (r *readTree) read(pattern string) []string {
	texts, known := r.texts[pattern]
	if known {
		return texts
	}
	files, err := fs.Glob(r, pattern)
	if err != nil {
		panic(err) // the table's pattern is none
	}
	for _, file := range files {
		if body, err := fs.ReadFile(r, file); err == nil { // a folder holds nothing
			texts = append(texts, string(body))
		}
	}
	r.texts[pattern] = texts
	return texts
}

// camel returns a name as Go has it: TaskRouted for task_routed.
func camel(name string) string {
	var words strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word == "http" || word == "llm" || word == "mcp" { // an initialism keeps its case
			words.WriteString(strings.ToUpper(word))
			continue
		}
		words.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return words.String()
}

// TestEveryPlaceIsMissed doctors the house: it adds one to each kind, and every place of its
// recipe misses that one; it takes away a file, and the places that name it say so.
func TestEveryPlaceIsMissed(t *testing.T) {
	t.Parallel()
	house := fstest.MapFS{}
	recipes := readRecipes(readDoc(t, "CONTRIBUTING.md"))
	for _, r := range recipes {
		for _, p := range r.places {
			for _, pattern := range p.files {
				files, err := fs.Glob(os.DirFS(".."), strings.NewReplacer("<name>", "*").Replace(pattern))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					if body, err := fs.ReadFile(os.DirFS(".."), file); err == nil {
						house[file] = &fstest.MapFile{Data: body}
					}
				}
			}
		}
	}
	house["CONTRIBUTING.md"] = &fstest.MapFile{Data: []byte(readDoc(t, "CONTRIBUTING.md"))}
	for _, planted := range []struct{ title, file, before, added, gone string }{
		{"Add a chat provider, messages in", "schemas/chat_received.go", "\tProviderTeams ", "\tProviderPigeon ChatProvider = \"pigeon\"\n", "ingest/chat/slack.go"},
		{"Add a chat provider, answers out", "schemas/chat_received.go", "\tProviderTeams ", "\tProviderPigeon ChatProvider = \"pigeon\"\n", "docs/chat.md"},
		{"Add an agent kind", "cmd/podium/config/config.go", "\tKindEcho ", "\tKindPigeon AgentKind = \"pigeon\"\n", "agents/echo/handler_test.go"},
		{"Add an agent that delivers", "cmd/podium/config/defaults.go", "\tMailAgent ", "\tPigeonAgent = \"pigeon\"\n", "agents/mail/words.go"},
		{"Add a fact", "schemas/record.schema.json", `"task_ready":`, `"pigeon": {},`, "cmd/podium/view/lines.go"},
	} {
		doctored := maps.Clone(house)
		text := string(house[planted.file].Data)
		if !strings.Contains(text, planted.before) {
			t.Fatalf("%s has no %q", planted.file, planted.before)
		}
		doctored[planted.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, planted.before, planted.added+planted.before, 1))}
		faults := recipeFaults(doctored)
		at := slices.IndexFunc(recipes, func(r recipe) bool { return r.title == planted.title })
		for _, p := range recipes[at].places {
			if slices.Contains(p.files, planted.file) || !strings.Contains(strings.Join(slices.Concat(p.files, p.holds), " "), "ame>") {
				continue // what declares it has it, and what every one shares is there
			}
			fill := strings.NewReplacer("<name>", "pigeon", "<Name>", "Pigeon").Replace
			if !slices.ContainsFunc(faults, func(fault string) bool {
				return strings.HasPrefix(fault, planted.title+": pigeon is missing: ") && strings.Contains(fault, fill(p.files[0]))
			}) {
				t.Errorf("%s: %v does not miss the pigeon: %q", planted.title, p.files, faults)
			}
		}
		delete(doctored, planted.gone)
		if faults := recipeFaults(doctored); !slices.ContainsFunc(faults, func(fault string) bool {
			return strings.HasPrefix(fault, planted.title) && strings.Contains(fault, "there is no "+planted.gone)
		}) {
			t.Errorf("%s: nobody misses %s: %q", planted.title, planted.gone, faults)
		}
	}
}
