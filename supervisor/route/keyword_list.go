package route

import (
	"errors"
	"fmt"

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

// Hit reports whether one of the keywords counts in the text.
func (k *Keywords) Hit(text string) bool { return len(k.matcher.first(k.folder.fold(text))) > 0 }
