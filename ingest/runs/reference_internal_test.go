package runs

import (
	"net/http"
	"testing"
	"time"

	"podium/schemas"
)

func TestPreferredWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		want  time.Duration
		ok    bool
	}{
		"none":            {},
		"plain":           {lines: []string{"wait=10"}, want: 10 * time.Second, ok: true},
		"quoted":          {lines: []string{`wait="10"`}, want: 10 * time.Second, ok: true},
		"upper case":      {lines: []string{"Wait = 10"}, want: 10 * time.Second, ok: true},
		"among others":    {lines: []string{"respond-async, wait=10; x=y, handling=lenient"}, want: 10 * time.Second, ok: true},
		"second line":     {lines: []string{"respond-async", "wait=3"}, want: 3 * time.Second, ok: true},
		"the first":       {lines: []string{"wait=3, wait=9"}, want: 3 * time.Second, ok: true},
		"zero":            {lines: []string{"wait=0"}, ok: true},
		"negative":        {lines: []string{"wait=-1"}},
		"not a number":    {lines: []string{"wait=soon"}},
		"no value":        {lines: []string{"wait"}},
		"beyond range":    {lines: []string{"wait=99999999999"}},
		"another by half": {lines: []string{"waiting=3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait, ok := preferredWait(http.Header{"Prefer": test.lines})
			if wait != test.want || ok != test.ok {
				t.Errorf("%v %v, want %v %v", wait, ok, test.want, test.ok)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	session := schemas.SessionID("p", "k")
	for _, good := range []string{session + "-1", session + "-42", session + "~1", session + "~18446744073709551615"} {
		ref, ok := parseReference(good)
		if !ok || ref.String() != good || ref.session != session {
			t.Errorf("%q is read as %+v", good, ref)
		}
	}
	for _, bad := range []string{
		"", "~", "-", session, session + "-0", session + "-01", session + "-+1", session + "~0", session + "~01",
		session + "~-1", session + "~", "x~1", "{" + session + "}~1", session + "~18446744073709551616", session + "~1~2",
	} {
		if ref, ok := parseReference(bad); ok {
			t.Errorf("%q is read as %+v", bad, ref)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	f.Add(schemas.SessionID("p", "k") + "~7")
	f.Add(schemas.SessionID("p", "k") + "-7")
	f.Fuzz(func(t *testing.T, text string) {
		if ref, ok := parseReference(text); ok && ref.String() != text {
			t.Errorf("%q and %q name the same", text, ref)
		}
	})
}

func FuzzPreferredWait(f *testing.F) {
	f.Add("respond-async, wait=10")
	f.Fuzz(func(t *testing.T, line string) {
		if wait, _ := preferredWait(http.Header{"Prefer": {line}}); wait < 0 {
			t.Errorf("%q waits %v", line, wait)
		}
	})
}

// TestFilePath: where a file belongs is told with its folders, and never leads elsewhere.
func TestFilePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"src/a.ts": "src/a.ts", `src\a.ts`: "", "./src//a.ts": "", "a.ts": "", "../a.ts": "", "/etc/a.ts": "", "src/../../a.ts": "",
		"C:/a.ts": "", "src/\x1b[2J": "", "": "",
	} {
		if got := filePath(path); got != want {
			t.Errorf("%q belongs to %q, want %q", path, got, want)
		}
	}
}
