package artifact

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/keyring"
	"podium/schemas"
)

// expiryGrace is how long an artifact can be read after nobody waits for the
// work any more: clocks differ.
const expiryGrace = time.Minute

// What grants are for.
const (
	purposeRead keyring.Use = "read" // the bytes of an artifact, for a request
	purposePut  keyring.Use = "put"  // that an agent has put an artifact
)

// Grants makes and checks the rights of agents to artifacts: a hash alone opens
// nothing. A grant is a MAC (HMAC-SHA256) over its purpose, the agent, the
// request, the hash and the expiry, under a key of the ledger. It is safe for use
// by several goroutines at once.
type Grants struct{ ring *keyring.Ring }

// OpenGrants returns the grants of a ledger, under the keys that keyring.Open returns.
func OpenGrants(ctx context.Context, core bus.Core, now time.Time) (*Grants, error) {
	ring, err := keyring.Open(ctx, core, now)
	if err != nil {
		return nil, fmt.Errorf("open the grants of artifacts: %w", err)
	}
	return &Grants{ring}, nil
}

// NewGrants returns grants under one key that is in no ledger, for tests and
// simulations that repeat.
func NewGrants(secret []byte) (*Grants, error) {
	ring, err := keyring.New(secret)
	if err != nil {
		return nil, err
	}
	return &Grants{ring}, nil
}

// Refresh reads the keys again: another process may have made one (see keyring.Ring).
func (g *Grants) Refresh(ctx context.Context) error { return g.ring.Refresh(ctx) }

// Foreign reports whether a grant names a key that is not known here: Refresh may
// bring it.
func (g *Grants) Foreign(grant string) bool {
	read, ok := parseGrant(grant)
	return ok && g.ring.Foreign(read.key)
}

// Read returns the right of an agent to read an artifact for a request, until a
// minute behind its expiry; zero is never.
func (g *Grants) Read(agent, request, hash string, expires time.Time) string {
	if !expires.IsZero() {
		expires = expires.Add(expiryGrace)
	}
	return g.sign(purposeRead, expires, agent, request, hash)
}

// Put returns the proof that an agent has put an artifact. It does not expire, and
// holds for every request of that agent.
func (g *Grants) Put(agent, hash string) string {
	return g.sign(purposePut, time.Time{}, agent, hash)
}

// MayRead reports whether a grant lets an agent read an artifact now: it was given
// for this request, or the agent has put the bytes itself.
func (g *Grants) MayRead(grant, agent, request, hash string, now time.Time) bool {
	read, ok := parseGrant(grant)
	switch {
	case !ok:
		return false
	case read.purpose == purposePut:
		return g.valid(&read, agent, hash)
	case read.expires != 0 && now.Unix() >= read.expires:
		return false
	}
	return g.valid(&read, agent, request, hash)
}

// HasPut reports whether a grant proves that an agent has put an artifact.
func (g *Grants) HasPut(grant, agent, hash string) bool {
	read, ok := parseGrant(grant)
	return ok && read.purpose == purposePut && g.valid(&read, agent, hash)
}

// WasGiven reports whether a grant proves that an agent was given an artifact with
// a request, however long ago.
func (g *Grants) WasGiven(grant, agent, request, hash string) bool {
	read, ok := parseGrant(grant)
	return ok && read.purpose == purposeRead && g.valid(&read, agent, request, hash)
}

// GrantBody gives the reference that stands for an event's body its grant, as whoever
// reads that subject demands: the agent reads its request, and has put its answer.
func (g *Grants) GrantBody(subject string, e *schemas.Event) {
	if e.Artifact == nil {
		return
	}
	vouched := *e.Artifact
	parsed, err := bus.ParseSubject(subject)
	switch {
	case err != nil:
		return
	case parsed.Kind == bus.KindRequest:
		vouched.Grant = g.Read(parsed.Agent, e.ID, vouched.SHA256, e.Expires)
	case parsed.Agent != "":
		vouched.Grant = g.Put(parsed.Agent, vouched.SHA256)
	}
	e.Artifact = &vouched
}

// A parsedGrant is "purpose.key.expires.mac"; agents hand it back as it is.
type parsedGrant struct {
	purpose keyring.Use
	key     string
	expires int64 // Unix time in seconds; 0 is never
	mac     []byte
}

const grantParts = 4

func parseGrant(grant string) (parsedGrant, bool) {
	parts := strings.Split(grant, ".")
	if len(parts) != grantParts || len(grant) > binding.MaxAttribute {
		return parsedGrant{}, false
	}
	read := parsedGrant{purpose: keyring.Use(parts[0]), key: parts[1]}
	if read.purpose != purposeRead && read.purpose != purposePut {
		return parsedGrant{}, false
	}
	var err error
	if read.mac, err = base64.RawURLEncoding.Strict().DecodeString(parts[3]); err != nil {
		return parsedGrant{}, false
	}
	if parts[2] != "" {
		if read.expires, err = strconv.ParseInt(parts[2], 10, 64); err != nil || read.expires <= 0 {
			return parsedGrant{}, false
		}
	}
	return read, true
}

func (g *Grants) sign(use keyring.Use, expires time.Time, fields ...string) string {
	id, key := g.ring.Newest(use)
	until, written := int64(0), ""
	if !expires.IsZero() {
		until = expires.Unix()
		written = strconv.FormatInt(until, 10)
	}
	mac := authenticate(key, use, until, fields)
	return string(use) + "." + id + "." + written + "." + base64.RawURLEncoding.EncodeToString(mac)
}

func (g *Grants) valid(read *parsedGrant, fields ...string) bool {
	key := g.ring.Key(read.key, read.purpose)
	return key != nil && hmac.Equal(read.mac, authenticate(key, read.purpose, read.expires, fields))
}

// authenticate returns the MAC over a purpose, an expiry and fields, each behind
// its length, so that no two lists of them are the same bytes.
func authenticate(key []byte, use keyring.Use, expires int64, fields []string) []byte {
	mac := hmac.New(sha256.New, key)
	write := func(field string) {
		_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		_, _ = mac.Write([]byte(field))
	}
	write(string(use))
	write(strconv.FormatInt(expires, 10))
	for _, field := range fields {
		write(field)
	}
	return mac.Sum(nil)
}
