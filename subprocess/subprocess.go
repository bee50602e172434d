// Package subprocess starts programs of others and ends them with all that they have started. They see nothing of our
// environment but what is named.
package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the path of a program. A name without a separator is looked up in PATH; a relative path is relative to
// dir.
func Find(name, dir string) (string, error) {
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		absolute, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		name = absolute
	}
	return exec.LookPath(name)
}

// CheckEnvironment says which entry of a list is neither NAME nor NAME=value.
func CheckEnvironment(listed []string) error {
	for _, variable := range listed {
		if name, _, _ := strings.Cut(variable, "="); name == "" || strings.ContainsRune(variable, 0) {
			return fmt.Errorf("%q is neither NAME nor NAME=value", name)
		}
	}
	return nil
}

// Environment returns what a program sees of ours: what every program needs, and what is listed, of which NAME hands on
// our own value.
func Environment(listed []string) []string {
	var variables []string
	for _, name := range inherited() {
		if value, set := os.LookupEnv(name); set {
			variables = append(variables, name+"="+value)
		}
	}
	for _, variable := range listed {
		if strings.Contains(variable, "=") {
			variables = append(variables, variable)
		} else if value, set := os.LookupEnv(variable); set {
			variables = append(variables, variable+"="+value)
		}
	}
	return variables
}
