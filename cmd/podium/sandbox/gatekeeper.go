package sandbox

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/gate"
	"podium/bus/jetstream"
)

// A keeper stores whatever the agent publishes, also what it has published before, and
// notes what an installation would have refused.
type keeper struct {
	*gate.Gate

	mu      sync.Mutex
	refuses *bool // what becomes true when the next answer was refused; nil refuses none
	excess  []string
}

var _ jetstream.Gatekeeper = (*keeper)(nil)

func newKeeper() *keeper {
	return &keeper{Gate: gate.New(time.Now, func(int) bool { return false }, zerolog.Nop())}
}

// Admit implements jetstream.Gatekeeper.
func (k *keeper) Admit(message bus.Message) (earlier *bus.Ack, settle func(bus.Ack, error), err error) {
	subject, err := bus.ParseSubject(message.Subject)
	if err == nil && subject.Kind == bus.KindResponse && k.refuseThis() {
		return nil, nil, &bus.TemporaryError{Op: "admit", Err: errTemporary}
	}
	_, settle, err = k.Gate.Admit(message)
	if errors.Is(err, gate.ErrUnsolicited) {
		k.mu.Lock()
		_, reason, _ := strings.Cut(err.Error(), gate.ErrUnsolicited.Error()+": ")
		k.excess = append(k.excess, "it publishes more than it is asked for: "+reason)
		k.mu.Unlock()
	}
	if settle == nil {
		settle = func(bus.Ack, error) {}
	}
	return nil, settle, nil
}

func (k *keeper) refuseThis() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses == nil {
		return false
	}
	*k.refuses, k.refuses = true, nil
	return true
}

func (k *keeper) refuseNext() (refused func() bool) {
	done := false
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refuses = &done
	return func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return done
	}
}

func (k *keeper) excesses() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.excess...)
}
