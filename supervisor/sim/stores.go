package sim

import (
	"context"
	"errors"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
)

// Store returns a table as the process sees it.
func (f *faults) KeyValue(bucket string) bus.KeyValue {
	return &flakyStore{f, f.Core.KeyValue(bucket), bucket == bus.AgentBucket, f.watch.began}
}

type flakyStore struct {
	faults   *faults
	store    bus.KeyValue
	breakers bool
	begun    uint64 // the tick that asked for it
}

// breaker reads a value as that of an agent's breaker.
func (s *flakyStore) breaker(key string, value []byte) (agent string, b schemas.Breaker, is bool) {
	if !s.breakers {
		return "", b, false
	}
	agent, is = registry.BreakerAgent(key)
	return agent, b, is && (len(value) == 0 || schemas.Unmarshal(value, &b) == nil)
}

// Get fails now and then.
func (s *flakyStore) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = s.faults.look("get a key", func() (err error) {
		value, revision, err = s.store.Get(ctx, key)
		return err
	})
	if agent, b, is := s.breaker(key, value); is && (err == nil || errors.Is(err, bus.ErrNotFound)) {
		s.faults.watch.read(s.faults, agent, s.begun, &b)
	}
	return value, revision, err
}

// Put fails now and then, before or after it has stored.
func (s *flakyStore) Put(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	err = s.faults.effect("put a key", func() (err error) {
		revision, err = s.store.Put(ctx, key, value)
		return err
	})
	return revision, err
}

// Update fails now and then, before or after it has stored.
func (s *flakyStore) Update(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	agent, b, is := s.breaker(key, value)
	if is {
		s.faults.watch.write(s.faults, agent)
	}
	err = s.faults.effect("update a key", func() (err error) {
		if next, err = s.store.Update(ctx, key, value, revision); err == nil && is {
			s.faults.watch.change(agent, &b)
		}
		return err
	})
	if err == nil && is {
		s.faults.watch.read(s.faults, agent, s.begun, &b)
	}
	return next, err
}

// Delete fails now and then, before or after it has deleted.
func (s *flakyStore) Delete(ctx context.Context, key string) error {
	return s.faults.effect("delete a key", func() error { return s.store.Delete(ctx, key) })
}

// Keys fails now and then.
func (s *flakyStore) Keys(ctx context.Context) (keys []string, err error) {
	err = s.faults.look("list keys", func() (err error) {
		keys, err = s.store.Keys(ctx)
		return err
	})
	return keys, err
}

// Below fails now and then.
func (s *flakyStore) Below(ctx context.Context, prefix string) (found map[string][]byte, err error) {
	err = s.faults.look("list values", func() (err error) {
		found, err = s.store.Below(ctx, prefix)
		return err
	})
	return found, err
}
