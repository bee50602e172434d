package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/bus/agent"
	"podium/schemas"
)

// maxMade bounds the files and links of one answer.
const maxMade = 64

// outcome is what the answer of a tool says.
func (a *Agent) outcome(ctx context.Context, language string, request *agent.Request, result *sdk.CallToolResult) (agent.Outcome, error) {
	made := agent.Outcome{Result: schemas.Result{Text: textOf(result)}}
	made.Issues = a.unread(language, result)
	if result.StructuredContent != nil {
		body, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return agent.Outcome{}, &agent.Failure{Message: a.words.Say(language, "unreadable"), Permanent: true, Unknown: a.acts(), Err: errors.New("the data of the tool is no JSON")}
		}
		made.Data = body
	} else if len(a.config.OutputSchema) > 0 && isComposite(made.Text) {
		made.Text, made.Data = "", jsontext.Value(strings.TrimSpace(made.Text))
	} else if len(a.config.OutputSchema) > 0 && made.Text != "" {
		if _, err := agent.ReadOutcome([]byte(made.Text), request); errors.Is(err, agent.ErrUnreadable) { // data that does not parse
			return agent.Outcome{}, &agent.Failure{Message: a.words.Say(language, "unreadable"), Permanent: true, Unknown: a.acts(), Err: err}
		}
	}
	if len(made.Data) > maxData {
		return agent.Outcome{}, &agent.Failure{
			Message: a.words.Say(language, "too_much", "{limit}", strconv.Itoa(maxData)), Permanent: true, Unknown: a.acts(), Err: errTooMuch,
		}
	}
	if len(made.Data) > 0 && isComposite(made.Text) && sameJSON(jsontext.Value(strings.TrimSpace(made.Text)), made.Data) {
		// It is there for whoever cannot read the data, and has numbers as they were said: the library reads them as floats.
		made.Data, made.Text = jsontext.Value(strings.TrimSpace(made.Text)), ""
	}
	if lost := a.keep(ctx, language, request, result, &made); lost != nil {
		if !a.acts() {
			return agent.Outcome{}, lost
		}
		made.Issues = append(made.Issues, schemas.Issue{ // what was done is not done again for a file
			Severity: "high", Description: a.words.Say(language, "not_kept"), Resolution: schemas.ResolutionDeferred,
		})
	}
	if isEmpty := agent.IsBlank(made.Text) && len(made.Data) == 0 && len(made.Deliverables)+len(made.Issues) == 0; isEmpty && !a.acts() {
		// Of a tool that acts it is the protocol's word for done; what only looks something up has to say what it has found.
		return agent.Outcome{}, &agent.Failure{Message: a.words.Say(language, "nothing"), Err: agent.ErrNothing}
	}
	return made, nil
}

// unread names what of an answer could not be read. The rest counts.
func (a *Agent) unread(language string, result *sdk.CallToolResult) (issues []schemas.Issue) {
	kinds, numbers := unreadOf(result)
	add := func(key string, named []string) {
		if len(named) > 0 {
			issues = append(issues, schemas.Issue{
				Severity: "medium", Resolution: schemas.ResolutionDeferred, Description: a.words.Say(language, key, "{named}", strings.Join(named, ", ")),
			})
		}
	}
	add("unread_parts", kinds)
	add("no_numbers", numbers)
	return issues
}

// textOf joins the texts of an answer.
func textOf(result *sdk.CallToolResult) string {
	var texts []string
	for _, content := range result.Content {
		if text, is := content.(*sdk.TextContent); is && text.Text != "" {
			texts = append(texts, strings.ToValidUTF8(text.Text, "\uFFFD"))
		}
	}
	return strings.TrimRight(strings.Join(texts, "\n"), " \t\r\n")
}

// isComposite reports whether a text is one JSON object or array.
func isComposite(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && jsontext.Value(text).IsValid()
}

// A file is one that a tool has made.
type file struct {
	name, mediaType string
	content         []byte
}

// keep makes deliverables of the files and links of an answer. What is too much is left out, and an issue says so.
func (a *Agent) keep(ctx context.Context, language string, request *agent.Request, result *sdk.CallToolResult, made *agent.Outcome) error {
	room, left := a.config.MaxFiles, 0
	for i, content := range result.Content {
		if link, is := content.(*sdk.ResourceLink); is && len(made.Deliverables) < maxMade {
			made.Deliverables = append(made.Deliverables, linked(link))
			continue
		}
		one, is := fileOf(content, i+1)
		if !is {
			continue
		}
		if int64(len(one.content)) > room || len(made.Deliverables) == maxMade {
			left++
			continue
		}
		kept, err := request.Keep(ctx, bytes.NewReader(one.content), one.name, one.mediaType)
		if err != nil {
			return fmt.Errorf("keep a file that the tool has made: %w", err)
		}
		metadata, err := schemas.Marshal(kept.Artifact)
		if err != nil {
			return err
		}
		room -= kept.Artifact.Size
		made.Deliverables = append(made.Deliverables, schemas.Deliverable{
			DeliverableID: "file-" + strconv.Itoa(len(made.Deliverables)+1), Type: schemas.DeliverableDocumentation, Path: one.name, Metadata: metadata,
		})
	}
	if left > 0 {
		made.Issues = append(made.Issues, schemas.Issue{
			Severity: "medium", Resolution: schemas.ResolutionDeferred,
			Description: a.words.Say(language, "left_out", "{count}", strconv.Itoa(left), "{files}", strconv.Itoa(maxMade), "{limit}", strconv.FormatInt(a.config.MaxFiles, 10)),
		})
	}
	return nil
}

// linked names a resource that the server has not sent. Nothing is fetched.
func linked(link *sdk.ResourceLink) schemas.Deliverable {
	metadata, err := schemas.Marshal(map[string]string{"uri": link.URI, "media_type": link.MIMEType})
	if err != nil {
		metadata = nil // it is not UTF-8
	}
	return schemas.Deliverable{Type: schemas.DeliverableDocumentation, Path: plain(cmp.Or(link.Title, link.Name, link.URI), maxName), Description: plain(link.Description, maxSaid), Metadata: metadata}
}

// fileOf is the file in one piece of an answer, the n-th; false when it holds none.
func fileOf(content sdk.Content, n int) (file, bool) {
	switch content := content.(type) {
	case *sdk.ImageContent:
		return file{"image-" + strconv.Itoa(n) + endingOf(content.MIMEType), content.MIMEType, content.Data}, true
	case *sdk.AudioContent:
		return file{"audio-" + strconv.Itoa(n) + endingOf(content.MIMEType), content.MIMEType, content.Data}, true
	case *sdk.EmbeddedResource:
		if content.Resource == nil {
			return file{}, false
		}
		held := content.Resource
		body := held.Blob
		if len(body) == 0 {
			body = []byte(held.Text)
		}
		name := plain(path.Base(strings.ReplaceAll(held.URI, `\`, "/")), maxName)
		if name == "" || name == "." || name == "/" {
			name = "resource-" + strconv.Itoa(n) + endingOf(held.MIMEType)
		}
		kind := held.MIMEType
		if kind == "" {
			kind = agent.MediaTypeOf(name)
		}
		return file{name, kind, body}, true
	}
	return file{}, false
}

// endingOf is the ending of a name for a media type, as far as there is a usual one.
func endingOf(mediaType string) string {
	usual := map[string]string{
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
		"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "text/plain": ".txt", "application/json": ".json", "application/pdf": ".pdf",
	}
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ".bin"
	}
	if ending, known := usual[kind]; known {
		return ending
	}
	endings, err := mime.ExtensionsByType(kind)
	if err != nil || len(endings) == 0 {
		return ".bin"
	}
	return slices.Min(endings)
}

// maxName bounds the name of a file, in bytes.
const maxName = 200

// plain is a stranger's text on one line, without what controls a terminal or turns the direction of writing, within a bound in
// bytes.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
