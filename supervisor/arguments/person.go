package arguments

import (
	"slices"
	"strings"
)

// findNames finds persons: behind a title or the words of an introduction, before what is theirs or what they do,
// and in so many capitalized words behind one of the words that a rule lists.
func (r *reader) findNames(after []string, fewest int) []found {
	var all []found
	for i := 0; i < len(r.tokens) && len(all) < mostFound; {
		f, ok := r.nameAt(i, after, fewest)
		if !ok {
			i = max(i+1, f.to)
			continue
		}
		all = append(all, f)
		i = f.to
		// "for Eva Blum and Karl Otto" are two.
		if other, ok := r.nameFrom(i+1, 2, false); ok && (r.word(i, r.Joiners) || r.word(i, r.List)) {
			all = append(all, other)
			i = other.to
		}
	}
	return all
}

func (r *reader) nameAt(i int, after []string, fewest int) (found, bool) {
	start, titled := r.titles(i)
	if titled {
		f, ok := r.nameFrom(start, 1, true)
		f.from = i
		f.degree = !r.titleWithin(i, start)
		if r.word(i-1, r.Salutations) || f.degree && r.at(i).newline && i > 0 && f.to == len(r.tokens) {
			// Whoever is greeted is not spoken of, nor is whoever signs.
			return found{to: max(f.to, start)}, false
		}
		return f, ok
	}
	if r.introductions.before(r.tokens, i) > 0 || r.mark(i-1, ":") && r.introductions.before(r.tokens, i-1) > 0 {
		f, ok := r.nameFrom(i, 1, false)
		f.self = !r.mark(i-1, ":")
		return f, ok
	}
	if has(after, r.at(i).fold) {
		return found{}, false
	}
	if f, ok := r.nameFrom(i, 1, false); ok && (f.owner || strings.Contains(f.readings[0], " ") && r.word(f.to, r.Acts)) {
		return f, true
	}
	if r.word(i-1, r.Relations) || r.mark(i-1, ",") && r.word(i-2, r.Relations) {
		return r.nameFrom(i, 1, false)
	}
	if r.at(i).newline || r.mark(i-1, ":") {
		if f, ok := r.nameFrom(i, 2, false); ok && (r.mark(f.to, ":") || r.mark(f.to, ",") && len(after) > 0) {
			return f, true
		}
	}
	if has(after, r.at(i-1).fold) || r.mark(i-1, ":") && has(after, r.at(i-2).fold) {
		return r.nameFrom(i, fewest, false)
	}
	return found{}, false
}

// titleWithin says whether a title is among tokens, and not only degrees.
func (r *reader) titleWithin(from, to int) bool {
	for i := from; i < to; i++ {
		if r.word(i, r.Titles) {
			return true
		}
	}
	return false
}

// titles skips titles and degrees.
func (r *reader) titles(i int) (int, bool) {
	at := i
	for at < len(r.tokens) && (r.word(at, r.Titles) || r.word(at, r.Degrees)) && (at == i || !r.at(at).newline) {
		at++
		if r.mark(at, ".") && r.at(at).joined {
			at++
		}
	}
	return at, at > i
}

// nameFrom reads a name of at least so many words: capitalized ones, with particles between them, or a
// surname, a comma and a first name.
func (r *reader) nameFrom(i, fewest int, particle bool) (found, bool) {
	begin := i
	i, titled := r.titles(begin)
	particle = particle || titled
	const most = 4
	var parts []string
	end, owner := i, false
	for at := i; at < len(r.tokens) && len(parts) < most; {
		t := r.at(at)
		if t.kind != tokenWord || t.newline && at > i {
			break
		}
		if (particle || len(parts) > 0) && has(r.Particles, t.fold) && r.at(at+1).kind == tokenWord && (isCapital(r.written(at+1, at+2)) || has(r.Particles, r.at(at+1).fold)) && !isCapital(r.written(at, at+1)) {
			parts = append(parts, r.written(at, at+1))
			at++
			continue
		}
		bare, possessive := r.withoutPossessive(r.written(at, at+1))
		if !isCapital(bare) || r.notNames[r.fold(bare)] && !r.monthInName(at) {
			break
		}
		if possessive {
			parts, owner = append(parts, bare), true
			end = at + 1
			break
		}
		to := at + 1
		for r.mark(to, "-") && r.at(to).joined && r.at(to+1).joined && r.at(to+1).kind == tokenWord {
			to += 2
		}
		parts = append(parts, r.written(at, to))
		at, end = to, to
	}
	for len(parts) > 0 && has(r.Particles, r.fold(parts[len(parts)-1])) {
		parts = parts[:len(parts)-1]
	}
	name := strings.Join(parts, " ")
	if len(parts) == 1 && r.mark(end, ",") && !r.at(end+1).newline {
		first := r.at(end + 1)
		if first.kind == tokenWord && isCapital(r.written(end+1, end+2)) && !r.notNames[first.fold] && r.endsName(end+2) {
			name, end = r.written(end+1, end+2)+" "+name, end+2
			parts = append(parts, "")
		}
	}
	if len(parts) < fewest {
		return found{}, false
	}
	degree := titled && !r.titleWithin(begin, i)
	return found{from: i, to: end, readings: []string{r.withDegree(name, i)}, short: -1, owner: owner, degree: degree}, true
}

// withDegree is a name with the degrees that stand before it, if they belong to names.
func (r *reader) withDegree(name string, at int) string {
	from := at
	for r.degrees {
		before := from - 1
		if r.mark(before, ".") && r.at(before).joined {
			before--
		}
		if !r.word(before, r.Degrees) {
			break
		}
		from = before
	}
	return strings.TrimSpace(r.written(from, at) + " " + name)
}

// monthInName says whether the word for a month is the first name of somebody.
func (r *reader) monthInName(i int) bool {
	next := r.at(i + 1)
	return r.months[r.at(i).fold] > 0 && !r.inside(i) && r.at(i-1).kind != tokenNumber && !r.mark(i-1, ".") && next.kind == tokenWord && !next.newline &&
		isCapital(r.written(i+1, i+2)) && !r.notNames[next.fold]
}

// withoutPossessive takes the ending off that says whose something is.
func (r *reader) withoutPossessive(word string) (string, bool) {
	for _, ending := range r.Possessives {
		if bare, ok := strings.CutSuffix(strings.ReplaceAll(word, "’", "'"), ending); ok && bare != "" {
			return bare, true
		}
	}
	return word, false
}

// endsName says whether a name may end there.
func (r *reader) endsName(i int) bool {
	t := r.at(i)
	return i >= len(r.tokens) || t.newline || t.kind == tokenMark || t.kind == tokenNumber || !isCapital(r.written(i, i+1)) || r.notNames[t.fold]
}

// others says whether somebody is spoken of who has not written.
func (r *reader) others() bool {
	return slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == tokenWord && (has(r.Relations, t.fold) || has(r.Theirs, t.fold)) })
}

// own says whether something is spoken of that belongs to who has written.
func (r *reader) own() bool {
	return slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == tokenWord && has(r.Own, t.fold) })
}

// signature is the name of who has written: behind a closing, or alone at the end.
func (r *reader) signature() (found, bool) {
	const longest = 5
	for i := range slices.Backward(r.tokens) {
		closing := r.closings.at(r.tokens, i)
		near := i >= len(r.tokens)-longest-closing
		if closing == 0 || !r.at(i).newline && !near {
			continue
		}
		start := i + closing
		for r.mark(start, ",") || r.mark(start, "!") || r.mark(start, ".") || r.mark(start, "-") {
			start++
		}
		if f, ok := r.nameFrom(start, 1, false); ok && (r.at(f.to).newline || r.mark(f.to, ",") || r.mark(f.to, "(") || r.mark(f.to, ".")) {
			return f, true
		}
	}
	for i := max(1, len(r.tokens)-longest); i < len(r.tokens); i++ {
		if before := r.at(i - 1); !r.at(i).newline && before.fold != "." && before.fold != "!" && before.fold != "?" {
			continue
		}
		if f, ok := r.nameFrom(i, 2, false); ok && f.to == len(r.tokens) {
			return f, true
		}
	}
	return found{}, false
}

// plainName is a name without titles, the surname last. A degree stays where it belongs to names.
func (r *reader) plainName(text string) string {
	tokens := tokenize(text, r.fold)
	of := reader{lexicon: r.lexicon, text: text, tokens: tokens, fold: r.fold, degrees: r.degrees}
	start, _ := of.titles(0)
	if start >= len(tokens) {
		return strings.TrimSpace(text)
	}
	end := len(tokens)
	for end > start && tokens[end-1].kind == tokenMark {
		end--
	}
	name := of.written(start, end)
	if surname, first, both := strings.Cut(name, ","); both && !strings.Contains(first, ",") && strings.TrimSpace(first) != "" {
		name = strings.TrimSpace(first) + " " + strings.TrimSpace(surname)
	}
	return of.withDegree(strings.Join(strings.Fields(name), " "), start)
}

// mergeNames leaves out names that are a part of a longer one: Müller beside Eva Müller.
func mergeNames(names []string, fold func(string) string) []string {
	var kept []string
	for i, name := range names {
		part := slices.ContainsFunc(names, func(other string) bool {
			return len(other) > len(name) && strings.HasSuffix(fold(other), " "+fold(name))
		})
		same := slices.ContainsFunc(names[:i], func(other string) bool { return fold(other) == fold(name) })
		if !part && !same {
			kept = append(kept, name)
		}
	}
	return kept
}
