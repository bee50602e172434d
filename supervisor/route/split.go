package route

import "strings"

// A Step is one of the requests that a text makes, in the person's own words.
type Step struct {
	// Text is the step without the separators, commas and list marks between it
	// and its neighbors.
	Text string
	// Start and End are byte offsets into the text as received. The steps of a
	// text follow each other without a gap and cover it from its first to its
	// last visible character.
	Start, End int
}

// Split returns the texts of Steps.
func (r *Router) Split(text string) []string {
	steps := r.Steps(text)
	texts := make([]string, len(steps))
	for i, step := range steps {
		texts[i] = step.Text
	}
	return texts
}

// Steps splits a text into the steps of a sequence, by the rules of the package
// comment: one for a text that is not complex, none for a text of white space,
// never more than the profile's execution.max_steps; the last step keeps the
// rest.
func (r *Router) Steps(text string) []Step {
	visible := strings.TrimSpace(text)
	if visible == "" {
		return nil
	}
	start := strings.Index(text, visible)
	steps := []Step{{Text: visible, Start: start, End: start + len(visible)}}
	if r.complexity == nil {
		return steps
	}
	f := r.folder.foldMessage(text)
	o := r.complexity.outline(f)
	if !r.complexity.assess(f, &o).Complex {
		return steps
	}
	for _, begin := range o.steps(r.maxSteps) {
		c := &o.clauses[begin]
		last := &steps[len(steps)-1]
		begins, end := f.start(c.start), last.End
		last.Text = strings.TrimSpace(text[last.Start:f.end(c.previous)])
		last.End = begins
		steps = append(steps, Step{Text: strings.TrimSpace(text[begins:end]), Start: begins, End: end})
	}
	return steps
}

// steps returns the clauses that begin a step, but for the first step, which
// begins with the text. With it they are at most limit.
func (o *outline) steps(limit int) []int {
	var begin []int
	previous := -1 // the clause of the request before
	for _, i := range o.requests() {
		if previous >= 0 && !o.shares(previous, i) && len(begin)+1 < limit {
			begin = append(begin, o.beginning(i))
		}
		previous = i
	}
	return begin
}

// shares says whether the verbs of two neighboring clauses have one object: the
// first clause is nothing but its verb, and the second is not.
func (o *outline) shares(before, clause int) bool {
	if before != clause-1 || !o.isBare(before) || o.isBare(clause) {
		return false
	}
	between := o.clauses[clause].before
	return between == boundarySeparator || between == boundaryComma
}

func (o *outline) isBare(clause int) bool {
	c := &o.clauses[clause]
	return o.startsWithVerb(c) && o.verbs[c.verb].end >= c.end
}

// beginning returns the clause that the request of a clause begins with: the
// first of its sentence when that asks as a whole, and a label before a colon.
func (o *outline) beginning(clause int) int {
	c := &o.clauses[clause]
	switch {
	case c.asking:
		return c.sentence
	case c.before&boundaryColon != 0 && o.clauses[clause-1].verb < 0 && o.clauses[clause-1].before&sentenceStart != 0:
		return clause - 1
	}
	return clause
}
