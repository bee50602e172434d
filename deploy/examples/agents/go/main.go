// Command clerk is an agent for Podium: it writes what it is asked in capital letters.
//
//	go run . [data directory of podium]
//
// Without an argument the directory is PODIUM_DATA of the environment, else podium-data.
//
// work is what you replace. All below it can stay, but for the description in the announcement.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

const (
	name        = "clerk" // as podium.yaml has it, with concurrency and heartbeat
	concurrency = 2
	heartbeat   = 5 * time.Second
)

const notLetIn = "Podium does not let " + name + " in: it was revoked, its key is another one by now, or podium.yaml does not have it as " +
	`"kind: external". ` + "`podium agents` tells; `podium agents add " + name + "` takes it in again, with a new key."

// A failure is told to the person who waits, in its own words.
type failure struct {
	words    string
	hopeless bool // no other attempt can help
}

func (f failure) Error() string { return f.words }

var duration = regexp.MustCompile(`in (\d+) seconds`)

// work does one task and returns its text. say tells the person how far it is. When
// ctx has ended nobody waits for the result any more.
func work(ctx context.Context, t task, say func(percentage int, words string)) (string, error) {
	words := t.Context.Request // what the person wrote: data, never instruction
	if words == "" {
		words = t.Description
	}
	if !strings.ContainsFunc(words, unicode.IsLetter) {
		return "", failure{"There is no letter in it.", true}
	}
	if wanted := duration.FindStringSubmatch(words); wanted != nil {
		seconds, err := strconv.Atoi(wanted[1])
		if err != nil {
			return "", err
		}
		for passed := range seconds {
			say(100*passed/seconds, fmt.Sprintf("%d seconds to go", seconds-passed))
			if err := pause(ctx, time.Second); err != nil {
				return "", err
			}
		}
	}
	return strings.ToUpper(words), nil
}

func main() {
	log.SetFlags(0)
	data := cmp.Or(os.Getenv("PODIUM_DATA"), "podium-data")
	if len(os.Args) > 1 {
		data = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, data); err != nil {
		log.Fatal(err)
	}
}

// An agent is this process.
type agent struct {
	conn     *nats.Conn
	consumer jetstream.Consumer

	mu      sync.Mutex
	working map[string]*held // by message_id
}

func run(ctx context.Context, data string) error {
	a := &agent{working: make(map[string]*held)}
	if err := a.connect(ctx, data); err != nil {
		return err
	}
	defer a.conn.Close()
	if _, err := a.conn.Subscribe(subject("cancel"), func(hint *nats.Msg) {
		if h := a.find(string(hint.Data)); h != nil {
			h.stop()
		}
	}); err != nil {
		return err
	}
	go a.stayKnown(ctx)
	for range concurrency {
		go a.takeRequests(ctx)
	}
	fmt.Println(name + " takes requests; Ctrl-C stops it")
	<-ctx.Done()
	a.giveBack()
	return a.conn.Flush()
}

func (a *agent) connect(ctx context.Context, data string) error {
	file, err := os.ReadFile(filepath.Join(data, "instance.json"))
	if err != nil {
		return err
	}
	var instance struct{ NATS string }
	if err := json.Unmarshal(file, &instance); err != nil {
		return err
	}
	login, err := login(filepath.Join(data, "credentials", "agent-"+name+".nk"))
	if err != nil {
		return err
	}
	a.conn, err = nats.Connect(instance.NATS, login, nats.Name(name),
		nats.CustomInboxPrefix("_INBOX_"+name), // with any other, nothing is answered
		nats.MaxReconnects(-1),                 // for ever, but not when the key is refused
		nats.ClosedHandler(func(conn *nats.Conn) {
			if ctx.Err() == nil { // whoever watches the process starts it again
				log.Fatalf("%v. %s", conn.LastError(), notLetIn)
			}
		}),
		// What the agent may not publish or hear is an error of the connection, not of the message.
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Print(err) }))
	if err != nil {
		return err
	}
	js, err := jetstream.NewWithAPIPrefix(a.conn, "CORE.API")
	if err != nil {
		return err
	}
	a.consumer, err = js.Consumer(ctx, "PODIUM_WORK", name)
	return err
}

// login proves who the agent is by its key. It is read once: the file is gone when the agent is revoked, and then the server has to say so.
func login(file string) (nats.Option, error) {
	seed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	return nats.Nkey(public, key.Sign), err
}

func subject(last string) string { return "podium.agent." + name + "." + last }

// stayKnown announces the agent, and says that it is alive.
func (a *agent) stayKnown(ctx context.Context) {
	about, _ := json.Marshal(map[string]any{
		"name": name, "kind": "go", "description": "Writes in capital letters.", "kinds": []string{"work"}, "concurrency": concurrency,
	})
	for service := "announce"; ; {
		var body []byte
		if service == "announce" {
			body = about
		}
		wait, refused := time.Second, "503"
		if answer, err := a.conn.Request(subject(service), body, 5*time.Second); err == nil {
			refused = answer.Header.Get("Nats-Service-Error-Code")
		}
		switch refused {
		case "":
			service, wait = "alive", 10*time.Second
		case "403":
			log.Fatal(notLetIn)
		case "500":
			service = "announce"
		}
		if pause(ctx, wait) != nil {
			return
		}
	}
}

// A request is what is read of an execution_request.
type request struct {
	MessageID string `json:"message_id"`
	From      string `json:"from"`
	Payload   struct {
		PlanID string `json:"plan_id"`
		Tasks  []task `json:"tasks"`
	} `json:"payload"`
}

type task struct {
	Description string `json:"description"`
	Context     struct {
		Request string `json:"request"`
		Kind    string `json:"kind"`
	} `json:"context"`
}

// Held is a request that is under way.
type held struct {
	*agent

	id, replyTo string
	stop        context.CancelFunc // nobody waits any more

	mu         sync.Mutex
	message    jetstream.Msg
	percentage int
	words      string
	told       time.Time // when words went out at once
}

func (h *held) delivery() jetstream.Msg {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.message
}

func header(m jetstream.Msg, attribute string) string {
	value := m.Headers().Get("ce-" + attribute)
	if text, err := url.PathUnescape(value); err == nil {
		return text
	}
	return value
}

// takeRequests has one request at a time: the others wait better in the stream.
func (a *agent) takeRequests(ctx context.Context) {
	for ctx.Err() == nil {
		message, err := a.consumer.Next(jetstream.FetchMaxWait(10 * time.Second))
		if err == nil {
			err = a.handle(message)
		} else if errors.Is(err, nats.ErrTimeout) {
			continue // none came
		}
		if err != nil && ctx.Err() == nil {
			log.Print(err) // such as a connection that is away for now
			_ = pause(ctx, time.Second)
		}
	}
}

func (a *agent) find(id string) *held {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.working[id]
}

// hold returns the request of a message, unless this process is at it: then it was handed out again.
func (a *agent) hold(message jetstream.Msg, stop context.CancelFunc) *held {
	h := &held{agent: a, id: header(message, "id"), replyTo: header(message, "replyto"), stop: stop, message: message, words: "at work"}
	if h.replyTo == "" {
		h.replyTo = subject("response")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.working[h.id]; known != nil {
		known.mu.Lock()
		defer known.mu.Unlock()
		known.message = message
		return nil
	}
	a.working[h.id] = h
	return h
}

func (a *agent) handle(message jetstream.Msg) error {
	if header(message, "id") == "" {
		return message.Ack() // no request of Podium's
	}
	expires, err := time.Parse(time.RFC3339, header(message, "expires"))
	if err != nil {
		return err
	}
	ctx, stop := context.WithDeadline(context.Background(), expires)
	defer stop()
	h := a.hold(message, stop)
	if h == nil {
		return nil
	}
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.working, h.id)
	}()
	done := make(chan struct{})
	defer close(done)
	go h.keep(done)
	switch err := h.deal(ctx, done); {
	case ctx.Err() != nil:
		log.Printf("%s: nobody waits any more", h.id)
	case err != nil: // it could not be read, or not be answered: once more, in 5 s
		_ = h.delivery().NakWithDelay(5 * time.Second)
		return err
	}
	confirmed, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return h.delivery().DoubleAck(confirmed) // it is dealt with. Should this be lost, it comes again, and the same is answered
}

// keep keeps the request: without +WPI it is handed out again after 15 s.
func (h *held) keep(done <-chan struct{}) {
	for range ticks(done, 5*time.Second) {
		_ = h.delivery().InProgress() // should it be lost, the next one counts
	}
}

// deal reads the request, does the work and answers it.
func (h *held) deal(ctx context.Context, done <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	body, err := h.message.Data(), error(nil)
	if reference := header(h.message, "dataref"); reference != "" {
		if body, err = h.get(ctx, strings.TrimPrefix(reference, "podium-artifact:"), header(h.message, "datagrant")); err != nil {
			return err
		}
	}
	var asked request
	if err := json.Unmarshal(body, &asked); err != nil {
		return err
	}
	h.progress(asked) // the first one says that work has begun
	go func() {
		for range ticks(done, heartbeat) { // also when nothing is new
			h.progress(asked)
		}
	}()
	payload := map[string]any{"plan_id": asked.Payload.PlanID, "status": "completed"}
	text, err := answerable(ctx, asked.Payload.Tasks[0], func(percentage int, words string) {
		h.mu.Lock()
		h.percentage, h.words = percentage, words
		due := time.Since(h.told) >= time.Second // at once, but once a second at most
		if due {
			h.told = time.Now()
		}
		h.mu.Unlock()
		if due {
			h.progress(asked)
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if payload["result"] = map[string]any{"text": text}; err != nil {
		delete(payload, "result")
		told, known := errors.AsType[failure](err)
		if !known {
			log.Print(err)
			told.words = "The clerk could not do it."
		}
		resolution := "deferred"
		if told.hopeless {
			resolution = "escalated"
		}
		payload["status"] = "failed"
		payload["issues_encountered"] = []any{map[string]any{"severity": "high", "description": told.words, "resolution": resolution}}
	}
	return h.answer(ctx, asked, payload)
}

// answerable does work, and no question that the announcement does not declare.
func answerable(ctx context.Context, t task, say func(percentage int, words string)) (string, error) {
	if kind := cmp.Or(t.Context.Kind, "work"); kind != "work" {
		return "", failure{"This agent does not answer requests of kind " + kind + ".", true}
	}
	return work(ctx, t, say)
}

func (h *held) progress(asked request) {
	h.mu.Lock()
	percentage, words := h.percentage, h.words
	h.mu.Unlock()
	to := strings.Replace(h.replyTo, name+".response", name+".progress", 1)
	_ = h.conn.Publish(to, envelope(asked, "progress_update", uuid(4, rand.Text()), map[string]any{
		"plan_id": asked.Payload.PlanID, "progress_percentage": percentage, "message": words,
	})) // the next one tells more
}

// giveBack leaves what is under way to another process: in a second, because at once it
// would come to this one, which still asks for requests.
func (a *agent) giveBack() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.working {
		_ = h.delivery().NakWithDelay(time.Second)
	}
}

func envelope(asked request, kind, id string, payload map[string]any) []byte {
	body, err := json.Marshal(map[string]any{
		"message_id": id, "type": kind, "from": name, "to": asked.From, "timestamp": time.Now().UTC().Format(time.RFC3339),
		"in_reply_to": asked.MessageID, "payload": payload,
	})
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return body
}

func (h *held) answer(ctx context.Context, asked request, payload map[string]any) error {
	// The id follows from the request's: whoever answers it again says the same.
	id := uuid(5, asked.MessageID+" response")
	message := nats.NewMsg(h.replyTo)
	message.Data = envelope(asked, "execution_response", id, payload)
	if len(message.Data) > 256<<10 {
		kept, err := h.put(ctx, message.Data, "application/json")
		if err != nil {
			return err
		}
		for attribute, value := range map[string]string{
			"specversion": "1.0", "id": id, "source": "/podium/" + name, "type": "podium.execution_response.v1",
			"causationid": asked.MessageID, "dataref": "podium-artifact:" + kept.SHA256, "datahash": kept.SHA256,
			"datasize": strconv.Itoa(kept.Size), "datagrant": kept.Grant,
		} {
			message.Header["ce-"+attribute] = []string{value}
		}
		message.Data = nil
	}
	for { // until it is stored: it counts once, however often it is sent
		if reply, err := h.conn.RequestMsg(message, 10*time.Second); err == nil {
			var said struct {
				Stream string
				Error  struct {
					Code        int
					Description string
				}
			}
			switch err := json.Unmarshal(reply.Data, &said); {
			case err != nil:
				return err
			case said.Stream != "":
				return nil
			case said.Error.Code == 400:
				return errors.New(said.Error.Description)
			}
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// A line is what the store of artifacts is asked, or answers; bytes follow it.
type line struct {
	Op        string   `json:"op,omitempty"`
	MediaType string   `json:"media_type,omitempty"`
	SHA256    string   `json:"sha256,omitempty"`
	Offset    int      `json:"offset,omitempty"`
	Parts     []string `json:"parts,omitempty"`
	Grants    []string `json:"grants,omitempty"`
	Request   string   `json:"request,omitempty"`
	Grant     string   `json:"grant,omitempty"`
	Size      int      `json:"size,omitempty"`
	Error     string   `json:"error,omitempty"`
}

const piece = 512 << 10

func (h *held) artifact(ctx context.Context, asked line, content []byte) (line, []byte, error) {
	head, err := json.Marshal(asked)
	if err != nil {
		return line{}, nil, err
	}
	frame := append(append(head, '\n'), content...)
	for ; ; err = pause(ctx, time.Second) {
		if err != nil {
			return line{}, nil, err
		}
		reply, err := h.conn.Request(subject("artifact"), frame, 10*time.Second)
		if err != nil || reply.Header.Get("Nats-Service-Error-Code") == "503" {
			continue // once more
		}
		if refusal := reply.Header.Get("Nats-Service-Error"); refusal != "" {
			return line{}, nil, errors.New(refusal)
		}
		head, rest, _ := bytes.Cut(reply.Data, []byte("\n"))
		var said line
		switch err := json.Unmarshal(head, &said); {
		case err != nil:
			return line{}, nil, err
		case said.Error == "":
			return said, rest, nil
		case said.Error != "busy":
			return line{}, nil, errors.New("the store of artifacts says: " + said.Error)
		}
	}
}

func (h *held) get(ctx context.Context, hash, grant string) (whole []byte, err error) {
	for {
		said, content, err := h.artifact(ctx, line{Op: "get", Request: h.id, SHA256: hash, Grant: grant, Offset: len(whole)}, nil)
		if err != nil {
			return nil, err
		}
		if whole = append(whole, content...); len(whole) >= said.Size {
			return whole, nil
		}
	}
}

func (h *held) put(ctx context.Context, content []byte, mediaType string) (line, error) {
	sum := sha256.Sum256(content)
	join := line{Op: "join", MediaType: mediaType, SHA256: hex.EncodeToString(sum[:])}
	for at := 0; ; at += piece {
		kept, _, err := h.artifact(ctx, line{Op: "put", MediaType: mediaType}, content[at:min(at+piece, len(content))])
		if err != nil || len(content) <= piece {
			return kept, err
		}
		join.Parts, join.Grants = append(join.Parts, kept.SHA256), append(join.Grants, kept.Grant)
		if at+piece >= len(content) {
			break
		}
	}
	kept, _, err := h.artifact(ctx, join, nil)
	return kept, err
}

// uuid makes a UUID of a version from words.
func uuid(version byte, words string) string {
	sum := sha1.Sum([]byte(words))
	sum[6], sum[8] = sum[6]&0x0f|version<<4, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// pause returns early, with an error, when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ticks yields every d until done.
func ticks(done <-chan struct{}, d time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if !yield() {
					return
				}
			case <-done:
				return
			}
		}
	}
}
