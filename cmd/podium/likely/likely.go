// Package likely names the command that somebody means who types a word of another program.
package likely

import "slices"

// meant are commands with the words that people type for them. The words are none of Podium's own.
//
//nolint:gochecknoglobals // never written
var meant = []struct {
	words   []string
	command string
}{
	{[]string{"verify"}, "podium replay --verify"},
	{[]string{"log", "logs", "events", "history", "export", "dump"}, "podium replay"},
	{[]string{"status", "list", "ls", "ps", "jobs", "workflows", "executions"}, "podium runs"},
	{[]string{"show", "describe", "get", "inspect", "trace"}, "podium runs show RUN"},
	{[]string{"watch", "follow", "tail", "wait"}, "podium runs watch RUN"},
	{[]string{"retry", "rerun", "restart", "resume", "fork"}, "podium runs retry RUN"},
	{[]string{"resend", "redeliver"}, "podium runs resend RUN"},
	{[]string{"cancel", "kill", "abort", "terminate", "delete"}, "podium runs cancel RUN"},
	{[]string{"files", "artifacts", "download"}, "podium runs files RUN"},
	{[]string{"start", "serve", "server", "daemon", "dev"}, "podium up"},
	{[]string{"stop", "down", "shutdown"}, "podium runs cancel RUN, for a run; podium up ends by Ctrl-C or SIGTERM"},
	{[]string{"submit", "ask", "trigger", "execute", "chat", "message"}, "podium send WORDS"},
	{[]string{"tasks", "todo", "approvals", "questions", "pending"}, "podium inbox"},
	{[]string{"respond", "signal"}, "podium answer RUN WORDS"},
	{[]string{"accept", "agree", "confirm"}, "podium approve RUN"},
	{[]string{"deny", "decline", "refuse"}, "podium reject RUN"},
	{[]string{"cost", "costs", "usage", "tokens"}, "podium budget"},
	{[]string{"workers", "worker", "health"}, "podium agents"},
	{[]string{"dead", "deadletter", "dlq"}, "podium quarantine"},
	{[]string{"validate", "lint", "config"}, "podium check"},
	{[]string{"report", "stats", "metrics"}, "podium score"},
	{[]string{"repair", "recover", "fsck"}, "podium ledger"},
	{[]string{"init", "new", "example", "quickstart"}, "podium demo"},
}

// Command is what somebody means by a word that is no command; empty is that it is not known.
func Command(word string) string {
	for _, known := range meant {
		if slices.Contains(known.words, word) {
			return known.command
		}
	}
	return ""
}

// Words are all that are known, in the order of the table.
func Words() []string {
	var words []string
	for _, known := range meant {
		words = append(words, known.words...)
	}
	return words
}
