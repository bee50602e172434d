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
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/diagnostic"
)

// The bounds of templates.
const (
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

// In returns a path of the configuration, relative to its directory.
func (c *Config) In(path string) string { return beneath(c.Directory, path) }

// readFolders reads the templates of documents, as readScripts does scripts.
func (c *Config) readFolders(directory string) diagnostic.Problems {
	v := &validator{config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		entry := c.Agents[name]
		if entry.Kind != KindDocument {
			continue
		}
		folder := beneath(directory, entry.Templates)
		files, err := readTemplates(folder)
		if err != nil {
			v.problem("agents."+name+".templates", "%v", err)
			continue
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
		c.Agents[name] = entry
	}
	return v.problems
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
