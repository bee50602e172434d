package llm_test

import (
	"strings"
	"testing"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
)

// TestAnswersInParts: content that is a list of parts is the text in them, in one piece and as a stream; and a refusal
// in place of content is one.
func TestAnswersInParts(t *testing.T) {
	t.Parallel()
	const thinking = `{"type": "thinking", "thinking": [{"type": "text", "text": "short"}]}`
	for name, c := range map[string]struct{ content, words string }{
		"one text":             {`[{"type": "text", "text": "On Friday."}]`, "On Friday."},
		"reasoning before it":  {`[` + thinking + `, {"type": "text", "text": "On Friday."}]`, "On Friday."},
		"a thought":            {`[{"type": "text", "text": "short", "thought": true}, {"type": "text", "text": "On Friday."}]`, "On Friday."},
		"two texts":            {`[{"type": "text", "text": "On "}, {"type": "text", "text": "Friday."}]`, "On Friday."},
		"a string among them":  {`["On ", {"type": "text", "text": "Friday."}]`, "On Friday."},
		"a reference":          {`[{"type": "text", "text": "On Friday."}, {"type": "reference", "reference_ids": [1]}]`, "On Friday."},
		"an unknown part":      {`[{"type": "hologram", "text": "x"}, {"type": "text", "text": "On Friday."}, 7, null]`, "On Friday."},
		"output_text":          {`[{"type": "output_text", "text": "On Friday.", "annotations": []}]`, "On Friday."},
		"one part, not listed": {`{"type": "text", "text": "On Friday."}`, "On Friday."},
		"a refusal":            {`null, "refusal": "I cannot."`, ""},
		"a refusal as a part":  {`[{"type": "refusal", "refusal": "I cannot."}]`, ""},
		"an empty refusal":     {`"On Friday.", "refusal": ""`, "On Friday."},
		"no refusal":           {`"On Friday.", "refusal": null`, "On Friday."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			piece := func(member, content, end string) string {
				return `{"choices": [{"index": 0, "` + member + `": {"role": "assistant", "content": ` + content + `}, "finish_reason": ` + end + `}]}`
			}
			stream := "data: " + piece("delta", c.content, "null") + "\n\ndata: " + piece("delta", `""`, `"stop"`) + "\n\ndata: [DONE]\n\n"
			made, server := asking(t, llm.RoleResponder, says(modelserver.Answer{Raw: stream}))
			outcome, failure := handle(t, made, request(llm.RoleResponder, "When?"))
			if c.words == "" {
				if failure == nil || !failure.Permanent || !strings.Contains(failure.Message, "refused") || len(server.Calls()) != 1 {
					t.Errorf("a refusal is %+v, %+v after %d calls", outcome, failure, len(server.Calls()))
				}
			} else if failure != nil || outcome.Text != c.words {
				t.Errorf("outcome %+v, %+v", outcome, failure)
			}
			decided := strings.ReplaceAll(c.content, "On Friday.", strings.ReplaceAll(decision, `"`, `\"`))
			if c.words == "" || decided == c.content {
				return // its text is in two parts
			}
			router, _ := asking(t, llm.RoleRouter, says(modelserver.Answer{Raw: strings.ReplaceAll(piece("message", decided, `"stop"`), `, "finish`, ",\n  \"finish")}))
			if outcome, failure := handle(t, router, request(llm.RoleRouter, "Where?")); failure != nil || !same(string(outcome.Data), decision) {
				t.Errorf("decision %s, %+v", outcome.Data, failure)
			}
		})
	}
}

// TestStreamInMixedParts: a stream may mix strings and lists, and its parts are joined in their order.
func TestStreamInMixedParts(t *testing.T) {
	t.Parallel()
	var stream strings.Builder
	for _, content := range []string{`"On "`, `[{"type": "thinking", "thinking": []}]`, `[{"type": "text", "text": "Fri"}]`, `"day"`, `[".", {"type": "x"}]`} {
		stream.WriteString(`data: {"choices": [{"index": 0, "delta": {"content": ` + content + `}, "finish_reason": null}]}` + "\n\n")
	}
	stream.WriteString(`data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}` + "\n\ndata: [DONE]\n\n")
	made, _ := asking(t, llm.RoleWorker, says(modelserver.Answer{Raw: stream.String()}))
	if outcome, failure := handle(t, made, request(llm.RoleWorker, "When?")); failure != nil || outcome.Text != "On Friday." {
		t.Errorf("outcome %+v, %+v", outcome, failure)
	}
}
