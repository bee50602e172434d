package mime_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"podium/ingest/mime"
	"podium/schemas"
)

// kept is a sink that remembers what was put into it.
type kept map[string][]byte

func (k kept) Put(_ context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return schemas.Artifact{}, err
	}
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	k[name] = content
	return schemas.Artifact{SHA256: name, Size: int64(len(content)), MediaType: mediaType}, nil
}

func parse(tb testing.TB, raw string) (schemas.EmailReceived, kept) {
	tb.Helper()
	sink := kept{}
	mail, err := mime.Parse(tb.Context(), strings.NewReader(raw), mime.Options{Sink: sink})
	if err != nil {
		tb.Fatalf("Parse: %v", err)
	}
	return mail, sink
}

// crlf makes a mail of lines.
func crlf(lines ...string) string { return strings.Join(lines, "\r\n") }

// TestGolden_X01 compares every mail of testdata with what is written beside it.
// Set PODIUM_UPDATE=1 to write it anew.
func TestGolden_X01(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.eml")
	if err != nil || len(files) < 20 {
		t.Fatalf("testdata holds %d mails (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mail, sink := parse(t, string(raw))
			for _, attachment := range mail.Attachments {
				if _, found := sink[attachment.Artifact.SHA256]; !found {
					t.Errorf("attachment %q was not kept", attachment.Name)
				}
			}
			got := readable(t, mail)
			golden := strings.TrimSuffix(file, ".eml") + ".json"
			if os.Getenv("PODIUM_UPDATE") != "" {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("there is no %s", golden)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestReadFailureIsTheReadersNotTheMails(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	for _, begin := range []string{"", "Subject: x\r\n", "Subject: x\r\n\r\nHel", "Content-Type: application/pdf\r\n\r\nHel"} {
		_, err := mime.Parse(t.Context(), io.MultiReader(strings.NewReader(begin), iotest.ErrReader(broken)), mime.Options{Sink: kept{}})
		if !errors.Is(err, broken) {
			t.Errorf("behind %q: %v", begin, err)
		}
	}
}

type fullSink struct{ err error }

func (f fullSink) Put(context.Context, io.Reader, string) (schemas.Artifact, error) {
	return schemas.Artifact{}, f.err
}

func TestSinkFailureIsReported(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	_, err := mime.Parse(t.Context(), strings.NewReader("Content-Type: image/png\r\n\r\nx"), mime.Options{Sink: fullSink{full}})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mime.Parse(ctx, strings.NewReader("Subject: x\r\n\r\nx"), mime.Options{Sink: kept{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestHeaderRepair(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		raw, subject, text string
		state              schemas.ParseState
	}{
		"mbox line":           {"From a@b Mon Jan\nFrom: a@b.c\nSubject: s\n\nt\n", "s", "t", schemas.ParseOK},
		"blank lines before":  {"\r\n\r\nFrom: a@b.c\r\nSubject: s\r\n\r\nt", "s", "t", schemas.ParseOK},
		"garbage before":      {"what is this\nFrom: a@b.c\nSubject: s\n\nt", "s", "t", schemas.ParseDegraded},
		"garbage between":     {"From: a@b.c\ngarbage here\nSubject: s\n\nt", "s", "t", schemas.ParseDegraded},
		"blank line missing":  {"From: a@b.c\nSubject: s\nHello you\nand you\n", "s", "Hello you\nand you", schemas.ParseDegraded},
		"space before colon":  {"From : a@b.c\nSubject : s\n\nt", "s", "t", schemas.ParseOK},
		"folded":              {"From: a@b.c\nSubject: one\n two\n\tthree\n\nt", "one two three", "t", schemas.ParseOK},
		"no body":             {"From: a@b.c\nSubject: s", "s", "", schemas.ParseOK},
		"nothing at all":      {"", "", "", schemas.ParseFailed},
		"only words":          {"Hello\nWorld\n", "", "Hello\nWorld", schemas.ParseDegraded},
		"binary":              {"\x00\x01\x02\xff\xfe", "", "ÿþ", schemas.ParseDegraded},
		"carriage returns":    {"From: a@b.c\r\nSubject: s\r\n\r\none\rtwo", "s", "one\ntwo", schemas.ParseOK},
		"byte-order mark":     {"\xef\xbb\xbfFrom: a@b.c\r\nSubject: s\r\n\r\nt", "s", "t", schemas.ParseOK},
		"returns only":        {"From: a@b.c\rSubject: s\r\rone\rtwo", "s", "one\ntwo", schemas.ParseOK},
		"two subjects":        {"From: a@b.c\nSubject: s\nSubject: r\n\nt", "s", "t", schemas.ParseDegraded},
		"no author":           {"Subject: s\n\nt", "s", "t", schemas.ParseDegraded},
		"empty name":          {"From: a@b.c\n: x\nSubject: s\n\nt", "s", "t", schemas.ParseDegraded},
		"date of nonsense":    {"From: a@b.c\nDate: yesterday\nSubject: s\n\nt", "s", "t", schemas.ParseDegraded},
		"direction overrides": {"From: a@b.c\nSubject: abc\u202etxt.exe\n\nt", "abctxt.exe", "t", schemas.ParseOK},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mail, _ := parse(t, test.raw)
			if mail.Subject != test.subject || mail.Text != test.text || mail.Parse != test.state {
				t.Errorf("got subject %q, text %q, %s %v", mail.Subject, mail.Text, mail.Parse, mail.Problems)
			}
		})
	}
}

func TestEncodedWords_I18(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"=?utf-8?Q?Gr=C3=BC=C3=9Fe?=":           "Grüße",
		"=?UTF-8?B?R3LDvMOfZQ==?= an alle":      "Grüße an alle",
		"=?iso-8859-1?Q?Gr=FC=DFe?=":            "Grüße",
		"=?windows-1252?Q?=80_5?=":              "€ 5",
		"=?iso-8859-1?Q?=80_5?=":                "€ 5",
		"=?koi8-r?B?8NLJ18XU?=":                 "Привет",
		"=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=":    "日本",
		"=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=": "Grüße", // a character in two words
		"=?utf-8?Q?a?= =?utf-8?Q?b?=":           "ab",
		"=?utf-8?Q?a?= b":                       "a b",
		"=?utf-8*de?Q?=C3=BC?=":                 "ü",
		"=?utf-8?B?R3LDvMOfZQ?=":                "Grüße", // padding missing
		"=?utf-8?Q?two words?=":                 "two words",
		"=?nonsense?Q?abc?=":                    "abc",
		"plain":                                 "plain",
		"Gr\xfc\xdfe":                           "Grüße", // raw 8 bit
		"Gru\u0308ße":                           "Gru\u0308ße",
		"=?utf-8?Q?broken":                      "=?utf-8?Q?broken",
		"a =?us-ascii?Q?=41?= b =?utf-8?Q?c?=  =?utf-8?Q?d?= =?utf-8?Q?_e?=": "a A b cd e",
	}
	for raw, want := range tests {
		mail, _ := parse(t, "From: a@b.c\r\nSubject: "+raw+"\r\n\r\n")
		if mail.Subject != want {
			t.Errorf("%q: got %q, want %q (%v)", raw, mail.Subject, want, mail.Problems)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want     []schemas.Address
		degraded bool
	}{
		"a@b.c":                                         {want: []schemas.Address{{Address: "a@b.c"}}},
		"Max <a@b.c>, Eva <e@b.c>":                      {want: []schemas.Address{{Name: "Max", Address: "a@b.c"}, {Name: "Eva", Address: "e@b.c"}}},
		`"Muster, Max" <a@b.c>`:                         {want: []schemas.Address{{Name: "Muster, Max", Address: "a@b.c"}}},
		"=?utf-8?Q?M=C3=BCller?= <a@b.c>":               {want: []schemas.Address{{Name: "Müller", Address: "a@b.c"}}},
		"=?utf-8?B?TcO8?= =?utf-8?B?bGxlcg==?= <a@b.c>": {want: []schemas.Address{{Name: "Müller", Address: "a@b.c"}}},
		"=?koi8-r?B?8NLJ18XU?= <a@b.c>":                 {want: []schemas.Address{{Name: "Привет", Address: "a@b.c"}}},
		"Praxis: a@b.c, e@b.c;":                         {want: []schemas.Address{{Address: "a@b.c"}, {Address: "e@b.c"}}},
		"M\xfcller <a@b.c>":                             {want: []schemas.Address{{Name: "Müller", Address: "a@b.c"}}},
		"müller@exämple.de":                             {want: []schemas.Address{{Address: "müller@exämple.de"}}},
		"Max <a@b.c":                                    {want: []schemas.Address{{Name: "Max", Address: "a@b.c"}}, degraded: true},
		"Max [Praxis] <a@b.c>; Eva <e@b.c>":             {want: []schemas.Address{{Name: "Max [Praxis]", Address: "a@b.c"}, {Name: "Eva", Address: "e@b.c"}}},
		"nobody":                                        {degraded: true},
		"<>":                                            {degraded: true},
	}
	for raw, test := range tests {
		mail, _ := parse(t, "From: "+raw+"\r\n\r\n")
		if len(mail.From) != len(test.want) || (mail.Parse != schemas.ParseOK) != test.degraded {
			t.Errorf("%q: got %q %v", raw, mail.From, mail.Problems)
			continue
		}
		for i := range test.want {
			if mail.From[i] != test.want[i] {
				t.Errorf("%q: got %q", raw, mail.From)
			}
		}
	}
}

func TestThread(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header []string
		want   string
	}{
		"oldest reference":     {[]string{"Message-ID: <3@x>", "In-Reply-To: <2@x>", "References: <1@x> <2@x>"}, "1@x"},
		"answer":               {[]string{"Message-ID: <3@x>", "In-Reply-To: <2@x>"}, "2@x"},
		"first of a thread":    {[]string{"Message-ID: <3@x>"}, "3@x"},
		"no id at all":         {[]string{"Subject: s"}, "raw"},
		"id without brackets":  {[]string{"Message-ID: 3@x"}, "3@x"},
		"folded id":            {[]string{"References: <1@\r\n x> <2@x>"}, "1@x"},
		"comments between":     {[]string{"In-Reply-To: Your mail of <2@x> (yesterday)"}, "2@x"},
		"empty id":             {[]string{"Message-ID: <>", "References: <>"}, "raw"},
		"a chat's key":         {[]string{"Message-ID: <3@x>", "References: <telegram//phone/4711>"}, "mail/telegram//phone/4711"},
		"words in In-Reply-To": {[]string{"Message-ID: <3@x>", "In-Reply-To: your mail"}, "3@x"},
	}
	for name, test := range tests {
		mail, _ := parse(t, crlf(append(test.header, "", "text")...))
		mail.Raw.SHA256 = "raw"
		if got := mime.PartitionKey(&mail); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestNewestLetterOfOurs_I22: the newest letter of ours that a mail names says which
// session it answers, wherever it names it; other ids say nothing.
func TestNewestLetterOfOurs_I22(t *testing.T) {
	t.Parallel()
	runs := map[string]string{"1": schemas.SessionID("desk", "1"), "2": schemas.SessionID("desk", "2")}
	known := func(id string) (schemas.Letter, bool) {
		name, ours := strings.CutSuffix(id, "@ours")
		return schemas.Letter{Run: schemas.RunID(schemas.SessionID("desk", name), 1)}, ours
	}
	for name, test := range map[string]struct {
		header []string
		want   string
	}{
		"answers it":                {[]string{"In-Reply-To: <1@ours>"}, "1"},
		"refers to it":              {[]string{"References: <1@ours>"}, "1"},
		"refers to it among others": {[]string{"In-Reply-To: <9@x>", "References: <0@x> <1@ours> <9@x>"}, "1"},
		"the newest":                {[]string{"References: <1@ours> <2@ours> <9@x>"}, "2"},
		"answered before named":     {[]string{"In-Reply-To: <1@ours>", "References: <1@ours> <2@ours>"}, "1"},
		"nothing of ours":           {[]string{"In-Reply-To: <1@x>", "References: <0@x> <1@x>"}, ""},
		"its own id":                {[]string{"Message-ID: <1@ours>"}, ""},
		"no ids":                    {nil, ""},
	} {
		mail, _ := parse(t, crlf(append(test.header, "From: a@b.example", "", "text")...))
		if got := mime.Session(mime.Answered(&mail, known)); got != runs[test.want] || (got == "") != (test.want == "") {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if got := mime.Session(mime.Answered(&mail, nil)); got != "" {
			t.Errorf("%s: got %q of nobody", name, got)
		}
	}
	bounce := schemas.EmailReceived{InReplyTo: "2@ours", Bounce: &schemas.Bounce{MessageID: "1@ours"}}
	if got := mime.Session(mime.Answered(&bounce, known)); got != runs["1"] {
		t.Errorf("a bounce goes to %q", got)
	}
}

func TestTooManyReferencesKeepTheOldest(t *testing.T) {
	t.Parallel()
	var ids strings.Builder
	for i := range 5000 {
		ids.WriteString("<" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + hex.EncodeToString([]byte{byte(i >> 8), byte(i)}) + "@x> ")
	}
	mail, _ := parse(t, "From: a@b.c\r\nReferences: <first@x> "+ids.String()+"<last@x>\r\n\r\n")
	if n := len(mail.References); n != 100 || mail.References[0] != "first@x" || mail.References[n-1] != "last@x" {
		t.Errorf("got %d references, first %q", n, mail.References[0])
	}
}

func TestClass_I20(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header []string
		want   schemas.MailClass
	}{
		"person":                  {[]string{"X-Auto-Response-Suppress: All"}, schemas.MailHuman},
		"Auto-Submitted no":       {[]string{"Auto-Submitted: no"}, schemas.MailHuman},
		"Auto-Submitted replied":  {[]string{"Auto-Submitted: auto-replied; owner=x"}, schemas.MailAutoReply},
		"Auto-Submitted comment":  {[]string{"Auto-Submitted: No (really)"}, schemas.MailHuman},
		"Auto-Submitted made":     {[]string{"Auto-Submitted: auto-generated"}, schemas.MailAutoReply},
		"no sender":               {[]string{"Return-Path: <>"}, schemas.MailAutoReply},
		"list":                    {[]string{"List-Id: Talk <talk.x>"}, schemas.MailList},
		"bulk":                    {[]string{"Precedence: bulk"}, schemas.MailList},
		"automatic mail to list":  {[]string{"List-Id: <x>", "Auto-Submitted: auto-generated"}, schemas.MailAutoReply},
		"report":                  {[]string{"Content-Type: multipart/report; report-type=delivery-status; boundary=b"}, schemas.MailBounce},
		"receipt":                 {[]string{"Content-Type: multipart/report; report-type=disposition-notification; boundary=b"}, schemas.MailAutoReply},
		"bounce without a report": {[]string{"Return-Path: <>", "X-Failed-Recipients: a@b"}, schemas.MailBounce},
		"own mail":                {[]string{"Message-ID: <effect-1@podium.example>"}, schemas.MailAutoReply},
	}
	own := func(id string) bool { return strings.HasSuffix(id, "@podium.example") }
	for name, test := range tests {
		raw := crlf(append(append([]string{"From: a@b.c"}, test.header...), "", "text")...)
		mail, err := mime.Parse(t.Context(), strings.NewReader(raw), mime.Options{Sink: kept{}, Own: own})
		if err != nil || mail.Class != test.want {
			t.Errorf("%s: got %q, want %q (%v)", name, mail.Class, test.want, err)
		}
	}
}

func TestAttachmentNameIsNoPath(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`filename="../../etc/passwd"`:                            "passwd",
		`filename="C:\\Users\\x\\a.txt"`:                         "a.txt",
		`filename="=?utf-8?Q?R=C3=B6ntgen.png?="`:                "Röntgen.png",
		`filename*=utf-8''R%C3%B6ntgen.png`:                      "Röntgen.png",
		`filename*0*=utf-8''R%C3%B6n; filename*1="tgen.png"`:     "Röntgen.png",
		`filename*1="tgen.png"; filename*0="Roen"`:               "Roentgen.png",
		`filename=plain name.png`:                                "plain name.png",
		`filename="un closed.png`:                                "un closed.png",
		"filename=\"abc\u202egnp.exe\"":                          "abcgnp.exe",
		"filename=\"a\u200eb\u200fc\u061cd\u2067e.exe\"":         "abcde.exe",
		`filename="` + strings.Repeat("ü", 400) + `"`:            strings.Repeat("ü", 127),
		`filename="both.png"; filename*=iso-8859-1''R%F6ntgen.x`: "Röntgen.x",
	}
	for raw, want := range tests {
		mail, _ := parse(t, crlf("From: a@b.c", "Content-Type: image/png", "Content-Disposition: attachment; "+raw, "", "x"))
		if len(mail.Attachments) != 1 || mail.Attachments[0].Name != want {
			t.Errorf("%s: got %+v", raw, mail.Attachments)
		}
	}
}

func TestTransferEncodings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		encoding, body, want string
		degraded             bool
	}{
		"base64":               {"base64", "SGVs\r\nbG8=", "Hello", false},
		"base64 with spaces":   {"BASE64", " SGVs bG8= ", "Hello", false},
		"base64 with garbage":  {"base64", "SG!Vsb*G8=", "Hello", true},
		"base64 unpadded":      {"base64", "SGVsbG8", "Hello", true},
		"base64 twice":         {"base64", "SGVsbG8=SGVsbG8=", "HelloHello", false},
		"quoted":               {"quoted-printable", "a=C3=BC=\r\nb =20 \r\nc", "aüb\u0020\u0020\nc", false},
		"quoted lower case":    {"quoted-printable", "=c3=bc", "ü", false},
		"quoted soft break":    {"quoted-printable", "a= \t\r\nb", "ab", false},
		"quoted malformed":     {"quoted-printable", "1=2 = x", "1=2 = x", true},
		"quoted trailing sign": {"quoted-printable", "a=", "a", false},
		"quoted blanks":        {"quoted-printable", "a   \r\nb\t \nc   ", "a\nb\nc", false},
		"unknown":              {"x-magic", "abc", "abc", true},
		"with a comment":       {"7bit; really", "abc", "abc", false},
	}
	for name, test := range tests {
		mail, sink := parse(t, crlf("From: a@b.c", "Content-Type: application/octet-stream", "Content-Transfer-Encoding: "+test.encoding, "", test.body))
		if len(mail.Attachments) != 1 {
			t.Errorf("%s: %d attachments", name, len(mail.Attachments))
			continue
		}
		got := strings.ReplaceAll(string(sink[mail.Attachments[0].Artifact.SHA256]), "\r\n", "\n")
		if got != test.want || (mail.Parse != schemas.ParseOK) != test.degraded {
			t.Errorf("%s: got %q, %v", name, got, mail.Problems)
		}
	}
}

func TestCharsets_I18(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		label, body, want string
		degraded          bool
	}{
		"utf-8":              {"utf-8", "Grüße", "Grüße", false},
		"latin 1":            {"iso-8859-1", "Gr\xfc\xdfe", "Grüße", false},
		"latin 1 means 1252": {"ISO-8859-1", "\x80 5", "€ 5", false},
		"latin 9":            {"iso-8859-15", "\xa4 5", "€ 5", false},
		"koi8-r":             {"koi8-r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет", false},
		"japanese":           {"iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本", false},
		"chinese":            {"gb2312", "\xc4\xe3\xba\xc3", "你好", false},
		"false utf-8":        {"utf-8", "Gr\xfc\xdfe", "Grüße", true},
		"false ascii":        {"us-ascii", "Gr\xfc\xdfe", "Grüße", true},
		"utf-8 as ascii":     {"us-ascii", "Grüße", "Grüße", false},
		"unknown":            {"x-klingon", "Grüße", "Grüße", true},
		"unknown 8 bit":      {"x-klingon", "Gr\xfc\xdfe", "Grüße", true},
		"none":               {"", "Gr\xfc\xdfe", "Grüße", false},
		"quoted label":       {"'utf8'", "ü", "ü", false},
		"NFD stays":          {"utf-8", "Gru\u0308ße", "Gru\u0308ße", false},
		"byte order mark":    {"utf-8", "\ufeffa", "a", false},
		"nul":                {"utf-8", "a\x00b", "ab", false},
	}
	for name, test := range tests {
		contentType := "Content-Type: text/plain"
		if test.label != "" {
			contentType += "; charset=" + test.label
		}
		mail, _ := parse(t, crlf("From: a@b.c", contentType, "", test.body))
		if mail.Text != test.want || (mail.Parse != schemas.ParseOK) != test.degraded {
			t.Errorf("%s: got %q %v", name, mail.Text, mail.Problems)
		}
	}
}

func TestMultiparts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lines       []string
		text        string
		attachments int
		degraded    bool
	}{
		"closing boundary missing": {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "one", "--b", "Content-Type: image/png", "", "x"}, "one", 1, true},
		"no boundary parameter":    {[]string{"Content-Type: multipart/mixed", "", "--what", "", "one", "--what--"}, "one", 0, true},
		"other boundary in body":   {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--c", "", "one", "--c--"}, "--c\n\none\n--c--", 0, true},
		"empty multipart":          {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b--"}, "", 0, true},
		"inner never closed":       {[]string{"Content-Type: multipart/mixed; boundary=a", "", "--a", "Content-Type: multipart/alternative; boundary=b", "", "--b", "", "one", "--a", "Content-Type: image/png", "", "x", "--a--"}, "one", 1, true},
		"same boundary inside":     {[]string{"Content-Type: multipart/mixed; boundary=a", "", "--a", "Content-Type: multipart/mixed; boundary=a", "", "--a", "", "one", "--a--"}, "one", 0, true},
		"boundary as prefix":       {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "--bc is text", "--b--"}, "--bc is text", 0, false},
		"part without header end":  {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/plain", "--b", "", "two", "--b--"}, "two", 0, false},
		"part with broken header":  {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "no header here", "second line", "--b--"}, "no header here\nsecond line", 0, true},
		"words around":             {[]string{"Content-Type: multipart/mixed; boundary=b", "", "preamble", "--b", "", "one", "--b--", "epilogue"}, "one", 0, false},
		"two texts":                {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "one", "--b", "", "two", "--b--"}, "one\n\ntwo", 0, false},
		"alternative":              {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "", "plain", "--b", "Content-Type: text/html", "", "<p>html", "--b--"}, "plain", 0, false},
		"alternative, named":       {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "Content-Type: text/plain; name=a.txt", "", "plain", "--b", "Content-Type: text/html", "", "<p>html", "--b--"}, "plain", 0, false},
		"alternative, inline name": {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "Content-Type: text/plain", "Content-Disposition: inline; filename=a.txt", "", "plain", "--b", "Content-Type: text/html; name=a.html", "", "<p>html", "--b--"}, "plain", 0, false},
		"alternative, named page":  {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "", "Your program does not support HTML.", "--b", "Content-Type: text/html; name=a.html", "", "<p>html", "--b--"}, "html", 0, false},
		"alternative, named twice": {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "", "plain", "--b", "Content-Type: text/plain; name=a.txt", "", "more", "--b", "Content-Type: text/html", "", "<p>html", "--b--"}, "plain", 1, false},
		"alternative, attached":    {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "Content-Type: text/plain", "Content-Disposition: attachment; filename=a.txt", "", "file", "--b", "Content-Type: text/html", "", "<p>html", "--b--"}, "html", 1, false},
		"alternative, inner file":  {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "", "plain", "--b", "Content-Type: multipart/mixed; boundary=c", "", "--c", "Content-Type: text/html", "", "<p>html", "--c", "Content-Type: text/plain; name=a.txt", "", "file", "--c--", "--b--"}, "plain", 1, false},
		"mixed, named":             {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "plain", "--b", "Content-Type: text/plain; name=a.txt", "", "file", "--b--"}, "plain", 1, false},
		"alternative is a stub":    {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "", "Your program does not support HTML.", "--b", "Content-Type: text/html", "", "<p>html", "--b--"}, "html", 0, false},
		"alternative with related": {[]string{"Content-Type: multipart/alternative; boundary=b", "", "--b", "", "plain", "--b", "Content-Type: multipart/related; boundary=c", "", "--c", "Content-Type: text/html", "", "<p>html", "--c", "Content-Type: image/png", "Content-ID: <1@x>", "", "x", "--c--", "--b--"}, "plain", 1, false},
		"text as attachment":       {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "one", "--b", "Content-Type: text/plain; name=a.txt", "", "two", "--b--"}, "one", 1, false},
		"named text, then others": {[]string{
			"Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/html; name=message.html", "", "<p>one", "--b",
			"Content-Type: application/pdf; name=a.pdf", "", "x", "--b", "Content-Type: text/html", "", "<p>two", "--b--",
		}, "one\n\ntwo", 2, false},
		"file, then text": {[]string{
			"Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/plain", "Content-Disposition: inline; filename=a.csv", "",
			"1;2", "--b", "", "two", "--b--",
		}, "two", 1, false},
		"only text has a name":     {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/plain", "Content-Disposition: inline; filename=a.txt", "", "one", "--b", "Content-Type: text/plain; name=b.txt", "", "two", "--b--"}, "one", 2, false},
		"only part has a name":     {[]string{"Content-Type: text/html; name=a.html", "", "<p>one"}, "one", 1, false},
		"only text is to be saved": {[]string{"Content-Type: text/plain", "Content-Disposition: attachment; filename=a.txt", "", "one"}, "", 1, false},
		"named text is a picture":  {[]string{"Content-Type: text/plain; name=a.txt", "", "\x89PNG\r\n\x1a\n"}, "", 1, false},
		"plain, said to be base64": {[]string{"Content-Type: text/plain", "Content-Transfer-Encoding: base64", "", "Hello you, how are you?"}, "Hello you, how are you?", 0, true},
		"base64 with a flaw":       {[]string{"Content-Type: text/plain", "Content-Transfer-Encoding: base64", "", "SGVsbG8gV29ybGQhSGVsbG8gV29ybGQh*"}, "Hello World!Hello World!", 0, true},
		"mail as attachment":       {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "one", "--b", "Content-Type: message/rfc822", "", "Subject: x", "", "inner", "--b--"}, "one", 1, false},
		"digest":                   {[]string{"Content-Type: multipart/digest; boundary=b", "", "--b", "", "Subject: x", "", "inner", "--b--"}, "", 1, false},
		"type is nonsense":         {[]string{"Content-Type: text", "", "one"}, "one", 0, true},
		"type with a comment":      {[]string{"Content-Type: text/plain (words)", "", "one"}, "one", 0, false},
		"boundary with blanks":     {[]string{`Content-Type: multipart/mixed; boundary = "b b"`, "", "--b b  ", "", "one", "--b b--  "}, "one", 0, false},
		"long line":                {[]string{"Content-Type: multipart/mixed; boundary=b", "", "--b", "", strings.Repeat("x", 100_000), "--b--"}, strings.Repeat("x", 100_000), 0, false},
	}
	for name, test := range tests {
		for _, newline := range []string{"\r\n", "\n"} {
			mail, _ := parse(t, "From: a@b.c"+newline+strings.Join(test.lines, newline)+newline)
			if mail.Text != test.text || len(mail.Attachments) != test.attachments || (mail.Parse != schemas.ParseOK) != test.degraded {
				t.Errorf("%s %q: got %.100q, %d attachments, %v", name, newline, mail.Text, len(mail.Attachments), mail.Problems)
			}
		}
	}
}

func validStrings(tb testing.TB, mail schemas.EmailReceived) {
	tb.Helper()
	body, err := schemas.Marshal(mail)
	if err != nil {
		tb.Fatalf("the event cannot be written: %v", err)
	}
	if !utf8.Valid(body) {
		tb.Fatal("the event is not valid UTF-8")
	}
	var again schemas.EmailReceived
	if err := schemas.Unmarshal(body, &again); err != nil {
		tb.Fatalf("the event cannot be read: %v", err)
	}
	if (mail.Parse == schemas.ParseOK) != (len(mail.Problems) == 0) {
		tb.Fatalf("state %q with problems %q", mail.Parse, mail.Problems)
	}
}
