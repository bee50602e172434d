package route

// requests returns the clauses that ask for something, in text order.
func (o *outline) requests() []int {
	var requests []int
	var asking, telling bool // what the sentence does
	sentence := 0
	for i := range o.clauses[:o.requesting()] {
		c := &o.clauses[i]
		asked := len(requests) > 0
		starts := o.startsWithVerb(c)
		if c.before&sentenceStart != 0 {
			sentence = i
			if asked {
				asking = !starts && !telling && (c.question || c.before&boundarySeparator != 0)
				telling = !starts && !asking && (telling || c.telling)
			}
		}
		if c.verb < 0 || telling {
			continue
		}
		if !asked || starts && o.follows(i) || asking || c.before&boundarySeparator != 0 {
			c.asking, c.sentence = asking, sentence
			requests = append(requests, i)
			asking = false
		}
	}
	return requests
}

// requesting returns how many clauses come before the first paragraph that only
// adds to what was asked for.
func (o *outline) requesting() int {
	asked := false
	for i := range o.clauses {
		c := &o.clauses[i]
		if asked && c.before&boundaryParagraph != 0 && !o.startsWithVerb(c) && !c.wordless {
			return i
		}
		asked = asked || c.verb >= 0
	}
	return len(o.clauses)
}

// request returns the end of what the text asks for, in folded offsets: behind
// it there is only material.
func (o *outline) request() int {
	if count := o.requesting(); count < len(o.clauses) {
		return min(o.material, o.clauses[count].start)
	}
	return o.material
}

func (o *outline) startsWithVerb(c *clause) bool {
	return c.verb >= 0 && o.verbs[c.verb].start == c.start
}

// follows says whether a clause that starts with its verb may follow the one
// before it. After a mere comma it may not when the clause before has its verb
// elsewhere: "before you compare them, find the two" turns the order round.
func (o *outline) follows(clause int) bool {
	if o.clauses[clause].before != boundaryComma {
		return true
	}
	before := &o.clauses[clause-1]
	return before.verb < 0 || o.startsWithVerb(before) || before.before&boundarySeparator != 0
}
