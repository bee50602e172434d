package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/schemas"
)

// example installs an example of deploy/examples.
func example(t *testing.T, name string) *deployment {
	t.Helper()
	return installTree(t, "../../deploy/examples/"+name)
}

// installTree installs the podium.yaml of a folder, in which some words are replaced, with all that lies beside it, and with the package
// chemistry that profiles share.
func installTree(t *testing.T, folder string, replaced ...string) *deployment {
	t.Helper()
	settings, err := os.ReadFile(filepath.Join(folder, "podium.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	i := install(t, strings.NewReplacer(replaced...).Replace(string(settings)))
	copyTree(t, folder, i.folder)
	if shared := filepath.Join(folder, "..", "chemistry"); folder == assistantProfile || folder == loopProfile {
		copyTree(t, shared, filepath.Join(i.folder, "..", "chemistry"))
	}
	return i
}

// copyTree copies all files of a folder but its podium.yaml.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	tree := os.DirFS(from)
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || path == "podium.yaml" || entry.Name() == "__pycache__":
			return err
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o700)
		}
		body, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), body, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentsExample_G10: a document is asked for in words, what its template lacks is asked back, and both files are made.
func TestDocumentsExample_G10(t *testing.T) {
	t.Parallel()
	i := example(t, "documents")
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	run := i.asksBack("Please write a referral", "I still need to know: recipient, patient name, reason.", "recipient: Dr Weiß\nname: Łukasz Čapek\nreason: <b>rash</b>")
	if run.Status != schemas.RunCompleted || len(run.Tasks) != 1 || len(run.Tasks[0].Deliverables) != 2 {
		t.Fatalf("%s: %+v", run.Status, run.Tasks)
	}
	sizes := map[string]int64{}
	for _, made := range run.Tasks[0].Deliverables {
		var kept schemas.Artifact
		if err := schemas.Unmarshal(made.Metadata, &kept); err != nil {
			t.Fatal(err)
		}
		sizes[kept.MediaType+" "+made.Path] = kept.Size
	}
	if sizes["text/html referral.html"] < 300 || sizes["application/pdf referral.pdf"] < 3000 {
		t.Errorf("%v", sizes)
	}
	i.asks(`{"document_type": "invoice", "content_data": {"number": "2026-7", "recipient": "Dr Weiß", "items": [{"what": "Letter | copy", "price": 12.5}], "total": 12.5}}`, "invoice.pdf")
	i.stop()
	i.verify()
	i.write("templates/referral.md", "# Referral\n\n{{.recipient")
	if checked := i.podium("check", "-c", i.config); checked.code == exitOK || !strings.Contains(checked.stdout+checked.stderr, "templates/referral.md:3:1: unclosed action") {
		t.Errorf("check: exit code %d\n%s%s", checked.code, checked.stdout, checked.stderr)
	}
}

// TestWorkspaceExample: words and results become files of the folder, one for each run, over a restart too.
func TestWorkspaceExample(t *testing.T) {
	t.Parallel()
	i := example(t, "workspace")
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	i.asks("a note: water the plants", "note_")
	i.asks("calculate 12 * 5 then record it", ".json")
	i.stop()
	i.up()
	i.asks("a note: and the cat", "note_")
	i.stop()
	i.verify()
	var notes, records []string
	err := fs.WalkDir(os.DirFS(filepath.Join(i.folder, "workspace")), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, ".podium") {
			return err
		}
		body, err := os.ReadFile(filepath.Join(i.folder, "workspace", path))
		if filepath.Ext(path) == ".md" {
			notes = append(notes, string(body))
		} else {
			records = append(records, string(body))
		}
		return err
	})
	if err != nil || len(notes) != 2 || len(records) != 1 || !strings.Contains(strings.Join(notes, ""), "a note: water the plants\n") || !strings.Contains(records[0], `"value": 60`) {
		t.Errorf("notes %q, records %q, %v", notes, records, err)
	}
}

// TestKnowledgeExample_G13: what a person has validated is found again by another form of a part of its words, over a restart; what nobody has is refused.
func TestKnowledgeExample_G13(t *testing.T) {
	t.Parallel()
	i := example(t, "knowledge")
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	if run, answer := i.asksInVain(`{"text_for_embedding": "Bei Hautausschlag hilft Ruhe.", "medical_context": {}, "validated_by_human": false}`); run.Status != schemas.RunFailed || !strings.Contains(answer, "Only what a person has validated is learned.") {
		t.Errorf("%s: %s", run.Status, answer)
	}
	i.asks(`{"text_for_embedding": "Bei Hautausschlag hilft eine kühle Salbe.", "medical_context": {"source": "Leitfaden"}, "validated_by_human": true}`, "Gelernt: eine Textstelle.")
	i.stop()
	i.up()
	i.asks("Was hilft bei Ausschlägen?", "1. Bei Hautausschlag hilft eine kühle Salbe. (Leitfaden)")
	i.stop()
	i.verify()
}
