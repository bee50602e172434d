package embedded

import (
	"fmt"
	"strconv"
	"strings"

	"podium/bus"
	"podium/bus/embedded/filestore"
)

// checkFormat is bus.ErrFormat when the ledger in a store is of another format than this
// version reads, before a server or anything that mends is let at it. Streams whose settings
// cannot be read are passed over: what is damaged is told by name.
func checkFormat(store string) error {
	streams, err := filestore.ReadMeta(store)
	if err != nil {
		return err
	}
	for i := range streams {
		if stream := &streams[i]; ofLedger(stream.Name) && stream.Settings != "" && stream.Meta == "" {
			if err = bus.CheckFormat(stream.Metadata[bus.FormatKey]); err != nil {
				return fmt.Errorf("the ledger in %s: %w", store, err)
			}
		}
	}
	return nil
}

// ofLedger reports whether a stream is a shard or the requests.
func ofLedger(stream string) bool {
	shard, err := strconv.Atoi(strings.TrimPrefix(stream, strings.TrimSuffix(bus.ShardStream(0), "0")))
	return stream == bus.WorkStream || err == nil && stream == bus.ShardStream(shard)
}
