package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

const (
	// firstProgress is when a request that is not answered yet is said to be
	// worked on: the core's work deadline begins with it.
	firstProgress    = 100 * time.Millisecond
	progressInterval = 250 * time.Millisecond
	progressTimeout  = 2 * time.Second
)

// A reporter publishes the progress of one request: at most one update per
// interval, the last one always, and one after ProgressEvery even if nothing has
// changed, because it is the sign that the work goes on (M-36, M-47). An update
// that cannot be published is lost.
type reporter struct {
	server  *server
	event   *schemas.Event
	request *Request
	started time.Time

	over    <-chan struct{} // closed when the work has to end
	changed chan struct{}   // holds a value while there is something new to say
	stop    chan struct{}
	stopped chan struct{}
	first   *time.Timer
	begin   func(overdue bool) // starts to publish, once; the lock is held

	mu         sync.Mutex
	percentage int
	message    string
	news       bool
	begun      bool
	closed     bool
}

// startProgress begins to report on a request until end is called. Most requests
// are answered before there is anything to say, and need no goroutine.
func (s *server) startProgress(ctx context.Context, e *schemas.Event, request *Request, started time.Time) *reporter {
	over := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	r := &reporter{
		server: s, event: e, request: request, started: started, over: over,
		changed: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	r.begin = func(overdue bool) {
		if r.begun || r.closed {
			return
		}
		r.begun = true
		go func() {
			defer close(r.stopped)
			r.run(ctx, overdue)
		}()
	}
	r.first = time.AfterFunc(firstProgress, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.begin(true)
	})
	return r
}

// report is the handler's Report. A percentage never falls.
func (r *reporter) report(percentage int, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	percentage = max(min(percentage, 100), r.percentage)
	if r.closed || percentage == r.percentage && message == r.message {
		return
	}
	r.percentage, r.message, r.news = percentage, message, true
	select {
	case r.changed <- struct{}{}:
	default:
	}
	r.begin(false)
}

// end publishes what is still unsaid and waits for it, so that no progress
// follows the response.
func (r *reporter) end() {
	r.mu.Lock()
	r.closed = true
	begun := r.begun
	r.mu.Unlock()
	r.first.Stop()
	close(r.stop)
	if begun {
		<-r.stopped
	}
}

// run publishes what there is to say. Overdue, it begins with an update even if
// there is nothing new.
func (r *reporter) run(ctx context.Context, overdue bool) {
	var next time.Time // before this nothing is published
	life, over := time.NewTimer(r.server.config.ProgressEvery), r.over
	defer life.Stop()
	for ; ; overdue = false {
		if !overdue {
			select {
			case <-r.stop:
				if update, news := r.take(); news {
					r.publish(ctx, update)
				}
				return
			case <-life.C:
				overdue = true
			case <-over: // nobody waits any more: a handler that goes on gives no signs
				over = nil
				life.Stop()
			case <-r.changed:
				if !r.waitUntil(next) {
					continue
				}
			}
		}
		if update, news := r.take(); news || overdue {
			if over != nil {
				life.Reset(r.server.config.ProgressEvery)
			}
			r.publish(ctx, update)
			next = time.Now().Add(progressInterval)
		}
	}
}

// waitUntil waits for a moment; it reports false when the handler has ended first.
func (r *reporter) waitUntil(moment time.Time) bool {
	select {
	case <-time.After(time.Until(moment)):
		return true
	case <-r.stop:
		return false
	}
}

// take returns the newest update and whether it was unsaid.
func (r *reporter) take() (update schemas.ProgressPayload, news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	news, r.news = r.news, false
	update = schemas.ProgressPayload{
		PlanID: r.request.Payload.PlanID, ProgressPercentage: r.percentage, Message: r.message,
		TasksCompleted: []string{}, TasksPending: []string{}, TasksBlocked: []schemas.TaskBlocked{},
		TasksInProgress: make([]schemas.TaskInProgress, 0, len(r.request.Payload.Tasks)),
	}
	for _, task := range r.request.Payload.Tasks {
		update.TasksInProgress = append(update.TasksInProgress, schemas.TaskInProgress{
			TaskID: task.TaskID, Agent: r.server.worker.Name(), StartedAt: r.started.UTC(),
		})
	}
	return update, news
}

// messageOf returns the message that an update is.
func (r *reporter) messageOf(payload schemas.ProgressPayload) (bus.Message, error) {
	s := r.server
	update := schemas.ProgressUpdate{
		Envelope: s.envelope(r.request, schemas.EnvelopeTypeProgressUpdate, uuid.NewString()),
		Payload:  payload,
	}
	body, err := schemas.Marshal(update)
	if err != nil {
		return bus.Message{}, errors.New("it is not UTF-8") // the error quotes what it is
	}
	event := about(s.worker.Name(), r.event, &update.Envelope, body)
	_, subject := ReplySubjects(s.worker.Name(), r.event)
	return binding.Encode(subject, &event)
}

func (r *reporter) publish(ctx context.Context, payload schemas.ProgressPayload) {
	log := r.server.log.With().Str("request", r.event.ID).Logger()
	message, err := r.messageOf(payload)
	if err != nil {
		log.Warn().Err(err).Msg("a progress update cannot be written")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	if _, err := r.server.worker.Publish(ctx, message); err != nil {
		log.Debug().Err(err).Msg("a progress update is lost")
	}
}
