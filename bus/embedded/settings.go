package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"podium/bus/jetstream"
)

// ServerVersion is that of the server inside.
const ServerVersion = server.VERSION

// Durability says what an acknowledged message survives.
type Durability string

// The durabilities.
const (
	// Fsync: a power failure. Every message is on the disk before its ack.
	Fsync Durability = "fsync"
	// Interval: the end of the process. A power failure may take the last two
	// minutes; several times faster.
	Interval Durability = "interval"
)

const (
	// MaxPayload is the largest message a server takes, in bytes, headers included.
	MaxPayload = 8 << 20
	// DefaultMaxBytes bounds the store when the configuration does not, in bytes.
	// The server's own default, three quarters of what is free at its start,
	// would call a store full that has outgrown the rest of its disk.
	DefaultMaxBytes = 64 << 30
	// AsItIs as MaxBytes leaves a store the bounds that it has.
	AsItIs = -1

	// maxPending is what may wait to be sent to one connection, which several
	// readers share, before the server takes it for too slow and cuts it.
	maxPending = 256 << 20
	// What batches without an end, which any agent may begin, can keep aside.
	batchesPerStream = 8
	batchTimeout     = 2 * time.Second

	syncInterval  = 2 * time.Minute
	syncAlways    = "always"
	maxMemory     = 256 << 20
	serverName    = "podium"
	ledgerDir     = "ledger"
	credentialDir = "credentials"
)

// Settings are what the configuration of one server differs in.
type Settings struct {
	Listen     string // host:port
	StoreDir   string
	Durability Durability
	MaxBytes   int64 // of the whole store; 0 is DefaultMaxBytes
	Accounts   Accounts
}

// Config returns the text of a nats-server configuration file. The embedded
// server reads the very same text as a separate one.
func (s Settings) Config() (string, error) {
	accounts, err := s.Accounts.Config()
	if err != nil {
		return "", err
	}
	sync := syncInterval.String()
	switch s.Durability {
	case Fsync:
		sync = syncAlways
	case Interval:
	default:
		return "", fmt.Errorf("durability is %q, but must be %q or %q", s.Durability, Fsync, Interval)
	}
	if s.StoreDir == "" {
		return "", errors.New("the ledger needs a directory")
	}
	return fmt.Sprintf("server_name: %q\nlisten: %q\n", serverName, s.Listen) + needs(s.StoreDir, sync, cmp.Or(s.MaxBytes, DefaultMaxBytes)) + accounts, nil
}

// Needs returns what the configuration of a server has to say beside its accounts, so
// that it keeps a ledger as the embedded one does with Fsync. Lines of its own may
// stand there instead.
func Needs(storeDir string) string { return needs(storeDir, syncAlways, DefaultMaxBytes) }

func needs(storeDir, sync string, maxBytes int64) string {
	return fmt.Sprintf(`max_payload: %d
max_pending: %d
write_deadline: %q
jetstream {
  store_dir: %q
  sync_interval: %q
  max_file_store: %d
  max_memory_store: %d
  limits {
    batch {
      max_inflight_per_stream: %d
      max_msgs: %d
      timeout: %q
    }
  }
}
`, MaxPayload, maxPending, writeDeadline.String(), storeDir, sync, maxBytes, maxMemory, batchesPerStream, jetstream.MaxBatch, batchTimeout.String())
}
