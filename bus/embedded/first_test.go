package embedded_test

import (
	"context"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
	"podium/schemas"
)

// A request that was published for the first time on a server is not believed to be
// handed out for the first time by the one that is started after it.
func TestARestartedServerIsAnother(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{Agents: []string{"alpha"}})
	c := processCore(t, process)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Declare(ctx, "alpha", bus.Pool{Size: 2, AckWait: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	before := c.Server()
	e := schemas.Event{ID: "id", Source: "/test", Type: schemas.TypeExecutionRequest, First: before}
	m, err := binding.Encode(bus.RequestSubject("alpha"), &e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Append(ctx, c, m, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	process.Kill()
	process.Restart()
	deliveries, err := processWorker(t, process, "alpha").Fetch(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := deliveries[0]
	if read, err := binding.Decode(d.Message()); err != nil || read.First != before || before == "" || d.Deliveries() != 1 || bus.IsFirstDelivery(&read, d) {
		t.Errorf("delivery %d by %q of a request for %q, %v", d.Deliveries(), d.Server(), before, err)
	}
	awaitConnection(t, c)
	if now := c.Server(); now == before || now != d.Server() {
		t.Errorf("the server was %q and is %q, the worker's %q", before, now, d.Server())
	}
}

// awaitConnection waits until a core that has lost its server is back.
func awaitConnection(t *testing.T, c *jetstream.Core) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, err := c.State(ctx, bus.WorkStream)
		if err == nil {
			return
		}
		if !bus.Temporary(err) {
			t.Fatal(err)
		}
	}
}

// In a cluster nobody can tell whether the server that counts the deliveries was started
// anew, so that no request is marked as the first.
func TestAClusterNamesNoServer(t *testing.T) {
	t.Parallel()
	nodes := serverprocess.StartCluster(t, 3, serverprocess.Config{})
	if name := connectToCluster(t, nodes).Server(); name != "" {
		t.Errorf("a server of a cluster is named %q", name)
	}
}
