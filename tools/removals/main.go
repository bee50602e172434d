// Command removals takes features out, one at a time, and sees whether the tests that are said to show them fail. Which features of those that
// docs/COVERAGE.md calls done is drawn by a seed; removals.json says how each is taken out. The working tree stays as it is: an edit is an overlay of the build.
//
// Arguments are items to take out instead of those that are drawn. It prints a line for each, and ends with 1 if a test passes without its feature, if an edit no longer matches or builds, or if removals.json
// has no entry for an item that was drawn.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	coverageFile = "docs/COVERAGE.md"
	removalsFile = "tools/removals/removals.json"
)

// A removal is how a feature is taken out, and the package and name of a test that fails without it.
type removal struct {
	Item    string `json:"item"`
	File    string `json:"file"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Package string `json:"package"`
	Test    string `json:"test"`
}

func main() {
	seed := flag.Uint64("seed", 1, "draws the items")
	count := flag.Int("n", 20, "how many are drawn")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *seed, *count, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, seed uint64, count int, items []string) error {
	text, err := os.ReadFile(coverageFile)
	if err != nil {
		return err
	}
	known, err := known()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		items = drawn(string(text), seed, count)
	}
	var faults []error
	for _, item := range items {
		one, has := known[item]
		if !has {
			faults = append(faults, fmt.Errorf("%s: %s does not say how it is taken out", item, removalsFile))
			continue
		}
		err := one.fails(ctx)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", item, err))
			continue
		}
		fmt.Fprintf(out, "%s  %s fails without it\n", item, one.Test)
	}
	return errors.Join(faults...)
}

// known are the removals by their items.
func known() (map[string]removal, error) {
	body, err := os.ReadFile(removalsFile)
	if err != nil {
		return nil, err
	}
	var all []removal
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", removalsFile, err)
	}
	byItem := map[string]removal{}
	for _, one := range all {
		byItem[one.Item] = one
	}
	return byItem, nil
}

var row = regexp.MustCompile(`(?m)^\| ([A-Z]-\d\d) \| (done|partly|not yet) \|`)

// drawn are the first items that are done, in an order that depends on the seed alone.
func drawn(coverage string, seed uint64, count int) (items []string) {
	rows := row.FindAllStringSubmatch(coverage, -1)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] }) //nolint:gosec // the same ones each time
	for _, found := range rows {
		if found[2] == "done" && len(items) < count {
			items = append(items, found[1])
		}
	}
	return items
}

// fails takes the feature out and returns an error unless its test fails, and not the build.
func (r *removal) fails(ctx context.Context) error {
	overlay, err := r.overlay()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(overlay)) }()
	name := strings.ReplaceAll(r.Test, "/", "$/^")
	tried := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=3m", "-run", "^"+name+"$", r.Package) //nolint:gosec // its own table
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + overlay)                                   // for what the test builds as well
	tried.Env = append(os.Environ(), "GOFLAGS="+flags)
	said, err := tried.CombinedOutput()
	switch {
	case err == nil:
		return fmt.Errorf("%s %s passes without it", r.Package, r.Test)
	case !strings.Contains(string(said), "--- FAIL"):
		return fmt.Errorf("what is left does not build, or the test is not there:\n%s", said)
	}
	return nil
}

// edited is the file without the feature.
func (r *removal) edited() (string, error) {
	text, err := os.ReadFile(r.File)
	if err != nil {
		return "", err
	}
	if found := strings.Count(string(text), r.Old); found != 1 || r.Old == "" {
		return "", fmt.Errorf("what is to be taken out stands %d times in %s", found, r.File)
	}
	return strings.Replace(string(text), r.Old, r.New, 1), nil
}

// overlay writes the edited file, and the overlay that names it, into a new directory.
func (r *removal) overlay() (path string, err error) {
	text, err := r.edited()
	if err != nil {
		return "", err
	}
	original, err := filepath.Abs(r.File)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "removal-")
	if err != nil {
		return "", err
	}
	edited := filepath.Join(folder, filepath.Base(r.File))
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{original: edited}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "overlay.json")
	return path, errors.Join(os.WriteFile(edited, []byte(text), 0o600), os.WriteFile(path, replaced, 0o600))
}
