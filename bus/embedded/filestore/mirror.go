package filestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Mirror makes a copy of a store on which a server may run. Blocks that a server only
// reads are linked; those that it writes to, or would cut, are copied, without what cannot be
// read. Derive has it read all blocks instead of believing its index.
func Mirror(seen *Store, from, to string, derive bool) error {
	for i := range seen.Streams {
		stream := &seen.Streams[i]
		folder, err := filepath.Rel(from, stream.Folder)
		if err == nil {
			err = stream.mirror(filepath.Join(to, folder), derive)
		}
		if err != nil {
			return err
		}
	}
	return os.MkdirAll(to, 0o700)
}

func (s *Stream) mirror(to string, derive bool) error {
	err := copyTree(filepath.Join(s.Folder, consumersFolder), filepath.Join(to, consumersFolder))
	if err == nil {
		_, err = MendConsumers(to)
	}
	if err = errors.Join(err, os.MkdirAll(filepath.Join(to, blocksFolder), 0o700)); err != nil {
		return err
	}
	if s.Settings != "" {
		if err := WriteMeta(to, s.Settings, ""); err != nil {
			return err
		}
	}
	if !derive {
		err := copyFile(filepath.Join(s.Folder, blocksFolder, indexFile), filepath.Join(to, blocksFolder, indexFile))
		if gone(err) != nil {
			return err
		}
	}
	for i := range s.Blocks {
		if err := s.mirrorBlock(to, i); err != nil {
			return err
		}
	}
	return nil
}

// mirrorBlock links a block, unless a server would change it: the last, to which it
// writes, and what is damaged, which it cuts.
func (s *Stream) mirrorBlock(to string, at int) error {
	block := &s.Blocks[at]
	name := BlockFile(to, block.Index)
	if len(block.Damages) == 0 && at < len(s.Blocks)-1 {
		if os.Symlink(BlockFile(s.Folder, block.Index), name) == nil {
			return nil
		}
	}
	if err := copyFile(BlockFile(s.Folder, block.Index), name); err != nil || len(block.Damages) == 0 {
		return err
	}
	return OmitDamage(to, block.Index)
}

func copyTree(from, to string) error {
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside, err := filepath.Rel(from, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, inside)), 0o700)
		}
		if err != nil {
			return err
		}
		return copyFile(name, filepath.Join(to, inside))
	})
	return gone(err)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
