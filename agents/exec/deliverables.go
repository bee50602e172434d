package exec

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
)

// maxMade bounds the files that a program may make.
const maxMade = 64

// collect keeps the regular files that a program has left in out/ as deliverables of its outcome. It is called
// after the program and its group are gone. What is no regular file, too much or too many is left
// out, and an issue says so. The error is that a file could not be kept.
func (a *Agent) collect(ctx context.Context, language string, request *agent.Request, made *folder, outcome *agent.Outcome) error {
	room, kept, leftOut, printed := a.config.MaxFiles, 0, 0, len(outcome.Deliverables)
	var failed error
	left := 0
	leaveOut := func(name, key string) {
		if leftOut++; leftOut > maxMade && key != "too_many_files" {
			left++
			return
		}
		outcome.Issues = append(outcome.Issues, schemas.Issue{
			Severity: "medium", Resolution: schemas.ResolutionDeferred,
			Description: a.words.Say(language, key, "{name}", name, "{files}", strconv.Itoa(maxMade), "{limit}", strconv.FormatInt(a.config.MaxFiles, 10)),
		})
	}
	_, err := made.walk(func(name string, entry os.DirEntry) bool {
		shown := plainName(name)
		info, err := entry.Info()
		switch {
		case kept == maxMade:
			left++
			return true
		case err != nil || !entry.Type().IsRegular():
			leaveOut(shown, "not_regular")
			return true
		case info.Size() > room:
			leaveOut(shown, "file_too_large")
			return true
		}
		file, err := made.out.OpenFile(filepath.FromSlash(name), os.O_RDONLY|notFollowed|notBlocking, 0)
		if err != nil {
			leaveOut(shown, "not_regular")
			return true
		}
		defer func() { _ = file.Close() }()
		if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
			leaveOut(shown, "not_regular")
			return true
		}
		attachment, err := request.Keep(ctx, bounded(file, room), shown, agent.MediaTypeOf(shown))
		if err != nil {
			failed = fmt.Errorf("keep a file that the program has made: %w", err)
			return false
		}
		room, kept = room-attachment.Artifact.Size, kept+1
		deliver(outcome, printed, shown, &attachment)
		return true
	})
	if left > 0 {
		leaveOut(strconv.Itoa(left), "too_many_files")
	}
	if failed == nil && err != nil {
		failed = fmt.Errorf("read what the program has made: %w", err)
	}
	return failed
}

// deliver adds a file to an outcome: to the deliverable that the program has printed for it, which is among the
// first, or as one of its own.
func deliver(outcome *agent.Outcome, printed int, name string, file *schemas.Attachment) {
	metadata, err := schemas.Marshal(file.Artifact)
	if err != nil {
		return // an artifact is plain JSON
	}
	for i := range printed {
		made := &outcome.Deliverables[i]
		if strings.TrimPrefix(path.Clean(made.Path), outFolder+"/") == name {
			made.Path, made.Metadata = name, merged(made.Metadata, metadata)
			return
		}
	}
	outcome.Deliverables = append(outcome.Deliverables, schemas.Deliverable{
		DeliverableID: "file-" + strconv.Itoa(len(outcome.Deliverables)+1), Type: typeOf(name), Path: name, Metadata: metadata,
	})
}

// merged adds the members of an object to those of another.
func merged(to, members jsontext.Value) jsontext.Value {
	all := map[string]jsontext.Value{}
	for _, body := range [...]jsontext.Value{to, members} {
		if len(body) > 0 && schemas.Unmarshal(body, &all) != nil {
			return members
		}
	}
	body, err := schemas.Marshal(all)
	if err != nil {
		return members
	}
	return body
}

// typeOf is what sort of deliverable a file is, by its ending (M-09).
func typeOf(name string) string {
	ending := strings.ToLower(path.Ext(name))
	for kind, endings := range map[string][]string{
		schemas.DeliverableCode:   {".go", ".py", ".js", ".ts", ".sh", ".c", ".h", ".cpp", ".rs", ".java", ".sql"},
		schemas.DeliverableConfig: {".yaml", ".yml", ".toml", ".ini", ".conf", ".env"},
		schemas.DeliverableReport: {".pdf", ".csv", ".xlsx", ".json", ".html"},
	} {
		if slices.Contains(endings, ending) {
			return kind
		}
	}
	return schemas.DeliverableDocumentation
}

// plainName is a name without what turns the direction of writing or controls a terminal.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
}
