// Package dovecot runs a real Dovecot 2.3 for tests: without root, without
// touching the system's configuration, on loopback only, in about 0.1 s.
//
// It needs the Debian package dovecot-imapd; without it a test fails and says
// how to install it. It is never skipped.
package dovecot

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"text/template"
	"time"

	"github.com/emersion/go-smtp"

	"podium/bus/bustest/loopback"
)

const (
	// Username is the name of the one account.
	Username = "agent"
	// Password is its password.
	Password = "secret"

	startDeadline = 2 * time.Minute // it takes no longer than that on a machine as busy as can be
	restartEvery  = 200 * time.Millisecond
	nobodyThere   = 68 // exit code of doveadm kick
)

//go:embed dovecot.conf.tmpl
var configuration string

// WithoutExtensions is a capability list of a server that can neither announce
// nor move (no IDLE, MOVE, CONDSTORE).
const WithoutExtensions = "IMAP4rev1 SASL-IR ID UNSELECT CHILDREN NAMESPACE LITERAL+"

// Options changes a server.
type Options struct {
	Capability string // instead of what Dovecot advertises
	// TokenInfo, when it is set, is the beginning of a URL that says whose an access
	// token is, as {"username": …}. Mechanisms are those that take one: xoauth2, oauthbearer.
	TokenInfo, Mechanisms string
	// LMTP has the server take mail by that protocol too (RFC 2033), for Send.
	LMTP bool
}

// A Server is one Dovecot. Its methods fail the test on error and are for the
// test's goroutine.
type Server struct {
	Host string
	Port int

	folder  string
	lmtp    int // the port, when there is one
	owner   identity
	options Options
	process *exec.Cmd
	ended   chan struct{}
	serial  atomic.Uint64
}

// Start starts a server and stops it when the test ends.
func Start(tb testing.TB, options Options) *Server {
	tb.Helper()
	if _, err := exec.LookPath(binary("dovecot")); err != nil {
		tb.Fatalf("this test needs Dovecot 2.3 (Debian package dovecot-imapd): run `make tools`")
	}
	// Not TempDir: its long name would not leave room for the names of sockets.
	folder, err := os.MkdirTemp("", "dovecot-") //nolint:usetesting // see above
	if err != nil {
		tb.Fatalf("folder for Dovecot: %v", err)
	}
	s := &Server{Host: "127.0.0.1", folder: folder, owner: serverIdentity(), options: options}
	tb.Cleanup(func() {
		s.kill()
		if err := os.RemoveAll(folder); err != nil {
			tb.Errorf("remove the folder of Dovecot: %v", err)
		}
	})
	for _, name := range [...]string{"run", "state", "mail/" + Username + "/Maildir/cur", "mail/" + Username + "/Maildir/new", "mail/" + Username + "/Maildir/tmp"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			tb.Fatalf("folder for Dovecot: %v", err)
		}
	}
	s.write(tb, "passwd", []byte(Username+":{PLAIN}"+Password+"\n"))
	s.Port = freePort(tb)
	if options.LMTP {
		s.lmtp = freePort(tb)
	}
	s.configure(tb)
	if err := s.start(tb); err != nil {
		tb.Fatalf("start Dovecot: %v\n%s", err, s.log())
	}
	return s
}

func freePort(tb testing.TB) int {
	tb.Helper()
	_, text, err := net.SplitHostPort(loopback.Reserve(tb))
	if err != nil {
		tb.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// Stop kills the server and everything that it started, as a crash would.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.kill()
}

// Restart starts the server again on the same port with the same mail. Locks
// that a killed process left behind, for which the new one would wait for
// minutes, are removed.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	locks, err := filepath.Glob(filepath.Join(s.folder, "mail", Username, "Maildir", "*.lock"))
	for _, lock := range locks {
		err = errors.Join(err, os.Remove(lock))
	}
	if err != nil {
		tb.Fatalf("remove locks of Dovecot: %v", err)
	}
	ticker := time.NewTicker(restartEvery)
	defer ticker.Stop()
	for deadline := time.Now().Add(startDeadline); ; <-ticker.C {
		// Children of the killed server may hold the port for a moment.
		err := s.start(tb)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("restart Dovecot: %v\n%s", err, s.log())
		}
	}
}

// Deliver puts a mail into INBOX as a delivery agent does, byte for byte. Its
// UID is the next one.
func (s *Server) Deliver(tb testing.TB, raw []byte) {
	tb.Helper()
	maildir := filepath.Join(s.folder, "mail", Username, "Maildir")
	// Dovecot numbers new files in the order of their names.
	name := fmt.Sprintf("%d.%06d.test", 1700000000, s.serial.Add(1))
	s.write(tb, filepath.Join("mail", Username, "Maildir", "tmp", name), raw)
	if err := os.Rename(filepath.Join(maildir, "tmp", name), filepath.Join(maildir, "new", name)); err != nil {
		tb.Fatalf("deliver mail: %v", err)
	}
}

// Send hands mails to the server by LMTP, as a mail system does, in one connection and in their order. The server needs
// Options.LMTP.
func (s *Server) Send(tb testing.TB, from string, mails ...[]byte) {
	tb.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(tb.Context(), "tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.lmtp)))
	if err != nil {
		tb.Fatalf("reach the LMTP server: %v\n%s", err, s.log())
	}
	client := smtp.NewClientLMTP(conn)
	defer func() { _ = client.Close() }()
	for _, mail := range mails {
		if err := client.SendMail(from, []string{Username}, bytes.NewReader(mail)); err != nil {
			tb.Fatalf("deliver mail by LMTP: %v\n%s", err, s.log())
		}
	}
}

// Kick ends every connection of the account, if there is one, as an
// administrator does.
func (s *Server) Kick(tb testing.TB) {
	tb.Helper()
	_, problems, err := s.doveadm("kick", Username)
	if ended, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || ended.ExitCode() != nobodyThere) {
		tb.Fatalf("doveadm kick: %v\n%s", err, problems)
	}
}

// SetUIDValidity changes UIDVALIDITY of INBOX and with it the meaning of every UID.
func (s *Server) SetUIDValidity(tb testing.TB, value uint32) {
	tb.Helper()
	s.Doveadm(tb, "mailbox", "update", "--uid-validity", strconv.FormatUint(uint64(value), 10), "-u", Username, "INBOX")
}

// Flags returns the flags and keywords of every message of INBOX, by UID in
// ascending order.
func (s *Server) Flags(tb testing.TB) []string {
	tb.Helper()
	var all []string
	for line := range strings.Lines(s.Doveadm(tb, "-f", "tab", "fetch", "-u", Username, "flags", "mailbox", "INBOX")) {
		all = append(all, strings.TrimSpace(line))
	}
	return all[1:]
}

// Doveadm runs an administrator's command on the server and returns what it prints.
func (s *Server) Doveadm(tb testing.TB, arguments ...string) string {
	tb.Helper()
	output, problems, err := s.doveadm(arguments...)
	if err != nil {
		tb.Fatalf("doveadm %s: %v\n%s", strings.Join(arguments, " "), err, problems)
	}
	return output
}

func (s *Server) doveadm(arguments ...string) (printed, said string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startDeadline)
	defer cancel()
	command := exec.CommandContext(ctx, binary("doveadm"), append([]string{"-c", s.path("dovecot.conf")}, arguments...)...)
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	command.Env = s.environment()
	s.owner.apply(command)
	err = command.Run()
	return output.String(), problems.String(), err
}

func (s *Server) path(name string) string { return filepath.Join(s.folder, name) }

func (s *Server) environment() []string {
	return []string{"HOME=" + s.folder, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
}

func (s *Server) write(tb testing.TB, name string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(s.path(name), content, 0o644); err != nil { //nolint:gosec // the server reads it under another identity
		tb.Fatalf("write %s for Dovecot: %v", filepath.Base(name), err)
	}
	s.own(tb, s.path(name))
}

func (s *Server) own(tb testing.TB, path string) {
	tb.Helper()
	if err := s.owner.own(path); err != nil {
		tb.Fatalf("give files to Dovecot: %v", err)
	}
}

func (s *Server) configure(tb testing.TB) {
	tb.Helper()
	var text bytes.Buffer
	err := template.Must(template.New("dovecot.conf").Parse(configuration)).Execute(&text, map[string]any{
		"Folder": s.folder, "Port": s.Port, "LMTP": s.lmtp, "Capability": s.options.Capability, "TokenInfo": s.options.TokenInfo, "Mechanisms": s.options.Mechanisms,
		"User": s.owner.user, "Group": s.owner.group, "UID": s.owner.uid, "GID": s.owner.gid,
	})
	if err != nil {
		tb.Fatalf("configuration of Dovecot: %v", err)
	}
	s.write(tb, "dovecot.conf", text.Bytes())
	s.write(tb, "oauth2.conf", []byte("tokeninfo_url = "+s.options.TokenInfo+"\nusername_attribute = username\nusername_format = %u\n"))
	err = filepath.WalkDir(s.folder, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			s.own(tb, path)
		}
		return err
	})
	if err != nil {
		tb.Fatalf("give files to Dovecot: %v", err)
	}
}

// start starts the server and waits for its greeting.
func (s *Server) start(tb testing.TB) error {
	tb.Helper()
	process := exec.Command(binary("dovecot"), "-F", "-c", s.path("dovecot.conf")) //nolint:noctx // kill ends it, with all its children
	process.Env = s.environment()
	s.owner.apply(process)
	var problems bytes.Buffer
	process.Stderr = &problems
	if err := process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // it is killed
	}()
	s.process, s.ended = process, ended
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(startDeadline); time.Now().Before(deadline); {
		select {
		case <-ended:
			return fmt.Errorf("it ended at once: %s", problems.String())
		case <-ticker.C:
		}
		if s.greets() {
			return nil
		}
	}
	s.kill()
	return errors.New("it does not answer")
}

func (s *Server) greets() bool {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)), time.Second) //nolint:noctx // it has a timeout
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "* OK")
}

func (s *Server) kill() {
	if s.process == nil {
		return
	}
	_ = s.owner.killGroup(s.process.Process.Pid) // it may have ended by itself
	<-s.ended
	s.process = nil
}

func (s *Server) log() string {
	text, err := os.ReadFile(s.path("dovecot.log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// binary finds a program that stands in sbin, which is not on everyone's path.
func binary(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return filepath.Join("/usr/sbin", name)
}
