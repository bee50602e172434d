package messageid_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"podium/cmd/podium/messageid"
	"podium/schemas"
)

var (
	desk    = messageid.Source{Account: "support", Profile: "desk"}
	session = schemas.SessionID("desk", "m1@example.org")
	run     = schemas.RunID(session, 7)
	effect  = schemas.EffectID(run, "reply")
)

func signer(key byte) *messageid.Signer {
	return messageid.New(func() ([]byte, error) { return bytes.Repeat([]byte{key}, 32), nil })
}

func signed(tb testing.TB) string {
	tb.Helper()
	left, err := signer(1).Sign(desk, effect, schemas.Letter{Run: run})
	if err != nil {
		tb.Fatal(err)
	}
	return left + "@example.org"
}

// TestSessionOfAMessageID_I22: an id leads to the session of its run, in whatever case
// a relay has put it, and only for whom it was signed.
func TestSessionOfAMessageID_I22(t *testing.T) {
	t.Parallel()
	id := signed(t)
	left, _, _ := strings.Cut(id, "@")
	mac := left[strings.LastIndexByte(left, '.')+1:]
	other := schemas.RunID(schemas.SessionID("desk", "m2@example.org"), 7)
	for name, test := range map[string]struct {
		id   string
		from messageid.Source
		key  byte
		ours bool
	}{
		"as it was sent":          {id: id, ours: true},
		"in upper case":           {id: strings.ToUpper(id), ours: true},
		"in some upper case":      {id: strings.ToUpper(id[:50]) + id[50:], ours: true},
		"another domain":          {id: left + "@relay.example", ours: true},
		"another run":             {id: strings.Replace(id, run, schemas.RunID(session, 8), 1)},
		"another session":         {id: strings.Replace(id, run, other, 1)},
		"another effect":          {id: strings.Replace(id, effect, schemas.EffectID(other, "reply"), 1)},
		"another mac":             {id: effect + "." + run + "." + strings.Repeat("a", len(mac)) + "@example.org"},
		"a mac of another length": {id: left + "aaaaaaaa@example.org"},
		"an altered letter":       {id: altered(id)},
		"a shorter mac":           {id: left[:len(left)-8] + "@example.org"},
		"cut off":                 {id: left},
		"cut off earlier":         {id: left[:60]},
		"without a mac":           {id: effect + "." + run + "@example.org"},
		"of before":               {id: effect + "@example.org"},
		"a question's number":     {id: effect + "." + run + ".1." + mac + "@example.org"},
		"a number that is none":   {id: effect + "." + run + ".01." + mac + "@example.org"},
		"more parts":              {id: effect + "." + run + ".1.1." + mac + "@example.org"},
		"a letter like one":       {id: strings.Replace(id, "k", "\u212a", 1), ours: !strings.Contains(left, "k")},
		"nothing":                 {},
		"a long one":              {id: strings.Repeat("a", 1<<20) + "@example.org"},
		"another account":         {id: id, from: messageid.Source{Account: "sales", Profile: "desk"}},
		"another profile":         {id: id, from: messageid.Source{Account: "support", Profile: "clinic"}},
		"parts that run together": {id: id, from: messageid.Source{Account: "supportd", Profile: "esk"}},
		"another key":             {id: id, key: 2},
	} {
		from, key := desk, byte(1)
		if test.from != (messageid.Source{}) {
			from = test.from
		}
		if test.key != 0 {
			key = test.key
		}
		got, ours := signer(key).Letter(from, test.id)
		if want := (schemas.Letter{Run: run}); ours != test.ours || ours && got != want || !ours && got != (schemas.Letter{}) {
			t.Errorf("%s: %v, %t", name, got, ours)
		}
	}
}

// TestLetterOfAQuestion: the id of a question says which inquiry it is, and no other.
func TestLetterOfAQuestion(t *testing.T) {
	t.Parallel()
	asked := schemas.Letter{Run: run, Inquiry: 3}
	left, err := signer(1).Sign(desk, effect, asked)
	if err != nil || !messageid.Made(left) {
		t.Fatal(left, err)
	}
	if got, ours := signer(1).Letter(desk, strings.ToUpper(left)+"@example.org"); !ours || got != asked {
		t.Errorf("%v, %t", got, ours)
	}
	for _, other := range []string{strings.Replace(left, run+".3.", run+".4.", 1), strings.Replace(left, run+".3.", run+".", 1)} {
		if got, ours := signer(1).Letter(desk, other+"@example.org"); ours {
			t.Errorf("%s is %v", other, got)
		}
	}
}

// altered is an id in which one character of the mac is another one.
func altered(id string) string {
	at := strings.IndexByte(id, '@') - 1
	with := "b"
	if id[at] == 'b' {
		with = "c"
	}
	return id[:at] + with + id[at+1:]
}

// TestMessageIDIsTheSameEveryTime_I25: of one effect every attempt has the same id, which
// begins with the effect; it has at least 128 bits of mac, and fits into a line.
func TestMessageIDIsTheSameEveryTime_I25(t *testing.T) {
	t.Parallel()
	first, second := signed(t), signed(t)
	left, _, _ := strings.Cut(first, "@")
	mac := left[strings.LastIndexByte(left, '.')+1:]
	if first != second || !strings.HasPrefix(first, effect+"."+run+".") || len(mac)*5 < 128 || len(left) > 150 || strings.ToLower(first) != first {
		t.Errorf("%s and %s", first, second)
	}
	for name, given := range map[string][2]string{
		"no run":             {effect, "run-1"},
		"no effect":          {"effect", run},
		"an effect in upper": {strings.ToUpper(effect), run},
	} {
		if left, err := signer(1).Sign(desk, given[0], schemas.Letter{Run: given[1]}); !errors.Is(err, schemas.ErrInvalidID) || left != "" {
			t.Errorf("%s: %q, %v", name, left, err)
		}
	}
}

// TestMadeHere_I20: the ids that are given here are known by their form, also those of
// before and those of another key.
func TestMadeHere_I20(t *testing.T) {
	t.Parallel()
	id := signed(t)
	left, _, _ := strings.Cut(id, "@")
	asked := strings.Replace(left, run+".", run+".3.", 1)
	for text, want := range map[string]bool{
		left: true, strings.ToUpper(left): true, effect: true, asked: true,
		strings.ToUpper(effect): false, effect + "." + run: false, left[1:]: false, left + ".x": false, run: false, "": false,
		"0123456789abcdef0123456789abcdef": false,
	} {
		if messageid.Made(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// Without a key nothing is signed, and nobody's letters are ours.
func TestNoKey(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func() ([]byte, error){
		"missing": func() ([]byte, error) { return nil, fs.ErrNotExist },
		"torn":    func() ([]byte, error) { return make([]byte, 5), nil },
	} {
		letters := messageid.New(key)
		left, signing := letters.Sign(desk, effect, schemas.Letter{Run: run})
		if _, ours := letters.Letter(desk, signed(t)); ours || signing == nil || left != "" || letters.Check() == nil {
			t.Errorf("%s: %q, %v, ours %t", name, left, signing, ours)
		}
	}
}

func FuzzLetter(f *testing.F) {
	good := signed(f)
	letters := signer(1)
	for _, seed := range []string{good, strings.ToUpper(good), effect + "@x", "...@", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		got, ours := letters.Letter(desk, id)
		if left, _, _ := strings.Cut(id, "@"); ours && !strings.EqualFold(left+"@example.org", good) {
			t.Errorf("%q leads to %v", id, got)
		}
	})
}
