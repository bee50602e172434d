package session_test

import (
	"strings"
	"testing"

	"podium/schemas"
)

const (
	letterPermitted = "\npermit task=ask:1:1 id=p1\n----\n"
	released        = "\ncancel request=r1 id=x1\n----\n"
	notSent         = "\nanswer task=ask:1:1 run=1 status=failed issue=(no server)\n----\n"
)

// TestLetterThatHasNotGoneOut: whom a letter was to ask of which its agent says, after the end of its run, that it has not gone out, is written to by the next
// attempt. As long as one may have gone out, nobody is.
func TestLetterThatHasNotGoneOut_X03(t *testing.T) {
	t.Parallel()
	begun := look(1) + letterPermitted + released
	for name, c := range map[string]struct {
		script  string
		letters int // that are asked for
	}{
		"it has failed":                     {begun + notSent + look(2), 2},
		"it has failed, as is known later":  {begun + look(2) + notSent, 2},
		"it has failed, as two runs later":  {begun + look(2) + "\ncancel request=r2 id=x2\n----\n" + notSent + look(3), 2},
		"nobody has answered":               {begun + look(2), 1},
		"it has gone out":                   {begun + "\nanswer task=ask:1:1 receipt=q1@support.example\n----\n" + look(2), 1},
		"nobody knows":                      {begun + strings.Replace(notSent, "issue=", "unknown issue=", 1) + look(2), 1},
		"somebody else says so":             {begun + strings.Replace(notSent, "status", "agent=clerk status", 1) + look(2), 1},
		"somebody has answered it":          {begun + "\nmail id=m1 from=anna@practice.example answers=1.1\nIt is a rash.\n----\n" + notSent + look(2), 1},
		"another process was refused":       {begun + "\npermit task=ask:1:1 run=1 id=p2\n----\n" + notSent + look(2), 1},
		"another process was refused later": {begun + look(2) + "\npermit task=ask:1:1 run=1 id=p2\n----\n" + notSent, 1},
		"two processes were permitted":      {look(1) + letterPermitted + "\npermit task=ask:1:1 id=p2\n----\n" + released + notSent + look(2), 1},
		"a reminder has gone out":           {look(1) + letterPermitted + reminded + released + notSent + look(2), 4},
		"a later attempt has failed":        {look(1) + notSent + "\nadvance 2s\n----\n\npermit task=ask:1:1 attempt=2 id=p2\n----\n" + released + strings.Replace(notSent, "run=1", "run=1 attempt=2", 1) + look(2), 3},
		"the attempt before a later one":    {look(1) + letterPermitted + "\nadvance 52s\n----\n" + released + strings.Replace(notSent, "run=1", "run=1 attempt=2", 1) + look(2), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := strings.Replace(attemptsProfile, "expire: 48h}", "remind: 4h, expire: 48h}", 1)
			s, told := attack(t, profile+c.script)
			letters := 0
			for _, record := range s.records {
				for fact := range record.AllFacts() {
					if f := schemas.As[*schemas.TaskDispatched](fact); f != nil && schemas.HasNotificationID(f.Task) {
						letters++
					}
				}
			}
			if letters != c.letters {
				t.Errorf("%d letters are asked for, want %d:\n%s", letters, c.letters, strings.Join(told, "\n"))
			}
		})
	}
}

// reminded has the first letter be given up, of which nobody knows then whether it has gone out, and a reminder be sent.
const reminded = "\nadvance 4h\n----\n\nanswer task=ask:1:2 receipt=q2@support.example\n----\n"

// TestAllOfSeveralBounce: a question ends once nobody is left who has a letter of it, in whichever run their reports come.
func TestAllOfSeveralBounce(t *testing.T) {
	t.Parallel()
	const both = "people: {anna: {mail: anna@practice.example, account: support}, ben: {mail: ben@practice.example, account: support}}"
	bounce := func(id, of, recipient string) string {
		return "\nmail id=" + id + " bounce-of=" + of + " notice=ask:1:1 action=failed status=5.1.1 recipient=" + recipient + "\n----\n"
	}
	anna, ben := bounce("b1", "1", "Anna@practice.example"), bounce("b2", "1", "ben@practice.example")
	asked := look(1) + letterSent
	for name, c := range map[string]struct {
		script string
		want   string // open, unreachable, or anew: asked by a letter of the second run
	}{
		"one":                                 {asked + anna, "open"},
		"all":                                 {asked + anna + ben, "unreachable"},
		"all, in another order":               {asked + ben + anna, "unreachable"},
		"one twice":                           {asked + anna + bounce("b3", "1", "anna@practice.example"), "open"},
		"one, and a stranger":                 {asked + anna + bounce("b3", "1", "carl@practice.example"), "open"},
		"one, and somebody":                   {asked + anna + "\nmail id=b3 bounce-of=1 notice=ask:1:1 action=failed status=5.1.1\n----\n", "open"},
		"one, and the other is late":          {asked + anna + strings.NewReplacer("failed", "delayed", "5.1.1", "4.4.1").Replace(ben), "open"},
		"all between two attempts":            {asked + released + anna + ben + look(2), "anew"},
		"one between two attempts":            {asked + released + anna + look(2), "open"},
		"one between, and one after adoption": {asked + released + anna + look(2) + ben, "unreachable"},
		"one before, and one between":         {asked + anna + released + ben + look(2), "anew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := strings.Replace(attemptsProfile, "people: {anna: {mail: anna@practice.example, account: support}}", both, 1)
			s, told := attack(t, strings.Replace(profile, "people: [anna]", "people: [anna, ben]", 1)+c.script)
			got := "unreachable"
			if active := s.state.Active; active != nil {
				switch inquiry := active.Inquiries[len(active.Inquiries)-1]; {
				case !inquiry.Open():
					got = string(inquiry.Closed)
				case active.Number > 1 && inquiry.Adopts == nil:
					got = "anew"
				default:
					got = "open"
				}
			}
			if got != c.want {
				t.Errorf("it is %s, want %s:\n%s", got, c.want, strings.Join(told, "\n"))
			}
		})
	}
}

// TestCancelledWhileItWaits: a person's cancel of a further attempt that waits for its turn is for good; that of whoever is upstream is not.
func TestCancelledWhileItWaits_X03(t *testing.T) {
	t.Parallel()
	const (
		another  = "\nchat id=c1 thread=t user=U1\nHello.\n----\n"
		byPerson = "\ncancel run=3 id=x3\n----\n"
		byHint   = "\ncancel request=r2 id=x4\n----\n"
		goOn     = released + "\nanswer task=reply run=2 receipt=c1\n----\n"
	)
	waits := look(1) + letterSent + another + look(2)
	for name, c := range map[string]struct {
		script  string
		adopted int
	}{
		"by a person":            {waits + byPerson + goOn + look(3), 0},
		"by whoever is upstream": {waits + byHint + goOn + look(3), 1},
		"by both":                {waits + byHint + byPerson + goOn + look(3), 0},
		"by a person first":      {waits + byPerson + byHint + goOn + look(3), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := attack(t, attemptsProfile+c.script)
			if s.state.Runs != 4 || s.facts["adopted"] != c.adopted {
				t.Errorf("of %d runs %d have adopted, want %d:\n%s", s.state.Runs, s.facts["adopted"], c.adopted, strings.Join(told, "\n"))
			}
		})
	}
}
