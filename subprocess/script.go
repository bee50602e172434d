package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An interpreter is a program that reads another one from a file, which its first argument names.
type interpreter struct {
	name  string // beginning of its file's
	flags string // letters that may stand before that file and take no argument of their own; behind any other flag nothing is known
	shell bool   // it looks for that file in PATH, too
}

func interpreters() []interpreter {
	const python, shell = "BEIOSbdqsuvx", "efnuvx"
	return []interpreter{
		{name: "python", flags: python},
		{name: "pypy", flags: python},
		{name: "node"},
		{name: "Rscript"},
		{name: "ruby", flags: "w"},
		{name: "perl", flags: "wT"},
		{name: "php"},
		{name: "sh", flags: shell, shell: true},
		{name: "bash", flags: shell, shell: true},
		{name: "dash", flags: shell, shell: true},
		{name: "zsh", flags: shell, shell: true},
	}
}

// FindScript says why the file that an interpreter is to read is not there, as far as its command tells that this is one.
func FindScript(command []string, dir string) error {
	for _, known := range interpreters() {
		if name := filepath.Base(command[0]); name != known.name && !strings.HasPrefix(name, known.name+"3") {
			continue
		}
		file := known.script(command[1:])
		if file == "" {
			return nil
		}
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if known.shell {
			if _, err := exec.LookPath(file); err == nil {
				return nil
			}
		}
		return fmt.Errorf("%s is to run %s, which is not there: %s does not exist", command[0], file, path)
	}
	return nil
}

// script is the file among the arguments; empty when that is not certain.
func (i *interpreter) script(arguments []string) string {
	for _, argument := range arguments {
		letters, flag := strings.CutPrefix(argument, "-")
		switch {
		case !flag:
			return argument
		case letters == "" || strings.Trim(letters, i.flags) != "":
			return ""
		}
	}
	return ""
}
