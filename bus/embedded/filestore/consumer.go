package filestore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus/embedded/wholefile"
)

const (
	consumersFolder   = "obs"
	consumerStateFile = "o.dat"
	consumerMagic     = 22
)

// A Consumer is what the files of a durable consumer held when its server had stopped in order.
type Consumer struct {
	Name     string `json:"name"`
	Settings []byte `json:"settings"`
	Sum      []byte `json:"sum"`
	State    []byte `json:"state,omitempty"` // nil when it had none
}

// maxConsumerFile bounds a file of a consumer that is remembered, in bytes.
const maxConsumerFile = 1 << 20

// ReadConsumers reads the consumers of a stream's folder, by name, but for those that are too large to
// be remembered.
func ReadConsumers(folder string) (consumers []Consumer, err error) {
	entries, err := os.ReadDir(filepath.Join(folder, consumersFolder))
	if err != nil {
		return nil, gone(err)
	}
	for _, entry := range entries {
		consumer := Consumer{Name: entry.Name()}
		at := filepath.Join(folder, consumersFolder, entry.Name())
		for name, content := range consumer.files() {
			read, failed := readIfThere(filepath.Join(at, name))
			*content, err = read, errors.Join(err, failed)
		}
		if err != nil {
			return nil, err
		}
		if len(consumer.Settings)+len(consumer.State) <= maxConsumerFile && consumer.Settings != nil {
			consumers = append(consumers, consumer)
		}
	}
	return consumers, nil
}

// files returns where a consumer holds what each of its files does.
func (c *Consumer) files() map[string]*[]byte {
	return map[string]*[]byte{metaFile: &c.Settings, metaSumFile: &c.Sum, consumerStateFile: &c.State}
}

// ChangedConsumers returns which of the remembered consumers of a stream's folder have other files now.
func ChangedConsumers(folder string, remembered []Consumer) (changed []Consumer, err error) {
	for _, was := range remembered {
		for name, content := range was.files() {
			now, err := readIfThere(filepath.Join(folder, consumersFolder, was.Name, name))
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(now, *content) {
				changed = append(changed, was)
				break
			}
		}
	}
	return changed, nil
}

// RestoreConsumer writes the files of a consumer as they were.
func RestoreConsumer(folder string, was Consumer) error {
	at := filepath.Join(folder, consumersFolder, was.Name)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	for name, content := range was.files() {
		file := filepath.Join(at, name)
		if *content == nil {
			if err := gone(os.Remove(file)); err != nil {
				return err
			}
		} else if err := wholefile.Replace(file, *content); err != nil {
			return err
		}
	}
	return nil
}

// ConsumerFolder is where the files of a consumer are in a stream's folder.
func ConsumerFolder(folder, name string) string { return filepath.Join(folder, consumersFolder, name) }

// MendConsumers removes, from a stream's folder, what keeps a server from opening its
// consumers: the state of one that cannot be read, and the whole of one whose settings
// cannot. What an agent had taken is then handed out again. It returns the names.
func MendConsumers(folder string) (mended []string, err error) {
	consumers, err := os.ReadDir(filepath.Join(folder, consumersFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range consumers {
		consumer := filepath.Join(folder, consumersFolder, entry.Name())
		broken, err := brokenPart(consumer)
		if err == nil && broken != "" {
			mended, err = append(mended, entry.Name()), os.RemoveAll(broken)
		}
		if err != nil {
			return mended, err
		}
	}
	return mended, nil
}

// brokenPart returns what of a consumer cannot be read, or "".
func brokenPart(consumer string) (string, error) {
	settings, err := readIfThere(filepath.Join(consumer, metaFile))
	if err != nil {
		return "", err
	}
	sum, err := readIfThere(filepath.Join(consumer, metaSumFile))
	if err != nil {
		return "", err
	}
	if sum == nil || !json.Valid(settings) || string(sum) != metaChecksum(streamOf(consumer)+"/"+filepath.Base(consumer), settings) {
		return consumer, nil
	}
	state := filepath.Join(consumer, consumerStateFile)
	content, err := readIfThere(state)
	if content == nil || readableConsumer(content) { // without one it has taken nothing yet
		return "", err
	}
	return state, err
}

// streamOf is the stream whose folder holds that of a consumer.
func streamOf(consumer string) string { return filepath.Base(filepath.Dir(filepath.Dir(consumer))) }

// readIfThere returns nil for a file that does not exist.
func readIfThere(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	return content, gone(err)
}

// readableConsumer decodes a consumer's state as the server does (server/store.go,
// decodeConsumerState). It has no checksum.
func readableConsumer(content []byte) bool {
	if len(content) < 2 || content[0] != consumerMagic || content[1] != 1 && content[1] != 2 {
		return false
	}
	numbers := numbers{rest: content[2:]}
	numbers.unsigned()                             // floor of acknowledgements, by the consumer
	floor := numbers.unsigned()                    // and by the stream
	numbers.unsigned()                             // delivered, by the consumer
	delivered := numbers.unsigned()                // and by the stream
	if numbers.bad || (floor|delivered)>>63 != 0 { // it went backwards
		return false
	}
	if pending := numbers.unsigned(); pending > 0 {
		numbers.signed() // the least of their times
		for ; pending > 0 && !numbers.bad; pending-- {
			if sequence := numbers.unsigned(); sequence+floor == 0 {
				return false
			}
			if content[1] == 2 {
				numbers.unsigned()
			}
			numbers.signed()
		}
	}
	for redelivered := numbers.unsigned(); redelivered > 0 && !numbers.bad; redelivered-- {
		numbers.unsigned()
		numbers.unsigned()
	}
	return !numbers.bad
}

// numbers are varints, one behind the other.
type numbers struct {
	rest []byte
	bad  bool
}

func (n *numbers) unsigned() uint64 {
	value, size := binary.Uvarint(n.rest)
	n.skip(size)
	return value
}

func (n *numbers) signed() {
	_, size := binary.Varint(n.rest)
	n.skip(size)
}

func (n *numbers) skip(size int) {
	if n.bad = n.bad || size <= 0; !n.bad {
		n.rest = n.rest[size:]
	}
}
