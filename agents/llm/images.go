package llm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"slices"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// The bounds of what a model is shown.
const (
	maxImages     = 8
	maxImageBytes = 8 << 20 // of all together
)

// shown are the kinds of picture that servers take. What a file is, its bytes say.
func shown() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

// images reads the pictures of a request as data URLs, with the ids that they have there. What is too large, gone or no
// picture is told by its name alone.
func images(ctx context.Context, request *agent.Request) (urls, ids []string, err error) {
	room := int64(maxImageBytes)
	for i := range request.Task().Context.Attachments {
		file := &request.Task().Context.Attachments[i]
		if len(urls) == maxImages || file.Size > room || !slices.Contains(shown(), file.MediaType) {
			continue
		}
		content, err := contentOf(ctx, request, file)
		if err != nil {
			return nil, nil, err
		}
		kind := nethttp.DetectContentType(content)
		if !slices.Contains(shown(), kind) || int64(len(content)) > room {
			continue
		}
		room -= int64(len(content))
		urls = append(urls, "data:"+kind+";base64,"+base64.StdEncoding.EncodeToString(content))
		ids = append(ids, file.ID)
	}
	return urls, ids, nil
}

// contentOf reads a file; nothing of one that nobody has any more.
func contentOf(ctx context.Context, request *agent.Request, file *schemas.TaskAttachment) ([]byte, error) {
	reader, err := request.Open(ctx, file.ID)
	var content []byte
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(reader, maxImageBytes+1))
		err = errors.Join(err, reader.Close())
	}
	switch {
	case bus.IsAny(err, bus.ErrNotFound, bus.ErrNotGranted, bus.ErrCorrupt):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errFetch, err)
	}
	return content, nil
}

var errFetch = errors.New("a picture of the request cannot be fetched")
