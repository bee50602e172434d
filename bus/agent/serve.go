package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/backoff"
	"podium/schemas"
	"podium/schemas/validation"
)

const (
	instanceIDLength = 10

	rememberedBytes = 64 << 20        // of answers kept for repeats
	askTimeout      = 5 * time.Second // of one question to a core service
	announceWait    = time.Second     // that the first request waits for the announcement
	publishTimeout  = 10 * time.Second
	ackTimeout      = 5 * time.Second
)

// DefaultProgressEvery is how often Serve says that a request is under way.
const DefaultProgressEvery = 10 * time.Second

// DefaultCheckTimeout bounds a look at whether a handler could do its work.
const DefaultCheckTimeout = 10 * time.Second

// A ServeConfig bounds Serve. The zero value of a field stands for its default.
type ServeConfig struct {
	// Agent is what the agent says of itself. Its Name is always the worker's. A
	// request of another kind than its Kinds, which are work by default, is refused
	// before the handler sees it. Its ID tells this process from the others of the agent;
	// a random one by default.
	Agent schemas.Agent
	// Concurrency is how many requests this process works on at a time; 1 by default.
	Concurrency int
	// AckWait is the one of the agent's Pool; 30 s by default.
	AckWait time.Duration
	// Heartbeat is the time between two signs of life to the registry;
	// DefaultHeartbeat by default. After three that are missing nobody counts on it.
	Heartbeat time.Duration
	// CheckEvery is the time between two looks at whether the handler could do its work, if it is
	// a Checker; as Heartbeat by default, and never longer while it cannot. CheckTimeout bounds each;
	// 10 s by default.
	CheckEvery, CheckTimeout time.Duration
	// Health, unless nil, hears when that has changed: why it cannot, or nil. It is called by one
	// goroutine at a time, until Serve returns.
	Health func(problem error)
	// ProgressEvery is the time after which a request under way gets a progress
	// update also when nothing has changed; 10 s by default (M-36). Whoever waits
	// takes the agent for crashed when three of them are missing (M-47), so that
	// it is at most what the agent's heartbeat promises.
	ProgressEvery time.Duration
	// DrainTimeout is how long requests under way may take to finish after the
	// context has ended; 30 s by default.
	DrainTimeout time.Duration
	// Remember is how many answered requests are known again, so that a repeat
	// gets the same response and no work is done twice; 1024 by default.
	Remember int
	// Crashes keeps a request that has ended the process twice from being worked on again; nil does not.
	Crashes *CrashLog
	// Log receives what an operator needs to know, and no personal data.
	Log zerolog.Logger
}

func (c ServeConfig) withDefaults(worker bus.Worker) ServeConfig {
	c.Agent.Name = worker.Name()
	c.Concurrency = max(c.Concurrency, 1)
	c.Agent.Concurrency = cmp.Or(c.Agent.Concurrency, c.Concurrency)
	if len(c.Agent.Kinds) == 0 {
		c.Agent.Kinds = []schemas.RequestKind{schemas.KindWork}
	}
	c.AckWait = positive(c.AckWait, 30*time.Second)
	c.Heartbeat = positive(c.Heartbeat, bus.DefaultHeartbeat)
	c.CheckEvery = positive(c.CheckEvery, c.Heartbeat)
	c.CheckTimeout = positive(c.CheckTimeout, DefaultCheckTimeout)
	if c.Agent.ID == "" {
		c.Agent.ID = strings.ToLower(rand.Text()[:instanceIDLength])
	}
	c.ProgressEvery = positive(c.ProgressEvery, DefaultProgressEvery)
	c.DrainTimeout = positive(c.DrainTimeout, 30*time.Second)
	c.Remember = positive(c.Remember, 1024)
	return c
}

// positive returns what is configured, or else something instead.
func positive[T int | time.Duration](configured, instead T) T {
	if configured <= 0 {
		return instead
	}
	return configured
}

// The reasons for which a request's context ends before its time.
var (
	errLeaseLost = errors.New("the lease of the request is lost")
	errDrained   = errors.New("the agent is stopping")
	errCancelled = errors.New("nobody waits for the request any more")
	errExpired   = errors.New("the request has expired")
)

// A server is one Serve or one Receive.
type server struct {
	worker         bus.Worker
	handler        Handler
	quarantine     func(ctx context.Context, m bus.Message, detail string) error // what cannot be answered; nil: it is only logged
	handleDelivery func(ctx context.Context, d bus.Delivery)                     // the life of one delivery
	onCancel       func(request string)                                          // hears the cancel hints
	config         ServeConfig
	input, output  *validation.Schema // of arguments and data; nil takes anything
	log            zerolog.Logger
	slots          chan struct{}     // one value for each slot in use
	idle           chan bus.Delivery // to a goroutine that waits for work

	health    health
	announced bool // to the registry; the goroutine of heartbeat has it, and who waits for that

	malformed atomic.Uint64
	draining  atomic.Bool // nothing new is taken

	mu       sync.Mutex
	running  map[string]context.CancelCauseFunc   // by request id
	permits  map[string]chan schemas.PermitAnswer // of questions that wait for an answer
	answered *answered                            // the requests worked on last, by id
}

// Serve is the life of one agent's process: it announces the agent, takes as
// many requests as it has free slots, has the handler do the work and publishes
// exactly one response to each, until ctx ends. Then it takes no more, lets the
// requests under way finish for DrainTimeout, cancels the others and gives them
// back. It returns when every handler has returned: nil after ctx has ended,
// ErrClosed or ErrDenied when the bus refuses for good, ErrRefused when the core
// does not have this process serve the agent. It takes its first request after it
// has announced the agent, or tried to.
//
// See the package documentation for what it guarantees to a handler.
func Serve(ctx context.Context, worker bus.Worker, handler Handler, config ServeConfig) error {
	s := newServer(worker, config)
	s.handler, s.handleDelivery, s.onCancel = handler, s.handleRequest, s.cancelHandler
	return s.run(ctx)
}

func newServer(worker bus.Worker, config ServeConfig) *server {
	config = config.withDefaults(worker)
	return &server{
		worker: worker, config: config,
		log:      config.Log.With().Str("agent", worker.Name()).Logger(),
		slots:    make(chan struct{}, config.Concurrency),
		idle:     make(chan bus.Delivery),
		running:  make(map[string]context.CancelCauseFunc),
		permits:  make(map[string]chan schemas.PermitAnswer),
		answered: newAnswered(config.Remember),
		health:   health{looked: make(chan struct{}), changed: make(chan struct{}, 1)},
	}
}

// answered remembers the responses used last, up to a count and rememberedBytes.
type answered = ttlcache.Cache[string, outgoingResponse]

func newAnswered(count int) *answered {
	return ttlcache.New(ttlcache.WithCapacity[string, outgoingResponse](uint64(count)), //nolint:gosec // it is positive
		ttlcache.WithMaxCost(rememberedBytes, func(item ttlcache.CostItem[string, outgoingResponse]) uint64 {
			return uint64(len(item.Value.event.Data)) + 1<<10
		}))
}

func (s *server) run(ctx context.Context) error {
	if !schemas.ValidAgentName(s.worker.Name()) {
		return fmt.Errorf("%q cannot be the name of an agent", s.worker.Name())
	}
	if err := s.compileSchemas(); err != nil {
		return err
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx)) // outlives ctx by the drain
	defer stop(nil)
	background, quiet := context.WithCancel(work)
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	var life, requests sync.WaitGroup
	tried := make(chan struct{})
	life.Go(func() { s.lookAfterHealth(background) })
	life.Go(func() { s.heartbeat(background, sync.OnceFunc(func() { close(tried) }), refuse) })
	life.Go(func() { listen(background, s.worker.Cancelled(), s.onCancel) })
	life.Go(func() { listen(background, s.worker.Permitted(), s.passPermit) })

	select {
	case <-tried:
	case <-time.After(announceWait):
	case <-ctx.Done():
	}
	err := s.pull(ctx, work, &requests)
	if cause := context.Cause(ctx); errors.Is(cause, bus.ErrRefused) {
		err = cause
		stop(errDrained) // it is not this process that is asked
	}
	s.draining.Store(true)
	late := time.AfterFunc(s.config.DrainTimeout, func() { stop(errDrained) })
	requests.Wait()
	late.Stop()
	quiet()
	life.Wait()
	s.leave(work)
	return err
}

// pull fetches exactly as many requests as there are free slots, because a
// request that waits in a buffer burns its ack-wait.
func (s *server) pull(ctx, work context.Context, requests *sync.WaitGroup) error {
	defer close(s.idle)
	var trouble backoff.Backoff
	for {
		free := s.reserve(ctx)
		if free == 0 {
			return nil
		}
		deliveries, err := s.worker.Fetch(ctx, free)
		s.release(max(free-len(deliveries), 0))
		for _, d := range deliveries {
			select {
			case s.idle <- d:
			default:
				requests.Go(func() { s.workerLoop(work, d) })
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			trouble.Reset()
			continue
		case errors.Is(err, bus.ErrClosed), errors.Is(err, bus.ErrDenied):
			return fmt.Errorf("fetch the requests of %s: %w", s.worker.Name(), err)
		}
		s.log.Warn().Err(err).Msg("requests cannot be fetched; trying again")
		if trouble.Wait(ctx) != nil {
			return nil
		}
	}
}

// workerLoop works on a delivery, then on others until pull has returned: a goroutine
// that has worked before has grown the stack that the work needs.
func (s *server) workerLoop(ctx context.Context, d bus.Delivery) {
	for more := true; more; d, more = <-s.idle {
		s.handleDelivery(ctx, d)
		s.release(1)
	}
}

// reserve waits for a free slot and takes all there are; 0 means that ctx has ended.
func (s *server) reserve(ctx context.Context) (free int) {
	if ctx.Err() != nil {
		return 0
	}
	select {
	case s.slots <- struct{}{}:
		free = 1
	case <-ctx.Done():
		return 0
	}
	for ; free < cap(s.slots); free++ {
		select {
		case s.slots <- struct{}{}:
		default:
			return free
		}
	}
	return free
}

func (s *server) release(slots int) {
	for range slots {
		<-s.slots
	}
}

// listen passes on what comes, until ctx ends or nothing can come any more.
func listen[T any](ctx context.Context, from <-chan T, hear func(T)) {
	for {
		select {
		case heard, open := <-from:
			if !open {
				return
			}
			hear(heard)
		case <-ctx.Done():
			return
		}
	}
}

// cancelHandler ends the context of the handler that works on a request.
func (s *server) cancelHandler(request string) {
	s.mu.Lock()
	cancel := s.running[request]
	s.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
}
