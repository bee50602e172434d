package installation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus"
	"podium/schemas"
)

// keyPrints is where AgentBucket holds the fingerprints of the keys that were last used with the ledger;
// no agent's name holds a dot.
const keyPrints = "key.prints"

// CompareKeys says in the log when this data directory has other keys than the one that was used with the
// ledger before, as after a failover to another machine. It notes which are used now. It is for a
// ledger on a server of its own.
func (l *Ledger) CompareKeys(ctx context.Context) error {
	changed, err := compareKeyPrints(ctx, l.Core.KeyValue(bus.AgentBucket), CredentialsDir(l.Data))
	for _, name := range changed {
		means := "URLs of runs that were given out before open nothing"
		if name == "reply.key" {
			means = "answers to chats that are under way cannot be delivered, and answers to letters of before find their conversation by their thread only"
		}
		l.log.Error().Str("key", name).Str("means", means).
			Msg("this data directory has another key than the one that was used with the ledger before: copy the file from the credentials of that one, and start again")
	}
	return err
}

// compareKeyPrints returns the names of keys that have changed, and notes all that are there.
func compareKeyPrints(ctx context.Context, store bus.KeyValue, folder string) (changed []string, err error) {
	for {
		used := map[string]string{}
		value, revision, err := store.Get(ctx, keyPrints)
		switch {
		case errors.Is(err, bus.ErrNotFound):
			revision = 0
		case err == nil:
			err = schemas.Unmarshal(value, &used)
			fallthrough
		default:
			if err != nil {
				return nil, fmt.Errorf("read which keys were used with the ledger: %w", err)
			}
		}
		var differ []string
		noted := false
		for _, name := range []string{"capability.key", "reply.key"} {
			content, err := os.ReadFile(filepath.Join(folder, name))
			if errors.Is(err, fs.ErrNotExist) && used[name] == "" {
				continue // no data directory has made it yet
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			now := fingerprint(content)
			if used[name] == now {
				continue
			}
			if used[name] != "" {
				differ = append(differ, name)
			}
			used[name], noted = now, true
		}
		if !noted {
			return nil, nil
		}
		body, err := schemas.Marshal(used)
		if err == nil {
			_, err = store.Update(ctx, keyPrints, body, revision)
		}
		if errors.Is(err, bus.ErrConflict) {
			continue // another process has noted its own
		}
		return differ, err
	}
}

// fingerprint tells keys apart, and nothing about them: they are random. One that is missing has one, too.
func fingerprint(key []byte) string {
	sum := sha256.Sum256(append([]byte("podium key fingerprint\n"), key...))
	return hex.EncodeToString(sum[:8])
}
