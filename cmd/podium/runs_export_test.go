package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/cmd/podium/runfiles"
)

// zipped reads an archive, and compares every entry with its manifest.
func zipped(t *testing.T, file string) (map[string][]byte, runfiles.Manifest) {
	t.Helper()
	opened, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	all := map[string][]byte{}
	for _, entry := range opened.File {
		reader, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		if all[entry.Name], err = io.ReadAll(reader); err != nil { // which compares the checksum
			t.Fatal(err)
		}
	}
	var manifest runfiles.Manifest
	if err = json.Unmarshal(all[runfiles.ManifestName], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Entries) != len(opened.File)-1 {
		t.Errorf("the manifest has %d of %d entries", len(manifest.Entries), len(opened.File)-1)
	}
	for _, entry := range manifest.Entries {
		if body, is := all[entry.Path]; !is || fmt.Sprintf("%x", sha256.Sum256(body)) != entry.SHA256 || int64(len(body)) != entry.Size {
			t.Errorf("%+v is not what is there", entry)
		}
	}
	return all, manifest
}

// TestRunsExport: an archive of a run holds its mail as it came, what came with it, what was made, its messages, records and timeline, with a
// manifest. No file is overwritten without --force. The same archive is written of a ledger at rest.
func TestRunsExport(t *testing.T) {
	t.Parallel()
	i, mailbox, sink := correspondence(t, "desk")
	i.up()
	program := spawn(t, "--data", i.data, "agent", "exec", "--name", "describe", "--", "sh", "-c",
		`cat >/dev/null; mkdir "$PODIUM_DIR/out/src"; echo one >"$PODIUM_DIR/out/src/a.txt"; printf 'two\000' >"$PODIUM_DIR/out/b.bin"; echo Here they are.`)
	program.says(t, "agent describe takes requests")
	files := append(pictures(), enclosed{"links.jpg", "image/jpeg", []byte("\xff\xd8\xff\xe0 another")})
	mail := letterWithFiles("m1@example.org", "", "The findings", "Please look at these.", files...)
	if err := mailbox.Deliver(mail); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == 1 })
	eventually(t, "the run has ended", func() bool { return i.runs()[0].Phase == "complete" })
	run, file := i.runs()[0].ID, filepath.Join(i.folder, "run.zip")
	if said := i.podium("runs", "export", run[:8], file).succeeds(t).stdout; !strings.Contains(said, "run.zip has ") || !strings.Contains(said, run) {
		t.Errorf("it says %s", said)
	}
	all, manifest := zipped(t, file)
	if manifest.Run != run || len(manifest.Missing) > 0 || manifest.Podium == "" {
		t.Errorf("the manifest is %+v", manifest)
	}
	for path, want := range map[string]string{
		"mail/01.eml": string(mail), "attachments/01-Befund.pdf": string(files[0].content), "attachments/02-links.jpg": string(files[1].content),
		"attachments/04-links.jpg": string(files[3].content), "files/src/a.txt": "one\n", "files/b.bin": "two\x00",
	} {
		if string(all[path]) != want {
			t.Errorf("%s has %d bytes, want %d; there are %q", path, len(all[path]), len(want), slices.Sorted(maps.Keys(all)))
		}
	}
	for path, want := range map[string]string{
		"report.txt": "Here they are.", "run.json": `"id":"` + run, "timeline.txt": "ended: completed", "records.jsonl": `"run_ended"`, "messages.jsonl": "podium.email.received.v1",
	} {
		if !bytes.Contains(all[path], []byte(want)) {
			t.Errorf("%q is not in %s:\n%.2000s", want, path, all[path])
		}
	}
	if !bytes.Contains(all["messages.jsonl"], []byte("podium.execution_request.v1")) || bytes.Contains(all["messages.jsonl"], []byte("podium.record.v1")) {
		t.Errorf("the messages are\n%.2000s", all["messages.jsonl"])
	}
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("it has mode %v, %v", about.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := i.podium("runs", "export", run, file); o.code != exitFailed || !strings.Contains(o.stderr, "--force") {
		t.Errorf("onto a file that is there: exit code %d, %s", o.code, o.stderr)
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != "mine" {
		t.Errorf("it is overwritten by %q, %v", is, err)
	}
	for code, arguments := range map[int][]string{
		exitNotFound: {"runs", "export", "ffff", filepath.Join(i.folder, "other.zip")}, exitUsage: {"runs", "export", run, i.folder},
	} {
		if o := i.podium(arguments...); o.code != code {
			t.Errorf("%q: exit code %d, %s", arguments, o.code, o.stderr)
		}
	}
	program.stop(t)
	i.stop()
	if said := i.podium("runs", "export", run, file, "--force", "-o", "json").succeeds(t).stdout; !strings.Contains(said, `"files":`+strconv.Itoa(len(manifest.Entries))) {
		t.Errorf("it says %s", said)
	}
	if again, _ := zipped(t, file); !maps.EqualFunc(all, again, bytes.Equal) {
		t.Error("of a ledger at rest the archive is another one")
	}
	if left, err := filepath.Glob(filepath.Join(i.folder, ".*zip*")); err != nil || len(left) > 0 {
		t.Errorf("drafts are left: %q, %v", left, err)
	}
}

// TestArtifactGet: the bytes of a hash go to a file or to standard output, unchanged.
func TestArtifactGet(t *testing.T) {
	t.Parallel()
	i := install(t, strings.Replace(makingConfig, "echo two", `printf "two\033[2J\000"`, 1))
	i.up()
	i.podium("send", "--wait", "Please.").succeeds(t)
	files := lines[runfiles.File](t, i.podium("runs", "files", i.runs()[0].ID, "-o", "json"))
	sums := map[string]string{}
	for _, file := range files {
		sums[file.Path] = file.SHA256
	}
	const binary = "two\x1b[2J\x00"
	get := func(code int, want string, arguments ...string) {
		t.Helper()
		o := i.podium(append([]string{"artifact", "get"}, arguments...)...)
		if o.code != code || code == exitOK && o.stdout != want || code != exitOK && (o.stdout != "" || !strings.Contains(o.stderr, want)) {
			t.Errorf("artifact get %q: exit code %d\n%q\n%s", arguments, o.code, o.stdout, o.stderr)
		}
	}
	get(exitOK, "one\n", sums["src/a.txt"])
	get(exitOK, binary, sums["b.txt"])
	get(exitOK, binary, "podium-artifact:"+strings.ToUpper(sums["b.txt"]))
	get(exitOK, `{"sha256":"`+sums["src/a.txt"]+`","size":4,"media_type":"text/plain; charset=utf-8"}`+"\n", sums["src/a.txt"], "-o", "json")
	get(exitNotFound, "has no artifact", strings.Repeat("0", 64))
	get(exitUsage, "is no SHA-256", sums["b.txt"][:63])
	get(exitUsage, "--out", sums["b.txt"], "--force")
	out := filepath.Join(i.folder, "got")
	get(exitOK, out+" has 8 bytes\n", sums["b.txt"], "--out", out)
	get(exitFailed, "--force", sums["src/a.txt"], "--out", out)
	if is, err := os.ReadFile(out); err != nil || string(is) != binary {
		t.Errorf("it is %q, %v", is, err)
	}
	i.stop()
	get(exitOK, out+" has 4 bytes\n", sums["src/a.txt"], "--out", out, "--force")
	if is, err := os.ReadFile(out); err != nil || string(is) != "one\n" {
		t.Errorf("it is %q, %v", is, err)
	}
}

// TestNothingHasNoTable: where there is nothing to list, standard output is empty, and a sentence says so.
func TestNothingHasNoTable(t *testing.T) {
	t.Parallel()
	i := install(t, makingConfig)
	i.up()
	for _, arguments := range [][]string{{"runs"}, {"runs", "list", "--status", "failed"}, {"quarantine"}, {"quarantine", "list", "--all"}} {
		if o := i.podium(arguments...).succeeds(t); o.stdout != "" || strings.TrimSpace(o.stderr) == "" {
			t.Errorf("podium %q prints %q, and says %q", arguments, o.stdout, o.stderr)
		}
		if o := i.podium(append(arguments, "-o", "json")...).succeeds(t); o.stdout != "" || o.stderr != "" {
			t.Errorf("for programs, podium %q prints %q, and says %q", arguments, o.stdout, o.stderr)
		}
	}
}
