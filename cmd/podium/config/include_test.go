package config

import (
	"path/filepath"
	"strings"
	"testing"

	"podium/cmd/podium/diagnostic"
)

const account = "    - {name: %[1]s, profile: %[1]s, imap: {host: imap.example.org, username: %[1]s, password: p}, smtp: {host: smtp.example.org, from: %[1]s@example.org}}\n"

// TestInclude: each file stays what it is by itself, wherever the file lies that includes it.
func TestInclude(t *testing.T) {
	t.Parallel()
	root := folder(t, map[string]string{
		"podium.yaml": "include: [sales/podium.yaml, lab/podium.yaml]\nhttp: {listen: \"127.0.0.1:9000\"}\nagents:\n  own: {kind: exec, command: [./own.sh]}\n" +
			"mail:\n  accounts:\n" + strings.ReplaceAll(account, "%[1]s", "sales"),
		"sales/podium.yaml": "http: {listen: \"127.0.0.1:8080\"}\nagents:\n  seller: {kind: scripted, script: answers/seller.yaml}\n  clerk: {kind: exec, command: [./clerk.sh]}\n" +
			"profiles:\n  sales: {agents: [seller, clerk], routers: [{kind: default, agent: seller}], outputs: {plans: plans}}\n",
		"sales/answers/seller.yaml": "cases: [{text: sold}]\n",
		"lab/podium.yaml": "agents:\n  scale: {kind: echo}\npeople: {anna: {mail: anna@example.org}}\nprofiles:\n  lab: {agents: [scale, own], routers: [{kind: default, agent: scale}]}\n" +
			"chat: {channels: {lab: {profile: lab, token: 0123456789abcdef}}}\nmail:\n  accounts:\n" + strings.ReplaceAll(account, "%[1]s", "lab"),
	})
	loaded, err := Load(filepath.Join(root, "podium.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	clerk, own := loaded.Agents["clerk"], loaded.Agents["own"]
	for what, pair := range map[string][2]string{
		"the listener":                 {loaded.HTTP.Listen, "127.0.0.1:9000"},
		"where an included agent is":   {loaded.StartIn(&clerk), filepath.Join(root, "sales")},
		"where an agent of its own is": {loaded.StartIn(&own), root},
		"the folder of plans":          {loaded.In(loaded.Profiles["sales"].Outputs.Plans), filepath.Join(root, "sales", "plans")},
		"the second account":           {loaded.Mail.Accounts[1].Name, "lab"},
		"the channel":                  {loaded.Chat.Channels["lab"].Profile, "lab"},
		"the person":                   {loaded.People["anna"].Mail, "anna@example.org"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, pair[0], pair[1])
		}
	}
	if loaded.Agents["seller"].Answers == nil {
		t.Error("the script of an included agent was not read")
	}
}

// TestIncludeProblems: what is wrong is told with the file, the line and the column in which it stands.
func TestIncludeProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ main, part, file, at, says string }{
		"is not there":    {"include: [gone.yaml]", "", "podium.yaml", ":1:11", "no such file"},
		"includes itself": {"include: [part.yaml]", "include: [podium.yaml]", "podium.yaml", ":1:11", "name them here"},
		"two of a name":   {"include: [part.yaml]\nagents: {one: {kind: echo}}", "agents:\n  one: {kind: echo}", "part.yaml", ":2:3", "another file has this name"},
		"a fault in it":   {"include: [part.yaml]", "profiles:\n  desk: {agents: [nobody], routers: [{kind: default, agent: nobody}]}", "part.yaml", ":2:19", "nobody"},
		"a fault in a mailbox of it": {
			"include: [part.yaml]\nmail:\n  accounts:\n" + strings.ReplaceAll(account, "%[1]s", "desk") + "agents: {one: {kind: echo}}\nprofiles: {desk: {agents: [one], routers: [{kind: default, agent: one}]}}",
			"mail:\n  accounts:\n" + strings.ReplaceAll(account, "%[1]s", "nobody"), "part.yaml", ":3:31", "nobody",
		},
		"no YAML": {"include: [part.yaml]", "agents: [", "part.yaml", ":1:9", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := folder(t, map[string]string{"podium.yaml": c.main, "part.yaml": c.part})
			_, err := Load(filepath.Join(root, "podium.yaml"))
			faults := diagnostic.ProblemsOf(err)
			if len(faults) == 0 {
				t.Fatalf("the error is %v", err)
			}
			if first := faults[0].Error(); !strings.HasPrefix(first, filepath.Join(root, c.file)+c.at) || !strings.Contains(first, c.says) {
				t.Errorf("told is %s", err)
			}
		})
	}
}
