package connection

import (
	"context"
	"slices"

	goimap "github.com/emersion/go-imap/v2"
)

// Flag implements MailSource.
func (c *client) Flag(ctx context.Context, uids []uint32, flag string) error {
	return c.run(ctx, "STORE", func() error {
		change := &goimap.StoreFlags{Op: goimap.StoreFlagsAdd, Silent: true, Flags: []goimap.Flag{goimap.Flag(flag)}}
		return c.imap.Store(uidSet(uids), change, nil).Close()
	})
}

// Move implements MailSource. The library's Move is asked only when the server
// has MOVE (RFC 6851): what it does otherwise deletes mail without waiting for
// the answer to COPY, and other people's mail with it.
func (c *client) Move(ctx context.Context, uids []uint32, folder string) error {
	if c.imap.Caps().Has(goimap.CapMove) {
		return c.run(ctx, "MOVE", func() error {
			_, err := c.imap.Move(uidSet(uids), folder).Wait()
			return err
		})
	}
	var copied *goimap.CopyData
	err := c.run(ctx, "COPY", func() (err error) {
		copied, err = c.imap.Copy(uidSet(uids), folder).Wait()
		return err
	})
	if err != nil {
		return err
	}
	if c.imap.Caps().Has(goimap.CapUIDPlus) { // COPYUID says which were copied
		uids = slices.DeleteFunc(slices.Clone(uids), func(uid uint32) bool { return !copied.SourceUIDs.Contains(goimap.UID(uid)) })
	}
	return c.Remove(ctx, uids)
}

// Create implements MailSource.
func (c *client) Create(ctx context.Context, folder string) error {
	return c.run(ctx, "CREATE", func() error { return c.imap.Create(folder, nil).Wait() })
}

// Remove implements MailSource. A plain EXPUNGE would also delete what other
// people have flagged.
func (c *client) Remove(ctx context.Context, uids []uint32) error {
	if len(uids) == 0 {
		return nil
	}
	if err := c.Flag(ctx, uids, string(goimap.FlagDeleted)); err != nil {
		return err
	}
	if !c.imap.Caps().Has(goimap.CapUIDPlus) {
		return nil
	}
	return c.run(ctx, "EXPUNGE", func() error { return c.imap.UIDExpunge(uidSet(uids)).Close() })
}
