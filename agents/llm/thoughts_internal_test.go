package llm

import (
	"strings"
	"testing"
)

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

// TestReasoningInOtherMarks: the marks of other models are left out as well, and the marks around their answers.
func TestReasoningInOtherMarks(t *testing.T) {
	t.Parallel()
	const friday = "On Friday."
	for _, text := range []string{
		"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>On Friday.",
		"<|start|>assistant<|channel|>analysis<|message|>hm<|end|>\n<|start|>assistant<|channel|>final<|message|>On Friday.<|return|>",
		"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.x <|constrain|>json<|message|>" +
			"{\"a\":1}<|call|><|start|>assistant<|channel|>final <|constrain|>json<|message|>On Friday.<|end|>",
		"hm<|end|><|start|>assistant<|channel|>final<|message|>On Friday.",
		"<|channel|>final<|message|>On Friday.<|return|>",
		"analysisWe have to say when.assistantfinalOn Friday.",
		"analysis\"When\" is asked.assistantcommentaryhmassistantfinalOn Friday.",
		"<|channel>thought\nhm\n<channel|>On Friday.",
		"<seed:think>hm</seed:think>On Friday.",
		"<SEED:THINK>\nhm\n</seed:think>\nOn Friday.",
		"◁think▷hm◁/think▷On Friday.",
		"hm◁/think▷On Friday.",
		"<|begin_of_thought|>hm<|end_of_thought|>On Friday.",
		"<|begin_of_thought|>\nhm\n<|end_of_thought|>\n\n<|begin_of_solution|>\nOn Friday.\n<|end_of_solution|>",
		"<|begin_of_thought|>hm\n<|begin_of_solution|>On Friday.<|end_of_solution|>",
		"<|begin_of_solution|>On Friday.<|end_of_solution|>",
		"<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>On Friday.<|END_RESPONSE|>",
		"<|START_THINKING|>hm<|END_THINKING|>On Friday.",
		"<unused94>thought\nhm<unused95>On Friday.",
		"[THINK]\nhm [/THINK] On Friday.",
		"<reasoning>\nhm\n</reasoning>\n\nOn Friday.",
		"<thought>hm</thought>On Friday.",
		"<thoughts>hm</thoughts>\n<output>On Friday.</output>",
		"<|think|>hm<|/think|>On Friday.",
		"<think>hm</think>\n<answer>\nOn Friday.\n</answer>",
		"<think>hm</think>\n<response>On Friday.</response>",
		"<thinking>hm</thinking>\n<reflection>hm</reflection>\n<output>On Friday.</output>",
		"<scratchpad>\nhm\n</scratchpad>\nOn Friday.",
		"<think>I write `</think>` at the end, or\n```\n</think>\n```\n</think>On Friday.",
		"<think>It`s `x.</think>On Friday.",
		"<think>a</think>\n<think>b</think>\nOn Friday.",
	} {
		if got, err := wordsIn(text); got != friday || err != nil {
			t.Errorf("%q is %q (%v)", text, got, err)
		}
		checkShown(t, text, friday)
	}
	for _, text := range []string{
		"<|channel|>analysis<|message|>hm", "<|channel|>analysis<|message|>hm<|end|>", "analysisWe have to", "◁think▷hm", "<|START_THINKING|>hm",
		"<seed:think>hm</seed:think>",
	} {
		if got, err := wordsIn(text); err == nil {
			t.Errorf("%q is %q", text, got)
		}
		checkShown(t, text, "")
	}
}

// TestMarksThatAreSpokenOf: what tells of the marks keeps them: in code, in quotes, and within a line that goes on.
func TestMarksThatAreSpokenOf(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"In XML, write <think>..</think> around it.",
		"Use <think> and </think>.",
		"Put <think> first, and </think> last.",
		"It is <seed:think>..</seed:think> for Seed, and ◁think▷..◁/think▷ for Kimi.",
		"Harmony begins with <|channel|>analysis<|message|> and goes on.",
		"Use `<think>a</think>` for it.",
		"Cut it at “</think>” or „</think>“, then.",
		"`<think>` opens it, `</think>` closes it.",
		"Use ``<think>`</think>`` for it.",
		"```\n<think>a</think>\n```\nis how it is done.",
		"~~~xml\n<think>\na\n</think>\n~~~\nis how it is done.",
		"Like this:\n\n  ```\n  </think>\n  ```\n\nis how it is done.",
		"<answer>On Friday.</answer>",
		"analysis of it: On Friday.",
		"The <|end|> is near.",
		"a < b, c[0] <= d and <b>",
	} {
		if got, err := wordsIn(text); got != text || err != nil {
			t.Errorf("%q is %q (%v)", text, got, err)
		}
		checkShown(t, text, text)
	}
	for text, want := range map[string]string{ // within a line, but no sentence about marks
		"Well, <think>a</think>on Friday.":       "Well, on Friday.",
		"On Friday. <think>Is that so?</think>":  "On Friday.",
		"Sure! <think>\nhm\n</think> On Friday.": "Sure!  On Friday.",
		"hm </think> more </think> On Friday.":   "On Friday.",
		"Use `<think>`.\n<think>a</think>\nYes.": "Use `<think>`.\n\nYes.",
	} {
		if got, err := wordsIn(text); got != want || err != nil {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
}

// checkShown checks that all that is shown of an answer while it comes, character by character, begins the words that
// it has in the end.
func checkShown(t *testing.T, text, words string) {
	t.Helper()
	var h habit
	h.learn(text)
	for end := range text {
		if shown := wordsSoFar(text[:end]); h.canShow(text[:end]) && !strings.HasPrefix(words, shown) {
			t.Errorf("of %q, %q is shown at %q", text, shown, text[:end])
			return
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
		"<think>Perhaps " + draft, "Hm.\n<think>\n" + draft + "\nor not", "[THINK]" + draft, draft + "</think>",
		"<|channel|>analysis<|message|>" + draft, "◁think▷" + draft, "analysisWe take " + draft, "<reasoning>\n" + draft,
	} {
		if value, err := shaped.read(text); err == nil {
			t.Errorf("%q decides %s", text, value)
		}
	}
	for _, text := range []string{
		"<|channel|>analysis<|message|>" + draft + "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>" + decided,
		"<|channel|>commentary<|message|>" + draft + "<|end|><|channel|>final<|message|>" + decided + "<|return|>",
		"<|START_THINKING|>" + draft + "<|END_THINKING|><|START_RESPONSE|>" + decided + "<|END_RESPONSE|>",
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
