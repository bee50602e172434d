package config

import (
	"strings"
	"testing"
)

// TestApproversInChat: who is only in a chat approves without any mail account, and does nothing that needs an email. Where no approver can be asked, check says
// so; where the only one is the requester it names the three ways that work.
func TestApproversInChat(t *testing.T) {
	t.Parallel()
	const kim = `kim: {chat: {channel: web, user: U7}}`
	for name, test := range map[string]struct{ people, rule, use, mail, problem, caution string }{
		"in the chat":               {people: kim, rule: `people: [kim], tainted: true`},
		"beside one with mail":      {people: kim + `, anna: {mail: anna@practice.example}`, rule: `people: [kim, anna], tainted: true`, mail: "desk", caution: ""},
		"nowhere":                   {people: `kim: {}`, rule: `people: [kim], tainted: true`, problem: "nobody can ask kim: add mail, or chat"},
		"no such channel":           {people: `kim: {chat: {channel: team, user: U7}}`, rule: `people: [kim], tainted: true`, problem: `there is no chat channel "team"`},
		"an account without mail":   {people: `kim: {account: support, chat: {channel: web, user: U7}}`, rule: `people: [kim], tainted: true`, problem: "no mail account writes to somebody without an address"},
		"mail without an account":   {people: `anna: {mail: anna@practice.example}`, rule: `people: [anna], tainted: true`, problem: "write chat and no mail"},
		"an answer":                 {people: kim, rule: `people: [kim]`, use: "delivery", problem: `"kim" is only in a chat, and answers are shown`},
		"messages by mail":          {people: kim, rule: `people: [kim], tainted: true`, mail: "desk", caution: "its approvers are only in chat (web)"},
		"the requester, tainted":    {rule: `people: [requester], tainted: true`, problem: "Three ways work: name another person"},
		"the requester":             {rule: `people: [requester]`, caution: "Three ways work: name another person"},
		"the requester, as allowed": {rule: `people: [requester]`, use: "allow"},
	} {
		rule, use := "agents: [clerk], ", "clerk"
		switch test.use {
		case "delivery":
			rule = "delivery: true, "
		case "allow":
			use = "{name: clerk, on_tainted: allow}"
		}
		if test.rule == `people: [kim]` || strings.Contains(test.use, "delivery") {
			use = "{name: clerk, on_tainted: allow}"
		}
		mail := ""
		if test.mail != "" {
			mail = `
mail:
  accounts:
    - {name: support, profile: ` + test.mail + `, imap: {host: imap.example.org, username: support, password: secret, dkim: true}, smtp: {host: smtp.example.org, from: support@example.org}}`
		}
		config, err := parse([]byte(`
chat: {channels: {web: {profile: desk, token: a-token-of-32-bytes-for-the-test}}}`+mail+`
people: {`+test.people+`}
agents:
  clerk: {kind: external, side_effects: external}
profiles:
  desk: {agents: [`+use+`], routers: [{kind: default, agent: clerk}], waiting: {asks: 1, expire: 1h}, approval: [{`+rule+test.rule+`, expires: 1h}]}
`), "podium.yaml", lookup)
		switch {
		case test.problem != "":
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v, want %q", name, err, test.problem)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		}
		var about []string
		for _, caution := range config.Cautions() {
			if strings.Contains(caution, ".approval[0]") {
				about = append(about, caution)
			}
		}
		told := strings.Join(about, "\n")
		if (told == "") != (test.caution == "") || !strings.Contains(told, test.caution) {
			t.Errorf("%s: %q, want %q", name, told, test.caution)
		}
	}
}
