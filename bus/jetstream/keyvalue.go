package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// openBuckets creates the buckets and the object store that are missing.
func (c *Core) openBuckets(ctx context.Context, config Config, asItIs bool) error {
	for _, bucket := range [...]string{bus.AgentBucket, bus.MailboxBucket, bus.LeaseBucket, bus.BudgetBucket} {
		_, err := c.js.KeyValue(ctx, bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			_, err = c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
				Bucket: bucket, History: 1, MaxValueSize: -1, MaxBytes: -1,
				Storage: jetstream.FileStorage, Replicas: max(config.Replicas, 1),
			})
		}
		if err != nil {
			return wire.Classify("open bucket "+bucket, err)
		}
	}
	return c.openArtifacts(ctx, config, asItIs)
}

// openArtifacts creates the object store, or gives it another bound: not below what
// it holds.
func (c *Core) openArtifacts(ctx context.Context, config Config, asItIs bool) error {
	bound := int64(-1)
	if config.MaxBytes > 0 {
		bound = int64(float64(config.MaxBytes) * artifactShare)
	}
	info, err := c.streamInfo(ctx, bus.ArtifactStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: bus.ArtifactBucket, MaxBytes: bound, Storage: jetstream.FileStorage, Replicas: max(config.Replicas, 1),
		})
		return wire.Classify("open bucket "+bus.ArtifactBucket, err)
	}
	if err != nil || asItIs {
		return wire.Classify("open bucket "+bus.ArtifactBucket, err)
	}
	changed := info.Config
	if bound > 0 {
		changed.MaxBytes = max(bound, int64(info.State.Bytes)) //nolint:gosec // a size
	}
	if changed.MaxBytes == info.Config.MaxBytes {
		return nil
	}
	_, err = c.js.UpdateStream(ctx, changed)
	return wire.Classify("amend bucket "+bus.ArtifactBucket, err)
}

// A store is one bucket.
type store struct {
	core   *Core
	bucket string
}

// KeyValue implements bus.Core. The keys of a bucket are made of letters, digits and
// "-", "_", "/", "=", "."; any other is an error.
func (c *Core) KeyValue(bucket string) bus.KeyValue { return &store{core: c, bucket: bucket} }

// with runs one operation on the bucket.
func (s *store) with(ctx context.Context, op string, run func(context.Context, jetstream.KeyValue) error) error {
	ctx, cancel := s.core.Answered(ctx)
	defer cancel()
	values, err := s.core.js.KeyValue(ctx, s.bucket)
	if err == nil {
		err = run(ctx, values)
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		err = fmt.Errorf("%w: %w", bus.ErrConflict, err)
	}
	return wire.ClassifyStore(op+" in "+s.bucket, wire.NotFound(err))
}

// change is with for what the bucket keeps.
func (s *store) change(ctx context.Context, op string, run func(context.Context, jetstream.KeyValue) error) error {
	if err := s.core.hold.allowed(op + " in " + s.bucket); err != nil {
		return err
	}
	return s.with(ctx, op, run)
}

func (s *store) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = s.with(ctx, "get a value", func(ctx context.Context, values jetstream.KeyValue) error {
		entry, err := values.Get(ctx, key)
		if err == nil {
			value, revision = entry.Value(), entry.Revision()
		}
		return err
	})
	return value, revision, err
}

func (s *store) Put(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	err = s.change(ctx, "put a value", func(ctx context.Context, values jetstream.KeyValue) error {
		revision, err = values.Put(ctx, key, value)
		return err
	})
	return revision, err
}

func (s *store) Update(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	err = s.change(ctx, "update a value", func(ctx context.Context, values jetstream.KeyValue) error {
		if revision == 0 {
			next, err = values.Create(ctx, key, value) // over a deletion, too
		} else {
			next, err = values.Update(ctx, key, value, revision)
		}
		return err
	})
	return next, err
}

// Delete takes a value out without a trace. The deletion of a key-value store leaves a mark for each key for ever, which whoever lists
// the values reads: an agent that comes and goes under ever new ids would fill the bucket. What is put meanwhile stays.
func (s *store) Delete(ctx context.Context, key string) error {
	return s.change(ctx, "delete a value", func(ctx context.Context, values jetstream.KeyValue) error {
		entry, err := values.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		stream, err := s.core.js.Stream(ctx, "KV_"+s.bucket)
		if err != nil {
			return err
		}
		return stream.Purge(ctx, jetstream.WithPurgeSubject("$KV."+s.bucket+"."+key), jetstream.WithPurgeSequence(entry.Revision()+1))
	})
}

func (s *store) Keys(ctx context.Context) (keys []string, err error) {
	err = s.with(ctx, "list the keys", func(ctx context.Context, values jetstream.KeyValue) error {
		keys, err = values.Keys(ctx)
		if errors.Is(err, jetstream.ErrNoKeysFound) {
			return nil
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
}

// Below implements bus.KeyValue.
func (s *store) Below(ctx context.Context, prefix string) (found map[string][]byte, err error) {
	err = s.with(ctx, "list the values", func(ctx context.Context, values jetstream.KeyValue) error {
		found = map[string][]byte{} // with may be tried anew
		watcher, err := values.Watch(ctx, prefix+">", jetstream.IgnoreDeletes())
		if err != nil {
			return err
		}
		defer func() { _ = watcher.Stop() }()
		for {
			select {
			case entry, open := <-watcher.Updates():
				switch {
				case !open:
					return nats.ErrConnectionClosed
				case entry == nil: // that was all there is
					return nil
				}
				found[entry.Key()] = entry.Value()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return found, err
}
