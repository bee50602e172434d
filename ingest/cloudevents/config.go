package cloudevents

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/intake"
)

const (
	// MaxBody is the size limit of a POST in bytes.
	MaxBody = 1 << 20
	// MaxBatch bounds the events of one POST.
	MaxBatch = 100
)

// A Config is what a Adapter needs to know. Fields at zero take the default named.
type Config struct {
	// Sources are the senders by name, which is part of their URL.
	Sources map[string]Source
	// RunURLs returns where the run of an event can be read, and its progress. Required.
	RunURLs func(receipt intake.Receipt) (run, events string)
	// Supervisor is the name that an execution_request has to be addressed to.
	Supervisor string
	// PublishTimeout bounds the wait for the ledger's acknowledgment of one event; 2 s.
	PublishTimeout time.Duration
	// BodyTimeout bounds how long a body may take to arrive; 10 s.
	BodyTimeout time.Duration
	// Requests bounds how many of known senders are worked on at once; 256.
	Requests int
	// Now is the clock that signatures and rates are checked against; time.Now.
	Now func() time.Time
}

// A Verifier knows the sender of a source. It is safe for use by several goroutines.
type Verifier interface {
	// Claims reports whether the header alone shows what may prove the sender: the token,
	// or a fresh signature over a body yet to be read. Where it does not, nobody reads one.
	Claims(header http.Header, now time.Time) bool
	// Verify reports whether a request comes from somebody who knows a secret of the
	// source: by a signature over the raw body, or by a bearer token. It compares in
	// constant time.
	Verify(body []byte, header http.Header, now time.Time) bool
	// Reads reports whether the request bears the token.
	Reads(header http.Header) bool
}

// A Source is one sender of events and the profile that handles them.
type Source struct {
	// Profile handles the events.
	Profile string
	// Verifier knows the sender.
	Verifier Verifier
	// Types are the event types that are taken, by name; at least one.
	Types map[string]Type
	// Origins may ask by OPTIONS whether they may send (WebHook-Request-Origin).
	Origins []string
	// PerMinute is how many requests the source may send; 0 is as many as it likes.
	PerMinute int
}

// A Type says how an event of one type becomes a message. It means nothing for an
// execution_request.
type Type struct {
	// Text are JSON Pointers (RFC 6901) into the data, to the words; what they lead to
	// is joined by blank lines, and what is no string stands there as JSON. "/text"
	// when empty. Data of a type such as text/plain is the words itself.
	Text []string
	// PartitionKey is a JSON Pointer to the name of the conversation; the attribute
	// partitionkey when empty, and without one each event is its own.
	PartitionKey string
}

// sourceName keeps a source's name a plain part of URLs and of event ids.
var sourceName = regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)

func (c Config) withDefaults() Config {
	c.PublishTimeout = cmp.Or(c.PublishTimeout, 2*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 10*time.Second)
	c.Requests = cmp.Or(c.Requests, 256)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// sources checks every source and names all that is wrong with them.
func (c *Config) sources() (map[string]*source, error) {
	if c.RunURLs == nil {
		return nil, errors.New("event sources: the URLs of runs are required")
	}
	made := make(map[string]*source, len(c.Sources))
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		configured := c.Sources[name]
		if err := configured.check(name); err != nil {
			wrong = append(wrong, fmt.Errorf("event source %q: %w", name, err))
			continue
		}
		made[name] = &source{Source: configured, name: name, allowance: newAllowance(configured.PerMinute, c.Now())}
	}
	return made, errors.Join(wrong...)
}

func (s *Source) check(name string) error {
	switch {
	case !sourceName.MatchString(name):
		return errors.New("the name may have a-z, 0-9, '_' and '-', at most 63")
	case s.Profile == "":
		return errors.New("it names no profile")
	case s.Verifier == nil:
		return errors.New("nothing tells who sends, so that anybody could")
	case len(s.Types) == 0:
		return errors.New("it takes no type of event")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		taken := s.Types[name]
		for _, pointer := range append(slices.Clone(taken.Text), taken.PartitionKey) {
			if !jsontext.Pointer(pointer).IsValid() {
				return fmt.Errorf("type %q: %q is not a JSON Pointer such as /text", name, pointer)
			}
		}
	}
	return nil
}
