package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"podium/agents/document"
	"podium/agents/file"
	"podium/agents/retrieval"
	"podium/agents/scripted"
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/config/script"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// readScripts reads the scripts of all agents, which are relative to the directory of the
// configuration. Load is the only one to do so: what was parsed alone has none.
func (c *Config) readScripts(directory string) diagnostic.Problems {
	v := &validator{config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		entry := c.Agents[name]
		if entry.Kind != KindScripted {
			continue
		}
		file := entry.Script
		if !filepath.IsAbs(file) {
			file = filepath.Join(directory, file)
		}
		answers, err := script.Load(file)
		switch problems := diagnostic.ProblemsOf(err); {
		case problems != nil:
			v.problems = append(v.problems, problems...)
		case err != nil:
			v.problem("agents."+name+".script", "%v", err)
		default:
			v.scriptOf("agents."+name, &entry, answers)
			entry.Answers = answers
			c.Agents[name] = entry
		}
	}
	return v.problems
}

// scriptOf checks what an agent says of itself against its script.
func (v *validator) scriptOf(at string, entry *Agent, answers *scripted.Script) {
	answered := map[schemas.RequestKind]bool{}
	acts := func(answer *scripted.Answer) {
		if answer.Acts && entry.SideEffects == "" {
			v.problem(at, "%s of its script acts: write side_effects: external", answer.Place)
		}
	}
	for i := range answers.Cases {
		answered[cmp.Or(answers.Cases[i].Kind, schemas.KindWork)] = true
		acts(&answers.Cases[i].Answer)
	}
	if answers.Otherwise != nil {
		acts(answers.Otherwise)
	}
	for i, kind := range entry.Kinds {
		if !answered[kind] && answers.Otherwise == nil {
			v.problem(fmt.Sprintf("%s.kinds[%d]", at, i), "its script has no case of kind %s, and no otherwise", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(answered)) {
		if !slices.Contains(entry.Kinds, kind) {
			v.problem(at, "its script has a case of kind %s, which it is never asked: write kinds: [%s]", kind, list(append(slices.Clip(entry.Kinds), kind), ", "))
		}
	}
}

// The bounds of files.
const (
	maxCompounds = 4 << 20   // bytes
	maxTemplate  = 256 << 10 // bytes of one
	maxTemplates = 200
)

// documents checks what an agent of kind document needs.
func (v *validator) documents(path string, agent *Agent) {
	if agent.Templates == "" {
		v.problem(path, "an agent of kind document needs templates: a directory with a file such as letter.md")
	}
}

// files checks what an agent of kind file needs.
func (v *validator) files(path string, agent *Agent) {
	if agent.Dir == "" {
		v.problem(path, "an agent of kind file needs a dir: where it writes")
	}
	if agent.Name == "" {
		v.problem(path, "an agent of kind file needs a name for its files, such as plan_{time}_{run}.md")
	} else if _, err := file.ParsePattern(agent.Name); err != nil {
		v.problem(path+".name", "%v", err)
	}
}

// retrieval checks what an agent of kind retrieval needs.
func (v *validator) retrieval(path string, agent *Agent) {
	if agent.Index == "" {
		v.problem(path, "an agent of kind retrieval needs an index: the name of what it learns or reads")
	} else {
		v.name(path+".index", agent.Index)
	}
	if agent.Mode == "" {
		v.problem(path, "an agent of kind retrieval needs a mode: learn or read")
	}
	if agent.Mode == retrieval.ModeRead && agent.Compounds != "" {
		v.problem(path+".compounds", "words are taken apart when they are learned: it belongs to the agent with mode: learn")
	}
}

// In returns a path of the configuration, relative to its directory.
func (c *Config) In(path string) string { return beneath(c.Directory, path) }

// StartIn is the directory in which the program of an agent starts.
func (c *Config) StartIn(agent *Agent) string { return cmp.Or(agent.Directory, c.Directory) }

// readFolders reads the templates of documents and the lists of compounds, as readScripts does scripts.
func (c *Config) readFolders(directory string) diagnostic.Problems {
	v := &validator{config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		entry := c.Agents[name]
		switch {
		case entry.Kind == KindDocument:
			v.readTemplates(name, beneath(directory, entry.Templates), &entry)
		case entry.Compounds != "":
			path := beneath(directory, entry.Compounds)
			text, err := beside.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxCompounds)
			if err == nil {
				entry.CompoundsRead, err = retrieval.ParseCompounds(text)
			}
			if err != nil {
				v.problem("agents."+name+".compounds", "%v", err)
			}
		}
		c.Agents[name] = entry
	}
	return v.problems
}

func (v *validator) readTemplates(name, folder string, entry *Agent) {
	files, err := readTemplates(folder)
	if err != nil {
		v.problem("agents."+name+".templates", "%v", err)
		return
	}
	templates, faults := document.ParseTemplates(files)
	for _, fault := range faults {
		if fault.File == "" {
			v.problem("agents."+name+".templates", "%s", fault.Message)
			continue
		}
		v.problems = append(v.problems, &diagnostic.Problem{
			File: filepath.Join(folder, fault.File), Line: fault.Line, Column: fault.Column, Message: fault.Message,
		})
	}
	entry.TemplatesRead = templates
	if len(entry.InputSchema) == 0 {
		entry.InputSchema = document.InputSchema(templates.Names())
	}
}

// beneath is a path of the configuration, relative to its directory.
func beneath(directory, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(directory, path)
}

// readTemplates reads the files of a folder that may be templates.
func readTemplates(folder string) (map[string][]byte, error) {
	root, err := os.OpenRoot(folder) // whatever links say
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such directory")
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if name := entry.Name(); filepath.Ext(name) == ".md" || name == document.Layout {
			if files[name], err = beside.Read(root.FS(), name, maxTemplate); err != nil {
				return nil, err
			}
		}
	}
	if len(files) > maxTemplates {
		return nil, fmt.Errorf("it has %d templates; it may have %d", len(files), maxTemplates)
	}
	return files, nil
}
