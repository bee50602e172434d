// Mounting takes an administrator: a test that uses it runs as root, or has sudo without a
// password.

package smalldisk

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The kinds of file system that Mount knows.
const (
	TmpFS = "tmpfs"
	Ext4  = "ext4" // on a loop device, over a file
	// Thin is an ext4 that is larger than what lies below it, as a thin volume: a write succeeds, and
	// the flush behind it finds no room. Fill takes what lies below.
	Thin = "thin"
)

// A Disk is a mounted file system. Fill and Free are for one goroutine.
type Disk struct {
	Path string // where it is mounted

	tb     testing.TB
	filler string
	below  *Disk // of a thin one
}

// Mount makes a file system of so many bytes, which is gone when the test ends. The
// test fails where that is not permitted.
func Mount(tb testing.TB, kind string, size int64) *Disk {
	tb.Helper()
	d := &Disk{tb: tb, Path: tb.TempDir()}
	d.filler = filepath.Join(d.Path, "filler")
	user, group := strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid())
	switch kind {
	case TmpFS:
		d.administer("mount", "-t", TmpFS, "-o", "size="+strconv.FormatInt(size, 10)+",mode=0700,uid="+user+",gid="+group, "podium-test", d.Path)
	case Ext4, Thin:
		image := filepath.Join(tb.TempDir(), "image")
		if kind == Thin {
			below := Mount(tb, TmpFS, size)
			image, d.filler, size = filepath.Join(below.Path, "image"), below.filler, 8*size
			d.below = below
		}
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.Truncate(image, size); err != nil {
			tb.Fatal(err)
		}
		d.run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "root_owner="+user+":"+group, image)
		d.administer("mount", "-o", "loop", image, d.Path)
	default:
		tb.Fatalf("%q is no kind of file system here", kind)
	}
	tb.Cleanup(func() { d.administer("umount", d.Path) })
	return d
}

// administer runs a command as root.
func (d *Disk) administer(arguments ...string) {
	d.tb.Helper()
	if os.Getuid() != 0 {
		arguments = append([]string{"sudo", "-n"}, arguments...)
	}
	d.run(arguments...)
}

func (d *Disk) run(arguments ...string) {
	d.tb.Helper()
	command := exec.CommandContext(context.WithoutCancel(d.tb.Context()), arguments[0], arguments[1:]...) //nolint:gosec // a test's own words
	command.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	if strings.HasPrefix(arguments[0], "mkfs") {
		if _, err := exec.LookPath(arguments[0]); err != nil {
			command.Path, command.Err = filepath.Join("/usr/sbin", arguments[0]), nil
		}
	}
	if output, err := command.CombinedOutput(); err != nil {
		d.tb.Fatalf("%s: %v\n%s\nThis test fills a small disk, and has to mount one: run it as root, or give this user sudo without a password; "+
			"in a container allow it to mount (docker run --privileged).", strings.Join(arguments, " "), err, output)
	}
}

// Fill has others take the disk, until that many bytes are left for the ledger. With 0
// there is not a byte left.
func (d *Disk) Fill(left int64) {
	d.tb.Helper()
	if d.below != nil {
		d.below.Fill(left)
		return
	}
	file, err := os.OpenFile(d.filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.tb.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, 1<<20)
	for size := len(block); size > 0; {
		take := min(int64(size), d.Left()-left)
		if take <= 0 && left > 0 {
			return
		}
		if take <= 0 {
			take = 1 // what is counted as none may have room for some
		}
		_, err := file.Write(block[:take])
		switch {
		case errors.Is(err, syscall.ENOSPC) && left == 0:
			size /= 2
		case err != nil:
			d.tb.Fatal(err)
		}
	}
}

// Free takes back what Fill has taken.
func (d *Disk) Free() {
	d.tb.Helper()
	if err := os.Remove(d.filler); err != nil {
		d.tb.Fatal(err)
	}
	folder, err := os.Open(d.Path)
	if err != nil {
		d.tb.Fatal(err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil { // ext4 gives blocks back when its journal is committed
		d.tb.Fatal(err)
	}
}

// Left returns how many bytes the disk has left.
func (d *Disk) Left() int64 {
	d.tb.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(d.Path, &stat); err != nil {
		d.tb.Fatal(err)
	}
	return int64(stat.Bavail) * stat.Bsize //nolint:gosec // a size
}
