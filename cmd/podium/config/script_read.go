package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"podium/agents/scripted"
	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// The bounds of a script, in bytes.
const (
	maxScript      = 1 << 20
	maxScriptFile  = 8 << 20
	maxScriptFiles = 32 << 20
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
		script, err := loadScript(file)
		switch problems := diagnostic.ProblemsOf(err); {
		case problems != nil:
			v.problems = append(v.problems, problems...)
		case err != nil:
			v.problem("agents."+name+".script", "%v", err)
		default:
			v.scriptOf("agents."+name, &entry, script)
			entry.Answers = script
			c.Agents[name] = entry
		}
	}
	return v.problems
}

func loadScript(file string) (*scripted.Script, error) {
	body, err := readBeside(os.DirFS(filepath.Dir(file)), filepath.Base(file), maxScript)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(filepath.Dir(file)) // what comes with answers is in there, whatever links say
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return readScript(body, file, os.LookupEnv, folder.FS())
}

// readBeside reads a regular file of a folder, within a bound.
func readBeside(folder fs.FS, name string, limit int64) ([]byte, error) {
	file, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", name)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	about, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !about.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case about.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes; it may have %d", name, about.Size(), limit)
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

// scriptOf checks what an agent says of itself against its script.
func (v *validator) scriptOf(at string, entry *Agent, script *scripted.Script) {
	answered := map[schemas.TaskKind]bool{}
	acts := func(answer *scripted.Answer) {
		if answer.Acts && entry.SideEffects == "" {
			v.problem(at, "%s of its script acts: write side_effects: external", answer.Place)
		}
	}
	for i := range script.Cases {
		answered[cmp.Or(script.Cases[i].Kind, schemas.KindWork)] = true
		acts(&script.Cases[i].Answer)
	}
	if script.Otherwise != nil {
		acts(script.Otherwise)
	}
	for i, kind := range entry.Kinds {
		if !answered[kind] && script.Otherwise == nil {
			v.problem(fmt.Sprintf("%s.kinds[%d]", at, i), "its script has no case of kind %s, and no otherwise", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(answered)) {
		if !slices.Contains(entry.Kinds, kind) {
			v.problem(at, "its script has a case of kind %s, which it is never asked: write kinds: [%s]", kind, list(append(slices.Clip(entry.Kinds), kind), ", "))
		}
	}
}

// readScript reads a script. The name stands for the file in errors, which are diagnostic.Problems; files that come
// with answers are in the folder.
func readScript(body []byte, name string, lookup func(name string) (value string, set bool), folder fs.FS) (*scripted.Script, error) {
	var written Script
	places, err := strictyaml.Decode(body, name, lookup, &written)
	if err != nil {
		return nil, err
	}
	r := &scriptReader{validator: validator{config: &Config{places: places, file: name}}, folder: folder, room: maxScriptFiles}
	made := &scripted.Script{Cases: make([]scripted.Case, len(written.Cases))}
	for i := range written.Cases {
		made.Cases[i] = r.read(fmt.Sprintf("cases[%d]", i), &written.Cases[i])
	}
	r.reachable(written.Cases)
	if written.Otherwise != nil {
		if written.Otherwise.conditional() || written.Otherwise.Kind != "" {
			r.problem("otherwise", "it is for what fits no case: it has no match, kind, arguments, answer, answer_values and attempt")
		}
		otherwise := r.read("otherwise", written.Otherwise)
		made.Otherwise = &otherwise.Answer
	}
	if err := r.problems.Sorted(); err != nil {
		return nil, err
	}
	return made, nil
}
