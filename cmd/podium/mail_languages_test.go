package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// madeUp is a language that nobody speaks.
const madeUp = `{
  "attributions": ["Zu {date} hat {name} gezwirbelt:"],
  "header": {"from": ["Wovon"], "sent": ["Gezwirbelt"], "to": ["Wohin"], "subject": ["Wozu"]},
  "signatures": ["Gezwirbelt auf meinem {any}"]
}`

const madeUpMail = "From: Erika <erika@example.org>\r\nSubject: Re: Frage\r\nMessage-ID: <7@example.org>\r\nIn-Reply-To: <6@example.org>\r\n\r\n" +
	"Gern.\r\n\r\nGezwirbelt auf meinem Zwirbler\r\n\r\nZu 5. Mai 2026 hat Ana gezwirbelt:\r\n\r\nWollen Sie?\r\n"

// TestMailLanguageOfADeployment_I19: a file in a folder that the configuration
// names is all that the adapter and `podium mail parse` need to read one more language.
func TestMailLanguageOfADeployment_I19(t *testing.T) {
	t.Parallel()
	i, server := mailInstallation(t)
	folder := filepath.Join(filepath.Dir(i.config), "languages")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "qaa.json"), []byte(madeUp), 0o600); err != nil {
		t.Fatal(err)
	}
	file := mailFiles(t, map[string]string{"a.eml": madeUpMail})
	parsed := func(arguments ...string) (mail schemas.EmailReceived) {
		o := i.podium(append([]string{"mail", "parse", file, "-o", "json"}, arguments...)...).succeeds(t)
		var event struct{ Data json.RawMessage }
		if err := json.Unmarshal(parsedLines(t, o)[0].Event, &event); err != nil {
			t.Fatal(err)
		}
		if err := schemas.Unmarshal(event.Data, &mail); err != nil {
			t.Fatal(err)
		}
		return mail
	}
	if mail := parsed(); mail.Quoted != "" || mail.Signature != "" {
		t.Errorf("without the file: %q, %q", mail.Quoted, mail.Signature)
	}
	if mail := parsed("--languages", folder); mail.Text != "Gern." || mail.Quoted != "Zu 5. Mai 2026 hat Ana gezwirbelt:\n\nWollen Sie?" || mail.Signature != "Gezwirbelt auf meinem Zwirbler" {
		t.Errorf("with the file: %q, %q, %q", mail.Text, mail.Quoted, mail.Signature)
	}

	body, err := os.ReadFile(i.config)
	if err == nil {
		err = os.WriteFile(i.config, []byte(strings.Replace(string(body), "\nmail:\n", "\nmail:\n  languages: ./languages\n", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	eventually(t, "it is healthy", func() bool { status, _ := i.fetch("/healthz"); return status == http.StatusOK })
	server.Deliver(t, []byte(madeUpMail))
	eventually(t, "the adapter has read it", func() bool {
		return slices.ContainsFunc(i.runs(), func(run workflow.RunHistory) bool { return run.Message.Text.Text == "Gern." })
	})
}

// TestMailLanguageFaults_I19: check, up and mail parse name what is wrong in the
// file of a language, where it is and what was meant.
func TestMailLanguageFaults_I19(t *testing.T) {
	t.Parallel()
	folder := mailFiles(t, map[string]string{
		"podium.yaml":        "mail:\n  languages: languages\nagents: {echo: {kind: echo}}\nprofiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}\n",
		"missing.yaml":       "mail:\n  languages: absent\nagents: {echo: {kind: echo}}\nprofiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}\n",
		"languages/qaa.json": "{\n  \"atributions\": [],\n  \"stubs\": [\"words\", 5]\n}",
	})
	file := filepath.Join(folder, "languages", "qaa.json")
	for _, arguments := range [][]string{
		{"check", "-c", filepath.Join(folder, "podium.yaml")},
		{"up", "-c", filepath.Join(folder, "podium.yaml"), "--data", filepath.Join(folder, "data")},
		{"mail", "parse", "--languages", filepath.Join(folder, "languages"), file},
	} {
		o := in(t, "", arguments...)
		for _, fault := range []string{
			file + `:2:3: unknown key "atributions"; did you mean "attributions"?`, file + `:3:22: stubs[1]: expected a text`,
		} {
			if o.code != exitUsage || !strings.Contains(o.stderr, fault) {
				t.Errorf("%v: exit code %d, %s\nwant %s", arguments, o.code, o.stderr, fault)
			}
		}
	}
	missing := filepath.Join(folder, "missing.yaml")
	if o := in(t, "", "check", "-c", missing); o.code != exitUsage || !strings.Contains(o.stderr, missing+":2:14: mail.languages: read the languages in "+filepath.Join(folder, "absent")+": no such file or directory") {
		t.Errorf("a folder that is not there: exit code %d, %s", o.code, o.stderr)
	}
	if o := in(t, "", "mail", "parse", "--languages", filepath.Join(folder, "absent"), file); o.code != exitUsage {
		t.Errorf("a folder that is not there: exit code %d, %s", o.code, o.stderr)
	}
}
