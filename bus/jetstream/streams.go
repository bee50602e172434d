package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

const (
	shardsKey     = "podium.shards"
	hashKey       = "podium.hash"
	hashName      = "fnv1a32" // of the session's id, modulo shards
	shortestDedup = 100 * time.Millisecond
	workAge       = 7 * 24 * time.Hour
	maxShards     = 65535
	usualShards   = 4
)

// What the shards have together is half of a store (Config.MaxBytes). Of the other
// half requests have an eighth of the store and artifacts five sixteenths, so that neither takes
// the other's room or that of the buckets, whose values are small.
const (
	workShare     = 4      // the shards' share, divided by it
	artifactShare = 5. / 8 // of the shards' share
)

// openStreams creates what is missing, and refuses a ledger that is not as it
// should be. With asItIs it leaves what is there. It returns the number of shards.
func (c *Core) openStreams(ctx context.Context, config Config, asItIs bool) (int, error) {
	shards, err := c.settleShards(ctx, config)
	if err != nil || config.Existing {
		return shards, err
	}
	wanted := []jetstream.StreamConfig{workConfig(config)}
	for shard := range shards {
		wanted = append(wanted, shardConfig(shard, shards, config))
	}
	// What is refused stays as it is: none is changed before all have been looked at.
	for i := range wanted {
		if err := c.inspect(ctx, wanted[i], asItIs); err != nil {
			return 0, err
		}
	}
	for i := range wanted {
		if err := c.openStream(ctx, wanted[i], asItIs); err != nil {
			return 0, err
		}
	}
	return shards, c.openBuckets(ctx, config, asItIs)
}

// inspect says why a stream that is there cannot be opened, or nil. What may be amended is passed over.
func (c *Core) inspect(ctx context.Context, want jetstream.StreamConfig, asItIs bool) error {
	info, err := c.streamInfo(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err == nil {
		err = bus.CheckFormat(info.Config.Metadata[bus.FormatKey])
	}
	if err != nil || asItIs {
		return wire.Classify("open stream "+want.Name, err)
	}
	have := info.Config
	have.MaxBytes = want.MaxBytes
	if differences := drift(want, have); len(differences) > 0 {
		return &DriftError{Stream: want.Name, Differences: differences}
	}
	return nil
}

// DefaultShards is how many a new ledger has when nobody says: one per core, at most 4.
func DefaultShards() int { return min(runtime.NumCPU(), usualShards) }

// ErrGone reports a ledger that was there before (Config.Known), and of which the server holds nothing any more.
var ErrGone = errors.New("the server holds no ledger any more")

// settleShards reads the number of shards from the ledger. The caller's number
// counts for a new ledger only; for another one it must be the same.
func (c *Core) settleShards(ctx context.Context, config Config) (int, error) {
	demanded := config.Shards
	if demanded < 0 || demanded > maxShards {
		return 0, fmt.Errorf("a ledger has 1 to %d shards, not %d", maxShards, demanded)
	}
	info, err := c.anyShard(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) && config.Known {
		return 0, ErrGone
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) && !config.Existing {
		return cmp.Or(demanded, DefaultShards()), nil
	}
	if err != nil {
		return 0, wire.ClassifyStore("open the ledger", wire.NotFound(err))
	}
	if err := bus.CheckFormat(info.Config.Metadata[bus.FormatKey]); err != nil {
		return 0, err // before anything else that it says is believed
	}
	if hash := info.Config.Metadata[hashKey]; hash != hashName {
		return 0, fmt.Errorf("the ledger spreads its sessions by %q, and this version knows %q only", hash, hashName)
	}
	shards, err := strconv.Atoi(info.Config.Metadata[shardsKey])
	if err != nil || shards < 1 || shards > maxShards {
		return 0, fmt.Errorf("the ledger does not say how many shards it has (%s of stream %s)", shardsKey, info.Config.Name)
	}
	if demanded != 0 && demanded != shards {
		return 0, fmt.Errorf("the ledger has %d shards, but %d are configured; the number is settled when a ledger is created: "+
			"set it to %d or leave it out", shards, demanded, shards)
	}
	return shards, nil
}

// anyShard returns the first stream of a shard: all of them say how many there are, and
// the very first may be lost.
func (c *Core) anyShard(ctx context.Context) (*jetstream.StreamInfo, error) {
	info, err := c.streamInfo(ctx, bus.ShardStream(0))
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return info, err
	}
	names := c.js.StreamNames(ctx)
	shards := map[string]bool{}
	for name := range names.Name() {
		shards[name] = true
	}
	if names.Err() != nil {
		return nil, names.Err()
	}
	for shard := 1; shard < min(len(shards), maxShards); shard++ {
		if shards[bus.ShardStream(shard)] {
			return c.streamInfo(ctx, bus.ShardStream(shard))
		}
	}
	return nil, err
}

// baseConfig names every setting, because a client's default is no decision.
func baseConfig(name string, subjects []string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              name,
		Subjects:          subjects,
		Retention:         jetstream.LimitsPolicy,
		Storage:           jetstream.FileStorage,
		Compression:       jetstream.NoCompression,
		Replicas:          max(replicas, 1),
		MaxConsumers:      -1,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgsPerSubject: -1,
		MaxMsgSize:        -1,
		Duplicates:        shortestDedup,
		DenyDelete:        true,
		DenyPurge:         true,
		Metadata:          map[string]string{bus.FormatKey: strconv.Itoa(bus.Format)},
		// Followers answer direct gets too, possibly with the past.
		AllowDirect: replicas <= 1,
		// Group commit (ADR 30). It writes no subject that its sender may not.
		AllowAtomicPublish: true,
		// Whoever may publish one subject of a stream with any of these could
		// forge or wipe the others.
		AllowRollup:       false,
		AllowMsgTTL:       false,
		AllowMsgCounter:   false,
		AllowBatchPublish: false,
		AllowMsgSchedules: false,
	}
}

func shardConfig(shard, shards int, config Config) jetstream.StreamConfig {
	stream := baseConfig(bus.ShardStream(shard), bus.ShardSubjects(shard), config.Replicas)
	stream.Discard = jetstream.DiscardNew // full is refused, never forgotten
	stream.MaxAge = 0                     // an expired subject would reset its sequence
	stream.Metadata[shardsKey], stream.Metadata[hashKey] = strconv.Itoa(shards), hashName
	if config.MaxBytes > 0 {
		stream.MaxBytes = max(config.MaxBytes/int64(shards), 1)
	}
	return stream
}

// workConfig: a request can be made again from its session's records, so it may
// expire, and the oldest gives way to the newest.
func workConfig(config Config) jetstream.StreamConfig {
	stream := baseConfig(bus.WorkStream, bus.WorkSubjects(), config.Replicas)
	stream.Discard = jetstream.DiscardOld
	stream.MaxAge = workAge
	if config.MaxBytes > 0 {
		stream.MaxBytes = max(config.MaxBytes/workShare, 1)
	}
	return stream
}

func (c *Core) openStream(ctx context.Context, want jetstream.StreamConfig, asItIs bool) error {
	info, err := c.streamInfo(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = c.js.CreateStream(ctx, want)
		if err == nil {
			return nil
		}
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // else another process was faster
			return wire.Classify("create stream "+want.Name, err)
		}
		info, err = c.streamInfo(ctx, want.Name)
	}
	if err == nil {
		err = bus.CheckFormat(info.Config.Metadata[bus.FormatKey])
	}
	if err != nil || asItIs {
		return wire.Classify("open stream "+want.Name, err)
	}
	if err := c.amend(ctx, info, &want); err != nil {
		return err
	}
	if differences := drift(want, info.Config); len(differences) > 0 {
		return &DriftError{Stream: want.Name, Differences: differences}
	}
	return nil
}

// amend applies what may change about a stream that is there: its size limit, which is the one setting that an operator
// changes. It takes a stream that forgets nothing never below what it holds: that would delete.
func (c *Core) amend(ctx context.Context, info *jetstream.StreamInfo, want *jetstream.StreamConfig) error {
	have := info.Config
	if want.MaxBytes < 0 {
		want.MaxBytes = have.MaxBytes
	}
	if want.MaxBytes == have.MaxBytes {
		return nil
	}
	if keeps := have.Discard == jetstream.DiscardNew; keeps && want.MaxBytes > 0 && info.State.Bytes > uint64(want.MaxBytes) {
		return fmt.Errorf("stream %s holds %d bytes, more than the %d that are its share of ledger.max_bytes; set that higher",
			want.Name, info.State.Bytes, want.MaxBytes)
	}
	changed := have
	changed.MaxBytes = want.MaxBytes
	if _, err := c.js.UpdateStream(ctx, changed); err != nil {
		return wire.Classify("amend stream "+want.Name, err)
	}
	info.Config.MaxBytes = changed.MaxBytes
	return nil
}

// A DriftError reports a stream whose settings are not the ledger's.
type DriftError struct {
	Stream      string
	Differences []string // "setting: is X, must be Y"
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("stream %s is not as the ledger needs it: %s", e.Stream, strings.Join(e.Differences, "; "))
}

// drift compares every setting, so that one that a later server adds is noticed
// when somebody sets it.
func drift(want, have jetstream.StreamConfig) []string {
	have.Metadata = ownMetadata(have.Metadata)
	want.Metadata = ownMetadata(want.Metadata)
	slices.Sort(have.Subjects)
	want.Subjects = slices.Sorted(slices.Values(want.Subjects))
	have.Placement, have.Description = nil, "" // where it runs and what it is called is the operator's
	wantValue, haveValue := reflect.ValueOf(want), reflect.ValueOf(have)
	var differences []string
	for i := range wantValue.NumField() {
		w, h := wantValue.Field(i).Interface(), haveValue.Field(i).Interface()
		if !reflect.DeepEqual(w, h) {
			differences = append(differences, fmt.Sprintf("%s: is %v, must be %v", wantValue.Type().Field(i).Name, h, w))
		}
	}
	return differences
}

// ownMetadata leaves out what the server adds.
func ownMetadata(metadata map[string]string) map[string]string {
	own := maps.Clone(metadata)
	maps.DeleteFunc(own, func(key, _ string) bool { return !strings.HasPrefix(key, "podium.") })
	if len(own) == 0 {
		return nil
	}
	return own
}

func (c *Core) streamInfo(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	stream, err := c.js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	return stream.CachedInfo(), nil
}
