package dav

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// propfind asks for what the client wants to know of a resource, or of those in it.
func (c *Client) propfind(ctx context.Context, path, depth string) ([]listed, error) {
	body := `<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:" xmlns:k="` + c.kind.namespace + `"><d:prop>` +
		`<d:resourcetype/><d:current-user-principal/><k:` + c.kind.home + `/><k:supported-calendar-component-set/></d:prop></d:propfind>`
	return c.list(ctx, call{method: "PROPFIND", path: path, body: []byte(body), header: map[string]string{"Depth": depth}})
}

func (c *Client) list(ctx context.Context, asked call) ([]listed, error) {
	asked.header["Content-Type"] = "application/xml; charset=utf-8"
	got, err := c.ask(ctx, asked)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusMultiStatus {
		return nil, ErrUnreadable
	}
	return readListing(got.body)
}

// Check reports whether the server answers and has the collection.
func (c *Client) Check(ctx context.Context) error {
	collection, err := c.Collection(ctx)
	if err != nil {
		return err
	}
	_, err = c.propfind(ctx, collection, "0")
	return err
}

// Collection returns the path of the collection, which ends in a slash. It is the one of the URL, or else the only one
// that the server has for this user: below the URL, or in the home that the server names.
func (c *Client) Collection(ctx context.Context) (string, error) {
	c.mu.Lock()
	known := c.collection
	c.mu.Unlock()
	if known != "" {
		return known, nil
	}
	found, err := c.discover(ctx)
	if err != nil {
		return "", err
	}
	target, err := c.resolve(found)
	if err != nil {
		return "", err
	}
	known = strings.TrimSuffix(target.EscapedPath(), "/") + "/"
	c.know(known)
	return known, nil
}

// know keeps the path of the collection; an empty one is looked for anew.
func (c *Client) know(collection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.collection = collection
}

func (c *Client) discover(ctx context.Context) (string, error) {
	here, err := c.propfind(ctx, c.base.EscapedPath(), "0")
	if err != nil {
		return "", err
	}
	var principal, home string
	for i := range here {
		if here[i].is(c.kind) {
			return here[i].address, nil
		}
		principal, home = here[i].Principal.Href, here[i].homeOf(c.kind)
	}
	if home == "" && principal != "" {
		own, err := c.propfind(ctx, principal, "0")
		if err != nil {
			return "", err
		}
		for i := range own {
			home = own[i].homeOf(c.kind)
		}
	}
	if home == "" {
		home = c.base.EscapedPath()
	}
	all, err := c.propfind(ctx, home, "1")
	if err != nil {
		return "", err
	}
	var found []string
	for i := range all {
		if all[i].is(c.kind) {
			found = append(found, all[i].address)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%w: there are %d", ErrNoCollection, len(found))
	}
	return found[0], nil
}

// Appointments returns the resources of a calendar with appointments between two moments, by the server's reading of their
// times. One without a body is what the server has and did not give: an entry, or all that did not fit into its answer.
func (c *Client) Appointments(ctx context.Context, from, until time.Time) ([]Resource, error) {
	const layout = "20060102T150405Z"
	return c.report(ctx, `<k:calendar-query xmlns:d="DAV:" xmlns:k="`+caldavNamespace+`"><d:prop><d:getetag/><k:calendar-data/></d:prop>`+
		`<k:filter><k:comp-filter name="VCALENDAR"><k:comp-filter name="VEVENT"><k:time-range start="`+from.UTC().Format(layout)+
		`" end="`+until.UTC().Format(layout)+`"/></k:comp-filter></k:comp-filter></k:filter></k:calendar-query>`)
}

// Contacts returns all resources of an address book. One without a body is what the server has and did not give.
func (c *Client) Contacts(ctx context.Context) ([]Resource, error) {
	return c.report(ctx, `<k:addressbook-query xmlns:d="DAV:" xmlns:k="`+carddavNamespace+
		`"><d:prop><d:getetag/><k:address-data/></d:prop><k:filter/></k:addressbook-query>`)
}

func (c *Client) report(ctx context.Context, body string) ([]Resource, error) {
	collection, err := c.Collection(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.list(ctx, call{
		method: "REPORT", path: collection, header: map[string]string{"Depth": "1"},
		body: []byte(`<?xml version="1.0" encoding="utf-8"?>` + body),
	})
	if errors.Is(err, ErrNotFound) {
		c.know("") // it may be elsewhere by now
	}
	if err != nil {
		return nil, err
	}
	var resources []Resource
	for i := range all {
		target, err := c.resolve(all[i].address)
		if err != nil {
			return nil, err
		}
		path, data := target.EscapedPath(), all[i].data()
		if data == "" && !all[i].withheld && strings.HasSuffix(path, "/") {
			continue // a collection is listed as well, by some
		}
		resources = append(resources, Resource{Path: path, ETag: strongETag(all[i].ETag), Body: []byte(data)})
	}
	return resources, nil
}
