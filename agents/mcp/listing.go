package mcp

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of the tools that a server may have.
const (
	maxTools = 10_000
	maxPages = 1000
)

// A listing is the tools that a server has named.
type listing struct {
	names   []string
	trouble error // why the list was ended although the server goes on with it
}

// find asks a server for one of its tools. The error is ErrNoTool when it has none of that name; listed are those that it
// has. A cursor that was asked for before, and a page that brings nothing but tools that are known, end the list.
func find(ctx context.Context, live *session, name string) (found Tool, listed listing, err error) {
	asked, known := map[string]bool{"": true}, map[string]bool{}
	cursor := ""
	for {
		page, err := live.client.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err == nil {
			err = ctx.Err() // an answer that came at once does not win against the end of the time
		}
		if err != nil {
			return Tool{}, listed, fmt.Errorf("ask the server for its tools%s: %w", atCursor(cursor), wordless(live.why(err)))
		}
		if len(page.Tools) > 0 && isRepeated(page.Tools, known) {
			listed.trouble = fmt.Errorf("the page%s repeats tools that were listed before", atCursor(cursor))
			break
		}
		if err = takePage(page.Tools, name, &found, &listed, known); err != nil {
			return Tool{}, listed, err
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		if asked[cursor] {
			listed.trouble = fmt.Errorf("the list does not go on%s, which was asked for before", atCursor(cursor))
			break
		}
		if asked[cursor] = true; len(asked) > maxPages {
			listed.trouble = fmt.Errorf("the list of tools has more than %d pages; it goes on%s", maxPages, atCursor(cursor))
			break
		}
	}
	switch {
	case found.Name != "":
		return found, listed, nil
	case listed.trouble != nil:
		return Tool{}, listed, fmt.Errorf("%w: %w", ErrNoTool, listed.trouble)
	}
	return Tool{}, listed, ErrNoTool
}

// takePage takes the tools of a page, and the one that is looked for.
func takePage(tools []*sdk.Tool, name string, found *Tool, listed *listing, known map[string]bool) (err error) {
	for _, tool := range tools {
		if listed.names = append(listed.names, plain(tool.Name, maxSummary)); len(listed.names) > maxTools {
			return fmt.Errorf("the server has more than %d tools", maxTools)
		}
		if tool.Name == name {
			if known[name] {
				return errors.New("the server has two tools of the same name")
			}
			if *found, err = toolOf(tool); err != nil {
				return err
			}
		}
		known[tool.Name] = true
	}
	return nil
}

// isRepeated reports whether all tools of a page are known.
func isRepeated(tools []*sdk.Tool, known map[string]bool) bool {
	for _, tool := range tools {
		if !known[tool.Name] {
			return false
		}
	}
	return true
}

// maxCursor is how much of a cursor is told, in bytes.
const maxCursor = 100

// atCursor tells of which page something is said.
func atCursor(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf(" at the cursor %q", plain(cursor, maxCursor))
}
