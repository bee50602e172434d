// Package radicale runs a real Radicale 3 for tests: a CalDAV and CardDAV server with one user, one calendar and one
// address book, on loopback only, in a folder of its own.
//
// It needs the Debian package radicale; without it a test fails and says how to install it. It is never skipped.
package radicale

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/loopback"
)

// The one user, and the collections.
const (
	User     = "praxis"
	Password = "geheim-praxis"
	Calendar = "/praxis/termine/"
	Contacts = "/praxis/kontakte/"

	startDeadline = time.Minute
)

const configuration = `[server]
hosts = %s
[auth]
type = htpasswd
htpasswd_filename = %s
htpasswd_encryption = plain
delay = 0
[rights]
type = owner_only
[storage]
filesystem_folder = %s
[web]
type = none
[logging]
level = warning
`

// A Server is one Radicale. Its methods fail the test on error and are for the test's goroutine.
type Server struct {
	URL string // without a slash at its end

	folder  string
	process *exec.Cmd
	ended   chan struct{}
}

// Start starts a server with its collections, and stops it when the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if _, err := exec.LookPath("radicale"); err != nil {
		tb.Fatalf("this test needs Radicale (Debian package radicale): run `make tools`")
	}
	address := loopback.Reserve(tb)
	s := &Server{URL: "http://" + address, folder: tb.TempDir()}
	users := filepath.Join(s.folder, "users")
	s.write(tb, users, User+":"+Password+"\n")
	s.write(tb, filepath.Join(s.folder, "config"), fmt.Sprintf(configuration, address, users, filepath.Join(s.folder, "collections")))
	tb.Cleanup(s.kill)
	s.start(tb)
	s.Do(tb, "MKCALENDAR", Calendar, nil, "")
	s.Do(tb, "MKCOL", Contacts, nil, `<?xml version="1.0"?><mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">`+
		`<set><prop><resourcetype><collection/><C:addressbook/></resourcetype></prop></set></mkcol>`)
	return s
}

// Stop kills the server, as a crash would.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.kill()
}

// Restart starts the server again at the same address with the same collections.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.start(tb)
}

// Put stores a resource, as another program does.
func (s *Server) Put(tb testing.TB, path, body string) {
	tb.Helper()
	s.Do(tb, http.MethodPut, path, nil, body)
}

// Names lists the files of a collection, by what ends their names.
func (s *Server) Names(tb testing.TB, collection, ending string) []string {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join(s.folder, "collections", "collection-root", filepath.FromSlash(collection)))
	if err != nil {
		tb.Fatalf("list the collection: %v", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ending) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// Read returns what the server has at a path.
func (s *Server) Read(tb testing.TB, path string) string {
	tb.Helper()
	return s.Do(tb, http.MethodGet, path, nil, "")
}

// Do makes a call as the user, which has to succeed, and returns what the server says.
func (s *Server) Do(tb testing.TB, method, path string, header map[string]string, body string) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startDeadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		tb.Fatal(err)
	}
	request.SetBasicAuth(User, Password)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = reply.Body.Close() }()
	said, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode/100 != 2 {
		tb.Fatalf("%s %s: %s, %v\n%s", method, path, reply.Status, err, said)
	}
	return string(said)
}

func (s *Server) write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatalf("write a file for Radicale: %v", err)
	}
}

// start starts the server and waits until it answers.
func (s *Server) start(tb testing.TB) {
	tb.Helper()
	process := exec.Command("radicale", "--config", filepath.Join(s.folder, "config")) //nolint:noctx // kill ends it
	process.Env = []string{"HOME=" + s.folder, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	var problems bytes.Buffer
	process.Stdout, process.Stderr = &problems, &problems
	if err := process.Start(); err != nil {
		tb.Fatalf("start Radicale: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // it is killed
	}()
	s.process, s.ended = process, ended
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(startDeadline); time.Now().Before(deadline); <-ticker.C {
		select {
		case <-ended:
			tb.Fatalf("Radicale ended at once: %s", problems.String())
		default:
		}
		if s.answers() {
			return
		}
	}
	s.kill()
	tb.Fatalf("Radicale does not answer: %s", problems.String())
}

func (s *Server) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodOptions, s.URL+"/", http.NoBody)
	if err != nil {
		return false
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return reply.Body.Close() == nil
}

func (s *Server) kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may have ended by itself
	<-s.ended
	s.process = nil
}
