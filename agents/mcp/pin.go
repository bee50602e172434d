package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/schemas"
	"podium/schemas/validation"
)

// A Tool is what a server says of one of its tools, as far as anything follows from it.
type Tool struct {
	Name         string         `json:"name"`
	Description  string         `json:"description,omitzero"`
	InputSchema  jsontext.Value `json:"input_schema"`
	OutputSchema jsontext.Value `json:"output_schema,omitzero"`
	Annotations  jsontext.Value `json:"annotations,omitzero"` // hints of the server on what the tool does
}

// A Pin is a tool as somebody has looked at it.
type Pin struct {
	SHA256 string `json:"sha256"` // of the tool, as Sum has it
	// Server and Version are what the server has called itself then. Nothing follows from them.
	Server  string `json:"server,omitzero"`
	Version string `json:"version,omitzero"`
	// Unread are the patterns of its schemas that are left to the server, for it to hold values to.
	Unread []string `json:"patterns_left_to_the_server,omitempty"`
	Tool   Tool     `json:"tool"`
}

// MaxPin bounds the file of a pin, in bytes.
const MaxPin = 4 * maxSchema

// ErrAltered reports a pin whose sum is not that of its tool.
var ErrAltered = errors.New("its sha256 is not that of the tool in it")

// NewPin pins a tool.
func NewPin(tool Tool, server, version string) (*Pin, error) {
	sum, err := tool.Sum()
	return &Pin{SHA256: sum, Server: server, Version: version, Unread: tool.UnreadPatterns(), Tool: tool}, err
}

// ReadPin reads the file of a pin. It fails with ErrAltered when it was changed by hand, and on a tool that can be
// no agent.
func ReadPin(body []byte) (*Pin, error) {
	var pin Pin
	if err := schemas.Unmarshal(body, &pin); err != nil {
		return nil, fmt.Errorf("it is no pin: %w", err)
	}
	sum, err := pin.Tool.Sum()
	if err != nil {
		return nil, err
	}
	if sum != pin.SHA256 {
		return nil, ErrAltered
	}
	return &pin, pin.Tool.check()
}

// Bytes are what stands in the file of a pin, made for reading it and for comparing it with the one before.
func (p *Pin) Bytes() ([]byte, error) {
	body, err := schemas.Marshal(p)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(body)
	if err = value.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(value, '\n'), nil
}

// Sum is the SHA-256 of the tool in canonical JSON (RFC 8785), in hexadecimal digits.
func (t *Tool) Sum() (string, error) {
	body, err := schemas.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("the tool is no JSON: %w", err)
	}
	value := jsontext.Value(body)
	if err = value.Canonicalize(); err != nil {
		return "", fmt.Errorf("the tool has no canonical form: %w", err)
	}
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:]), nil
}

// Differs names in what a tool is another one: description, input_schema, output_schema or annotations.
func (t *Tool) Differs(other *Tool) []string {
	var names []string
	if t.Name != other.Name {
		names = append(names, "name")
	}
	if t.Description != other.Description {
		names = append(names, "description")
	}
	for _, part := range [...]struct {
		name     string
		one, two jsontext.Value
	}{{"input_schema", t.InputSchema, other.InputSchema}, {"output_schema", t.OutputSchema, other.OutputSchema}, {"annotations", t.Annotations, other.Annotations}} {
		if !sameJSON(part.one, part.two) {
			names = append(names, part.name)
		}
	}
	return names
}

// sameJSON reports whether two values are one in canonical form.
func sameJSON(one, two jsontext.Value) bool {
	a, b := one.Clone(), two.Clone()
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return a.Canonicalize() == nil && b.Canonicalize() == nil && string(a) == string(b)
}

// maxSummary bounds what of a description stands in the registry, in bytes.
const maxSummary = 300

// Summary is the first line of the tool's description.
func (t *Tool) Summary() string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	return plain(line, maxSummary)
}

// check says why a tool can be no agent.
func (t *Tool) check() error {
	for _, schema := range [...]struct {
		name string
		body jsontext.Value
	}{{"input schema", t.HeldInput()}, {"output schema", t.HeldOutput()}} {
		if len(schema.body) == 0 {
			continue
		}
		if err := bounded(schema.body); err != nil {
			return fmt.Errorf("the %s of the tool: %w", schema.name, err)
		}
		if _, err := validation.Compile(schema.body); err != nil {
			return fmt.Errorf("the %s of the tool: %w", schema.name, err)
		}
	}
	return nil
}

// toolOf is what a server says of a tool.
func toolOf(said *sdk.Tool) (Tool, error) {
	tool := Tool{Name: said.Name, Description: said.Description}
	for _, part := range [...]struct {
		said any
		into *jsontext.Value
	}{{said.InputSchema, &tool.InputSchema}, {said.OutputSchema, &tool.OutputSchema}, {hintsOf(said.Annotations), &tool.Annotations}} {
		body, err := json.Marshal(part.said)
		if err != nil {
			return Tool{}, fmt.Errorf("read the tool: %w", err)
		}
		if string(body) != "null" {
			*part.into = body
		}
	}
	if len(tool.InputSchema) == 0 {
		return Tool{}, errors.New("the tool has no input schema")
	}
	return tool, nil
}

// hints are the annotations of a tool that are known.
type hints struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    bool   `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  bool   `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// hintsOf are the annotations of a tool in a form of our own, so that no version of the library changes a sum.
func hintsOf(said *sdk.ToolAnnotations) *hints {
	if said == nil {
		return nil
	}
	return &hints{said.Title, said.ReadOnlyHint, said.DestructiveHint, said.IdempotentHint, said.OpenWorldHint}
}
