package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/embedded/wholefile"
	"podium/bus/history"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runfiles"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/reference"
	"podium/schemas/workflow"
)

type runsFilesCommand struct {
	ID    string   `arg:"" name:"run" help:"The run's id, or its beginning."`
	Names []string `arg:"" optional:"" name:"name" help:"Only these: a path, the name at its end, or a folder."`
	Out   string   `help:"Write them below this directory, which is made where it is missing." placeholder:"DIR"`
	Force bool     `help:"With --out: overwrite files that are there with another content."`
	Task  string   `help:"Those that this task has made, also where others have made newer versions." placeholder:"TASK"`
}

func (runsFilesCommand) Help() string {
	return `Lists the newest version of each file that the completed tasks of a run have made. With --out they are written below DIR, with
their folders. A file that is there with the same content stays; one with another content is overwritten by --force alone, and
without it nothing is written. No name of a file leads out of DIR. Where versions stand beside each other, --task says which.

  podium runs files 5f0c
  podium runs files 5f0c --out made
  podium runs files 5f0c src README.md --out made --force
  podium runs files 5f0c -o json | jq -r .sha256      # one file a line`
}

func (c *runsFilesCommand) Run(env *environment) error {
	if c.Force && c.Out == "" {
		return usage(errors.New("--force goes with --out: nothing is written without it"))
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		files, err := c.chosen(run, env.resultsOf(ledger.Core, run))
		if err != nil {
			return err
		}
		if c.Out == "" {
			return env.printFiles(run, files)
		}
		written, err := runfiles.Write(env.ctx, ledger.Core.Artifacts(), files, c.Out, c.Force)
		for i := range written {
			note := ""
			if written[i].Kept {
				note = " (there already)"
			}
			if env.json {
				err = errors.Join(err, env.printLine(&written[i]))
			} else {
				err = errors.Join(err, env.print("%s%s\n", written[i].Place, note))
			}
		}
		return err
	})
}

// chosen are the files of a run that are asked for.
func (c *runsFilesCommand) chosen(run *workflow.RunHistory, read runfiles.Reader) ([]runfiles.File, error) {
	all, err := runfiles.Standing(&run.Run, read)
	if c.Task != "" {
		var known bool
		if all, known, err = runfiles.OfTask(&run.Run, c.Task, read); !known {
			return nil, notFound("run %s has no task %q; `podium runs show %s` lists them", run.ID, c.Task, run.ID)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0 && (len(c.Names) > 0 || c.Out != ""):
		return nil, notFound("run %s has no files; it %s", run.ID, cmp.Or(string(run.Status), "goes on"))
	case len(c.Names) == 0:
		return all, nil
	}
	var files []runfiles.File
	for _, name := range c.Names {
		named := runfiles.Named(all, name)
		if len(named) == 0 {
			return nil, notFound("run %s has no file %q; `podium runs files %s` lists those that it has", run.ID, name, run.ID)
		}
		for i := range named {
			if !slices.Contains(files, named[i]) {
				files = append(files, named[i])
			}
		}
	}
	return files, nil
}

// resultsOf reads the results of a run.
func (e *environment) resultsOf(core bus.Core, run *workflow.RunHistory) runfiles.Reader {
	return func(body schemas.Content) (schemas.Result, error) {
		return history.ResultOf(e.ctx, core, run.Session, body)
	}
}

func (e *environment) printFiles(run *workflow.RunHistory, files []runfiles.File) error {
	if e.json {
		for i := range files {
			if err := e.printLine(&files[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(files) == 0 {
		_, err := fmt.Fprintf(e.stderr, "run %s has no files\n", run.ID)
		return err
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "PATH\tSIZE\tTYPE\tTASK\tAGENT")
	for i := range files {
		file, shown := &files[i], files[i].Path
		if !runfiles.Local(shown) {
			shown = strconv.Quote(shown)
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", shown, file.Size, file.Type, file.Task, file.By)
	}
	return table.Flush()
}

type runsExportCommand struct {
	ID    string `arg:"" name:"run" help:"The run's id, or its beginning."`
	File  string `arg:"" name:"file" help:"The ZIP file to write."`
	Force bool   `help:"Replace the file if it is there."`
}

func (runsExportCommand) Help() string {
	return `Writes what the ledger holds of a run into one ZIP file, which only its owner may read:

  report.txt        what "podium runs show" prints
  run.json          the same for programs
  timeline.txt      what happened, one line each, with the time in UTC
  records.jsonl     the decisions that are on record, one record a line
  messages.jsonl    all other messages of the run and of its conversation, one a line, as "podium replay -o json" prints them
  mail/             each mail as it came
  attachments/      what came with mail and chat messages
  files/            what the run has made, by its paths
  artifacts/        all other bytes that the messages name, by their SHA-256
  manifest.json     the size and SHA-256 of each entry, and what the ledger has lost

A run that goes on is exported as it is. Exit code 4 means that files of the run are missing in the ledger, as manifest.json says.
The file holds what people wrote, and their addresses.

  podium runs export 5f0c run.zip
  podium runs export 5f0c run.zip --force
  podium runs export 5f0c run.zip -o json | jq .missing`
}

func (c *runsExportCommand) Run(env *environment) error {
	if err := c.checkFile(); err != nil {
		return err
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		run, err := env.runLog(ledger.Core).Run(env.ctx, c.ID)
		if err != nil {
			return err
		}
		var manifest runfiles.Manifest
		if err = wholefile.Write(c.File, c.Force, func(to io.Writer) error {
			exported := &export{env: env, ledger: ledger, run: run, archive: runfiles.NewArchive(to, run.Started)}
			err := exported.write()
			manifest = exported.archive.Manifest
			return err
		}); err != nil {
			return c.explain(err)
		}
		if err = env.answer(struct {
			File    string             `json:"file"`
			Run     string             `json:"run"`
			Files   int                `json:"files"`
			Missing []runfiles.Missing `json:"missing,omitempty"`
		}{c.File, run.ID, len(manifest.Entries), manifest.Missing}, "%s has %d files of run %s\n", c.File, len(manifest.Entries), run.ID); err != nil {
			return err
		}
		if missing := len(manifest.Missing); missing > 0 {
			return &exitError{code: exitDiffers, err: fmt.Errorf("%d files of run %s are not in the ledger any more; manifest.json names them", missing, run.ID)}
		}
		return nil
	})
}

// checkFile refuses a file that is there before anything is read.
func (c *runsExportCommand) checkFile() error {
	about, err := os.Lstat(c.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case about.IsDir():
		return usage(fmt.Errorf("%s is a directory; name the file to write", c.File))
	case !c.Force:
		return c.explain(fs.ErrExist)
	}
	return nil
}

func (c *runsExportCommand) explain(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: --force replaces it", c.File)
	}
	return err
}

// An export writes a run of a ledger into an archive.
type export struct {
	env     *environment
	ledger  *installation.Ledger
	run     *workflow.RunHistory
	archive *runfiles.Archive
	named   []string // hashes of artifacts that messages name, in their order
	mails   int
	files   int // that came with messages
}

func (e *export) write() error {
	e.archive.Run, e.archive.Podium = e.run.ID, versionLine(versions())
	for _, step := range []func() error{
		func() error { return e.archive.Add("report.txt", "the run for people", e.show(false)) },
		func() error { return e.archive.Add("run.json", "the run for programs", e.show(true)) },
		func() error { return e.archive.Add("timeline.txt", "what happened", e.timeline) },
		func() error { return e.archive.Add("records.jsonl", "the records of the run", e.records) },
		func() error {
			return e.archive.Add("messages.jsonl", "the other messages of the run and its conversation", e.messages)
		},
		e.received, e.made, e.rest, e.archive.Close,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// show writes what runs show prints.
func (e *export) show(asJSON bool) func(io.Writer) error {
	return func(to io.Writer) error {
		env := *e.env
		env.stdout, env.json = view.NewGuard(to, asJSON), asJSON
		show := runsShowCommand{ID: e.run.ID}
		return show.show(&env)(e.ledger)
	}
}

func (e *export) timeline(to io.Writer) (err error) {
	folded := e.env.runLog(e.ledger.Core).FoldRun(e.env.ctx, e.run, func(record *schemas.Record) {
		for _, line := range view.LinesOf(record, e.run.Number) {
			if err == nil {
				_, err = fmt.Fprintf(to, "%s  %s\n", decidedAt(record).UTC().Format("2006-01-02T15:04:05.000Z"), line)
			}
		}
	})
	return errors.Join(folded, err)
}

// decidedAt is when a record was decided.
func decidedAt(record *schemas.Record) (at time.Time) {
	for i := range record.Transitions {
		at = record.Transitions[i].Cause.Time
	}
	return at
}

func (e *export) records(to io.Writer) (err error) {
	lines := json.NewEncoder(to)
	folded := e.env.runLog(e.ledger.Core).FoldRun(e.env.ctx, e.run, func(record *schemas.Record) {
		body, failed := schemas.Marshal(record)
		if failed == nil && err == nil {
			failed = lines.Encode(json.RawMessage(body))
		}
		err = cmp.Or(err, failed)
		e.note(body)
	})
	return errors.Join(folded, err)
}

// each gives take the messages of the run and of its conversation, but for records.
func (e *export) each(take func(message *bus.Message, event *schemas.Event, malformed error) error) error {
	for message, err := range e.env.runLog(e.ledger.Core).Messages(e.env.ctx, "", true) {
		if err != nil {
			return err
		}
		event, malformed := binding.Decode(message)
		if event.Type == schemas.TypeRecord || !runlog.Concerns(&event, &message, e.run.Session, e.run.ID) {
			continue
		}
		if err = take(&message, &event, malformed); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) messages(to io.Writer) error {
	env := *e.env
	env.stdout, env.json = to, true
	return e.each(env.printMessage)
}

// received adds each mail as it came, and what came with mail and chat messages. It notes what other messages name.
func (e *export) received() error {
	store := e.ledger.Core.Artifacts()
	return e.each(func(message *bus.Message, event *schemas.Event, malformed error) error {
		if malformed != nil {
			return nil //nolint:nilerr // it is in quarantine, and among the messages
		}
		if event.Artifact != nil {
			e.named = append(e.named, event.Artifact.SHA256)
			whole, err := artifact.DecodeWhole(e.env.ctx, store, *message)
			if bus.IsAny(err, bus.ErrNotFound, bus.ErrCorrupt) {
				return nil // the manifest says it, of the body
			}
			if err != nil {
				return err
			}
			event = &whole
		}
		e.note(event.Data)
		var mail schemas.EmailReceived
		var chat schemas.ChatReceived
		var attached []schemas.Attachment
		switch event.Type {
		case schemas.TypeEmailReceived:
			if err := schemas.Unmarshal(event.Data, &mail); err != nil {
				return err
			}
			e.mails++
			if err := e.archive.AddArtifact(e.env.ctx, store, mail.Raw.SHA256, fmt.Sprintf("mail/%02d.eml", e.mails), "a mail as it came"); err != nil {
				return err
			}
			for i := range mail.Attachments {
				attached = append(attached, mail.Attachments[i].Attachment)
			}
		case schemas.TypeChatReceived:
			if err := schemas.Unmarshal(event.Data, &chat); err != nil {
				return err
			}
			attached = chat.Attachments
		}
		for i := range attached {
			e.files++
			name := "attachments/" + runfiles.EntryName(e.files, attached[i].Name)
			if err := e.archive.AddArtifact(e.env.ctx, store, attached[i].Artifact.SHA256, name, "it came with a message"); err != nil {
				return err
			}
		}
		return nil
	})
}

// note notes the artifacts that JSON names.
func (e *export) note(body []byte) { e.named = append(e.named, reference.Hashes(body)...) }

// made adds the files that the run has made.
func (e *export) made() error {
	made, err := runfiles.Standing(&e.run.Run, e.env.resultsOf(e.ledger.Core, e.run))
	if err != nil {
		return err
	}
	for i := range made {
		file, name := &made[i], "files/"+made[i].Path
		if !runfiles.Local(file.Path) {
			name = "files/" + runfiles.EntryName(i+1, file.Path)
		}
		if err := e.archive.AddArtifact(e.env.ctx, e.ledger.Core.Artifacts(), file.SHA256, name, "made by task "+file.Task+" of "+file.By); err != nil {
			return err
		}
	}
	return nil
}

// rest adds what else the messages name.
func (e *export) rest() error {
	for _, sum := range e.named {
		if err := e.archive.AddArtifact(e.env.ctx, e.ledger.Core.Artifacts(), sum, "artifacts/"+sum, "named by a message"); err != nil {
			return err
		}
	}
	return nil
}

// artifactCommand gets what is in the artifact store.
type artifactCommand struct {
	ledgerFlags

	Get artifactGetCommand `cmd:"" help:"Write the bytes of an artifact to a file or to standard output."`
}

func (artifactCommand) Help() string {
	return `An artifact is a file, or the body of a large message, by the SHA-256 of its bytes. "podium runs files RUN -o json" and the
messages of "podium replay" name them.

  podium artifact get 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 --out otters.txt`
}

type artifactGetCommand struct {
	Hash  string `arg:"" name:"hash" help:"The SHA-256 of its bytes, as 64 digits and letters."`
	Out   string `help:"Write it into this file; without it, to standard output." placeholder:"FILE"`
	Force bool   `help:"With --out: replace the file if it is there."`
}

func (artifactGetCommand) Help() string {
	return `The bytes are compared with the hash before any of them is written. What is not text is not written to a terminal. With
-o json the content is not printed: the object has sha256, size, the media type that the first bytes show, and with --out the file.

  HASH=$(podium runs files 5f0c -o json | jq -r .sha256 | head -1)
  podium artifact get $HASH --out report.pdf
  podium artifact get $HASH | less
  podium artifact get $HASH -o json`
}

func (c *artifactGetCommand) Run(env *environment) error {
	sum := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(c.Hash), "podium-artifact:"))
	if !schemas.ValidHash(sum) {
		return usage(fmt.Errorf("%q is no SHA-256 of 64 digits and letters from a to f; `podium runs files RUN -o json` has those of a run", c.Hash))
	}
	if c.Force && c.Out == "" {
		return usage(errors.New("--force goes with --out: without it nothing is replaced"))
	}
	return env.withLedger(func(ledger *installation.Ledger) error {
		store := ledger.Core.Artifacts()
		looked := &firstBytes{}
		if err := runfiles.CopyArtifact(env.ctx, store, sum, looked); err != nil {
			return c.explain(sum, err)
		}
		copied := func(to io.Writer) error { return runfiles.CopyArtifact(env.ctx, store, sum, to) }
		if c.Out != "" {
			if err := wholefile.Write(c.Out, c.Force, copied); err != nil {
				return c.explain(sum, err)
			}
		}
		switch {
		case env.json:
			return env.answer(struct {
				SHA256    string `json:"sha256"`
				Size      int64  `json:"size"`
				MediaType string `json:"media_type"`
				File      string `json:"file,omitempty"`
			}{sum, looked.size, http.DetectContentType(looked.begin), c.Out}, "")
		case c.Out != "":
			return env.print("%s has %d bytes\n", c.Out, looked.size)
		case isTerminal(env.raw) && !looked.isText():
			return errors.New("it is not text, and would go to a terminal: write it into a file with --out FILE, or into a pipe")
		case isTerminal(env.raw):
			return copied(env.stdout)
		}
		return copied(env.raw)
	})
}

func (c *artifactGetCommand) explain(sum string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already: --force replaces it", c.Out)
	case errors.Is(err, bus.ErrNotFound):
		return notFound("the ledger has no artifact %s; `podium runs files RUN -o json` lists those of a run", sum)
	case errors.Is(err, bus.ErrCorrupt):
		return &exitError{code: exitDiffers, err: fmt.Errorf("the bytes of artifact %s are damaged: %w; nothing was written, `podium ledger check` says what the ledger has lost", sum, err)}
	}
	return err
}

// isTerminal reports whether a writer is a terminal.
func isTerminal(to io.Writer) bool {
	file, is := to.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// maxFirstBytes bounds the first bytes by which it is judged whether content is text.
const maxFirstBytes = 8 << 10

// firstBytes counts bytes and keeps the first of them.
type firstBytes struct {
	begin []byte
	size  int64
}

// Write implements io.Writer.
func (f *firstBytes) Write(p []byte) (int, error) {
	f.size += int64(len(p))
	f.begin = append(f.begin, p[:min(len(p), maxFirstBytes-len(f.begin))]...)
	return len(p), nil
}

// isText reports whether the first bytes are text that a terminal shows.
func (f *firstBytes) isText() bool {
	begin := f.begin
	for cut := 0; cut < utf8.UTFMax && len(begin) == maxFirstBytes-cut && !utf8.Valid(begin); cut++ {
		begin = begin[:len(begin)-1] // a character may be cut off there
	}
	return utf8.Valid(begin) && !bytes.ContainsAny(begin, "\x00\x1b")
}
