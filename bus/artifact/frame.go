package artifact

import (
	"bytes"
	"errors"
	"fmt"

	"podium/bus"
	"podium/schemas"
)

// ChunkSize is the size in bytes of the largest piece that the artifact
// service takes or gives at once.
const ChunkSize = 512 << 10

// Sizes in bytes of the largest request to the artifact service, and of its head.
const (
	maxHead  = 64 << 10
	maxFrame = ChunkSize + maxHead
)

// An artifactFrame is the head of every message of the artifact service: one
// line of JSON, then the bytes that it speaks of.
//
//	put  bytes                  → the artifact, at most ChunkSize bytes, and a grant that it was put
//	join parts, grants, sha256  → the same of the artifact made of parts that were put before
//	get  request, sha256, grant, offset → size of the whole, and at most ChunkSize bytes
//
// No step depends on the one before having met the same process of the core.
type artifactFrame struct {
	Op        string   `json:"op,omitzero"`
	MediaType string   `json:"media_type,omitzero"`
	SHA256    string   `json:"sha256,omitzero"`
	Offset    int64    `json:"offset,omitzero"`
	Parts     []string `json:"parts,omitzero"`
	Grants    []string `json:"grants,omitzero"` // of the parts, in their order
	// Request is the message_id of the request that Grant came with.
	Request string `json:"request,omitzero"`
	Grant   string `json:"grant,omitzero"`
	// In answers only.
	Size  int64  `json:"size,omitzero"`
	Error string `json:"error,omitzero"` // a key of artifactErrors, or a sentence
}

func encodeFrame(frame artifactFrame, content []byte) ([]byte, error) {
	head, err := schemas.Marshal(frame)
	if err != nil {
		return nil, err
	}
	return append(append(head, '\n'), content...), nil
}

func decodeFrame(body []byte) (frame artifactFrame, content []byte, err error) {
	head, content, ok := bytes.Cut(body, []byte{'\n'})
	if len(head) > maxHead {
		return frame, nil, fmt.Errorf("the head of a frame of the artifact service has at most %d bytes", maxHead)
	}
	if !ok {
		return frame, nil, errors.New("a frame of the artifact service begins with one line of JSON")
	}
	return frame, content, schemas.Unmarshal(head, &frame)
}

// errBusy reports an agent with too many artifact requests at a time; the same
// request may succeed a moment later.
var errBusy = errors.New("too many artifact requests at a time, try again")

// artifactErrors are the errors that keep their meaning on the way to the asker.
func artifactErrors() map[string]error {
	return map[string]error{
		"not_found": bus.ErrNotFound, "too_large": bus.ErrTooLarge, "full": bus.ErrFull, "corrupt": bus.ErrCorrupt,
		"denied": bus.ErrNotGranted, "busy": errBusy,
	}
}

func errorCode(err error) string {
	for code, known := range artifactErrors() {
		if errors.Is(err, known) {
			return code
		}
	}
	return err.Error()
}
