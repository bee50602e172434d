package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"podium/schemas"
)

func (c *clerk) artifact(asked frame, content []byte) (frame, []byte) {
	c.t.Helper()
	line, err := json.Marshal(asked)
	if err != nil {
		c.t.Fatal(err)
	}
	code, answer := c.said("artifact", string(line)+"\n"+string(content))
	line, rest, found := bytes.Cut(answer.Data, []byte("\n"))
	var said frame
	if err := json.Unmarshal(line, &said); err != nil || !found {
		c.t.Fatalf("%s is answered with %q %q", asked.Op, code, answer.Data)
	}
	return said, rest
}

// puts keeps bytes, in as many pieces as it takes.
func (c *clerk) puts(content []byte) frame {
	c.t.Helper()
	sum := sha256.Sum256(content)
	whole := frame{Op: "join", MediaType: "text/plain", SHA256: hex.EncodeToString(sum[:])}
	var kept frame
	for piece := range slices.Chunk(content, 512<<10) {
		kept, _ = c.artifact(frame{Op: "put", MediaType: "text/plain"}, piece)
		whole.Parts, whole.Grants = append(whole.Parts, kept.SHA256), append(whole.Grants, kept.Grant)
	}
	if len(whole.Parts) > 1 {
		kept, _ = c.artifact(whole, nil)
	}
	if kept.SHA256 != whole.SHA256 || kept.Size != len(content) || kept.Grant == "" {
		c.t.Errorf("what was put is %+v", kept)
	}
	return kept
}

// gets reads what a request names.
func (c *clerk) gets(request, hash, grant string) (content []byte) {
	c.t.Helper()
	for {
		said, piece := c.artifact(frame{Op: "get", Request: request, SHA256: hash, Grant: grant, Offset: len(content)}, nil)
		if said.Error != "" {
			c.t.Fatalf("get: %s", said.Error)
		}
		if content = append(content, piece...); len(content) >= said.Size {
			return content
		}
	}
}

// passesFiles makes a file for one task and reads it for the next.
func (c *clerk) passesFiles() {
	t := c.t
	if code, _ := c.said("artifact", `{"op":"put"}`); code != "500" {
		t.Errorf("without a line feed: %q", code)
	}
	plan := c.i.write("plan.json", `{"tasks": [{"task_id": "draw", "description": "Draw it", "assigned_to": "clerk"},
		{"task_id": "read", "description": "Read it", "assigned_to": "clerk", "dependencies": ["draw"]}]}`)
	sending, draw := c.asks("--profile", "desk", "--plan", plan)
	content := []byte(strings.Repeat("otters ", 100_000)) // more than one piece
	kept := c.puts(content)
	answer := c.example(schemas.EnvelopeTypeExecutionResponse, 2, draw)
	for old, value := range map[string]string{`"size":5`: fmt.Sprintf(`"size":%d`, kept.Size), `"sha256":"[^"]*"`: `"sha256":"` + kept.SHA256 + `"`, `"grant":"[^"]*"`: `"grant":"` + kept.Grant + `"`} {
		answer = regexp.MustCompile(old).ReplaceAllLiteralString(answer, value)
	}
	c.publish(draw.replyTo, answer)
	c.acknowledge(draw)

	read := c.pull()
	var asked struct {
		Payload struct {
			Tasks []struct {
				Context struct {
					Inputs map[string]struct {
						Data struct {
							Attachments []struct {
								Name     string
								Artifact struct{ SHA256, Grant string }
							}
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(read.message.Data, &asked); err != nil {
		t.Fatal(err)
	}
	files := asked.Payload.Tasks[0].Context.Inputs["draw"].Data.Attachments
	if len(files) != 1 || files[0].Name != "otters.txt" || files[0].Artifact.Grant == kept.Grant {
		t.Fatalf("the second task is asked %s", read.message.Data)
	}
	if got := c.gets(read.MessageID, files[0].Artifact.SHA256, files[0].Artifact.Grant); !bytes.Equal(got, content) {
		t.Errorf("it reads %d bytes", len(got))
	}
	if said, _ := c.artifact(frame{Op: "get", Request: draw.MessageID, SHA256: files[0].Artifact.SHA256, Grant: files[0].Artifact.Grant}, nil); said.Error != "denied" {
		t.Errorf("for another request: %+v", said)
	}
	c.answers(read, "seen")
	isTold(t, sending, "seen")
	run, _, _ := strings.Cut(read.message.Header.Get("ce-subject"), "/")
	if told := c.i.podium("replay", "--run", run, "-o", "json").succeeds(t).stdout; !strings.Contains(told, "otters.txt") || !strings.Contains(told, kept.SHA256) {
		t.Error("name and hash of the file do not stand in the run")
	}
}

// refersToBodies is asked for something long, and answers so.
func (c *clerk) refersToBodies() {
	t := c.t
	long := strings.Repeat("otters ", 50_000)
	plan := c.i.write("long.json", fmt.Sprintf(`{"tasks": [{"task_id": "t1", "description": %q, "assigned_to": "clerk"}]}`, long))
	sending := spawn(t, "--data", c.i.data, "send", "--wait", "--profile", "desk", "--plan", plan)
	message := pullRequest(t, c.conn, "clerk", c.page.bodies["pull"][0])
	asked := message.Header
	hash, found := strings.CutPrefix(asked.Get("ce-dataref"), "podium-artifact:")
	if !found || len(message.Data) > 0 {
		t.Fatalf("the request has %v and %d bytes", asked, len(message.Data))
	}
	request := plainRequest{replyTo: asked.Get("ce-replyto"), message: message}
	if body := c.gets(asked.Get("ce-id"), hash, asked.Get("ce-datagrant")); json.Unmarshal(body, &request) != nil || request.MessageID != asked.Get("ce-id") || strconv.Itoa(len(body)) != asked.Get("ce-datasize") {
		t.Fatalf("the request in the store has %d bytes", len(body))
	}
	body := c.example(schemas.EnvelopeTypeExecutionResponse, 0, request, text(strings.Repeat("otters ", 160_000)))
	kept := c.puts([]byte(body))
	var envelope struct {
		MessageID string `json:"message_id"`
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		t.Fatal(err)
	}
	stored, err := c.conn.RequestMsg(&nats.Msg{Subject: request.replyTo, Header: nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {envelope.MessageID}, "ce-source": {"/podium/clerk"}, "ce-type": {"podium.execution_response.v1"},
		"ce-causationid": {request.MessageID}, "ce-dataref": {"podium-artifact:" + kept.SHA256}, "ce-datahash": {kept.SHA256},
		"ce-datasize": {strconv.Itoa(kept.Size)}, "ce-datagrant": {kept.Grant},
	}}, patience)
	if err != nil || !bytes.HasPrefix(stored.Data, []byte(`{"stream":"PODIUM_`)) {
		t.Fatalf("the answer is acknowledged by %v (%v)", stored, err)
	}
	c.acknowledge(request)
	isTold(t, sending, "otters otters")
}
