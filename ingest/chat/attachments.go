package chat

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"unicode"

	"podium/ingest/problem"
	"podium/schemas"
)

// The bounds of what comes along with messages of the provider webhook.
const (
	// MaxBodyWithFiles is the size limit of a POST that brings files, in bytes. Beside them it holds MaxBody at most.
	MaxBodyWithFiles = 12 << 20
	// MaxFiles is how many files come with one message, and MaxFileBytes how large they may be together, in bytes.
	MaxFiles     = 16
	MaxFileBytes = 8 << 20

	mediaTypeUnknown = "application/octet-stream"
)

// A PostedFile is a file that comes with a message, in its body: nothing is fetched from anywhere.
type PostedFile struct {
	Name      string `json:"name"`       // without folders; may be empty
	MediaType string `json:"media_type"` // application/octet-stream when empty
	Content   []byte `json:"content"`    // in JSON as base64 (RFC 4648, section 4)
}

// checkFiles says what is wrong with the files of a message.
func checkFiles(files []PostedFile) *ProblemPlace {
	if len(files) > MaxFiles {
		return &ProblemPlace{Detail: "a message has at most " + strconv.Itoa(MaxFiles) + " files", Pointer: "#/attachments"}
	}
	size := 0
	for i := range files {
		at := "#/attachments/" + strconv.Itoa(i)
		if wrong := wrongName(files[i].Name); wrong != "" {
			return &ProblemPlace{Detail: wrong, Pointer: at + "/name"}
		}
		if strings.ContainsAny(files[i].Name, `/\`) {
			return &ProblemPlace{Detail: "the name of a file has no folders", Pointer: at + "/name"}
		}
		if mediaType := files[i].MediaType; mediaType != "" {
			if _, _, err := mime.ParseMediaType(mediaType); err != nil || len(mediaType) > maxName || !strings.Contains(mediaType, "/") {
				return &ProblemPlace{Detail: "a media type such as image/jpeg is expected here", Pointer: at + "/media_type"}
			}
		}
		if size += len(files[i].Content); size > MaxFileBytes {
			return &ProblemPlace{Detail: "the files of a message are at most " + strconv.Itoa(MaxFileBytes) + " bytes together", Pointer: at + "/content"}
		}
	}
	return nil
}

// encodedSize is how much of a body the files take.
func encodedSize(files []PostedFile) (size int) {
	for i := range files {
		size += base64.StdEncoding.EncodedLen(len(files[i].Content))
	}
	return size
}

// bodyLimit bounds a POST to the channel, in bytes.
func (c *channel) bodyLimit() int64 {
	if c.kind == schemas.ProviderWebhook {
		return MaxBodyWithFiles
	}
	return MaxBody
}

// tooMuchText says that a body has more than MaxBody beside its files.
func tooMuchText(body []byte, files []PostedFile) *problem.Document {
	if len(body)-encodedSize(files) > MaxBody {
		return problemTooLarge()
	}
	return nil
}

// shownName returns the name of a file without what turns the direction of writing: "invoice\u202Efdp.exe" looks like a PDF.
func shownName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
}

// keepFiles stores what came along, so that the message names it. A repeat stores nothing twice.
func (d *Adapter) keepFiles(ctx context.Context, message *Message) error {
	ctx, cancel := context.WithTimeout(ctx, d.config.BodyTimeout)
	defer cancel()
	for i := range message.files {
		file := &message.files[i]
		mediaType := file.MediaType
		if mediaType == "" {
			mediaType = mediaTypeUnknown
		}
		kept, err := d.core.Artifacts().Put(ctx, bytes.NewReader(file.Content), mediaType)
		if err != nil {
			return fmt.Errorf("keep a file of a message: %w", err)
		}
		message.Attachments = append(message.Attachments, schemas.Attachment{Name: shownName(file.Name), MediaType: mediaType, Artifact: kept})
	}
	return nil
}
