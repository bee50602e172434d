package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-message/mail"

	"podium/agents/mail/smtpsink"
	"podium/cmd/podium/runfiles"
	"podium/ingest/imap/memorymailbox"
)

// filesConfig gives all mail to an agent of another process, by way of a supervisor if it is nested.
const filesConfig = `
mail:
  accounts:
    - name: support
      profile: %s
      since: all
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret, poll: 1s}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: support@praxis.example, sent: none}
agents:
  describe: {kind: external, concurrency: 2}
  clerk: {kind: external, concurrency: 2}
  office: {kind: supervisor, profile: desk}
profiles:
  desk: {language: en, agents: [describe, clerk], routers: [{kind: keywords, groups: [{agent: clerk, keywords: [clerk]}]}, {kind: default, agent: describe}]}
  front: {language: en, agents: [office], routers: [{kind: default, agent: office}]}
`

// correspondence is a deployment with a mailbox, and a server that takes its letters.
func correspondence(t *testing.T, profile string) (*deployment, *memorymailbox.Server, *smtpsink.Server) {
	t.Helper()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	mailbox, err := memorymailbox.Start(t.Context(), "agent", "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	return install(t, fmt.Sprintf(filesConfig, profile, mailbox.Port(), sink.Port())), mailbox, sink
}

// A file of a letter.
type enclosed struct {
	name, mediaType string
	content         []byte
}

// letterWithFiles is a mail with words and files; it may answer another one.
func letterWithFiles(id, inReplyTo, subject, words string, files ...enclosed) []byte {
	var mail bytes.Buffer
	fmt.Fprintf(&mail, "Message-ID: <%s>\r\nFrom: Ada <ada@example.org>\r\nTo: support@praxis.example\r\nSubject: %s\r\nDate: Mon, 23 Nov 2026 12:00:00 +0000\r\n", id, subject)
	if inReplyTo != "" {
		fmt.Fprintf(&mail, "In-Reply-To: <%s>\r\nReferences: <%s>\r\n", inReplyTo, inReplyTo)
	}
	fmt.Fprintf(&mail, "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n", words)
	for _, file := range files {
		fmt.Fprintf(&mail, "--b\r\nContent-Type: %s\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=\"%s\"\r\n\r\n%s\r\n",
			file.mediaType, file.name, base64.StdEncoding.EncodeToString(file.content))
	}
	mail.WriteString("--b--\r\n")
	return mail.Bytes()
}

func pictures() []enclosed {
	return []enclosed{
		{"Befund.pdf", "application/pdf", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("x"), 300<<10)...)},
		{"links.jpg", "image/jpeg", []byte("\xff\xd8\xff\xe0 left")},
		{"rechts.png", "image/png", []byte("\x89PNG\r\n\x1a\n right")},
	}
}

// TestProgramWorksWithFiles_G42: a Python script sees sender, subject, words and earlier words of the thread, opens
// the PDF and both images of a mail, and what it makes of each is attached to the reply; through a
// supervisor as well.
func TestProgramWorksWithFiles_G42(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"desk", "front"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			i, mailbox, sink := correspondence(t, profile)
			i.up()
			program := spawn(t, "--data", i.data, "agent", "exec", "--name", "describe", "--", "python3", "../../deploy/examples/files/describe.py")
			program.says(t, "agent describe takes requests")
			files := pictures()
			for n, mail := range [][]byte{
				letterWithFiles("m1@example.org", "", "The findings", "Please look at these.", files...),
				letterWithFiles("m2@example.org", "m1@example.org", "Re: The findings", "And compare them.", files[1]),
			} {
				if err := mailbox.Deliver(mail); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == n+1 })
			}
			first, second := textOf(&sink.Messages()[0]), textOf(&sink.Messages()[1])
			for _, want := range []string{
				"From: ada@example.org (unchecked)", "Subject: The findings", "Please look at these.",
				fmt.Sprintf("Befund.pdf: application/pdf, %d bytes, of ", len(files[0].content)), "links.jpg: image/jpeg, 9 bytes", "rechts.png: image/png, 14 bytes", "Keep the hashes.",
			} {
				if !strings.Contains(first, want) {
					t.Errorf("%q is not in the first reply\n%s", want, first)
				}
			}
			for _, want := range []string{"Subject: Re: The findings", "Earlier, requester: The findings", "Please look at these.", "Earlier, podium: From: ada@example.org", "And compare them."} {
				if !strings.Contains(second, want) {
					t.Errorf("%q is not in the second reply\n%s", want, second)
				}
			}
			for n, file := range files {
				attached := fmt.Sprintf("%x  %s\n", sha256.Sum256(file.content), file.name)
				if name := fmt.Sprintf("%02d.txt", n+1); attachmentOf(&sink.Messages()[0], name) != attached {
					t.Errorf("attached as %s is %q, want %q", name, attachmentOf(&sink.Messages()[0], name), attached)
				}
			}
			program.stop(t)
			i.stop()
			i.verify()
		})
	}
}

// describing takes the place of what clerk.mjs does.
const describing = `async function work(task, say, signal, files) {
  const { message, conversation, attachments = [], request } = task.context;
  const lines = [message.from.address, message.subject, request, ...(conversation?.messages ?? []).map((said) => said.by + ": " + said.text)];
  for (const file of attachments) {
    const bytes = await files.open(file);
    lines.push(file.name + ": " + file.media_type + ", " + bytes.length + " bytes");
    await files.keep(file.id + ".txt", "text/plain", Buffer.from(createHash("sha256").update(bytes).digest("hex") + "  " + file.name + "\n"));
  }
  return { result: { text: lines.join("\n") }, recommendations: ["Keep the hashes."] };
}
`

// TestJavaScriptWorksWithFiles_G42: the same over plain NATS, by the program of the page with other work.
func TestJavaScriptWorksWithFiles_G42(t *testing.T) {
	t.Parallel()
	i, mailbox, sink := correspondence(t, "desk")
	c := &clerkAtWork{deployment: i, t: t, language: languages[0]}
	c.build()
	program := readFile(t, filepath.Join(c.home, "clerk.mjs"))
	before, rest, _ := strings.Cut(program, "async function work(")
	_, after, found := strings.Cut(rest, "\n}\n")
	if !found {
		t.Fatal("the program has no work of its own")
	}
	if err := os.WriteFile(filepath.Join(c.home, "clerk.mjs"), []byte(before+describing+after), 0o600); err != nil {
		t.Fatal(err)
	}
	i.up()
	agent := launch(t, shell(t, c.home, "exec node clerk.mjs "+i.data))
	agent.says(t, "clerk takes requests")
	files := pictures()
	for n, mail := range [][]byte{
		letterWithFiles("m1@example.org", "", "For the clerk", "Please look at these.", files...),
		letterWithFiles("m2@example.org", "m1@example.org", "Re: For the clerk", "Clerk, compare them."),
	} {
		if err := mailbox.Deliver(mail); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == n+1 })
	}
	for n, wanted := range [][]string{
		{"ada@example.org", "For the clerk", "Please look at these.", "rechts.png: image/png, 14 bytes", "Keep the hashes."},
		{"Clerk, compare them.", "requester: For the clerk", "podium: ada@example.org", "links.jpg: image/jpeg, 9 bytes"},
	} {
		text, attached := partsOf(&sink.Messages()[n])
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in reply %d\n%s", want, n+1, text)
			}
		}
		for k, file := range files { // those of the letter before are listed, too
			if name, want := fmt.Sprintf("a%d.txt", k+1), fmt.Sprintf("%x  %s\n", sha256.Sum256(file.content), file.name); attached[name] != want {
				t.Errorf("reply %d: attached as %s is %q, want %q", n+1, name, attached[name], want)
			}
		}
	}
	agent.stop(t)
	i.stop()
	i.verify()
}

// partsOf are the text of a letter and the files that it brings along.
func partsOf(m *smtpsink.Message) (text string, files map[string]string) {
	files = map[string]string{}
	reader, err := mail.CreateReader(bytes.NewReader(m.Data))
	if err != nil {
		return err.Error(), files
	}
	for {
		part, err := reader.NextPart()
		if err != nil {
			return text, files
		}
		content, _ := io.ReadAll(part.Body)
		switch header := part.Header.(type) {
		case *mail.InlineHeader:
			if kind, _, _ := header.ContentType(); kind == "text/plain" {
				text += strings.ReplaceAll(string(content), "\r\n", "\n")
			}
		case *mail.AttachmentHeader:
			name, _ := header.Filename()
			files[name] = strings.ReplaceAll(string(content), "\r\n", "\n")
		}
	}
}

func textOf(m *smtpsink.Message) string {
	text, _ := partsOf(m)
	return text
}

func attachmentOf(m *smtpsink.Message, name string) string {
	_, files := partsOf(m)
	return files[name]
}

// TestFilesOfAnAnswerAreOneList: the attachments that a result names, and the deliverables beside it, are the same files in the same order for who
// asks by chat, in a mail, and at the command line; what both name is there once.
func TestFilesOfAnAnswerAreOneList(t *testing.T) {
	t.Parallel()
	_, mailbox, sink := correspondence(t, "desk")
	i := install(t, fmt.Sprintf(filesConfig, "desk", mailbox.Port(), sink.Port())+"chat: {channels: {web: {profile: desk, token: "+strings.Repeat("token", 8)+"}}}\n")
	i.up()
	agent := &clerk{plainAgent: connectPlain(t, i, "describe"), i: i}
	answers := func() {
		t.Helper()
		request := agent.pull()
		metadata := func(content string) string {
			kept := agent.puts([]byte(content))
			return fmt.Sprintf(`{"sha256":%q,"size":%d,"media_type":"text/plain","grant":%q}`, kept.SHA256, kept.Size, kept.Grant)
		}
		attached := func(name, content string) string {
			return fmt.Sprintf(`{"name":%q,"media_type":"text/plain","artifact":%s}`, name, metadata(content))
		}
		made := func(path, content string) string {
			return fmt.Sprintf(`{"deliverable_id":%q,"type":"report","path":%q,"metadata":%s}`, path, path, metadata(content))
		}
		answer := request.response("describe", "completed", "Here they are.")
		answer = strings.TrimSuffix(answer, `"result":{"text":"Here they are."}}}`) + `"result":{"text":"Here they are.","data":{"attachments":[` +
			attached("named.txt", "named") + "," + attached("both.txt", "both") + "," + attached("named.txt", "named") + `]}},"deliverables":[` +
			made("src/made.txt", "made") + "," + made("both.txt", "both") + "," + made("named.txt", "another of that name") + `]}}`
		agent.publish(request.replyTo, answer)
		agent.acknowledge(request)
	}
	const want = "named.txt both.txt made.txt named.txt"
	said := make(chan string, 1)
	asks := func(method, path, body string) (string, error) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+i.listen+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+strings.Repeat("token", 8))
		request.Header.Set("Prefer", "wait=60")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = response.Body.Close() }()
		got, err := io.ReadAll(response.Body)
		return string(got), err
	}
	go func() {
		body, err := asks(http.MethodPost, "/v1/chat/web", `{"text": "Please."}`)
		if err != nil {
			body = err.Error()
		}
		said <- body
	}()
	answers()
	var told struct {
		Files []struct {
			Name, Path, URL string
			Size            int
		}
	}
	document := <-said
	if err := json.Unmarshal([]byte(document), &told); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	var names []string
	for _, file := range told.Files {
		names = append(names, file.Name)
	}
	if got := strings.Join(names, " "); got != want || told.Files[2].Path != "src/made.txt" || told.Files[0].Size != 5 {
		t.Errorf("by chat they are %q, in\n%s", got, document)
	}
	for n, content := range []string{"named", "both", "made", "another of that name"} {
		if body, err := asks(http.MethodGet, told.Files[n].URL, ""); err != nil || body != content {
			t.Errorf("%s is %q, %v", told.Files[n].Name, body, err)
		}
	}
	if err := mailbox.Deliver(letterWithFiles("m1@example.org", "", "The findings", "Please.")); err != nil {
		t.Fatal(err)
	}
	answers()
	eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == 1 })
	reader, err := mail.CreateReader(bytes.NewReader(sink.Messages()[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	names = nil
	for part, err := reader.NextPart(); err == nil; part, err = reader.NextPart() {
		if header, is := part.Header.(*mail.AttachmentHeader); is {
			name, _ := header.Filename()
			names = append(names, name)
		}
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("by mail they are %q", got)
	}
	runs := i.runs()
	for _, run := range runs {
		names = nil
		for _, file := range lines[runfiles.File](t, i.podium("runs", "files", run.ID, "-o", "json")) {
			names = append(names, filepath.Base(file.Path))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("at the command line they are %q", got)
		}
	}
	if len(runs) != 2 {
		t.Errorf("there are %d runs", len(runs))
	}
}
