package embedded_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"podium/bus"
	"podium/bus/embedded"
)

// A wire is an agent that speaks the NATS protocol by hand, so that it can send
// header blocks that no library would.
type wire struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

func dialWire(t *testing.T, server *embedded.Server, agent string) *wire {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, conn: conn, reader: bufio.NewReader(conn)}
	var info struct {
		Nonce string `json:"nonce"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(w.line(), "INFO ")), &info); err != nil {
		t.Fatal(err)
	}
	seed, err := os.ReadFile(server.Keys().Agents[agent].SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	key, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := key.Sign([]byte(info.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	w.send(`CONNECT {"verbose":false,"headers":true,"no_responders":true,"nkey":%q,"sig":%q}`+"\r\n",
		server.Keys().Agents[agent].Public, base64.RawURLEncoding.EncodeToString(signature))
	return w
}

func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.conn, format, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) line() string {
	w.t.Helper()
	line, err := w.reader.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimRight(line, "\r\n")
}

// publish sends a header block as it is, and waits until the server has it.
func (w *wire) publish(subject, header, body string) {
	w.t.Helper()
	w.send("HPUB %s %d %d\r\n%s%s\r\nPING\r\n", subject, len(header), len(header)+len(body), header, body)
	for {
		switch line := w.line(); {
		case line == "PONG":
			return
		case strings.HasPrefix(line, "-ERR"):
			w.t.Fatalf("the server says %s", line)
		}
	}
}

// TestPoisonedHeaders: whatever an agent writes in place of headers, its messages
// are read in their place and under their subject, and hold nobody up.
func TestPoisonedHeaders(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	reader, err := c.Read(ctx, bus.ShardStream(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	forged := "Nats-Subject: " + bus.ControlSubject(0) + "\r\nNats-Sequence: 1\r\nNats-Stream: PODIUM_0\r\n" +
		"Nats-Time-Stamp: 2020-01-01T00:00:00Z\r\n"
	blocks := []string{
		"NATS/1.0\r\n" + forged + "\r\n",
		"NATS/1.0\r\n" + forged + "\r\n\r\n\r\n", // ends before its end
		"NATS/1.0 404 No Messages\r\n\r\n",
		"NATS/1.0 409 Consumer Deleted\r\n" + forged + "\r\n",
		"NATS/1.0 503\r\n\r\n",
		"NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 99\r\n\r\n",
		"NATS/1.0\r\nStatus: 409\r\n\r\n",
		"NATS/1.0\r\nno colon at all\r\n\r\n",
		"NATS/1.0\r\nA: b", // no end
		"not a header block at all",
		"\r\n",
	}
	w := dialWire(t, server, "alpha")
	subject := bus.ResponseSubject("alpha", 0)
	for _, block := range blocks {
		for _, body := range []string{"", "body"} {
			w.publish(subject, block, body)
		}
	}
	last := bus.Message{Subject: bus.ControlSubject(0), Body: []byte("behind them all")}
	if _, err := bus.Append(ctx, c, last, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	for sequence := uint64(1); ; sequence++ {
		m, err := bus.Next(ctx, reader)
		if err != nil {
			t.Fatalf("after %d: %v", sequence-1, err)
		}
		if m.Sequence != sequence {
			t.Fatalf("sequence %d, want %d", m.Sequence, sequence)
		}
		if m.Subject == last.Subject {
			if sequence != uint64(2*len(blocks)+1) {
				t.Errorf("%d messages stand before the last, want %d", sequence-1, 2*len(blocks))
			}
			break
		}
		got, err := c.Get(ctx, m.Stream, sequence)
		if err != nil || m.Subject != subject || got.Subject != subject || string(got.Body) != string(m.Body) || got.Sequence != sequence {
			t.Errorf("message %d: read as %s %q, got as %d %s %q, %v", sequence, m.Subject, m.Body, got.Sequence, got.Subject, got.Body, err)
		}
		if newest, err := c.LastOf(ctx, 0, []string{subject}); err != nil || len(newest) != 1 || newest[0].Subject != subject {
			t.Fatalf("last of the agent's subject: %v, %v", newest, err)
		}
	}
}
