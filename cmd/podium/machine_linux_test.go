//go:build powercut

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podium/bus/bustest/loopback"
)

const (
	bootLimit    = 2 * time.Minute // of an emulated machine
	boots        = 3               // tries: an emulated kernel may hang before it has begun anything
	commandLimit = 5 * time.Minute // of one command in it
	diskBytes    = 4 << 30         // sparse
	// hostAddress is where the machine finds what listens on loopback out here.
	hostAddress = "10.0.2.2"
)

// A machine is a virtual one with one disk, emulated, so that it runs wherever its
// emulator does. It reaches what listens on this machine's loopback interface, and
// is reached at the addresses below.
type machine struct {
	folder     string // kernel and initrd
	disk       string
	filesystem string
	chat       string // on this machine; 8080 in there
	nats       string // wherever the ledger's server listens in there
	shell      string

	process *exec.Cmd
	exited  chan struct{}
	console *transcript
}

// newMachine makes a disk. The power is off.
func newMachine(t *testing.T, folder, disk, filesystem string) *machine {
	t.Helper()
	m := &machine{
		folder: folder, disk: disk, filesystem: filesystem,
		chat: loopback.Reserve(t), nats: loopback.Reserve(t), shell: loopback.Reserve(t),
	}
	file, err := os.Create(disk)
	if err == nil {
		err = errors.Join(file.Truncate(diskBytes), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	program := "mkfs." + filesystem
	if _, err := exec.LookPath(program); err != nil {
		program = filepath.Join("/usr/sbin", program)
	}
	if output, err := exec.CommandContext(t.Context(), program, "-q", disk).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
	t.Cleanup(m.cut)
	return m
}

// boot switches the power on and waits until the machine can be spoken to. One that
// hangs before its first process has begun is switched on again: nothing of it was ours.
func (m *machine) boot(t *testing.T) {
	t.Helper()
	for range boots {
		if m.booted(t) {
			return
		}
		said := m.console.String()
		if strings.Contains(said, "machine: begins") {
			t.Fatalf("the machine is not ready after %s:\n%s", bootLimit, tail(said))
		}
		t.Logf("the machine's kernel hangs, and is switched on again; it has said:\n%s", tail(said))
		m.cut()
	}
	t.Fatal("the machine's kernel hangs whenever it is switched on")
}

// booted switches the power on, and reports whether the machine is ready in time.
func (m *machine) booted(t *testing.T) bool {
	t.Helper()
	m.console, m.exited = &transcript{}, make(chan struct{})
	forward := func(address, port string) string { return ",hostfwd=tcp:" + address + "-:" + port }
	m.process = exec.CommandContext(context.WithoutCancel(t.Context()), "qemu-system-x86_64",
		"-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1536",
		"-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", filepath.Join(m.folder, "kernel"), "-initrd", filepath.Join(m.folder, "initrd"),
		"-append", "console=ttyS0 quiet panic=-1 filesystem="+m.filesystem,
		"-drive", "format=raw,if=virtio,cache=writeback,file="+m.disk,
		"-netdev", "user,id=net"+forward(m.chat, "8080")+forward(m.nats, "4222")+forward(m.shell, "7000"),
		"-device", "virtio-net-pci,netdev=net,romfile=")
	log, err := os.OpenFile(m.disk+".console", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	said := io.MultiWriter(m.console, log)
	m.process.Stdout, m.process.Stderr = said, said
	m.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.process.Start(); err != nil {
		t.Fatalf("%v: run `make powercut`, which installs what is missing", err)
	}
	go func() {
		defer close(m.exited)
		_ = m.process.Wait() // it is killed
		_ = log.Close()
	}()
	for deadline := time.Now().Add(bootLimit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if !m.running() {
			t.Fatalf("the machine has ended:\n%s", tail(m.console.String()))
		}
		if !strings.Contains(m.console.String(), "machine: ready") {
			continue
		}
		if _, code, err := m.run(t.Context(), "true"); err == nil && code == 0 {
			return true
		}
	}
	return false
}

func (m *machine) running() bool {
	if m.process == nil {
		return false
	}
	select {
	case <-m.exited:
		return false
	default:
		return true
	}
}

// cut switches the power off: the memory of the machine is gone, and with it all
// that it has written and not flushed; what it flushed is in the disk's file.
func (m *machine) cut() {
	if m.process != nil {
		_ = m.process.Process.Kill() // it may be off
		<-m.exited
	}
}

// run has the machine's shell do something, and returns what that prints; what it
// says on standard error is on the console.
func (m *machine) run(ctx context.Context, command string) (printed string, code int, err error) {
	ctx, stop := context.WithTimeout(ctx, commandLimit)
	defer stop()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", m.shell)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err = fmt.Fprintf(conn, "{ %s\n} </dev/null 2>/dev/ttyS0\nprintf '\\nexit code %%s\\n' $?\nexit\n", command)
	if err != nil {
		return "", 0, err
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return "", 0, err
	}
	printed, ended, _ := strings.Cut(string(text), "\nexit code ")
	if code, err = strconv.Atoi(strings.TrimSpace(ended)); err != nil {
		return printed, 0, errPowerGone
	}
	return printed, code, nil
}

var errPowerGone = errors.New("the machine's shell was cut off")

// does runs a command that has to succeed.
func (m *machine) does(t *testing.T, command string) string {
	t.Helper()
	printed, code, err := m.run(t.Context(), command)
	if err != nil || code != 0 {
		t.Fatalf("%s: exit code %d, %v\n%s\n%s", command, code, err, tail(printed), tail(m.console.String()))
	}
	return printed
}
