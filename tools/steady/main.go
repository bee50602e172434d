// Command steady runs tests many times, on the quiet machine and beside busy loops, and prints for each test how often
// it ran and how often it failed. A test passes on every machine only if it never depends on how fast or how busy the
// machine is.
//
// It finds the tests by their source: it runs each test that kills a process or waits for a time -others times, and
// each test that tests.txt names -named times. A line of tests.txt is a package and the name of a test. It ends with 1
// if a test failed, or ran less often than it should.
//
//	go run ./tools/steady -named 50 -others 5 -busy 6
//	go run ./tools/steady -only agents/file,agents/retrieval
//	go run ./tools/steady -tags profiles -only cmd/podium
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// options are what the command line says.
type options struct {
	named, others int           // runs of each test in tests.txt, and of each other one
	busy          int           // busy loops of the second half; 0 leaves it out
	quiet         bool          // whether the first half runs
	only          []string      // packages, as paths below the module; none are all
	tags          []string      // build tags of the tests
	timeout       time.Duration // of one package in one half
}

func main() {
	var o options
	flag.IntVar(&o.named, "named", 50, "runs of each test that tests.txt names")
	flag.IntVar(&o.others, "others", 5, "runs of each other test that kills or waits; 0 leaves them out")
	flag.IntVar(&o.busy, "busy", 6, "busy loops beside the second half; 0 leaves that half out")
	flag.BoolVar(&o.quiet, "quiet", true, "run the half without busy loops")
	flag.DurationVar(&o.timeout, "timeout", time.Hour, "limit for the runs of one package in one half")
	only := flag.String("only", "", "packages to run, separated by commas: agents/file,bus/embedded")
	tags := flag.String("tags", "", "build tags of the tests, separated by commas: profiles")
	flag.Parse()
	if *tags != "" {
		o.tags = strings.Split(*tags, ",")
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, &o); err != nil {
		fmt.Fprintln(os.Stderr, "steady:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func run(ctx context.Context, out io.Writer, o *options) error {
	body, err := os.ReadFile(filepath.Join("tools", "steady", "tests.txt"))
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	named, err := parseNamed(string(body))
	if err != nil {
		return err
	}
	groups, err := planRuns(".", named, o)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "steady")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var faults []error
	for _, half := range []struct {
		name  string
		loops int
		runs  bool
	}{{"quiet", 0, o.quiet}, {"busy", o.busy, o.busy > 0}} {
		if !half.runs {
			continue
		}
		stop := startBusyLoops(half.loops)
		for _, group := range groups {
			faults = append(faults, runGroup(ctx, out, folder, half.name, &group, o))
		}
		stop()
	}
	return errors.Join(faults...)
}

// A group is tests of one package that run equally often.
type group struct {
	pkg   string
	tests []string
	count int
}

// planRuns returns which tests run how often: the named ones, and those of all packages below root that kill or wait.
func planRuns(root string, named map[string][]string, o *options) ([]group, error) {
	waiting, err := findWaitingTests(root, o.tags)
	if err != nil {
		return nil, err
	}
	var groups []group
	packages := map[string]bool{}
	for pkg := range waiting {
		packages[pkg] = true
	}
	for pkg := range named {
		packages[pkg] = true
	}
	for _, pkg := range sortedKeys(packages) {
		if len(o.only) > 0 && !slices.Contains(o.only, pkg) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(waiting[pkg]), func(test string) bool { return slices.Contains(named[pkg], test) })
		for _, g := range []group{{pkg, named[pkg], o.named}, {pkg, others, o.others}} {
			if len(g.tests) > 0 && g.count > 0 {
				groups = append(groups, g)
			}
		}
	}
	return groups, nil
}

// parseNamed reads tests.txt: a package and a test a line; "#" begins a comment.
func parseNamed(text string) (map[string][]string, error) {
	named := map[string][]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) == 2 && strings.HasPrefix(words[1], "Test"):
			named[words[0]] = append(named[words[0]], words[1])
		default:
			return nil, fmt.Errorf("tests.txt, line %d: want a package and the name of a test, as in \"agents/file TestKill\"", number)
		}
	}
	return named, nil
}

// runGroup runs the tests of a group and prints a line for each of them. Their output is in a file of the temporary folder while they run, and stays
// there if one has failed. Its error names the tests that failed.
func runGroup(ctx context.Context, out io.Writer, folder, half string, g *group, o *options) error {
	binary := filepath.Join(folder, strings.ReplaceAll(g.pkg, "/", "-")+".test")
	if _, err := os.Stat(binary); err != nil {
		build := exec.CommandContext(ctx, "go", "test", "-vet=off", "-tags", strings.Join(o.tags, ","), "-c", "-o", binary, "./"+g.pkg) //nolint:gosec // a package of this module
		if output, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not build: %w\n%s", g.pkg, err, output)
		}
	}
	command := exec.CommandContext(ctx, binary, "-test.v", fmt.Sprintf("-test.count=%d", g.count), //nolint:gosec // built above
		"-test.run=^("+strings.Join(g.tests, "|")+")$", "-test.timeout="+o.timeout.String())
	command.Dir = g.pkg
	kept := filepath.Join(os.TempDir(), "steady-"+half+"-"+filepath.Base(binary)+".log")
	file, err := os.Create(kept) //nolint:gosec // in the folder of temporary files
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = file, file
	fmt.Fprintf(out, "%-5s  %-28s %d tests, %d times each; their output is in %s\n", half, g.pkg, len(g.tests), g.count, kept)
	_ = command.Run() // what failed stands in the output
	output, err := os.ReadFile(kept)
	if err = errors.Join(file.Close(), err); err != nil {
		return err
	}
	var faults []error
	for test, r := range countResults(string(output), g.tests) {
		fmt.Fprintf(out, "%-5s  %-28s %-60s %3d runs %3d failures\n", half, g.pkg, test, r.passed+r.failed, r.failed)
		if r.failed > 0 || r.passed < g.count {
			faults = append(faults, fmt.Errorf("%s: %s %s: %d of %d runs passed", half, g.pkg, test, r.passed, g.count))
		}
	}
	if len(faults) == 0 {
		return os.Remove(kept)
	}
	return errors.Join(append(faults, fmt.Errorf("the output is in %s", kept))...)
}

// A result is how often a test has passed and failed.
type result struct{ passed, failed int }

// countResults reads the output of a verbose run. It yields the tests in their order.
func countResults(output string, tests []string) func(yield func(string, result) bool) {
	found := map[string]result{}
	for line := range strings.Lines(output) {
		words := strings.Fields(line)
		if len(words) < 3 || !strings.HasPrefix(line, "--- ") {
			continue
		}
		r := found[words[2]]
		switch words[1] {
		case "PASS:":
			r.passed++
		case "FAIL:":
			r.failed++
		}
		found[words[2]] = r
	}
	return func(yield func(string, result) bool) {
		for _, test := range tests {
			if !yield(test, found[test]) {
				return
			}
		}
	}
}

// startBusyLoops keeps processors busy until stop is called.
func startBusyLoops(loops int) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	for range loops {
		process := exec.Command("sh", "-c", "while :; do :; done") //nolint:noctx // killed by stop
		if process.Start() != nil {
			continue
		}
		running.Go(func() {
			<-done
			_ = process.Process.Kill()
			_ = process.Wait()
		})
	}
	return func() { close(done); running.Wait() }
}
