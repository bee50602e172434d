package recovery

import (
	"errors"
	"fmt"

	"podium/bus/embedded/filestore"
)

// rememberConsumers notes what the consumers of all streams hold, once the server has stopped in order.
// What their files say has no checksum, so that a later change is seen by this alone.
func (m *Marks) rememberConsumers(store *filestore.Store) error {
	for i := range store.Streams {
		stream := &store.Streams[i]
		consumers, err := filestore.ReadConsumers(stream.Folder)
		if err != nil {
			return fmt.Errorf("read what agents have taken: %w", err)
		}
		mark := m.Streams[stream.Name]
		mark.Consumers = consumers
		m.Streams[stream.Name] = mark
	}
	return nil
}

// changedConsumers returns, for a ledger that was stopped in order, whose files are others now.
func (r *Recovery) changedConsumers(store *filestore.Store) (losses []Loss, err error) {
	if !r.marks.Clean {
		return nil, nil // they go on after a clean stop
	}
	for i := range store.Streams {
		stream := &store.Streams[i]
		changed, err := filestore.ChangedConsumers(stream.Folder, r.marks.Streams[stream.Name].Consumers)
		if err != nil {
			return nil, fmt.Errorf("read what agents have taken: %w", err)
		}
		for _, was := range changed {
			losses = append(losses, Loss{
				Stream: stream.Name, Cause: Consumer, File: filestore.ConsumerFolder(stream.Folder, was.Name), Detail: "its files are not as they were",
			})
		}
	}
	return losses, nil
}

// restoreConsumers writes them as they were at the last stop in order, and returns what it has restored.
func (r *Recovery) restoreConsumers(store *filestore.Store) (losses []Loss, err error) {
	if losses, err = r.changedConsumers(store); err != nil || len(losses) == 0 {
		return nil, err
	}
	for i := range store.Streams {
		stream := &store.Streams[i]
		changed, failed := filestore.ChangedConsumers(stream.Folder, r.marks.Streams[stream.Name].Consumers)
		err = errors.Join(err, failed)
		for _, was := range changed {
			err = errors.Join(err, filestore.RestoreConsumer(stream.Folder, was))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("restore what agents have taken: %w", err)
	}
	for i := range losses {
		losses[i].Restored = true
	}
	return losses, nil
}
