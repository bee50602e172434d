package agent

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

// KeepFiles keeps the files that stand in the deliverables of an answer, as base64 under content in their metadata,
// and puts references in their place. Together they may have so many bytes: else it fails with bus.ErrTooLarge.
func (r *Request) KeepFiles(ctx context.Context, outcome *Outcome, room int64) error {
	for i := range outcome.Deliverables {
		made := &outcome.Deliverables[i]
		var members map[string]jsontext.Value
		var file struct {
			Content   []byte `json:"content"`
			MediaType string `json:"media_type"`
		}
		if len(made.Metadata) == 0 || schemas.Unmarshal(made.Metadata, &members) != nil || len(members["content"]) == 0 ||
			schemas.Unmarshal(made.Metadata, &file) != nil {
			continue
		}
		if room -= int64(len(file.Content)); room < 0 {
			return fmt.Errorf("keep the files of the answer: %w", bus.ErrTooLarge)
		}
		kept, err := r.Keep(ctx, bytes.NewReader(file.Content), made.Path, file.MediaType)
		if err != nil {
			return fmt.Errorf("keep a file of the answer: %w", err)
		}
		delete(members, "content")
		reference, err := schemas.Marshal(kept.Artifact)
		if err == nil {
			err = schemas.Unmarshal(reference, &members)
		}
		if err == nil {
			made.Metadata, err = schemas.Marshal(members)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
