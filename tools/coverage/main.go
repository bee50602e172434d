// Coverage writes docs/COVERAGE.md: for each requirement whether tests show it, in part or
// not yet, and which. It reads the requirements in docs/requirements.md, the names of all
// tests, and docs/coverage.yaml, where people have written what names cannot tell. It
// writes nothing when those contradict each other, and says where.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . -root ../..

func main() {
	root := flag.String("root", ".", "the directory of the repository")
	flag.Parse()
	page, faults, err := coverage(*root)
	if err == nil && len(faults) == 0 {
		err = os.WriteFile(filepath.Join(*root, pageFile), page, 0o644) //nolint:gosec // a page of the documentation
	}
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || len(faults) > 0 {
		os.Exit(1)
	}
}

// coverage returns the page, or what contradicts itself in the sources of it.
func coverage(root string) (page []byte, faults []string, err error) {
	items, err := readItems(filepath.Join(root, itemsFile))
	if err != nil {
		return nil, nil, err
	}
	tests, err := readTests(root)
	if err != nil {
		return nil, nil, err
	}
	judgements, err := readJudgements(filepath.Join(root, judgementsFile))
	if err != nil {
		return nil, nil, err
	}
	shown, faults := judge(items, tests, judgements)
	if len(faults) > 0 {
		return nil, faults, nil
	}
	return render(items, shown), nil, nil
}
