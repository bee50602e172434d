//go:build !unix

package dovecot

import (
	"errors"
	"os/exec"
)

// An identity is whom the server runs as. Dovecot exists on Unix only, so that
// Start fails before any of this is used.
type identity struct {
	user, group string
	uid, gid    int
}

func serverIdentity() identity { return identity{} }

func (identity) apply(*exec.Cmd) {}

func (identity) own(string) error { return errors.ErrUnsupported }

func (identity) killGroup(int) error { return errors.ErrUnsupported }
