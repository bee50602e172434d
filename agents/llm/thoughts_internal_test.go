package llm

import "testing"

// TestReasoningIsNoAnswer: what a model writes as its reasoning is left out of its answer, with both marks around it,
// with the closing one alone, and with the opening one alone.
func TestReasoningIsNoAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"I will be short.\n</think>\n\nOn Friday.":          "On Friday.",
		"I will be short.</thinking>On Friday.":             "On Friday.",
		"I will be short.\n</reasoning>\nOn Friday.":        "On Friday.",
		"I will be short.[/THINK]On Friday.":                "On Friday.",
		"I will be short.</THINK >On Friday.":               "On Friday.",
		"</think>On Friday.":                                "On Friday.",
		"<think>a</think>On Friday.":                        "On Friday.",
		"[THINK]a[/THINK]On Friday.":                        "On Friday.",
		" <thinking>\na\n</thinking>\nOn Friday.":           "On Friday.",
		"<think>a <think>b</think> c</think>On Friday.":     "On Friday.",
		"<think>a</think>b</think>On Friday.":               "On Friday.",
		"Well, <think>a</think>on Friday.":                  "Well, on Friday.",
		"On Friday.\n<think>Is that right?":                 "On Friday.",
		"<think>a":                                          "",
		"a</think>":                                         "",
		"The mark `</think>` ends it.":                      "The mark `</think>` ends it.",
		"Cut it at \"</think>\", then.":                     "Cut it at \"</think>\", then.",
		"Write <think> in front.":                           "Write <think> in front.",
		"He said \"short.\"</think>On Friday.":              "On Friday.",
		`{"answer": "a</think>On Friday."}`:                 "On Friday.",
		"a</think>{\"answer\": \"On Friday.\"}":             "On Friday.",
		"Let me see: {\"answer\": \"Never\"}\n</think>\nOn": "On",
	} {
		got, err := wordsIn(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
}

// TestReasoningIsNoDecision: no decision is taken out of the reasoning of a model.
func TestReasoningIsNoDecision(t *testing.T) {
	t.Parallel()
	shaped, err := routerShape(&question{Agents: []choice{{Name: "echo"}, {Name: "shout"}}})
	if err != nil {
		t.Fatal(err)
	}
	const draft, decided = `{"next_agent": "shout", "reasoning": "r"}`, `{"next_agent":"echo","reasoning":"r"}`
	for _, text := range []string{
		"<think>Perhaps " + draft, "Hm.\n<think>\n" + draft + "\nor not", "[THINK]" + draft, draft + "</think>", "<reasoning>\n" + draft,
	} {
		if value, err := shaped.read(text); err == nil {
			t.Errorf("%q decides %s", text, value)
		}
	}
	for _, text := range []string{
		draft + "\n</think>\n" + decided, draft + "[/THINK]" + decided, "<think>" + draft + "</think>" + decided,
		`{"next_agent":"echo","reasoning":"r"}`,
	} {
		if value, err := shaped.read(text); err != nil || string(value) != decided {
			t.Errorf("%q decides %s, %v", text, value, err)
		}
	}
	const spoken = `{"next_agent":"echo","reasoning":"The person writes </think> in it."}`
	if value, err := shaped.read(spoken); err != nil || string(value) != spoken {
		t.Errorf("a mark within data: %s, %v", value, err)
	}
}

// TestReasoningIsNotShown: nothing of an answer is shown while it may be reasoning, for all ways to cut it into pieces.
func TestReasoningIsNotShown(t *testing.T) {
	t.Parallel()
	const silent, plain = "I will be short.\n</think>\n\nOn Friday.", "On Monday. It is late."
	var h habit
	shown := func(text string) (told []string) {
		for end := range len(text) + 1 {
			if words := wordsSoFar(text[:end]); h.canShow(text[:end]) && words != "" && (told == nil || told[len(told)-1] != words) {
				told = append(told, words)
			}
		}
		h.learn(text)
		return told
	}
	if told := shown(plain); told != nil {
		t.Errorf("of the first answer %q is shown", told)
	}
	if told := shown(plain); len(told) == 0 || told[0] != "O" {
		t.Errorf("of an answer without reasoning %q is shown", told)
	}
	for _, text := range []string{"On Monday. <think>No, it</think>", "On Monday. [THINK]No"} {
		for _, words := range shown(text) {
			if len(words) > len("On Monday.") {
				t.Errorf("%q is shown", words)
			}
		}
	}
	_ = shown(silent) // the first of its kind
	if told := shown(silent); len(told) == 0 || told[0] != "O" || told[len(told)-1] != "On Friday." {
		t.Errorf("of an answer with reasoning %q is shown", told)
	}
	if told := shown(plain); told != nil {
		t.Errorf("of a model that reasons %q is shown", told)
	}
}
