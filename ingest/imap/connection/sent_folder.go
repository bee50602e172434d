package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	goimap "github.com/emersion/go-imap/v2"
)

// ErrNoFolder reports that an account has no folder of sent mail that could be
// recognized.
var ErrNoFolder = errors.New("the account has no folder of sent mail; name one, or let it be kept nowhere")

const (
	folderDeadline = 15 * time.Second // of one call as a whole
	folderMemory   = 10 * time.Minute // how long it is remembered which folder it is, or that there is none
)

// A SentFolder is the folder of sent mail of an account. Every call is a connection
// of its own, made and protected as the adapter's is, and takes 15 s at most. It is
// safe for use by several goroutines at once.
type SentFolder struct {
	config Config
	name   string // as configured; "" is the one with the attribute \Sent (RFC 6154), else a usual name

	mu    sync.Mutex
	found string
	until time.Time // when what is found is looked for anew
}

// NewSentFolder returns the folder of that name; "" stands for the one that the
// server marks as such. Of the configuration, connection and credentials count. It
// does not connect.
func NewSentFolder(config Config, name string) *SentFolder {
	config = config.WithDefaults()
	config.CommandDeadline = min(config.CommandDeadline, folderDeadline)
	config.AnswerDeadline = min(config.AnswerDeadline, folderDeadline)
	return &SentFolder{config: config, name: name}
}

// Find reports whether the folder has a letter with that Message-ID, which is
// written without angle brackets, or with one that begins with prefix. It changes nothing. Errors: ErrNoFolder,
// ErrAuthentication, and those of the connection.
func (f *SentFolder) Find(ctx context.Context, messageID, prefix string) (found bool, err error) {
	err = f.connected(ctx, func(ctx context.Context, c *client, folder string) error {
		if opened, err := c.examine(ctx, folder); err != nil || !opened {
			return err
		}
		return c.run(ctx, "SEARCH", func() error {
			// A part of a field is enough for a search (RFC 9051, section 6.4.4), but not for every server.
			whole := withID("<" + messageID + ">")
			criteria := &whole
			if prefix != "" {
				criteria = &goimap.SearchCriteria{Or: [][2]goimap.SearchCriteria{{whole, withID("<" + prefix)}}}
			}
			data, err := c.imap.UIDSearch(criteria, nil).Wait()
			if err != nil {
				return err
			}
			found = len(data.AllUIDs()) > 0
			return nil
		})
	})
	return found, err
}

func withID(part string) goimap.SearchCriteria {
	return goimap.SearchCriteria{Header: []goimap.SearchCriteriaHeaderField{{Key: "Message-ID", Value: part}}}
}

// examine opens a folder for reading; false is one that does not exist, which not
// every server says when it refuses.
func (c *client) examine(ctx context.Context, folder string) (opened bool, err error) {
	refused := c.run(ctx, "EXAMINE", func() error {
		_, err := c.imap.Select(folder, &goimap.SelectOptions{ReadOnly: true}).Wait()
		return err
	})
	if !Refused(refused) {
		return refused == nil, refused
	}
	var listed []*goimap.ListData
	err = c.run(ctx, "LIST", func() (err error) {
		listed, err = c.imap.List("", folder, nil).Collect()
		return err
	})
	if err == nil && len(listed) > 0 {
		err = refused
	}
	return false, err
}

// Append puts a letter into the folder, as read and with the present date. A folder
// that was named in the configuration is made when it is missing. Errors: as Find.
func (f *SentFolder) Append(ctx context.Context, raw []byte) error {
	return f.connected(ctx, func(ctx context.Context, c *client, folder string) error {
		err := c.append(ctx, folder, raw)
		// There is no such folder (RFC 5530; RFC 9051, section 6.3.12).
		if f.name == "" || !refusedWith(err, goimap.ResponseCodeTryCreate, goimap.ResponseCodeNonExistent) {
			return err
		}
		if err := c.Create(ctx, folder); err != nil {
			return err
		}
		return c.append(ctx, folder, raw)
	})
}

func (c *client) append(ctx context.Context, folder string, raw []byte) error {
	return c.run(ctx, "APPEND", func() error {
		command := c.imap.Append(folder, int64(len(raw)), &goimap.AppendOptions{
			Flags: []goimap.Flag{goimap.FlagSeen}, Time: c.config.Clock(),
		})
		_, written := command.Write(raw)
		closed := command.Close()
		if _, err := command.Wait(); err != nil {
			return err // what the server says tells more than a broken pipe
		}
		return errors.Join(written, closed)
	})
}

// connected does something with the folder, in time.
func (f *SentFolder) connected(ctx context.Context, do func(ctx context.Context, c *client, folder string) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, folderDeadline, ErrSilent)
	defer cancel()
	folder, known := f.remembered()
	if known && folder == "" {
		return ErrNoFolder
	}
	source, err := Dial(ctx, f.config)
	if err != nil {
		return err
	}
	c, ours := source.(*client)
	if !ours {
		return errors.Join(fmt.Errorf("a connection of type %T", source), source.Close())
	}
	defer c.Close() //nolint:errcheck // what had to arrive was acknowledged
	if !known {
		if folder, err = c.sentFolder(ctx); err != nil {
			return err
		}
		f.remember(folder)
		if folder == "" {
			return ErrNoFolder
		}
	}
	if err = do(ctx, c, folder); err == nil {
		_ = c.run(ctx, "LOGOUT", func() error { return c.imap.Logout().Wait() })
	}
	return err
}

func (f *SentFolder) remembered() (folder string, known bool) {
	if f.name != "" {
		return f.name, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found, f.config.Clock().Before(f.until)
}

func (f *SentFolder) remember(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found, f.until = folder, f.config.Clock().Add(folderMemory)
}

// sentFolder finds the folder of sent mail, or "".
func (c *client) sentFolder(ctx context.Context) (string, error) {
	var folders []*goimap.ListData
	err := c.run(ctx, "LIST", func() (err error) {
		var options *goimap.ListOptions
		if caps := c.imap.Caps(); caps.Has(goimap.CapSpecialUse) && caps.Has(goimap.CapListExtended) {
			options = &goimap.ListOptions{ReturnSpecialUse: true}
		}
		folders, err = c.imap.List("", "*", options).Collect()
		return err
	})
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		if slices.Contains(folder.Attrs, goimap.MailboxAttrSent) {
			return folder.Mailbox, nil
		}
	}
	for _, usual := range [...]string{"Sent", "Sent Items", "Sent Messages", "INBOX.Sent", "INBOX/Sent"} {
		for _, folder := range folders {
			if strings.EqualFold(folder.Mailbox, usual) && !slices.Contains(folder.Attrs, goimap.MailboxAttrNoSelect) {
				return folder.Mailbox, nil
			}
		}
	}
	return "", nil
}
