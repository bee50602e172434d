package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode"

	"podium/bus"
	"podium/schemas"
)

// DefaultAttachmentLimit bounds the attachments of one letter, in bytes.
const DefaultAttachmentLimit = 10 << 20

const (
	maxAttachments  = 32
	unknownType     = "application/octet-stream"
	attachmentNamed = "attachment"
)

// An attachment is a file beside the words.
type attachment struct {
	name, mediaType string
	content         []byte
}

// attachmentsOf fetches what an answer comes with, as far as there is room for it,
// and names what is left out: it is too large, gone, not granted or not what it says
// to be. Files that are made of what was answered come first: they are nowhere else.
func (s *sender) attachmentsOf(ctx context.Context, artifacts bus.Artifacts, made []schemas.DataFile, wanted []schemas.Attachment) (attached []attachment, left []string, err error) {
	room := s.account.AttachmentLimit
	for i := range made {
		content := []byte(made[i].Text)
		if len(attached) == maxAttachments || int64(len(content)) > room {
			left = append(left, fileName(made[i].Name))
			continue
		}
		room -= int64(len(content))
		attached = append(attached, attachment{name: fileName(made[i].Name), mediaType: mediaType(made[i].MediaType), content: content})
	}
	for i := range wanted {
		name := fileName(wanted[i].Name)
		size := wanted[i].Artifact.Size
		if artifacts == nil || len(attached) == maxAttachments || size > room {
			left = append(left, name)
			continue
		}
		content, err := fetch(ctx, artifacts, wanted[i].Artifact, room)
		switch {
		case bus.IsAny(err, bus.ErrNotFound, bus.ErrNotGranted, bus.ErrCorrupt, bus.ErrTooLarge):
			left = append(left, name)
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("fetch an attachment: %w", err)
		}
		room -= int64(len(content))
		attached = append(attached, attachment{name: name, mediaType: mediaType(wanted[i].MediaType), content: content})
	}
	return attached, left, nil
}

func fetch(ctx context.Context, artifacts bus.Artifacts, artifact schemas.Artifact, limit int64) ([]byte, error) {
	reader, err := artifacts.Get(ctx, artifact)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err = errors.Join(err, reader.Close()); err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, bus.ErrTooLarge
	}
	return content, nil
}

// fileName makes a name of any text: without folders, and without what a system
// or a header takes for more than a letter, or what turns the direction of writing.
func fileName(name string) string {
	name = oneLine(name, nameLimit)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimLeft(strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`"<>:|?*;%`, r):
			return '_'
		case unicode.In(r, unicode.Bidi_Control, unicode.Cf): // "invoice\u202Efdp.exe" looks like a PDF
			return -1
		}
		return r
	}, name), ". ")
	if name == "" {
		return attachmentNamed
	}
	return name
}

// mediaType returns a media type without its parameters, or that of unknown bytes.
func mediaType(declared string) string {
	parsed, _, err := mime.ParseMediaType(declared)
	kind, _, _ := strings.Cut(parsed, "/")
	if err != nil || len(parsed) > 127 || !strings.Contains(parsed, "/") || kind == "multipart" || kind == "message" {
		return unknownType
	}
	return parsed
}
