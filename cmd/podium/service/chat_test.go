package service_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/ingest/chat"
	"podium/ingest/runs"
)

// office is an installation with a Mattermost server, a team and a webhook.
const office = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat:
  url: https://podium.example.org
  channels:
    office: {provider: mattermost, profile: desk, secret: %s, url: %q, bot_token: bot-hidden, bot_user: podium}
    class: {provider: teams, profile: desk, secret: %s}
    web: {profile: desk, secret: whsec_%s}
agents: {calculator: {kind: calculator}}
profiles: {desk: {language: en, agents: [calculator], routers: [{kind: default, agent: calculator}]}}
`

const (
	mattermostToken = "xr3j5x3p4pfk7kk6ck7b4e6ghh"
	signingKey      = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"
)

func teamsKey() []byte { return bytes.Repeat([]byte{5}, 32) }

func startOffice(tb testing.TB, mattermost string, log io.Writer) *service.Service {
	tb.Helper()
	text := fmt.Appendf(nil, office, tb.TempDir(), mattermostToken, mattermost, base64.StdEncoding.EncodeToString(teamsKey()), signingKey)
	settings, err := config.Parse(text, "podium.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	running, err := service.Start(tb.Context(), settings, zerolog.New(log))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Errorf("run: %v", err)
		}
		if err := running.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return running
}

func send(tb testing.TB, running *service.Service, channel, mediaType, body string, header http.Header) (int, string) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, running.Address()+"/v1/chat/"+channel, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Content-Type", mediaType)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(reply.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return reply.StatusCode, string(answer)
}

// A post in Mattermost, sent four times, becomes one run whose answer stands in
// the thread, and no token and nothing of a person gets onto the ledger or into
// the log (X-02, G-34, G-37).
func TestMattermostFromPostToAnswer_X02_G34(t *testing.T) {
	t.Parallel()
	type posted struct{ path, authorization, body string }
	answers := make(chan posted, 8)
	mattermost := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			answers <- posted{r.URL.Path, r.Header.Get("Authorization"), string(body)}
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, `{"id":"p9","root_id":"p0"}`)
	}))
	t.Cleanup(mattermost.Close)
	var log lockedBuffer
	running := startOffice(t, mattermost.URL, &log)
	form := url.Values{
		"token": {mattermostToken}, "team_id": {"t1"}, "channel_id": {"c1"}, "user_id": {"u1"}, "user_name": {"ann.private"},
		"post_id": {"p1"}, "text": {"12 + 13"},
	}
	var storm sync.WaitGroup
	for range 4 {
		storm.Go(func() {
			if status, body := send(t, running, "office", "application/x-www-form-urlencoded", form.Encode(), nil); status != http.StatusOK {
				t.Errorf("status %d: %s", status, body)
			}
		})
	}
	storm.Wait()
	select {
	case got := <-answers:
		if got.path != "/api/v4/posts" || got.authorization != "Bearer bot-hidden" ||
			!strings.Contains(got.body, `"channel_id":"c1","root_id":"p0"`) || !strings.Contains(got.body, "25") {
			t.Errorf("%+v", got)
		}
	case <-time.After(patience):
		t.Fatal("no answer came")
	}
	select {
	case again := <-answers:
		t.Errorf("a second answer: %+v", again)
	case <-time.After(300 * time.Millisecond):
	}
	if _, metrics := fetch(t, running.Address()+"/metrics"); !strings.Contains(metrics, `podium_chat_messages_total{channel="office",outcome="accepted",provider="mattermost"} 1`) ||
		!strings.Contains(metrics, `podium_chat_messages_total{channel="office",outcome="repeated",provider="mattermost"} 3`) {
		t.Errorf("metrics %s", metrics)
	}
	for message, err := range running.Ledger.Core.Scan(t.Context(), bus.ShardStream(0), 1, ">") {
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{mattermostToken, "bot-hidden"} {
			if bytes.Contains(message.Body, []byte(secret)) {
				t.Errorf("%s holds a token", message.Subject)
			}
		}
	}
	for _, private := range []string{mattermostToken, "bot-hidden", "ann.private", "12 + 13"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("the log holds %q", private)
		}
	}
}

func fetch(t *testing.T, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(body)
}

type lockedBuffer struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

// Teams has the answer in the response to its request.
func TestTeamsFromMentionToAnswer(t *testing.T) {
	t.Parallel()
	running := startOffice(t, "https://mattermost.example.org", io.Discard)
	const body = `{"type":"message","id":"1","from":{"id":"29:x"},"conversation":{"id":"19:c;messageid=1"},"text":"<at>Podium</at> 12 + 13"}`
	mac := hmac.New(sha256.New, teamsKey())
	mac.Write([]byte(body))
	header := http.Header{"Authorization": {"HMAC " + base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
	status, answer := send(t, running, "class", "application/json; charset=utf-8", body, header)
	if status != http.StatusOK || !strings.Contains(answer, `"type":"message"`) || !strings.Contains(answer, "25") {
		t.Errorf("status %d: %s", status, answer)
	}
}

// BenchmarkWebhook counts signed webhooks from the socket to the acknowledgment
// of an embedded ledger (interval), each one a message of its own. The CPU time is
// that of the process: the senders' half of the connections and the ledger are in
// it, and for "service" the runs that the messages begin, too.
func BenchmarkWebhook(b *testing.B) {
	b.Run("adapter", func(b *testing.B) { benchmarkWebhook(b, benchAdapter(b)) })
	b.Run("service", func(b *testing.B) {
		benchmarkWebhook(b, startOffice(b, "https://mattermost.example.org", io.Discard).Address())
	})
}

// benchAdapter is an adapter on a ledger that nobody conducts.
func benchAdapter(b *testing.B) string {
	b.Helper()
	ledger, err := installation.OpenLedger(b.Context(), config.Ledger{Data: b.TempDir(), Durability: config.DurabilityInterval, Shards: 1}, nil, nil, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	adapter, err := chat.New(chat.Config{
		Channels: map[string]chat.Channel{"web": {Profile: "desk", Secrets: []string{"whsec_" + signingKey}}},
		Runs:     runs.Config{CapabilityKey: bytes.Repeat([]byte{7}, 32)},
	}, ledger.Core, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(adapter.Handler())
	b.Cleanup(func() {
		server.Close()
		if err := ledger.Close(); err != nil {
			b.Error(err)
		}
	})
	return server.URL
}

func benchmarkWebhook(b *testing.B, address string) {
	b.Helper()
	const senders = 16
	key, err := base64.StdEncoding.DecodeString(signingKey)
	if err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	b.ResetTimer()
	before := cpuTime(b)
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				if err := sendSigned(b.Context(), client, address, key, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(b.N)/(cpuTime(b)-before).Seconds(), "requests/CPU-s")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}

func sendSigned(ctx context.Context, client *http.Client, address string, key []byte, n int64) error {
	id, timestamp := "bench-"+strconv.FormatInt(n, 10), strconv.FormatInt(time.Now().Unix(), 10)
	body := `{"text":"12 + ` + strconv.FormatInt(n, 10) + `","user":{"id":"u1"}}`
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "." + body))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/chat/web", strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Webhook-Id", id)
	request.Header.Set("Webhook-Timestamp", timestamp)
	request.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	_, err = io.Copy(io.Discard, reply.Body)
	if reply.StatusCode != http.StatusAccepted {
		return fmt.Errorf("status %d", reply.StatusCode)
	}
	return err
}

// cpuTime is what the process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
