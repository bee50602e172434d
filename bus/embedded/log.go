package embedded

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

var (
	// clientLine begins every line about one client: address, number, and in quotes
	// what it calls itself, and its account and key.
	clientLine = regexp.MustCompile(`^.{0,200}? - [a-z_]{3,6}:\d+((?: - "(?:[^"\\]|\\.)*")*) - `)
	// user is what is last in those quotes, and behind a rate-limited line.
	user = regexp.MustCompile(`nkey:(U[A-Z2-7]{55})"?$`)
	// violated is the subject that a client was refused.
	violated = regexp.MustCompile(` - (?:Subject|Reply) (?:%q|("(?:[^"\\]|\\.)*")).*`)
	// named are the words that a client may have chosen: subjects.
	named  = regexp.MustCompile(`(?:podium|_INBOX[A-Za-z0-9_-]*|_R_|\$[A-Z]+|CORE)\.[^\s"'\],]+`)
	quoted = regexp.MustCompile(`"[^"]*"`)
	// fixed are the words of a subject that Podium or the server has chosen.
	fixed = regexp.MustCompile(`^(?:[*>]|[0-9]{1,20}|podium|agent|in|control|session|shard|dead|source|status|request|response|progress|permit` +
		`|announce|alive|artifact|cancel|permitted|_R_|_INBOX|(?:KV_|OBJ_)?PODIUM_(?:WORK|ARTIFACTS|AGENTS|MAILBOXES|LEASES|BUDGETS|[0-9]{1,5})` +
		`|\$(?:JS|SYS|KV|O|SRV)|CORE|API|ACK|FC|INFO|STREAM|CONSUMER|MSG|NEXT|CREATE|UPDATE|DELETE|PURGE|DIRECT|GET|NAMES|LIST|DURABLE` +
		`|SNAPSHOT|RESTORE|LEADER|STEPDOWN|PEER|REMOVE|PAUSE|RESET|UNPIN|ACCOUNT|REQ|PING|STATS|EVENT|ADVISORY|METRIC)$`)
)

const (
	// maxTokens bounds the words of a subject in the log.
	maxTokens = 16
	// clientLines are written at once about the clients of one agent, about those that
	// are nobody's, and of each other kind of line; then one each clientEvery. A client can cause as many as it sends messages,
	// also of those that do not name it.
	clientLines = 20
	clientEvery = 5 * time.Second
)

// A serverLog is a server's log. It implements server.Logger.
type serverLog struct {
	logger zerolog.Logger
	names  map[string]string // of who may connect, by public key

	mu      sync.Mutex
	first   string              // the first fatal line: why the server did not start
	clients map[string]*written // about the clients of each agent, and of each kind of other lines
}

// A written is how much the log says of some clients.
type written struct {
	limit   *rate.Limiter
	omitted int // lines since the last one
}

// fatal returns the first line that the server called fatal.
func (l *serverLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

// line renders a line of the server without addresses. Of a line about a client only
// the fixed words are kept, because the client chose the rest; and the subject that
// it was refused, as far as that is made of words which it has not chosen.
func (l *serverLog) line(format string, args []any) (text, agent, subject string, client bool) {
	if format == "%s - %s%s" && len(args) == 3 { // how the server writes a rate-limited one
		return "something about a client happens often", l.agent(fmt.Sprint(args[2])), "", true
	}
	prefix := clientLine.FindStringSubmatch(format)
	if prefix == nil {
		return named.ReplaceAllString(fmt.Sprintf(format, args...), "…"), "", "", false
	}
	text, agent = format[len(prefix[0]):], l.agent(prefix[1])
	if text == "%v - %s" && len(args) > 0 && fmt.Sprint(args[0]) == server.ErrAuthentication.Error() {
		return "a client has shown a key that this ledger does not know, or none", agent, "", true
	}
	if about := violated.FindStringSubmatchIndex(text); about != nil {
		if about[2] >= 0 {
			subject, _ = strconv.Unquote(text[about[2]:about[3]])
		} else if len(args) > 0 {
			subject = fmt.Sprintf("%s", args[0])
		}
		text, subject = text[:about[0]], l.subject(subject)
	}
	return named.ReplaceAllString(quoted.ReplaceAllString(text, `"…"`), "…"), agent, subject, true
}

// admit reports whether there is room for a line about a client of an agent, or of one kind, and how many
// were left out before it.
func (l *serverLog) admit(agent string) (omitted int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	about := l.clients[agent]
	if about == nil {
		if l.clients == nil {
			l.clients = make(map[string]*written)
		}
		about = &written{limit: rate.NewLimiter(rate.Every(clientEvery), clientLines)}
		l.clients[agent] = about
	}
	if !about.limit.Allow() {
		about.omitted++
		return 0, false
	}
	omitted, about.omitted = about.omitted, 0
	return omitted, true
}

// agent returns who has the key that stands last in a text.
func (l *serverLog) agent(text string) string {
	if key := user.FindStringSubmatch(text); key != nil {
		return l.names[key[1]]
	}
	return ""
}

// subject returns a subject without the words that a client has chosen.
func (l *serverLog) subject(subject string) string {
	tokens, names := strings.SplitN(subject, ".", maxTokens+1), slices.Collect(maps.Values(l.names))
	for i, token := range tokens {
		if !fixed.MatchString(token) && !slices.Contains(names, strings.TrimPrefix(token, "_INBOX_")) {
			tokens[i] = "…"
		}
	}
	return strings.Join(tokens, ".")
}

func (l *serverLog) write(event *zerolog.Event, format string, args []any) string {
	text, agent, subject, client := l.line(format, args)
	about := agent
	if !client {
		about = "line " + format // of which the server has as many as its source has
	}
	omitted, ok := l.admit(about)
	if !ok {
		return text
	}
	if omitted > 0 {
		event = event.Int("omitted", omitted)
	}
	if agent != "" {
		event = event.Str("agent", agent)
	}
	if subject != "" {
		event = event.Str("subject", subject)
	}
	event.Msg(text)
	return text
}

func (l *serverLog) Noticef(format string, args ...any) { l.write(l.logger.Trace(), format, args) }
func (l *serverLog) Warnf(format string, args ...any)   { l.write(l.logger.Warn(), format, args) }
func (l *serverLog) Errorf(format string, args ...any)  { l.write(l.logger.Error(), format, args) }

// Fatalf implements server.Logger. It does not end the process.
func (l *serverLog) Fatalf(format string, args ...any) {
	text := l.write(l.logger.Error(), format, args)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == "" {
		l.first = text
	}
}

func (l *serverLog) Debugf(string, ...any) {}
func (l *serverLog) Tracef(string, ...any) {}
