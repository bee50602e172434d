package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
	"podium/schemas/table"
)

// TestTwoProcessesOneEffect: an attempt that waits for its permit while another process does all of the work ends with the files of that one.
func TestTwoProcessesOneEffect(t *testing.T) {
	t.Parallel()
	for name, inTime := range map[string]error{"done": nil, "refused": errors.New("refused")} {
		directory := t.TempDir()
		request := asked(schemas.TaskContext{Request: "x"})
		slow, fast := open(t, directory, "a.txt"), open(t, directory, "a.txt")
		first, err := slow.Handle(t.Context(), request.WithPermit(func(ctx context.Context) error {
			_, err := fast.Handle(ctx, request.WithPermit(func(context.Context) error { return inTime }), silent)
			if !errors.Is(err, inTime) {
				t.Errorf("%s: the faster one: %v", name, err)
			}
			return nil
		}), silent)
		if err != nil || first.Deliverables[0].Path != "a.txt" {
			t.Errorf("%s: %+v, %v", name, first.Deliverables, err)
		}
		for range 2 {
			request.Attempt++
			if again, err := slow.Handle(t.Context(), request, silent); err != nil || string(again.Data) != string(first.Data) {
				t.Errorf("%s: a repeat: %s, %v", name, again.Data, err)
			}
		}
		only(t, directory, map[string]string{"a.txt": "x\n"})
	}
}

// TestNobodyWaitsForOthers: a request that is given up returns while another one holds the folder, and one that waits for a permit holds it from nobody.
func TestNobodyWaitsForOthers(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	tested := open(t, directory, "a.txt")
	_, err := tested.Handle(t.Context(), asked(schemas.TaskContext{Request: "first"}).WithPermit(func(ctx context.Context) error {
		_, err := tested.Handle(ctx, asked(schemas.TaskContext{Request: "second"}), silent)
		return err
	}), silent)
	if err != nil {
		t.Error(err)
	}
	only(t, directory, map[string]string{"a.txt": "second\n", "a-2.txt": "first\n"})
	held := flock.New(filepath.Join(directory, ".podium", "lock"))
	if locked, err := held.TryLock(); err != nil || !locked {
		t.Fatal(locked, err)
	}
	defer func() { _ = held.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := tested.Handle(ctx, asked(schemas.TaskContext{Request: "third"}), silent); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestFormulaBehindAnotherSeparator: what reads the same bytes with semicolons or tabs between cells finds no formula either.
func TestFormulaBehindAnotherSeparator(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a;=1", "a; \u00A0-1", "a\n=1;b", "a\r\n@x", "a\t+1", "\t=1", "\x00=1", "\u2003=1", "\u200E=1", "\v=1", "\x1f＝1", "\n=1", "\u00ad=1", ";;=1", "\uFE66=1", "=1",
	} {
		for kind, value := range map[string]any{"text": text, "list": []string{text}, "object": map[string]string{text: "x"}} {
			body, err := schemas.Marshal(map[string]any{"data": []map[string]any{{"first": "x", "second": value}}})
			if err != nil {
				t.Fatal(err)
			}
			directory := t.TempDir()
			if _, err := open(t, directory, "a.csv").Handle(t.Context(), asked(schemas.TaskContext{Arguments: body}), silent); err != nil {
				t.Fatal(err)
			}
			for _, separators := range []string{";\n\r", "\t\n\r"} {
				for _, cell := range strings.FieldsFunc(written(t, directory)["a.csv"], func(c rune) bool { return strings.ContainsRune(separators, c) }) {
					if seen := strings.TrimLeft(cell, " \u00A0\u2003\x00\v\x1f\u200E\u00ad\t"); strings.ContainsAny(seen[:min(1, len(seen))], "=+-@") || strings.HasPrefix(seen, "＝") || strings.HasPrefix(seen, "﹦") {
						t.Errorf("%s %q: the cell %q is a formula", kind, text, cell)
					}
				}
			}
		}
	}
}

// TestNamesOfFilesAreSeen: no file that came is hidden, ends with a sign that some systems drop, or leads into what the agent keeps for itself; and no
// error says what it is called.
func TestNamesOfFilesAreSeen(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	if err := ledger.Declare(t.Context(), "file", bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	came := func(name string) schemas.TaskContext {
		kept, err := ledger.Artifacts().Put(t.Context(), strings.NewReader(name), "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		return schemas.TaskContext{Attachments: []schemas.TaskAttachment{{ID: "a1", Name: name, Size: kept.Size, SHA256: kept.SHA256, Grant: kept.Grant, MediaType: "text/plain"}}}
	}
	for name, want := range map[string]string{
		"-.htaccess": "htaccess", "-.podium": "podium", ". -.-x": "x", "--": "file", strings.Repeat("a", 179) + ". b." + strings.Repeat("c", 30): strings.Repeat("a", 179),
	} {
		directory := t.TempDir()
		request := asked(came(name))
		request.Artifacts = ledger.Artifacts()
		if _, err := open(t, directory, "{file}/x").Handle(t.Context(), request, silent); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		only(t, directory, map[string]string{want + "/x": name})
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "Meier.pdf"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	request := asked(came("Meier.pdf"))
	request.Artifacts = ledger.Artifacts()
	if _, err := open(t, directory, "{file}/x").Handle(t.Context(), request, silent); err == nil || strings.Contains(err.Error(), "Meier") || !strings.Contains(err.Error(), directory) {
		t.Errorf("%v", err)
	}
}

// TestLargeTablesAreRefused: a table is refused before it is made when its rows are filled up to columns that each of them adds to,
// has too many columns, or too many rows. Nothing is written, and no other attempt is made.
func TestLargeTablesAreRefused(t *testing.T) {
	t.Parallel()
	list := func(count int, one func(n int) string) string {
		parts := make([]string, count)
		for n := range parts {
			parts[n] = one(n)
		}
		return strings.Join(parts, ",")
	}
	for name, data := range map[string]string{
		"a column for each row":       "[" + list(40_000, func(n int) string { return fmt.Sprintf(`{"%x":0}`, n) }) + "]",
		"columns of one row":          "[{" + list(90_000, func(n int) string { return fmt.Sprintf(`"%x":0`, n) }) + "}]",
		"one object":                  "{" + list(90_000, func(n int) string { return fmt.Sprintf(`"%x":0`, n) }) + "}",
		"cells of one list":           "[[" + list(90_000, func(int) string { return "0" }) + "]]",
		"empty rows below a wide one": "[{" + list(1000, func(n int) string { return fmt.Sprintf(`"%x":0`, n) }) + "}," + list(5000, func(int) string { return "{}" }) + "]",
	} {
		directory := t.TempDir()
		told := schemas.TaskContext{Arguments: jsontext.Value(`{"data":` + data + `}`)}
		_, err := open(t, directory, "x.csv").Handle(t.Context(), asked(told), silent)
		failure, is := errors.AsType[*agent.Failure](err)
		if !is || !failure.Permanent || !errors.Is(failure.Err, table.ErrTooLarge) || failure.Message != "The table is too large." {
			t.Errorf("%s: %v", name, err)
		}
		only(t, directory, map[string]string{})
	}
}

// TestDeepDataIsWrittenAsItIs: data that are nested so deep that their indents would be many times as large are written without them.
func TestDeepDataIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 900) + "0" + strings.Repeat(",0", 100_000) + strings.Repeat("]", 900)
	directory := t.TempDir()
	told := schemas.TaskContext{Arguments: jsontext.Value(`{"data":` + deep + `}`)}
	if _, err := open(t, directory, "x.json").Handle(t.Context(), asked(told), silent); err != nil {
		t.Fatal(err)
	}
	only(t, directory, map[string]string{"x.json": deep + "\n"})
}
