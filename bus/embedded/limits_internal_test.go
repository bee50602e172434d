package embedded

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/registry"
)

func startLimited(t *testing.T, agents ...string) *Server {
	t.Helper()
	return startLimitedLogging(t, zerolog.Nop(), agents...)
}

func startLimitedLogging(t *testing.T, log zerolog.Logger, agents ...string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Config{Dir: t.TempDir(), Durability: Interval, External: agents, Shards: 1, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A muteConn is a connection with an inbox that nobody reads.
type muteConn struct {
	net.Conn
	inbox string
	rest  []byte // of what it asks, which the server has not taken yet
}

// mute connects as an agent by hand, and never reads what it is sent.
func mute(t *testing.T, s *Server, agent string) *muteConn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.URL(), "nats://"), 10*time.Second) //nolint:noctx // it has a timeout
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10) // or the system's buffers take megabytes of it
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var info server.Info
	if err = json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info); err != nil {
		t.Fatal(err)
	}
	seed, err := os.ReadFile(s.keys.Agents[agent].SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := pair.Sign([]byte(info.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	inbox := InboxPrefix(agent) + conn.LocalAddr().String()[strings.LastIndex(conn.LocalAddr().String(), ":"):]
	inbox = strings.ReplaceAll(inbox, ":", ".")
	_, err = fmt.Fprintf(conn, "CONNECT {\"nkey\":%q,\"sig\":%q,\"verbose\":false,\"headers\":true,\"protocol\":1}\r\nSUB %s 1\r\n",
		s.keys.Agents[agent].Public, base64.RawURLEncoding.EncodeToString(signed), inbox)
	if err != nil {
		t.Fatal(err)
	}
	return &muteConn{Conn: conn, inbox: inbox}
}

// unread returns what waits for an agent, and in how many connections.
func (s *Server) unread(t *testing.T, agent string) (bytes, connections int) {
	t.Helper()
	all, err := s.connections(map[string]string{s.keys.Agents[agent].Public: agent})
	if err != nil {
		t.Fatal(err)
	}
	for _, connection := range all[agent] {
		bytes += connection.Pending
	}
	return bytes, len(all[agent])
}

// A soughtLine is a log that remembers whether a line held a text.
type soughtLine struct {
	text  string
	found atomic.Bool
}

func (l *soughtLine) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(l.text)) {
		l.found.Store(true)
	}
	return len(line), nil
}

// A mutes is an agent that asks for a piece of an artifact again and again, in many
// connections, and reads none of the answers.
type mutes struct {
	t    *testing.T
	s    *Server
	head string
	open []*muteConn
}

// press has every connection ask 25 times more, as far as the server takes it now; one that was cut is made anew. It
// returns how many were.
func (m *mutes) press() (cut int) {
	for i, c := range m.open {
		if len(c.rest) == 0 {
			ask := fmt.Sprintf("PUB podium.agent.alpha.artifact %s %d\r\n%s\r\n", c.inbox, len(m.head), m.head)
			c.rest = []byte(strings.Repeat(ask, 25))
		}
		_ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		taken, err := c.Write(c.rest)
		c.rest = c.rest[taken:]
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			cut++
			_ = c.Close()
			m.open[i] = mute(m.t, m.s, "alpha")
		}
	}
	return cut
}

// An agent that asks for artifacts in all its connections and reads nothing makes the process hold no more than it may, and is
// cut. Another agent gets its own meanwhile.
func TestUnreadArtifactsAreBounded(t *testing.T) {
	t.Parallel()
	s := startLimited(t, "alpha", "beta")
	core, err := s.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	stop, err := registry.ServeAgents(t.Context(), core, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	heads := map[string]string{}
	for _, agent := range []string{"alpha", "beta"} {
		w, err := s.Worker(t.Context(), agent)
		if err != nil {
			t.Fatal(err)
		}
		put, err := w.Artifacts("r").Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte(agent[:1]), 2<<20)), "")
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		heads[agent] = fmt.Sprintf(`{"op":"get","sha256":%q,"grant":%q}`+"\n", put.SHA256, put.Grant)
	}
	beta, err := s.Worker(t.Context(), "beta")
	if err != nil {
		t.Fatal(err)
	}
	defer beta.Close()
	m := &mutes{t: t, s: s, head: heads["alpha"]}
	for range maxConnections - 1 {
		m.open = append(m.open, mute(t, s, "alpha"))
	}
	most, cut := 0, 0
	for began, rounds := time.Now(), 10; time.Since(began) < 2*time.Minute && rounds > 0; {
		if cut += m.press(); cut > 0 && most > 0 {
			rounds--
		}
		bytes, _ := s.unread(t, "alpha")
		most = max(most, bytes)
		if _, err := beta.Ask(t.Context(), bus.ServiceArtifact, []byte(heads["beta"])); err != nil {
			t.Errorf("beta: %v", err)
		}
	}
	t.Logf("%d bytes unread at most, %d connections cut", most, cut)
	// Between two looks come what the service gives at a rate, and what it had under way.
	if limit := maxUnread + 48<<20; most > limit || most == 0 {
		t.Errorf("%d bytes waited to be read at once; the limit is %d", most, limit)
	}
	if cut == 0 {
		t.Error("no connection was cut")
	}
}

// An agent may have so many connections; the newest beyond are cut, and nobody else's.
func TestConnectionsOfAnAgentAreBounded(t *testing.T) {
	t.Parallel()
	s := startLimited(t, "alpha", "beta")
	mute(t, s, "beta")
	for range maxConnections + 20 {
		mute(t, s, "alpha")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		_, alphas := s.unread(t, "alpha")
		_, betas := s.unread(t, "beta")
		if alphas == maxConnections && betas == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("alpha has %d connections, beta %d", alphas, betas)
		}
		time.Sleep(watchEvery)
	}
}

func TestBeyond(t *testing.T) {
	t.Parallel()
	many := func(pending ...int) (connections []*server.ConnInfo) {
		for i, bytes := range pending {
			connections = append(connections, &server.ConnInfo{Cid: uint64(i + 1), Pending: bytes})
		}
		return connections
	}
	crowd := many(make([]int, maxConnections+2)...)
	for name, c := range map[string]struct {
		connections []*server.ConnInfo
		want        string
	}{
		"none":     {nil, "[] false"},
		"within":   {many(maxUnread/2, maxUnread/2), "[] false"},
		"too much": {many(1, maxUnread), "[1 2] true"},
		"too many": {crowd, fmt.Sprint([]int{maxConnections + 1, maxConnections + 2}, false)},
	} {
		surplus, tooMuch := beyond(c.connections)
		if got := fmt.Sprint(surplus, tooMuch); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// An agent that asks without end is cut before the server answers nobody else: the
// questions of all accounts wait in one queue there, and each has a reply that the server
// remembers for minutes.
func TestQuestionsOfAnAgentAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		ask    func(inbox string) string
	}{
		"what its consumer is": {"messages", func(inbox string) string {
			return "PUB CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha " + inbox + " 0\r\n\r\n"
		}},
		"with large messages": {"bytes", func(inbox string) string {
			return "PUB podium.agent.alpha.progress.0 " + inbox + " 100000\r\n" + strings.Repeat("[", 100_000) + "\r\n"
		}},
		"for requests": {"messages", func(inbox string) string {
			const pull = `{"batch":1,"expires":600000000000}`
			return fmt.Sprintf("PUB CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha %s %d\r\n%s\r\n", inbox, len(pull), pull)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason := &soughtLine{text: `"agent":"alpha","reason":"` + c.reason + `"`}
			s := startLimitedLogging(t, zerolog.New(reason), "alpha", "beta")
			core, err := s.Core(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer core.Close()
			if err := core.Declare(t.Context(), "alpha", bus.Pool{Size: 1, AckWait: time.Second}); err != nil {
				t.Fatal(err)
			}
			alpha := mute(t, s, "alpha")
			mute(t, s, "beta")
			go func() { _, _ = io.Copy(io.Discard, alpha) }()
			questions := strings.Repeat(c.ask(alpha.inbox), 100)
			asked := 0 // the last of them only in part
			for deadline := time.Now().Add(2 * time.Minute); ; {
				asked += 100
				if _, err := alpha.Write([]byte(questions)); err != nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d questions, and the agent is still connected", asked)
				}
			}
			if asked < exchangeBurst/3 && asked*len(questions)/100 < receivedBurst {
				t.Errorf("the agent was cut after %d questions already", asked)
			}
			for deadline := time.Now().Add(2 * time.Minute); !reason.found.Load(); time.Sleep(watchEvery) {
				if time.Now().After(deadline) {
					t.Fatalf("the log does not say that it was cut for too many %s", c.reason)
				}
			}
			if _, err := core.State(t.Context(), bus.WorkStream); err != nil {
				t.Errorf("the core asks behind it: %v", err)
			}
			if _, betas := s.unread(t, "beta"); betas != 1 {
				t.Errorf("beta has %d connections", betas)
			}
		})
	}
}

// Heartbeats are asked for once and come as often as the server can send them.
func TestMessagesToAnAgentAreBounded(t *testing.T) {
	t.Parallel()
	s := startLimited(t, "alpha")
	core, err := s.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if err := core.Declare(t.Context(), "alpha", bus.Pool{Size: 1, AckWait: time.Second}); err != nil {
		t.Fatal(err)
	}
	alpha := mute(t, s, "alpha")
	if tcp, ok := alpha.Conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(1 << 20) // it does read
	}
	const pull = `{"batch":1,"expires":600000000000,"idle_heartbeat":1}`
	ask := fmt.Sprintf("PUB CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha %s %d\r\n%s\r\n", alpha.inbox, len(pull), pull)
	if _, err := alpha.Write([]byte(strings.Repeat(ask, 400))); err != nil {
		t.Fatal(err)
	}
	_ = alpha.SetReadDeadline(time.Now().Add(2 * time.Minute))
	came, err := io.Copy(io.Discard, alpha)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after %d bytes of heartbeats the agent is still connected: %v", came, err)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	p := newPace(now, exchangeBurst, exchangeRate)
	for i, step := range []struct {
		after  time.Duration
		total  int64
		beyond bool
	}{
		{0, exchangeBurst, false},
		{0, exchangeBurst + 1, true},
		{time.Second, exchangeBurst + exchangeRate, false},
		{0, 3*exchangeBurst + exchangeRate, true},
		{time.Second, 3*exchangeBurst + exchangeRate, true}, // what was too much is waited for
		{2 * time.Minute, 3*exchangeBurst + exchangeRate, false},
		{time.Hour, 4*exchangeBurst + exchangeRate, false},
		{0, 4*exchangeBurst + exchangeRate + 1, true}, // a wait brings a burst, and no more
	} {
		now = now.Add(step.after)
		if got := p.beyond(step.total, now); got != step.beyond {
			t.Errorf("step %d: beyond is %t, want %t", i, got, step.beyond)
		}
	}
	// Requests bring more, at once and as they come.
	p = newPace(now, 100, 1)
	for i := range int64(1000) {
		p.earn(i*10, 64)
		if now = now.Add(watchEvery); p.beyond(i*640, now) {
			t.Fatalf("look %d: who exchanges what its requests bring is cut", i)
		}
	}
	if p.beyond(1000*640+101, now) == false {
		t.Error("what was earned and not used has no bound")
	}
}
