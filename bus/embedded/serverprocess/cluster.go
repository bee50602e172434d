package serverprocess

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus/bustest/loopback"
	"podium/bus/embedded"
)

// StartCluster runs several servers as one JetStream cluster, each with a directory
// of its own inside the configuration's. They have the same keys. A cluster of which
// more than half is killed has no leader.
func StartCluster(tb testing.TB, servers int, config Config) []*Process {
	tb.Helper()
	if config.Dir == "" {
		config.Dir = tb.TempDir()
	}
	keys, err := embedded.Credentials(filepath.Join(config.Dir, "credentials"), config.Agents)
	if err != nil {
		tb.Fatal(err)
	}
	config.Keys = &keys
	routes := make([]string, servers)
	for i := range routes {
		routes[i] = loopback.Reserve(tb)
	}
	all := make([]*Process, servers)
	for i := range all {
		node := config
		node.Dir = filepath.Join(config.Dir, fmt.Sprintf("node-%d", i))
		node.Text = func(listen, store string) string {
			text, err := config.text(listen, store)
			if err != nil {
				tb.Fatal(err)
			}
			return text + fmt.Sprintf("\nserver_name: \"node-%d\"\ncluster {\n  name: podium\n  listen: %q\n  routes: [%s]\n}\n",
				i, routes[i], "nats://"+strings.Join(routes, ", nats://")) // what stands last holds
		}
		all[i] = Start(tb, node)
	}
	return all
}

// URLs is where to connect to any of several servers.
func URLs(all []*Process) string {
	urls := make([]string, len(all))
	for i, process := range all {
		urls[i] = process.URL()
	}
	return strings.Join(urls, ",")
}
