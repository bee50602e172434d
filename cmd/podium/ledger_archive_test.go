package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
)

var keepLedgers = flag.String("ledgers", "", "a folder into which tests pack the ledgers that they have verified, as those in testdata/ledgers")

// TestLedgersVerify: what has been stored in a format that is read is decided as it was by every
// later version, fact by fact and snapshot by snapshot. No ledger in testdata is ever replaced: a
// change that one does not survive needs a format that does not read it. New ones come from the tests after which they are named,
// by -ledgers.
func TestLedgersVerify(t *testing.T) {
	t.Parallel()
	var ledgers []string
	for format := bus.OldestFormat; format <= bus.Format; format++ {
		found, err := filepath.Glob("testdata/ledgers/format" + strconv.Itoa(format) + "-*.tar.gz")
		if err != nil || len(found) == 0 {
			t.Errorf("there is no ledger of format %d (%v)", format, err)
		}
		ledgers = append(ledgers, found...)
	}
	for _, packed := range ledgers {
		t.Run(filepath.Base(packed), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			unpack(t, packed, folder)
			o := podium(t, "replay", "--verify", "--data", folder)
			if o.code != exitOK || !strings.Contains(o.stdout, "facts decided again, 0 differ") {
				t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
}

const longConfig = `
agents:
  calculator: {kind: calculator}
  broken: {kind: exec, command: [sh, -c, "sleep 0.05; exit 1"]}
  note: {kind: exec, command: [sh, -c, "sleep 0.05; echo noted"]}
  reports: {kind: supervisor, profile: graph}
profiles:
  desk:
    agents: [calculator, broken, reports]
    routers:
      - kind: keywords
        groups: [{agent: reports, keywords: ["report*"]}, {agent: broken, keywords: [break]}]
      - {kind: default, agent: calculator}
    retry: {attempts: 3, wait: 50ms}
  graph:
    agents: [{name: broken, fallback: note}, note]
    routers: [{kind: assigned}, {kind: default, agent: note}]
    planner:
      kind: template
      templates:
        - name: report
          keywords: ["report*"]
          tasks:
            - {task: research, agent: note, description: "Find out"}
            - {task: figures, agent: broken, description: "Count", dependencies: [research]}
            - {task: draft, agent: note, description: "Write", dependencies: [research, figures]}
    execution: {mode: dag}
    retry: {attempts: 2, wait: 50ms}
`

// TestLongSessionOutlivesKills: many runs of one thread wait for each other, fail, are tried again and handed on to a
// fallback while the service is killed; all end, in order, and the snapshots in their midst are
// those of the records.
func TestLongSessionOutlivesKills(t *testing.T) {
	t.Parallel()
	i := install(t, longConfig, oneShard)
	i.up()
	const rounds = 3
	for range rounds {
		for _, words := range []string{"6 * 7", "please break", "a report", "8 * 9"} {
			i.podium("send", "--profile", "desk", "--thread", "long", words).succeeds(t)
		}
		i.kill()
		i.up()
	}
	var runs []workflow.RunHistory
	within(t, 2*patience, "every run has ended", func() bool {
		runs = lines[workflow.RunHistory](t, i.podium("runs", "-o", "json").succeeds(t))
		open := slices.ContainsFunc(runs, func(run workflow.RunHistory) bool { return run.Phase != workflow.PhaseComplete })
		return !open && len(runs) == 5*rounds // a report is a run of its own, too
	})
	statuses := map[schemas.RunStatus]int{}
	for n := range runs {
		statuses[runs[n].Status]++
	}
	if statuses[schemas.RunFailed] != rounds || statuses[schemas.RunCompleted] != 4*rounds {
		t.Errorf("they ended as %v", statuses)
	}
	if records := i.podium("replay", "-o", "json").succeeds(t).stdout; strings.Count(records, `"snapshot":{`) < 2 || !strings.Contains(records, `"last_failure":{`) {
		t.Error("no snapshot holds a task that has failed")
	}
	i.stop()
	i.verify()
}

// keep packs the ledger of a deployment at rest if that is wanted, without its keys: none is needed to verify it.
func (i *deployment) keep() {
	i.t.Helper()
	if *keepLedgers == "" {
		return
	}
	file, err := os.Create(filepath.Join(*keepLedgers, "format"+strconv.Itoa(bus.Format)+"-"+strings.ReplaceAll(i.t.Name(), "/", "_")+".tar.gz"))
	if err != nil {
		i.t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	err = fs.WalkDir(os.DirFS(i.data), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "credentials":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasPrefix(name, "ledger/jetstream/") && name != "high-water.json":
			return nil
		}
		body, err := os.ReadFile(filepath.Join(i.data, name))
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))})
		}
		if err == nil {
			_, err = archive.Write(body)
		}
		return err
	})
	if err = errors.Join(err, archive.Close(), zipped.Close(), file.Close()); err != nil {
		i.t.Fatal(err)
	}
}

func unpack(t *testing.T, packed, folder string) {
	t.Helper()
	file, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.Clean("/"+header.Name))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err = os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
