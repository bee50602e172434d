package retrieval_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"

	"podium/agents/retrieval"
	"podium/bus/agent"
	"podium/schemas"
)

// TestDamagedIndex: whatever a disk or a person does to the files of an index, either all that was learned is found, or the task fails and says how the index
// is mended. The process lives, nothing is forgotten silently, and nothing more is learned into what is left.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "medical")
	all := []string{"0", "1", "2", "3", "4", "5"}
	for _, source := range all {
		if _, err := open(t, whole, retrieval.ModeLearn).Handle(t.Context(), asked(knowledge(t, "Hautausschlag "+source, source)), silent); err != nil {
			t.Fatal(err)
		}
	}
	noise := func(body []byte, every int) []byte {
		for i := 0; i < len(body); i += every {
			body[i] ^= byte(i/every*37 + 1)
		}
		return body
	}
	damages := map[string]func([]byte) []byte{
		"removed": nil, "emptied": func([]byte) []byte { return nil }, "cut": func(body []byte) []byte { return body[:len(body)/3] },
		"cut a little": func(body []byte) []byte { return body[:len(body)-1] }, "noise": func(body []byte) []byte { return noise(body, 7) },
		"one byte": func(body []byte) []byte { return noise(body, len(body)/2+1) }, "zeroed": func(body []byte) []byte { return make([]byte, len(body)) },
	}
	var files []string
	if err := filepath.WalkDir(whole, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			name, _ := filepath.Rel(whole, path)
			files = append(files, name)
		}
		return err
	}); err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	told := 0
	for _, name := range files {
		for damage, does := range damages {
			directory := filepath.Join(t.TempDir(), "medical")
			if err := os.CopyFS(directory, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(directory, name)
			body, err := os.ReadFile(path)
			if err == nil && does != nil {
				err = os.WriteFile(path, does(body), 0o600)
			} else if err == nil {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			reader, learner := open(t, directory, retrieval.ModeRead), open(t, directory, retrieval.ModeLearn)
			for range 2 {
				made, err := reader.Handle(t.Context(), asked(`{"query":"Ausschlag","limit":50}`), silent)
				if err == nil {
					if got := sourcesOf(t, &made); !slices.Equal(got, all) {
						t.Errorf("%s %s: it finds %q", name, damage, got)
					}
					_, err = learner.Handle(t.Context(), asked(knowledge(t, "other", "other")), silent)
				} else if _, again := learner.Handle(t.Context(), asked(knowledge(t, "other", "other")), silent); again == nil {
					t.Errorf("%s %s: it cannot be read, and learns", name, damage)
				}
				if err == nil {
					continue
				}
				told++
				if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Permanent || !strings.Contains(failure.Remedy, directory) || strings.Contains(err.Error(), "Hautausschlag") {
					t.Errorf("%s %s: %+v", name, damage, err)
				}
			}
		}
	}
	if told < len(files) {
		t.Errorf("of %d damaged files %d were told", len(files), told)
	}
}

// TestDamagedIndexIsLeft: who breaks off over damage has the index no longer open, so that whoever asks next is told of the damage, and not that it is in use.
func TestDamagedIndexIsLeft(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "medical")
	if _, err := open(t, whole, retrieval.ModeLearn).Handle(t.Context(), asked(knowledge(t, "Hautausschlag", "a")), silent); err != nil {
		t.Fatal(err)
	}
	for tenths := range int64(10) {
		directory := filepath.Join(t.TempDir(), "medical")
		roots := filepath.Join(directory, "store", "root.bolt")
		if err := os.CopyFS(directory, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		about, err := os.Stat(roots)
		if err == nil {
			err = os.Truncate(roots, about.Size()*tenths/10)
		}
		if err != nil {
			t.Fatal(err)
		}
		learner := opened(t, retrieval.Config{Directory: directory, Mode: retrieval.ModeLearn, Wait: 500 * time.Millisecond})
		for range 3 {
			_, err := learner.Handle(t.Context(), asked(knowledge(t, "other", "other")), silent)
			if failure, is := errors.AsType[*agent.Failure](err); err != nil && (!is || !failure.Permanent) {
				t.Errorf("%d tenths of it: %+v", tenths, err)
			}
		}
	}
}

func sourcesOf(t *testing.T, made *agent.Outcome) (sources []string) {
	t.Helper()
	var data struct {
		Results []struct {
			Source string `json:"source"`
		} `json:"results"`
	}
	if err := schemas.Unmarshal(made.Data, &data); err != nil {
		t.Fatal(err)
	}
	for _, result := range data.Results {
		if _, err := strconv.Atoi(result.Source); err == nil {
			sources = append(sources, result.Source)
		}
	}
	slices.Sort(sources)
	return sources
}

// TestGivenUpWhileInUse: a request that nobody waits for any more returns, although somebody else has the index open.
func TestGivenUpWhileInUse(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	if _, err := open(t, directory, retrieval.ModeLearn).Handle(t.Context(), asked(knowledge(t, "Hautausschlag", "a")), silent); err != nil {
		t.Fatal(err)
	}
	other, err := bleve.Open(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	reader := opened(t, retrieval.Config{Directory: directory, Mode: retrieval.ModeRead, Wait: 24 * time.Hour})
	first := make(chan error, 1)
	go func() {
		_, err := reader.Handle(ctx, asked(`{"query":"x"}`), silent)
		first <- err
	}()
	_, second := reader.Handle(ctx, asked(`{"query":"x"}`), silent)
	for _, err := range []error{<-first, second} {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
}

// TestLongQuestion: of a question as long as a book its beginning is searched for, since each of its words is a search.
func TestLongQuestion(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	if _, err := open(t, directory, retrieval.ModeLearn).Handle(t.Context(), asked(knowledge(t, "Hautausschlag", "a")), silent); err != nil {
		t.Fatal(err)
	}
	reader := open(t, directory, retrieval.ModeRead)
	for words, want := range map[int]int{1000: 1, 20_000: 0} {
		if got := found(t, reader, `{"query":"`+strings.Repeat("wort ", words)+`Ausschlag"}`); len(got) != want {
			t.Errorf("behind %d words %q is found", words, got)
		}
	}
	if got := found(t, reader, `{"query":"Ausschlag`+strings.Repeat("x", 200_000)+`"}`); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
