package main

import (
	"fmt"
	"net/mail"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/agents/llm/modelserver"
	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

const assistantProfile = "../../deploy/profiles/assistant"

// needs fails a test whose program is not there: nothing of a profile passes without it.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("this test needs %s: run `make tools`", program)
		}
	}
	if said, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import rdkit.Chem").CombinedOutput(); err != nil {
		t.Fatalf("this test needs RDKit (Debian package python3-rdkit): run `make tools`\n%s", said)
	}
}

// assistant installs the profile with a directory of its own for plans.
func assistant(t *testing.T, replaced ...string) (i *deployment, plans string) {
	t.Helper()
	needs(t, "xtb")
	plans = t.TempDir()
	replaced = append(replaced, `http: {listen: "127.0.0.1:8080"}`, "", "${OHMind_workspace:-/OHMind_workspace}", plans)
	return installTree(t, assistantProfile, replaced...), plans
}

// assistantByMail starts the profile with a mailbox, and with a server that takes its letters.
func assistantByMail(t *testing.T) (i *deployment, mailbox *dovecot.Server, sink *smtpsink.Server, plans string) {
	t.Helper()
	mailbox = dovecot.Start(t, dovecot.Options{})
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	i, plans = assistant(t, "#- ", "", "port: 143", fmt.Sprintf("port: %d", mailbox.Port), "port: 25", fmt.Sprintf("port: %d", sink.Port()),
		"username: assistant", "username: "+dovecot.Username, "${ASSISTANT_MAIL_PASSWORD}", dovecot.Password, "poll: 30s", "poll: 1s", "since: now", "since: all",
		"${ASSISTANT_CHAT_TOKEN}", strings.Repeat("token", 8))
	i.up()
	return i, mailbox, sink, plans
}

// TestAssistantProfile plays the scenarios of the profile: every agent on its real program, by chat.
func TestAssistantProfile_O26(t *testing.T) {
	t.Parallel()
	i, _ := assistant(t)
	i.playAll("assistant", assistantProfile)
}

// TestAssistantByMail: the example of the requirements by a mail. Words of two groups of keywords are in it, and it is a plan all the same; a
// calculation and its analysis come back in the thread, and a SMILES that is none is refused in the words of who reads it.
func TestAssistantByMail_O21_O26(t *testing.T) {
	t.Parallel()
	i, mailbox, sink, _ := assistantByMail(t)
	for n, c := range []struct {
		words          string
		agents, titles []string
		says           []string
	}{
		{
			"Calculate HOMO/LUMO energy for this cation C[N+](C)(C)C and analyze the results",
			[]string{"qm_agent", "multiwfn_agent"},
			[]string{"Run quantum chemistry calculation", "Analyze orbital energies (HOMO/LUMO) from calculation results"},
			[]string{"HOMO -17.767 eV", "LUMO -6.289 eV", "gap 11.478 eV", "by GFN2-xTB"},
		},
		{"Run DFT optimization on C1CC", []string{"qm_agent"}, nil, []string{"SMILES Parse Error: unclosed ring for input: 'C1CC'"}},
	} {
		id := fmt.Sprintf("<%d@example.org>", n+1)
		mailbox.Deliver(t, fmt.Appendf(nil, "Authentication-Results: mx.example.org; dmarc=pass header.from=example.org\r\nFrom: Ada <ada@example.org>\r\nTo: assistant@example.org\r\nSubject: A question\r\nMessage-ID: %s\r\n\r\n%s\r\n", id, c.words))
		within(t, 5*time.Minute, "the mail is answered", func() bool { return len(sink.Messages()) == n+1 })
		letter := sink.Messages()[n]
		read, err := mail.ReadMessage(strings.NewReader(string(letter.Data)))
		if err != nil || read.Header.Get("In-Reply-To") != id || !slices.Equal(letter.To, []string{"ada@example.org"}) || read.Header.Get("Subject") != "Re: A question" {
			t.Errorf("%v: to %v, %+v", err, letter.To, read.Header)
		}
		for _, want := range c.says {
			if said := textOf(&letter); !strings.Contains(said, want) {
				t.Errorf("%q is not in the letter\n%s", want, said)
			}
		}
		run := i.run(i.runs()[0].ID)
		if len(run.Tasks) != len(c.agents) || run.Tasks[0].Agent != c.agents[0] || run.Tasks[len(c.agents)-1].Agent != c.agents[len(c.agents)-1] {
			t.Errorf("%s: %+v", c.words, run.Tasks)
		}
		// The plan of the example has its titles (O-26), each before the words of its part.
		for n, title := range c.titles {
			if said := run.Tasks[n].Plan.Description.Text; !strings.HasPrefix(said, title+": ") {
				t.Errorf("step %d is %q, want %q", n+1, said, title)
			}
		}
	}
	i.stop()
	i.verify()
}

// TestAssistantAsksInTurn: whoever has several questions to answer hears of one at a time, by all that tell of them; what was answered is what is
// meant later in the same conversation; and without a model nothing is called degraded.
func TestAssistantAsksInTurn(t *testing.T) {
	t.Parallel()
	i, _ := assistant(t)
	i.up()
	if listed := i.podium("agents").succeeds(t).stdout; strings.Contains(listed, "degraded") || !strings.Contains(listed, "qm_agent") {
		t.Errorf("listed are\n%s", listed)
	}
	i.podium("send", "--thread", "two", "Determine the formula, then compute the energy, please").succeeds(t)
	open := func() []openInquiry { return lines[openInquiry](t, i.podium("inbox", "-o", "json").succeeds(t)) }
	within(t, time.Minute, "both tasks lack a molecule", func() bool { return len(open()) == 2 })
	for _, words := range []string{"CCO", "CCN"} {
		within(t, time.Minute, "one question is told", func() bool { return !open()[0].Until.IsZero() })
		asked := open()
		for _, later := range asked[1:] {
			if later.After != asked[0].ID || !later.Until.IsZero() || asked[0].After != "" {
				t.Errorf("asked at once: %+v", asked)
			}
		}
		i.podium("answer", asked[0].ID, words).succeeds(t)
	}
	id := i.runs()[0].ID
	within(t, time.Minute, "the run has ended", func() bool { return i.run(id).Phase == workflow.PhaseComplete })
	run := i.run(id)
	if said := i.answerOf(&run); run.Status != schemas.RunCompleted || !strings.Contains(said, "The molecular formula of CCO is C2H6O.") || !strings.Contains(said, "CCN (") {
		t.Errorf("%s: %s", run.Status, said)
	}
	if _, said := i.answered("--thread", "two", "And what is its polar surface?"); !strings.Contains(said, "The polar surface of CCN is") {
		t.Errorf("the molecule that was answered last is not meant: %s", said)
	}
	i.stop()
	i.verify()
}

// stems are the beginnings of words of five letters and more.
func stems(text string) (found []string) {
	for _, word := range regexp.MustCompile(`\pL{5,}`).FindAllString(strings.ToLower(text), -1) {
		found = append(found, word[:5])
	}
	return found
}

// A plainModel stands for a language model: it takes whom the prompt describes with the most words of the question, and divides a
// request at "and" and "then". It knows no agent and no sentence.
func plainModel(call *modelserver.Call) modelserver.Answer {
	choose := func(words string) (chosen string) {
		most, asked := 0, stems(words)
		for _, line := range regexp.MustCompile(`(?m)^- (\w+): (.*)$`).FindAllStringSubmatch(call.System, -1) {
			shared := 0
			for _, stem := range slices.Compact(slices.Sorted(slices.Values(stems(line[2])))) {
				if slices.Contains(asked, stem) {
					shared++
				}
			}
			if shared > most {
				most, chosen = shared, line[1]
			}
		}
		return chosen
	}
	if !strings.Contains(call.System, "dependencies") {
		chosen, said := choose(call.Block("task")+" "+call.Block("request")), ""
		if chosen == schemas.RouteRespond {
			said = "I conduct the agents of this assistant."
		}
		return modelserver.Answer{Text: fmt.Sprintf(`{"next_agent": %q, "reasoning": "The words are alike.", "response": %q}`, chosen, said), Tokens: 10}
	}
	var tasks []string
	for n, part := range regexp.MustCompile(`,? (?:and then|and|then) `).Split(call.Block("request"), -1) {
		task := fmt.Sprintf(`{"task_id": "t%d", "description": %q, "assigned_to": %q, "dependencies": [`, n+1, part, choose(part))
		if n > 0 {
			task += fmt.Sprintf(`"t%d"`, n)
		}
		tasks = append(tasks, task+"]}")
	}
	return modelserver.Answer{Text: `{"tasks": [` + strings.Join(tasks, ", ") + `]}`, Tokens: 10}
}

// TestAssistantRows plays the nine sample queries: keywords decide three of them without a model, and the model router the others. What of
// them names no molecule is asked for one by the agent that it has reached.
func TestAssistantRows_O14(t *testing.T) {
	t.Parallel()
	server := modelserver.Start(t, plainModel)
	i, _ := assistant(t, "#m ", "", "${OPENAI_BASE_URL:-http://127.0.0.1:11434/v1}", server.URL)
	i.up()
	for _, c := range []struct {
		words, agent string
		asked        int // of the model
		says         string
	}{
		{"Design piperidinium cations for PBF_BB_1", "hem_agent", 0, "Best piperidinium cation on PBF_BB_1 for multi: C[N+]1(C)CCCCC1, fitness 1.3351, LUMO -6.264 eV"},
		{"What is the molecular weight of this SMILES?", "chemistry_agent", 1, "Which molecule?"},
		{"Run DFT optimization on this molecule", "qm_agent", 0, "Which molecule?"},
		{"Simulate this polymer at 400K", "md_agent", 1, "Which molecule?"},
		{"Analyze HOMO/LUMO from the calculation", "multiwfn_agent", 0, "Which molecule?"},
		{"Find papers on alkaline stability", "rag_agent", 1, "Tetramethylammonium degrades in hot alkali"},
		{"What's the latest on AEM research?", "web_search_agent", 1, "Offline fixture of 2026-11-24"},
		{"Hello, what can you do?", "RESPOND", 1, "I conduct the agents of this assistant."},
		{"Goodbye", "FINISH", 1, ""},
	} {
		before := len(server.Calls())
		sent := i.podium("send", "--wait", "--timeout", "5m", "-o", "json", "--profile", "assistant_model", c.words)
		run := i.run(i.runs()[0].ID)
		if decision := run.Decisions[len(run.Decisions)-1].Decision; decision.NextAgent != c.agent || decision.Degraded {
			t.Errorf("%s: %+v", c.words, decision)
		}
		if asked := len(server.Calls()) - before; asked != c.asked || !strings.Contains(sent.stdout, c.says) {
			t.Errorf("%s: the model is asked %d times\n%s%s", c.words, asked, sent.stdout, sent.stderr)
		}
	}
	run, answer := i.answered("--profile", "assistant_model", "Calculate the energies of C[N+](C)(C)C by quantum chemistry, then analyze its orbitals")
	if len(run.Tasks) != 2 || run.Tasks[0].Agent != "qm_agent" || run.Tasks[1].Agent != "multiwfn_agent" || !strings.Contains(answer, "gap 11.478 eV") {
		t.Errorf("%+v\n%s", run.Tasks, answer)
	}
	i.stop()
	i.verify()
}

// TestProfilePrograms holds the programs of the profiles to their own tests and to flake8.
func TestProfilePrograms(t *testing.T) {
	t.Parallel()
	needs(t, "flake8")
	for _, command := range [][]string{
		{"flake8", "--isolated", "--max-line-length", "200", "."},
		{"/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "assistant/testdata", "chemistry/testdata", "loop/testdata", "practice/testdata"},
	} {
		made := exec.CommandContext(t.Context(), command[0], command[1:]...)
		made.Dir = filepath.Dir(assistantProfile)
		if said, err := made.CombinedOutput(); err != nil {
			t.Errorf("%v (`make tools` installs what is missing)\n%s", err, said)
		}
	}
}
