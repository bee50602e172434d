package installation_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"podium/cmd/podium/installation"
)

// After a crash the cluster answers as before, and the number of the process is somebody else's.
func TestCrashedInstanceOfAClusterDoesNotRun(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	cluster, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cluster.Close() }()
	gone, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	data := t.TempDir()
	body := fmt.Sprintf(`{"pid": %d, "data": %q, "nats": "nats://%s", "http": "http://%s"}`, os.Getppid(), data, cluster.Addr(), gone.Addr())
	if err := os.WriteFile(filepath.Join(data, "instance.json"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, running, err := installation.FindInstance(data); running || err != nil {
		t.Errorf("it runs (%v): podium up is refused, and its advice is to stop a stranger's process", err)
	}
}

// What is left of an instance file after a loss of power is no instance, and keeps
// none from starting.
func TestTornInstanceFileIsNoInstance(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{", `{"pid": 1, "da`, "\x00\x00\x00\x00"} {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, "instance.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, running, err := installation.FindInstance(data); running || err != nil {
			t.Errorf("%q: runs %t, %v", body, running, err)
		}
	}
}

// A copy of a data directory in use holds the file of the instance that runs on the
// original. Nothing runs on the copy.
func TestInstanceRunsOnItsOwnDirectoryAlone(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	running, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = running.Close() }()
	parent := t.TempDir()
	original, linked, copied := filepath.Join(parent, "original"), filepath.Join(parent, "linked"), filepath.Join(parent, "copied")
	body := fmt.Sprintf(`{"pid": %d, "data": %q, "nats": "nats://%s"}`, os.Getpid(), original, running.Addr())
	for _, data := range []string{original, copied} {
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "instance.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(original, linked); err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]bool{original: true, linked: true, copied: false} {
		if _, runs, err := installation.FindInstance(data); runs != want || err != nil {
			t.Errorf("on %s one runs: %t, %v", data, runs, err)
		}
	}
}
