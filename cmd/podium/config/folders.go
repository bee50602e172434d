package config

import (
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
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/diagnostic"
)

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
