package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/emersion/go-msgauth/dkim"
)

// DKIM says how signatures are verified here (RFC 6376), as a second opinion
// beside the receiving server's. Without LookupTXT none is.
type DKIM struct {
	// LookupTXT asks the DNS for the text records of a name.
	LookupTXT        func(ctx context.Context, name string) ([]string, error)
	MaxVerifications int           // signatures of one mail; default 5
	Timeout          time.Duration // for all signatures of one mail together; default 5 s
}

const maxKeyRecord = 8 << 10 // bytes

// A Signature is the outcome of one signature.
type Signature struct {
	domain string
	valid  bool // false is a signature that is wrong; one that is malformed or lacks its key says nothing
}

// Verify checks the signatures of a mail. It reads the mail from its beginning
// and leaves it there again. The error is of the reader.
func (d DKIM) Verify(ctx context.Context, raw io.Reader, headerLimit int) ([]Signature, error) {
	mail, seekable := raw.(io.ReadSeeker)
	if d.LookupTXT == nil || !seekable {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(max(d.Timeout, 0), 5*time.Second))
	defer cancel()
	source := &quietReader{ctx: limited, r: mail, header: headerLimit}
	most := cmp.Or(max(d.MaxVerifications, 0), 5)
	found, err := dkim.VerifyWithOptions(source, &dkim.VerifyOptions{MaxVerifications: most, LookupTXT: func(name string) ([]string, error) {
		records, err := d.LookupTXT(limited, name)
		for _, record := range records {
			if len(record) > maxKeyRecord {
				return nil, errors.New("the key record is too long")
			}
		}
		return records, err
	}})
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		found = nil // the mail is malformed; Parse says so
	}
	if source.failure != nil && limited.Err() == nil {
		return nil, fmt.Errorf("verify signatures: %w", source.failure)
	}
	if _, err := mail.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read mail again: %w", err)
	}
	if source.failure != nil || source.large {
		return nil, nil // not all of the mail was seen in time
	}
	var outcomes []Signature
	for _, one := range found {
		domain := asciiDomain(one.Domain)
		if domain == "" || dkim.IsTempFail(one.Err) || dkim.IsPermFail(one.Err) {
			continue
		}
		outcomes = append(outcomes, Signature{domain: domain, valid: one.Err == nil})
	}
	return outcomes, nil
}

// A quietReader ends with its context, turns every failure into the end of the input and remembers it:
// the verifier waits for its own goroutines only when its input ends well. A
// header beyond the limit ends the input as well, since the verifier holds it
// in memory.
type quietReader struct {
	ctx     context.Context //nolint:containedctx // io.Reader has no room for one
	r       io.Reader
	header  int // bytes of the header that may still come
	newline int // newlines in a row; two end the header
	inBody  bool
	large   bool
	failure error
}

// Read implements io.Reader.
func (q *quietReader) Read(p []byte) (int, error) {
	if q.failure == nil {
		q.failure = q.ctx.Err()
	}
	if q.large || q.failure != nil {
		return 0, io.EOF
	}
	n, err := q.r.Read(p)
	for i := 0; i < n && !q.inBody; i++ {
		switch p[i] {
		case '\n':
			q.newline++
			q.inBody = q.newline == 2
		case '\r':
		default:
			q.newline = 0
		}
		if q.header--; q.header < 0 {
			q.large = true
			return 0, io.EOF
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		q.failure, err = err, io.EOF
	}
	return n, err
}
