package dav

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// A Resource is an entry of a collection as it was read.
type Resource struct {
	Path string // below the server
	ETag string // strong and quoted; empty when the server gives none
	Body []byte
}

// lookTimeout bounds looking what became of a write.
const lookTimeout = 10 * time.Second

// Get reads a resource. Errors: ErrNotFound, a *StatusError, and those of a call without an answer.
func (c *Client) Get(ctx context.Context, path string) (Resource, error) {
	got, err := c.do(ctx, call{method: http.MethodGet, path: path, header: map[string]string{"Accept": c.kind.media}})
	if err == nil {
		err = got.refused()
	}
	if err != nil {
		return Resource{}, err
	}
	return Resource{Path: path, ETag: strongETag(got.header.Get("ETag")), Body: got.body}, nil
}

// Find reads a resource; nil is none.
func (c *Client) Find(ctx context.Context, path string) (*Resource, error) {
	found, err := c.Get(ctx, path)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil //nolint:nilnil // there is none, and nothing wrong
	case err != nil:
		return nil, err
	}
	return &found, nil
}

// Remove deletes a resource that is as it was read, and looks when nothing says that it has.
func (c *Client) Remove(ctx context.Context, read *Resource) error {
	return c.Settle(ctx, c.Delete(ctx, read), func(ctx context.Context) (bool, error) {
		left, err := c.Find(ctx, read.Path)
		return err == nil && left == nil, err
	})
}

// Create makes a resource where none is. The error is ErrChanged when there is one.
func (c *Client) Create(ctx context.Context, path string, body []byte) error {
	return c.write(ctx, call{method: http.MethodPut, path: path, body: body, header: map[string]string{"If-None-Match": "*"}})
}

// Replace changes a resource that is as it was read, with another body. The error is ErrChanged when it is not, and ErrNoETag
// when the server does not say what it is.
func (c *Client) Replace(ctx context.Context, read *Resource, body []byte) error {
	return c.writeTo(ctx, read, call{method: http.MethodPut, body: body})
}

// Delete deletes a resource that is as it was read. The error is ErrChanged when it is not, and ErrNotFound when
// it is not there.
func (c *Client) Delete(ctx context.Context, read *Resource) error {
	return c.writeTo(ctx, read, call{method: http.MethodDelete})
}

func (c *Client) writeTo(ctx context.Context, read *Resource, asked call) error {
	if read.ETag == "" {
		return errors.Join(errNotConnected, ErrNoETag) // what cannot be named cannot be kept from others
	}
	asked.path, asked.header = read.Path, map[string]string{"If-Match": read.ETag}
	err := c.write(ctx, asked)
	if !errors.Is(err, ErrChanged) {
		return err
	}
	if now, failed := c.Find(ctx, read.Path); failed == nil && now != nil && now.ETag == read.ETag {
		return errors.Join(err, ErrNoETag) // nothing was changed: the server does not know its own ETag
	}
	return err
}

// strongETag returns an ETag by which a write can be held to what was read, in quotes; empty for a weak one, which by RFC
// 9110 matches nothing. Some servers leave the quotes out.
func strongETag(said string) string {
	said = strings.TrimSpace(said)
	switch {
	case said == "" || strings.HasPrefix(said, "W/") || strings.HasPrefix(said, "w/"):
		return ""
	case len(said) >= 2 && said[0] == '"' && said[len(said)-1] == '"' && !strings.Contains(said[1:len(said)-1], `"`):
		return said
	case strings.ContainsFunc(said, func(r rune) bool { return r <= ' ' || r == '"' || r > '~' }):
		return ""
	}
	return `"` + said + `"`
}

func (c *Client) write(ctx context.Context, asked call) error {
	if asked.body != nil {
		asked.header["Content-Type"] = c.kind.media + "; charset=utf-8"
	}
	got, err := c.do(ctx, asked)
	if err != nil {
		return err
	}
	return got.refused()
}

// A WriteError is a write that has not brought about what it was for, as far as anybody knows.
type WriteError struct {
	Unknown bool // it may have, or still may
	Err     error
}

// Error implements error.
func (w *WriteError) Error() string { return w.Err.Error() }

func (w *WriteError) Unwrap() error { return w.Err }

// Settle says what became of a write that has failed: nil when a look shows that it is done all the same, and else a
// *WriteError. An answer of the server is final, so that what a look does not show then is not done. Without an answer it
// may still be on its way.
func (c *Client) Settle(ctx context.Context, failed error, done func(context.Context) (bool, error)) error {
	switch {
	case failed == nil:
		return nil
	case errors.Is(failed, errNotConnected):
		return &WriteError{Err: failed}
	case ctx.Err() != nil:
		return &WriteError{Unknown: true, Err: failed}
	}
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	happened, err := done(looking)
	if err == nil && happened {
		return nil
	}
	_, answered := errors.AsType[*StatusError](failed)
	answered = answered || errors.Is(failed, ErrChanged) || errors.Is(failed, ErrNoETag) || errors.Is(failed, ErrNotFound)
	return &WriteError{Unknown: err != nil || !answered, Err: failed}
}
