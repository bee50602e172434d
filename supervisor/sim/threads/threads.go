// Package threads holds who is in the chat that runs come from, and what people say who are asked there, in worlds with that: whoever is asked, somebody else,
// one with the same name in another chat, words that are edited, and words that decide nothing. All of it is drawn from a source of its own.
package threads

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"podium/schemas"
)

// stream is a source of its own for threads, so that worlds without them are as they were.
const stream = 0x74687265616473

// Channel is the chat that messages of a world come by, and Elsewhere another one.
const (
	Channel   = "c"
	Elsewhere = "d"
)

// raises is the word by which a budget is raised.
const raises = "more"

// Threads are what a world has in which people are asked in a chat; nil is a world without.
type Threads struct {
	Rand *rand.Rand
	// apart is that many of those who are asked are not in the chat.
	apart bool
}

// New returns those of the world of a seed.
func New(seed uint64) *Threads {
	t := &Threads{Rand: rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // a simulation repeats
	t.apart = once(t.Rand, 3)
	return t
}

// User is who somebody is in the chat who is in it. Of those who work for a profile, one writes to the world as well.
func User(name string) string {
	if name == "eve" {
		return "U2"
	}
	return "U-" + name
}

// Declare says in profiles who is in the chat, and has some of those who are asked about other things raise budgets as well.
func (t *Threads) Declare(sources []schemas.Profile) {
	if t == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		p.Languages = slices.Clone(p.Languages)
		for n := range p.Languages {
			p.Languages[n].Raise = []string{raises}
		}
		if p.Budget != nil && p.Budget.Exhausted == schemas.BudgetAsks && !once(t.Rand, 3) {
			budget := *p.Budget
			budget.People, p.Budget = pick(t.Rand, []string{"anna"}, []string{"anna", "ben"}, []string{"eve", "anna"}), &budget
		}
	}
	t.Seat(sources)
}

// Seat gives those a place in the chat who have none, and now and then somebody another one, or none any more.
func (t *Threads) Seat(sources []schemas.Profile) {
	if t == nil {
		return
	}
	for i := range sources {
		people := maps.Clone(sources[i].People)
		for _, name := range slices.Sorted(maps.Keys(people)) {
			person := people[name]
			if person.Chat == nil || once(t.Rand, 12) {
				person.Chat = t.seat(name)
			}
			people[name] = person
		}
		sources[i].People = people
	}
}

func (t *Threads) seat(name string) *schemas.PersonInChat {
	away := 24
	if t.apart {
		away = 4
	}
	switch t.Rand.IntN(away) {
	case 0:
		return nil
	case 1:
		return &schemas.PersonInChat{Channel: Elsewhere, User: User(name)}
	case 2: // by another account
		return &schemas.PersonInChat{Channel: Channel, User: "V-" + name}
	}
	return &schemas.PersonInChat{Channel: Channel, User: User(name)}
}

var addressed = regexp.MustCompile(`(?m)^((?:anna|ben|carl|dora|eve)(?:, (?:anna|ben|carl|dora|eve))*): `)

// Asked are those whom a notice calls by their names, as it does in a thread; nobody is any other notice.
func (t *Threads) Asked(notice string) []string {
	if t == nil {
		return nil
	}
	found := addressed.FindStringSubmatch(notice)
	if found == nil {
		return nil
	}
	return strings.Split(found[1], ", ")
}

// Raises is what somebody says who may raise a budget.
func (t *Threads) Raises() string {
	return pick(t.Rand, "more", "More!", "more 20", "more 100\n\nThat is all.", "no", "No.", "some more", "more or less", "20")
}

// Decides reports whether somebody has said one of the words that decide about a budget, alone or with a number behind it.
func Decides(said string) bool { return decides.MatchString(said) }

var decides = regexp.MustCompile(`^(?i:more|no)[.!]?(?:\n|$)|^more \d+(?:\n|$)`)

// Works is what somebody says to work.
func (t *Threads) Works() string {
	return pick(t.Rand, "It is done.", "no", "12, as you ask", "See P-1.")
}

// Another is a user who is not asked: nobody whom the provider names, somebody unknown, one of the others, or one with the name of a person.
func (t *Threads) Another(asked string) string {
	return pick(t.Rand, "", "mallory", User("dora"), User("carl"), "U1", "U2", asked, User("ben"))
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func once(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
