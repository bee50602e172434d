package service_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"podium/cmd/podium/service"
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
	body := fmt.Sprintf(`{"pid": %d, "nats": "nats://%s", "http": "http://%s"}`, os.Getppid(), cluster.Addr(), gone.Addr())
	if err := os.WriteFile(filepath.Join(data, "instance.json"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, running, err := service.FindInstance(data); running || err != nil {
		t.Errorf("it runs (%v): podium up is refused, and its advice is to stop a stranger's process", err)
	}
}
