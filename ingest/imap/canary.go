package imap

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	"time"
)

// CanaryHeader is the header field of the mail that an adapter sends to itself.
const CanaryHeader = "X-Podium-Canary"

const (
	canaryDeadline = time.Minute // to hand one to the mail server
	canaryHeader   = 64 << 10    // bytes of a mail in which its mark must stand
	canaryNonce    = 8           // bytes
)

// sendCanaries sends a mail to the adapter itself now and then. It comes in like any
// other, is accounted for, and starts nothing.
func (d *Adapter) sendCanaries(ctx context.Context) {
	// Before first contact it would be one of the mails that were there already.
	select {
	case <-d.read:
	case <-ctx.Done():
		return
	}
	for {
		now := d.config.Clock()
		d.update(func(s *Status) { s.Canary.Sent = now })
		sending, cancel := context.WithTimeout(ctx, canaryDeadline)
		err := d.dependencies.SendCanary(sending, d.canaryToken(now))
		cancel()
		if err != nil && ctx.Err() == nil {
			d.log.Error().Msg("the mail that the adapter sends to itself was not accepted")
		}
		failed := err != nil && ctx.Err() == nil
		d.update(func(s *Status) { s.Canary.Overdue = s.Canary.Overdue || failed })
		if !sleep(ctx, d.config.CanaryEvery) {
			return
		}
	}
}

// canaryToken is a mark that only this installation can make: the time of sending
// and a random number, with their MAC.
func (d *Adapter) canaryToken(now time.Time) string {
	content := binary.BigEndian.AppendUint64(nil, uint64(now.UnixNano())) //nolint:gosec // after 1970
	nonce := make([]byte, canaryNonce)
	_, _ = rand.Read(nonce) // it never fails
	content = append(content, nonce...)
	return base64.RawURLEncoding.EncodeToString(append(content, d.canaryMAC(content)...))
}

func (d *Adapter) canaryMAC(content []byte) []byte {
	mac := hmac.New(sha256.New, d.config.CanaryKey)
	_, _ = io.WriteString(mac, d.config.Account+"\x00"+d.config.Mailbox+"\x00")
	_, _ = mac.Write(content)
	return mac.Sum(nil)
}

// canarySent tells when a canary was sent that has this content; ok is false for
// any other mail.
func (d *Adapter) canarySent(content io.Reader) (sent time.Time, ok bool) {
	if len(d.config.CanaryKey) == 0 {
		return time.Time{}, false
	}
	lines := bufio.NewScanner(io.LimitReader(content, canaryHeader))
	lines.Buffer(nil, canaryHeader)
	for lines.Scan() {
		line := bytes.TrimRight(lines.Bytes(), "\r")
		if len(line) == 0 {
			break
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || !bytes.EqualFold(name, []byte(CanaryHeader)) {
			continue
		}
		token, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimSpace(value)))
		if err != nil || len(token) != 8+canaryNonce+sha256.Size {
			continue
		}
		mark, mac := token[:8+canaryNonce], token[8+canaryNonce:]
		if hmac.Equal(mac, d.canaryMAC(mark)) {
			return time.Unix(0, int64(binary.BigEndian.Uint64(mark))), true //nolint:gosec // as it was made
		}
	}
	return time.Time{}, false
}

// canaryArrived notes that one has come through the whole path. One that was sent
// before the newest, which comes late or once more, proves nothing.
func (d *Adapter) canaryArrived(sent time.Time) {
	now := d.config.Clock()
	d.update(func(s *Status) {
		if sent.Before(s.Canary.Sent) {
			return
		}
		s.Canary.Received, s.Canary.RoundTrip, s.Canary.Overdue = now, now.Sub(sent), false
	})
}
