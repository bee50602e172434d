package artifact

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

const (
	// keyringKey is where AgentBucket holds the keys of grants; no agent's name
	// holds a dot.
	keyringKey = "key.grants"
	// keyAge is after how long a ledger that is opened gets another key.
	keyAge = 90 * 24 * time.Hour
	// maxKeys is how many keys are kept: what the oldest has signed is nearly two
	// years old then.
	maxKeys = 8
	// expiryGrace is how long an artifact can be read after nobody waits for the
	// work any more: clocks differ.
	expiryGrace = time.Minute
)

// A purpose keeps grants for one thing from counting for another.
type purpose string

const (
	purposeRead purpose = "read" // the bytes of an artifact, for a request
	purposePut  purpose = "put"  // that an agent has put an artifact
)

func (p purpose) known() bool { return p == purposeRead || p == purposePut }

// Grants makes and checks the rights of agents to artifacts: a hash alone opens
// nothing. A grant is a MAC (HMAC-SHA256) over its purpose, the agent, the
// request, the hash and the expiry, under a key of the ledger. It is safe for use
// by several goroutines at once.
type Grants struct {
	store bus.KeyValue // nil when the keys never change

	mu   sync.RWMutex
	keys []grantKey // the newest first
}

type grantKey struct {
	ID     string    `json:"id"`
	Secret []byte    `json:"secret"`
	Made   time.Time `json:"made"`

	derived map[purpose][]byte
}

// OpenGrants returns the grants of a ledger, whose keys stand in its AgentBucket:
// everybody who holds the core account has the same. It makes the first key, and
// another one when the newest is older than 90 days.
func OpenGrants(ctx context.Context, core bus.Core, now time.Time) (*Grants, error) {
	g := &Grants{store: core.KeyValue(bus.AgentBucket)}
	for {
		keys, revision, err := g.read(ctx)
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 && now.Sub(keys[0].Made) < keyAge {
			return g, g.adopt(keys)
		}
		keys = slices.Insert(keys, 0, newGrantKey(now))
		body, err := schemas.Marshal(keys[:min(len(keys), maxKeys)])
		if err != nil {
			return nil, err
		}
		if _, err = g.store.Update(ctx, keyringKey, body, revision); err != nil && !errors.Is(err, bus.ErrConflict) {
			return nil, fmt.Errorf("keep the key of grants: %w", err)
		}
	}
}

// NewGrants returns grants under one key that is in no ledger, for tests and
// simulations that repeat.
func NewGrants(secret []byte) (*Grants, error) {
	g := &Grants{}
	return g, g.adopt([]grantKey{{ID: "fixed", Secret: secret}})
}

func newGrantKey(now time.Time) grantKey {
	random := make([]byte, 4+sha256.Size)
	_, _ = rand.Read(random) // never fails
	return grantKey{ID: hex.EncodeToString(random[:4]), Secret: random[4:], Made: now.UTC()}
}

func (g *Grants) read(ctx context.Context) (keys []grantKey, revision uint64, err error) {
	body, revision, err := g.store.Get(ctx, keyringKey)
	if errors.Is(err, bus.ErrNotFound) {
		return nil, 0, nil
	}
	if err == nil {
		err = schemas.Unmarshal(body, &keys)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the keys of grants: %w", err)
	}
	return keys, revision, nil
}

// adopt derives a key for each purpose (RFC 5869), so that no use of one says
// anything about another.
func (g *Grants) adopt(keys []grantKey) error {
	for i := range keys {
		keys[i].derived = make(map[purpose][]byte)
		for _, use := range [...]purpose{purposeRead, purposePut, purposeCallback} {
			derived, err := hkdf.Key(sha256.New, keys[i].Secret, nil, "podium grant v1 "+string(use), sha256.Size)
			if err != nil {
				return fmt.Errorf("derive the key of grants: %w", err)
			}
			keys[i].derived[use] = derived
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys = keys
	return nil
}

// Refresh reads the keys again: another process may have made one.
func (g *Grants) Refresh(ctx context.Context) error {
	if g.store == nil {
		return nil
	}
	keys, _, err := g.read(ctx)
	if err != nil {
		return err
	}
	return g.adopt(keys)
}

// Foreign reports whether a grant names a key that is not known here: Refresh may
// bring it.
func (g *Grants) Foreign(grant string) bool {
	read, ok := parseGrant(grant)
	return ok && g.key(read.key, read.purpose) == nil
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
	purpose purpose
	key     string
	expires int64 // Unix time in seconds; 0 is never
	mac     []byte
}

const grantParts = 4

func parseGrant(grant string) (parsedGrant, bool) {
	parts := strings.Split(grant, ".")
	if len(parts) != grantParts || len(grant) > binding.MaxAttribute || !purpose(parts[0]).known() {
		return parsedGrant{}, false
	}
	read := parsedGrant{purpose: purpose(parts[0]), key: parts[1]}
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

func (g *Grants) sign(use purpose, expires time.Time, fields ...string) string {
	g.mu.RLock()
	newest := &g.keys[0]
	g.mu.RUnlock()
	until, written := int64(0), ""
	if !expires.IsZero() {
		until = expires.Unix()
		written = strconv.FormatInt(until, 10)
	}
	mac := authenticate(newest.derived[use], use, until, fields)
	return string(use) + "." + newest.ID + "." + written + "." + base64.RawURLEncoding.EncodeToString(mac)
}

func (g *Grants) valid(read *parsedGrant, fields ...string) bool {
	key := g.key(read.key, read.purpose)
	return key != nil && hmac.Equal(read.mac, authenticate(key, read.purpose, read.expires, fields))
}

// key returns the key of an id for a purpose, or nil.
func (g *Grants) key(id string, use purpose) []byte {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for i := range g.keys {
		if g.keys[i].ID == id {
			return g.keys[i].derived[use]
		}
	}
	return nil
}

// authenticate returns the MAC over a purpose, an expiry and fields, each behind
// its length, so that no two lists of them are the same bytes.
func authenticate(key []byte, use purpose, expires int64, fields []string) []byte {
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
