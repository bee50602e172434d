package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/cmd/podium/config"
	"podium/schemas"
	"podium/supervisor/route"
)

// practiceLines are the lines of a file of the profile, without empty ones.
func practiceLines(t *testing.T, name string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(practiceProfile, name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// emergencySigns are the keywords of the profile that stand for an emergency.
func emergencySigns(t *testing.T) []schemas.Keyword {
	t.Helper()
	settings, err := config.Load(practiceAt(t, "http://127.0.0.1:5232", 143, 25).config)
	if err != nil {
		t.Fatal(err)
	}
	for _, router := range settings.Profile("practice").Routers {
		for _, group := range router.Groups {
			if group.Name == "notfall" {
				return group.Keywords
			}
		}
	}
	t.Fatal("no keywords stand for an emergency")
	return nil
}

// TestPracticeTellsEmergencies: emergencies as people write them, with slips, of the skin, of poison and of despair, go to who says 112 and are asked nothing;
// of poison the answer names the poison center too. What a practice hears every day is none, and the program and the rules agree about each.
func TestPracticeTellsEmergencies(t *testing.T) {
	t.Parallel()
	emergencies, ordinary := practiceLines(t, "testdata/notfall.txt"), practiceLines(t, "testdata/kein_notfall.txt")
	if len(emergencies) < 200 || len(ordinary) < 150 {
		t.Fatalf("%d emergencies, %d ordinary messages", len(emergencies), len(ordinary))
	}
	var words []string
	for _, line := range emergencies {
		_, said, _ := strings.Cut(line, ": ")
		words = append(words, said)
	}
	words = append(words, ordinary...)
	asked, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-c", "import json, sys, notfall; json.dump([notfall.signs(words) for words in json.load(sys.stdin)], sys.stdout)")
	program.Dir, program.Stdin = practiceProfile, strings.NewReader(string(asked))
	out, err := program.Output()
	var told [][]string
	if err == nil {
		err = json.Unmarshal(out, &told)
	}
	if err != nil || len(told) != len(words) {
		t.Fatalf("%d answers, %v", len(told), err)
	}
	practice := newDay(t)
	signs, err := route.CompileKeywords(emergencySigns(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, said := range words {
		kind, emergency := "", i < len(emergencies)
		if emergency {
			kind, _, _ = strings.Cut(emergencies[i], ": ")
		}
		if signs.Hit(said) != emergency || (told[i] != nil) != emergency {
			t.Errorf("%q: by the rules %t, by the program %t", said, signs.Hit(said), told[i] != nil)
		}
		if also := strings.Join(told[i], " "); strings.Contains(also, "0228 19240") != strings.Contains(kind, "gift") || strings.Contains(also, "0800 111 0 111") != strings.Contains(kind, "leben") {
			t.Errorf("%q: %q", said, also)
		}
		if emergency {
			m := dayMessage{Text: said, Door: "chat", At: "10:00"}
			if made := practice.deal(t, &m, nil, practice.moment(t, &m)); made.agent != "diagnose_agent" || made.outcome != "answered" {
				t.Errorf("%q is %s by %s: %v", said, made.outcome, made.agent, made.missing)
			}
		}
	}
}

// TestPracticeSignsAreWrittenOnce: the rules know every sign that the program knows, and no other.
func TestPracticeSignsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	var want []schemas.Keyword
	for _, line := range practiceLines(t, "notfall.txt") {
		switch near, is := strings.CutPrefix(line, "~"); {
		case is:
			want = append(want, schemas.Keyword{Word: near, Mode: schemas.ModeNear})
		case line[0] != '#' && line[0] != '[':
			want = append(want, schemas.Keyword{Word: line, Mode: schemas.ModeRegex})
		}
	}
	known := emergencySigns(t)
	if !slices.EqualFunc(known, want, func(a, b schemas.Keyword) bool { return a.Word == b.Word && a.Mode == b.Mode }) {
		t.Errorf("podium.yaml has\n%v\nand notfall.txt\n%v", known, want)
	}
}
