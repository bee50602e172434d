package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"podium/schemas"
)

// TestRequestOfTheDocumentation: the request.json that docs/nats.md shows gives a
// supervisor work.
func TestRequestOfTheDocumentation(t *testing.T) {
	t.Parallel()
	i := install(t, clerkConfig)
	i.up()
	core := connectBy(t, i.instance().NATS, filepath.Join(i.data, "credentials", "core.nk"), "core")
	answered := core.hears("podium.agent.office.response")
	asked := pageOf(t, "nats.md").bodies[schemas.EnvelopeTypeExecutionRequest]
	if len(asked) != 1 {
		t.Fatalf("the page has %d requests", len(asked))
	}
	core.publish("podium.agent.office.request", asked[0])
	answer, err := answered.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	var response schemas.ExecutionResponse
	if err := schemas.Unmarshal(answer.Data, &response); err != nil || response.Payload.Status != schemas.StatusCompleted || !strings.Contains(asked[0], response.InReplyTo) {
		t.Errorf("the answer is %s (%v)", answer.Data, err)
	}
}

// A page is the examples of a document, by what they are.
type page struct{ bodies map[string][]string }

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

// pageOf reads a page, and holds each of its messages against its schema.
func pageOf(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	found := page{bodies: map[string][]string{}}
	for _, block := range jsonBlock.FindAllSubmatch(text, -1) {
		var example struct{ Type, Name, Permit string }
		if err := json.Unmarshal(block[1], &example); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, block[1])
		}
		kind := example.Type
		switch {
		case kind != "":
		case example.Name != "":
			kind = "agent"
		case example.Permit != "":
			kind = "permit_answer"
		default:
			found.bodies["pull"] = append(found.bodies["pull"], string(block[1]))
			continue
		}
		if err := schemas.Validate(kind, block[1]); err != nil {
			t.Errorf("%s: %v\n%s", name, err, block[1])
		}
		found.bodies[kind] = append(found.bodies[kind], string(block[1]))
	}
	return found
}
