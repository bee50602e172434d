package runs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"podium/bus"
	"podium/bus/history"
	"podium/ingest/problem"
	"podium/schemas"
	"podium/schemas/workflow"
)

// A File goes with an answer. Whoever may read the run may fetch it, by the same key.
type File struct {
	Name string `json:"name"`
	// Path is where it belongs below a folder, as whoever made it says; empty when that is its name alone, or leads elsewhere.
	Path      string `json:"path,omitzero"`
	MediaType string `json:"media_type,omitzero"`
	Size      int64  `json:"size"` // bytes
	URL       string `json:"url"`

	artifact schemas.Artifact
}

// patience is how much longer than any other answer a file may take.
const patience = 5 * time.Minute

// longestName bounds the name of a file, in characters, and longestPath its path, in bytes.
const (
	longestName = 120
	longestPath = 1024
)

// files are what the tasks have made whose results the answer tells.
func (a *API) files(ctx context.Context, ref reference, run *workflow.RunHistory) ([]File, error) {
	var all []File
	for i := range run.Answer {
		task := run.Task(run.Answer[i].Task)
		if task == nil {
			continue
		}
		var result schemas.Result
		if len(task.Proven) > 0 { // else it names no file that may be passed on
			var err error
			if result, err = history.ResultOf(ctx, a.core, run.Session, run.Answer[i].Body); err != nil {
				return nil, err
			}
		}
		for _, made := range workflow.FilesOf(task, result) {
			of := made.Artifact
			file := File{Name: fileName(made.Name), Path: filePath(made.Path), MediaType: cmp.Or(made.MediaType, of.MediaType), Size: of.Size, artifact: of}
			known := func(other File) bool {
				return other.artifact.SHA256 == of.SHA256 && other.Name == file.Name && other.Path == file.Path
			}
			if file.URL = a.fileURL(ref, of.SHA256); !slices.ContainsFunc(all, known) {
				all = append(all, file)
			}
		}
	}
	return all, nil
}

func (a *API) fileURL(ref reference, hash string) string {
	return a.config.BaseURL + "/v1/runs/" + ref.String() + "/files/" + hash + "?key=" + a.capability(ref.session)
}

// fileName is what a file is called, without folders and without what is no letter on a screen.
func fileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	shown := []rune(strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(name, "")))
	return string(shown[:min(len(shown), longestName)])
}

// filePath is where a file belongs, when that is more than its name: below a folder, with what can be read on a screen alone.
func filePath(place string) string {
	shown := utf8.ValidString(place) && !strings.ContainsFunc(place, func(c rune) bool { return !unicode.IsPrint(c) })
	if !shown || !strings.Contains(place, "/") || strings.Contains(place, ":") || !fs.ValidPath(place) || len(place) > longestPath {
		return ""
	}
	return place
}

// sendFile answers with a file of a run's answer, for saving: no browser is to show or run what an agent has made.
func (a *API) sendFile(w http.ResponseWriter, r *http.Request) {
	ref, granted, fault := a.admit(r)
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	document, err := a.await(r.Context(), ref, granted, 0)
	if err != nil {
		problem.Write(w, a.readProblem(r, ref, err))
		return
	}
	at := slices.IndexFunc(document.Files, func(file File) bool { return file.artifact.SHA256 == r.PathValue("hash") })
	if at < 0 {
		problem.Write(w, problemUnknownFile())
		return
	}
	file := &document.Files[at]
	content, err := a.core.Artifacts().Get(r.Context(), file.artifact)
	if err != nil {
		if errors.Is(err, bus.ErrNotFound) {
			problem.Write(w, problemUnknownFile())
			return
		}
		problem.Write(w, a.readProblem(r, ref, err))
		return
	}
	defer func() { _ = content.Close() }()
	extendDeadline(w, r, patience)
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	if mediaType, parameters, err := mime.ParseMediaType(file.MediaType); err == nil {
		header.Set("Content-Type", mime.FormatMediaType(mediaType, parameters))
	}
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Name}))
	header.Set("Content-Length", strconv.FormatInt(file.artifact.Size, 10))
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "private, no-store")
	if _, err := io.Copy(w, content); err != nil {
		panic(http.ErrAbortHandler) // what was sent is not all of it, and nobody is to take it for that
	}
}
