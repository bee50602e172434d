package cmd_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"podium/cmd/podium/config"
	"podium/supervisor/language"
)

// TestSentencesForPeople walks every sentence by which Podium, its agents and its adapters speak to people: each is there in every language that a
// profile can have, with the same places, and is in that language.
func TestSentencesForPeople(t *testing.T) {
	t.Parallel()
	detector, err := language.Find(language.Newest)
	if err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, offers := range config.Languages() {
		offered = append(offered, offers.Tag)
	}
	slices.Sort(offered)
	catalogs := sentencesOfFiles(t)
	own := map[string]map[string]string{}
	for _, tag := range offered {
		own[tag] = flat(t, readJSON(t, "podium/config/languages/"+tag+".json")["texts"])
	}
	catalogs["podium/config/languages"] = own
	if len(catalogs) < 15 {
		t.Fatalf("only %d files with sentences were found", len(catalogs))
	}
	sentences := 0
	for _, file := range slices.Sorted(maps.Keys(catalogs)) {
		catalog := catalogs[file]
		if tags := slices.Sorted(maps.Keys(catalog)); !slices.Equal(tags, offered) {
			t.Errorf("%s: it speaks %q, and profiles may have %q", file, tags, offered)
			continue
		}
		for _, tag := range offered {
			for _, key := range slices.Sorted(maps.Keys(catalog[tag])) {
				sentences++
				said := catalog[tag][key]
				if there, in := catalog[offered[0]][key]; !in || !slices.Equal(places(there), places(said)) {
					t.Errorf("%s: %s in %s: %q has other places than %q", file, key, tag, said, there)
				}
				if found := detector.Other(said, tag, language.Said{}); found != "" {
					t.Errorf("%s: %s in %s: %q is in %s", file, key, tag, said, found)
				}
			}
			if len(catalog[tag]) != len(catalog[offered[0]]) {
				t.Errorf("%s: %s has %d sentences, %s %d", file, tag, len(catalog[tag]), offered[0], len(catalog[offered[0]]))
			}
		}
	}
	if sentences < 500 {
		t.Errorf("only %d sentences were found", sentences)
	}
}

// sentencesOfFiles reads the words.json of agents and adapters: by file, language and key.
func sentencesOfFiles(t *testing.T) map[string]map[string]map[string]string {
	t.Helper()
	found := map[string]map[string]map[string]string{}
	for _, folder := range []string{"../agents", "../ingest", "../bus", "../supervisor", "podium"} {
		err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path.Base(name) != "words.json" {
				return err
			}
			catalog := map[string]map[string]string{}
			for tag, sentences := range readJSON(t, path.Join(folder, name)) {
				catalog[tag] = flat(t, sentences)
			}
			found[path.Join(folder, name)] = catalog
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func readJSON(t *testing.T, file string) map[string]json.RawMessage {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return members
}

// flat are the sentences of one language. A member that is empty is none.
func flat(t *testing.T, body json.RawMessage) map[string]string {
	t.Helper()
	var sentences map[string]string
	if err := json.Unmarshal(body, &sentences); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	for key, said := range sentences {
		if strings.TrimSpace(said) == "" {
			t.Errorf("%s says nothing", key)
		}
	}
	return sentences
}

// places are the names in braces of a sentence.
func places(sentence string) []string {
	var names []string
	for rest := sentence; ; {
		_, behind, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		name, after, closed := strings.Cut(behind, "}")
		if !closed {
			break
		}
		names, rest = append(names, name), after
	}
	slices.Sort(names)
	return slices.Compact(names)
}
