package http

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// A sentFile is a file of the request with its bytes; Content is absent when there is no room for
// them, or nobody has them any more.
type sentFile struct {
	schemas.TaskAttachment
	Content []byte `json:"content,omitzero"` // base64
}

// body returns the request as it is posted: as it came, with the bytes of its files.
func (a *Agent) body(ctx context.Context, request *agent.Request) ([]byte, error) {
	body, err := schemas.Marshal(request.ExecutionRequest)
	if err != nil || len(request.Task().Context.Attachments) == 0 {
		return body, err
	}
	room := a.config.MaxFiles
	sent := make([]sentFile, len(request.Task().Context.Attachments))
	for i := range request.Task().Context.Attachments {
		file := request.Task().Context.Attachments[i]
		if sent[i].Content, err = a.bytesOf(ctx, request, &file, room); err != nil {
			return nil, err
		}
		room -= int64(len(sent[i].Content))
		file.Grant = "" // the endpoint cannot use it
		sent[i].TaskAttachment = file
	}
	files, err := schemas.Marshal(sent)
	if err != nil {
		return nil, err
	}
	return replace(body, files, "payload", "tasks", "0", "context", "attachments")
}

func (a *Agent) bytesOf(ctx context.Context, request *agent.Request, file *schemas.TaskAttachment, room int64) ([]byte, error) {
	if file.Size > room {
		return nil, nil
	}
	reader, err := request.Open(ctx, file.ID)
	var content []byte
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(reader, room+1))
		err = errors.Join(err, reader.Close())
	}
	switch {
	case bus.IsAny(err, bus.ErrNotFound, bus.ErrNotGranted, bus.ErrCorrupt) || int64(len(content)) > room:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("fetch a file of the request: %w", err)
	}
	return content, nil
}

// replace returns a document with another value at a place; of a list, the place is its first entry.
func replace(document, value jsontext.Value, place ...string) (jsontext.Value, error) {
	if len(place) == 0 {
		return value, nil
	}
	if place[0] == "0" {
		var entries []jsontext.Value
		if err := schemas.Unmarshal(document, &entries); err != nil || len(entries) == 0 {
			return nil, errors.Join(err, errors.New("the request has no such place"))
		}
		inner, err := replace(entries[0], value, place[1:]...)
		if err != nil {
			return nil, err
		}
		entries[0] = inner
		return schemas.Marshal(entries)
	}
	var members map[string]jsontext.Value
	if err := schemas.Unmarshal(document, &members); err != nil {
		return nil, err
	}
	inner, err := replace(members[place[0]], value, place[1:]...)
	if err != nil {
		return nil, err
	}
	members[place[0]] = inner
	return schemas.Marshal(members)
}
