package sim

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"podium/schemas"
)

// chatChannel is the chat that messages of a world come by, and chatElsewhere another one.
const (
	chatChannel   = "c"
	chatElsewhere = "d"
)

// raises is the word by which a budget is raised.
const raises = "more"

// threads are what a world has in which people are asked in a chat; nil is a world without.
type threads struct {
	rand *rand.Rand
	// apart is that many of those who are asked are not in the chat.
	apart bool
}

// newThreads returns those of the world of a seed.
func newThreads(seed uint64) *threads {
	t := &threads{rand: source(seed, threadStream)}
	t.apart = once(t.rand, 3)
	return t
}

// chatUser is who somebody is in the chat who is in it. Of those who work for a profile, one writes to the world as
// well.
func chatUser(name string) string {
	if name == "eve" {
		return "U2"
	}
	return "U-" + name
}

// declare says in profiles who is in the chat, and has some of those who are asked about other things raise budgets as
// well.
func (t *threads) declare(sources []schemas.Profile) {
	if t == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		p.Languages = slices.Clone(p.Languages)
		for n := range p.Languages {
			p.Languages[n].Raise = []string{raises}
		}
		if p.Budget != nil && p.Budget.Exhausted == schemas.BudgetAsks && !once(t.rand, 3) {
			budget := *p.Budget
			budget.People, p.Budget = pick(t.rand, []string{"anna"}, []string{"anna", "ben"}, []string{"eve", "anna"}), &budget
		}
	}
	t.seatAll(sources)
}

// seatAll gives those a place in the chat who have none, and now and then somebody another one, or none any more.
func (t *threads) seatAll(sources []schemas.Profile) {
	if t == nil {
		return
	}
	for i := range sources {
		people := maps.Clone(sources[i].People)
		for _, name := range slices.Sorted(maps.Keys(people)) {
			person := people[name]
			if person.Chat == nil || once(t.rand, 12) {
				person.Chat = t.seat(name)
			}
			people[name] = person
		}
		sources[i].People = people
	}
}

func (t *threads) seat(name string) *schemas.PersonInChat {
	away := 24
	if t.apart {
		away = 4
	}
	switch t.rand.IntN(away) {
	case 0:
		return nil
	case 1:
		return &schemas.PersonInChat{Channel: chatElsewhere, User: chatUser(name)}
	case 2: // by another account
		return &schemas.PersonInChat{Channel: chatChannel, User: "V-" + name}
	}
	return &schemas.PersonInChat{Channel: chatChannel, User: chatUser(name)}
}

var addressed = regexp.MustCompile(`(?m)^((?:anna|ben|carl|dora|eve)(?:, (?:anna|ben|carl|dora|eve))*): `)

// asked are those whom a notice calls by their names, as it does in a thread; nobody is any other notice.
func (t *threads) asked(notice string) []string {
	if t == nil {
		return nil
	}
	found := addressed.FindStringSubmatch(notice)
	if found == nil {
		return nil
	}
	return strings.Split(found[1], ", ")
}

// raises is what somebody says who may raise a budget.
func (t *threads) raises() string {
	return pick(t.rand, "more", "More!", "more 20", "more 100\n\nThat is all.", "no", "No.", "some more", "more or less", "20")
}

// works is what somebody says to work.
func (t *threads) works() string {
	return pick(t.rand, "It is done.", "no", "12, as you ask", "See P-1.")
}

// another is a user who is not asked: nobody whom the provider names, somebody unknown, one of the others, or one with
// the name of a person.
func (t *threads) another(asked string) string {
	return pick(t.rand, "", "mallory", chatUser("dora"), chatUser("carl"), "U1", "U2", asked, chatUser("ben"))
}
