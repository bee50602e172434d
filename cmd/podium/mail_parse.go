package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"podium/bus/binding"
	"podium/cmd/podium/config"
	"podium/ingest/imap"
	"podium/ingest/mime"
	mailtext "podium/ingest/mime/text"
	"podium/ingest/mime/trust"
	"podium/schemas"
)

// mailParseCommand shows what the mail adapter would make of messages in files.
type mailParseCommand struct {
	Files      []string `arg:"" help:"Messages (RFC 5322), folders of them, or - for standard input." placeholder:"FILE"`
	AuthServID []string `name:"authserv-id" sep:"none" help:"Name by which the receiving server signs its Authentication-Results; without one nobody's are believed; an empty one is a server that writes no name, as Microsoft 365 does." placeholder:"ID"`
	Languages  string   `help:"Folder with files of languages, as mail.languages of the configuration names it." placeholder:"DIR"`

	languages *mailtext.Languages
}

func (mailParseCommand) Help() string {
	return `Reads messages as the mail adapter does and prints the event that each would become, one line for
each file. Nothing is written, sent or asked anywhere; attachments are measured and hashed. A file that
cannot be understood costs its own line and no other.

  podium mail parse mail.eml -o json
  podium mail parse ~/Maildir/cur -o json | jq 'select(.degraded) | .event.data.problems'
  podium mail parse --languages ./languages mail.eml -o json
  cat mail.eml | podium mail parse -

With -o json a line is {"file", "ok", "degraded", "error", "event"}: ok is false when nothing could be
read of it, degraded is true when something had to be guessed or left out, and event is the CloudEvent
in structured mode.

Exit codes:
  0  every file gave an event
  1  a file could not be opened, or nothing in it could be read; the other files have their lines
  2  the command line or a file of a language is wrong`
}

// parsedMail is one line of the answer.
type parsedMail struct {
	File     string          `json:"file"`
	OK       bool            `json:"ok"`
	Degraded bool            `json:"degraded"`
	Error    string          `json:"error"`
	Event    json.RawMessage `json:"event"`

	mail schemas.EmailReceived
}

func (c *mailParseCommand) Run(env *environment) error {
	if c.Languages != "" {
		var err error
		if c.languages, err = config.ReadMailLanguages(c.Languages); err != nil {
			return usage(err)
		}
	}
	out := bufio.NewWriter(env.stdout)
	failed := 0
	err := eachFile(env.ctx, c.Files, func(path string) error {
		line := c.parse(env, path)
		if !line.OK {
			failed++
		}
		return errors.Join(line.print(out, env.json), out.Flush())
	})
	if err != nil {
		return err
	}
	if failed > 0 {
		return &exitError{code: exitFailed} // the lines say which
	}
	return nil
}

// eachFile calls do for every file that is named or lies in a folder that is
// named, in lexical order. What cannot be opened is do's to find out.
func eachFile(ctx context.Context, paths []string, do func(path string) error) error {
	for _, path := range paths {
		if path == "-" {
			if err := do(path); err != nil {
				return err
			}
			continue
		}
		err := filepath.WalkDir(path, func(inside string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err == nil && (entry.IsDir() || inside != path && !entry.Type().IsRegular()):
				return nil
			}
			return do(inside)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *mailParseCommand) parse(env *environment, path string) (line parsedMail) {
	line.File, line.Event = strings.ToValidUTF8(path, "\uFFFD"), json.RawMessage("null")
	defer func() {
		if failure := recover(); failure != nil {
			line.OK, line.Error = false, fmt.Sprintf("the parser broke on it (%T)", failure)
		}
	}()
	event, err := c.event(env, path, &line.mail)
	if err != nil {
		line.Error = strings.ToValidUTF8(err.Error(), "\uFFFD")
		return line
	}
	line.Event = event
	line.OK, line.Degraded = line.mail.Parse != schemas.ParseFailed, line.mail.Parse == schemas.ParseDegraded
	if !line.OK {
		line.Error = strings.Join(line.mail.Problems, "; ")
	}
	return line
}

// event reads one message and writes its event in structured mode.
func (c *mailParseCommand) event(env *environment, path string, mail *schemas.EmailReceived) ([]byte, error) {
	content, source, received, err := openMail(env, path)
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	var size counter
	measured := io.TeeReader(content, io.MultiWriter(sum, &size))
	*mail, err = mime.Parse(env.ctx, measured, mime.Options{Sink: imap.Measure{}, AuthServIDs: c.AuthServID, Languages: c.languages})
	if err != nil {
		return nil, err
	}
	trust.Vouch(mail, len(c.AuthServID) > 0, nil)
	if _, err = io.Copy(io.Discard, measured); err != nil { // the parser may have had enough
		return nil, fmt.Errorf("read mail: %w", err)
	}
	mail.Account, mail.Mailbox, mail.Received = "file", "file", received
	mail.Raw = schemas.Artifact{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: int64(size), MediaType: "message/rfc822"}
	body, err := schemas.Marshal(mail)
	if err != nil {
		return nil, err
	}
	return binding.MarshalStructured(&schemas.Event{
		ID: "file:" + mail.Raw.SHA256, Source: source, Type: schemas.TypeEmailReceived, Time: received,
		DataContentType: schemas.MediaTypeJSON, DataSchema: schemas.SchemaID("email_received"),
		PartitionKey: mime.PartitionKey(mail), Data: body,
	})
}

// openMail returns a message, where it came from and when: for a file, when it
// was written last.
func openMail(env *environment, path string) (content io.ReadCloser, source string, received time.Time, err error) {
	if path == "-" {
		return io.NopCloser(env.stdin), "file:///dev/stdin", time.Now().UTC().Truncate(time.Second), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	info, err := file.Stat()
	absolute, absoluteErr := filepath.Abs(path)
	if err = errors.Join(err, absoluteErr); err != nil {
		return nil, "", time.Time{}, errors.Join(err, file.Close())
	}
	location := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}
	return file, location.String(), info.ModTime().UTC().Truncate(time.Second), nil
}

// print writes the line for a program or for a person.
func (l *parsedMail) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(l)
	}
	state := "ok"
	switch {
	case !l.OK:
		_, err := fmt.Fprintf(out, "%s  failed: %s\n", l.File, l.Error)
		return err
	case l.Degraded:
		state = "degraded: " + strings.Join(l.mail.Problems, "; ")
	}
	_, err := fmt.Fprintf(out, "%s  %s  class=%s attachments=%d subject=%q\n", l.File, state, l.mail.Class, len(l.mail.Attachments), l.mail.Subject)
	return err
}

// A counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
