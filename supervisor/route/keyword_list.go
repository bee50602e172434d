package route

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"podium/schemas"
)

// Keywords is a list of keywords, ready to be looked for. It is immutable.
type Keywords struct {
	folder  *folder
	matcher *matcher
}

// CompileKeywords makes a list of keywords ready. Its error joins every fault.
func CompileKeywords(configured []schemas.Keyword) (*Keywords, error) {
	c := compiler{router: &Router{folder: newFolder()}}
	ready := c.keywords("keywords", 0, configured)
	if err := errors.Join(c.faults...); err != nil {
		return nil, fmt.Errorf("compile keywords: %w", err)
	}
	return &Keywords{folder: c.router.folder, matcher: newMatcher(ready)}, nil
}

// Hit reports whether one of the keywords counts in what is read of the text.
func (k *Keywords) Hit(text string) bool { return len(k.matcher.first(k.folder.foldMessage(text))) > 0 }

// HitAgain is Hit of a text in which something may have been found before.
func (k *Keywords) HitAgain(text string, found *Found) bool {
	return len(found.first(k.matcher, k.folder.foldMessage(text))) > 0
}

// ReadAhead is Hit, and adds what it finds in a long text.
func (k *Keywords) ReadAhead(text string, found *Found) bool {
	found.open = true
	hit := k.HitAgain(text, found)
	found.open = false
	return hit
}

// A Place is where a keyword counts, in bytes of the text. It reaches to the limits of the
// words that the keyword begins and ends in.
type Place struct {
	Keyword    int // its index in the list
	Start, End int
}

// Places returns where keywords count in the text, in its order.
func (k *Keywords) Places(text string) []Place {
	f := k.folder.fold(text)
	found := k.matcher.all(f)
	places := make([]Place, len(found))
	for i, o := range found {
		places[i] = Place{Keyword: o.keyword, Start: f.start(o.start), End: f.end(o.end)}
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Keyword, b.Keyword))
	})
	return places
}

// A Folding brings texts into the one form in which they are compared. It is immutable.
type Folding struct{ folder *folder }

// NewFolding makes one ready.
func NewFolding() Folding { return Folding{folder: newFolder()} }

// Fold returns the text in that form.
func (f Folding) Fold(text string) string { return string(f.folder.fold(text).text) }
