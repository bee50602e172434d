//go:build unix

package dovecot

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// An identity is whom the server runs as: imap-login refuses to be root, so root
// becomes nobody.
type identity struct {
	user, group string
	uid, gid    int
	change      bool // it is not this process's own
}

func serverIdentity() identity {
	if os.Getuid() == 0 {
		return identity{user: "nobody", group: "nogroup", uid: 65534, gid: 65534, change: true}
	}
	own := identity{uid: os.Getuid(), gid: os.Getgid()}
	own.user, own.group = strconv.Itoa(own.uid), strconv.Itoa(own.gid)
	if current, err := user.Current(); err == nil {
		own.user = current.Username
	}
	if group, err := user.LookupGroupId(strconv.Itoa(own.gid)); err == nil {
		own.group = group.Name
	}
	return own
}

// apply makes a command run as the server, in a process group of its own.
func (i identity) apply(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if i.change {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(i.uid), Gid: uint32(i.gid)} //nolint:gosec // 65534
	}
}

func (i identity) own(path string) error {
	if !i.change {
		return nil
	}
	return os.Lchown(path, i.uid, i.gid)
}

func (i identity) killGroup(leader int) error { return syscall.Kill(-leader, syscall.SIGKILL) }
