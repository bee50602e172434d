package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/schemas"
)

// TestModelProblems shows what each mistake about a model, and about where a profile may lead, is answered with.
func TestModelProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "llm_problems")
}

const modelConfig = `
agents: {writer: {kind: llm, role: planner, base_url: "http://127.0.0.1:11434/v1", model: m, key: sk-0123456789abcdef, prompt: %s}}
profiles: {desk: {agents: [chat_echo], planner: {kind: agent, agent: writer}, routers: [{kind: default, agent: chat_echo}]}}
`

// TestPromptFile: the file of a prompt is read beside the configuration, and what is wrong with it is told at its key.
func TestPromptFile(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	file := filepath.Join(directory, "podium.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole := strings.Replace(modelConfig, "agents: {", "agents: {chat_echo: {kind: echo}, ", 1)
	write("podium.yaml", strings.Replace(whole, "%s", "plan.txt", 1))
	for text, want := range map[string]string{"": "there is no file plan.txt", " ": "it is empty", "{{.agnets}}": "can be: agents, max_tasks, language", "Plan with:\n{{.agents}}": ""} {
		if text != "" {
			write("plan.txt", text)
		} else if err := os.RemoveAll(filepath.Join(directory, "plan.txt")); err != nil {
			t.Fatal(err)
		}
		config, err := Load(file)
		if want == "" {
			if err != nil || config.Agents["writer"].PromptRead == nil || config.Agents["chat_echo"].PromptRead != nil {
				t.Errorf("%q: %v", text, err)
			}
			if kinds := config.Agents["writer"].Kinds; len(kinds) != 1 || kinds[0] != schemas.KindPlan {
				t.Errorf("it answers %v", kinds)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "podium.yaml:2:") || !strings.Contains(err.Error(), "agents.writer.prompt: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
