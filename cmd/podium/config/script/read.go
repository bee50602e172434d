package script

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podium/agents/scripted"
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/config/strictyaml"
)

// The bounds of a script, in bytes.
const (
	maxScript = 1 << 20
	maxFile   = 8 << 20
	maxFiles  = 32 << 20
)

// Load reads a script, and what comes with its answers. Its errors are diagnostic.Problems where something is wrong in the script.
func Load(file string) (*scripted.Script, error) {
	body, err := beside.Read(os.DirFS(filepath.Dir(file)), filepath.Base(file), maxScript)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(filepath.Dir(file)) // what comes with answers is in there, whatever links say
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return Read(body, file, os.LookupEnv, folder.FS())
}

// Read reads a script. The name stands for the file in errors, which are diagnostic.Problems; files that come
// with answers are in the folder.
func Read(body []byte, name string, lookup func(name string) (value string, set bool), folder fs.FS) (*scripted.Script, error) {
	var written Script
	places, err := strictyaml.Decode(body, name, lookup, &written)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name, places: places, folder: folder, room: maxFiles}
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
