package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// DefaultSyncInterval is what a nats-server does unless its configuration says
	// something else (server/filestore.go, defaultSyncInterval).
	DefaultSyncInterval = 2 * time.Minute

	reportSubject = "$SYS.REQ.SERVER.PING.JSZ" // asks every server
	reportWait    = time.Second                // for the next report of a cluster's servers
	reportLimit   = 1 << 20                    // bytes
)

// Syncing is what is known of when the ledger's servers write to the disk what they
// have acknowledged. It is a setting of each server (sync_interval), and no account
// but the system's sees it.
type Syncing struct {
	Servers  int           // with JetStream, as far as is known; 0 when no server has said anything
	Seen     int           // of them, those whose setting is known
	Interval time.Duration // the longest of those; 0 when all of them sync before they acknowledge
}

// Always reports whether everything is on the disk before it is acknowledged.
func (s Syncing) Always() bool { return s.Seen > 0 && s.Seen >= s.Servers && s.Interval == 0 }

// A report is what a server says of its JetStream (monitoring endpoint /jsz).
type report struct {
	Server   string `json:"server_id"`
	Disabled bool   `json:"disabled"`
	Config   struct {
		SyncInterval time.Duration `json:"sync_interval"`
		SyncAlways   bool          `json:"sync_always"`
	} `json:"config"`
	Cluster struct {
		Size int `json:"cluster_size"`
	} `json:"meta_cluster"`
}

// Syncing asks the servers over the connection, which answers when the system
// account lets the core account ask, and each of the monitoring URLs, such as
// http://127.0.0.1:8222. The error says which of those were of no use, and why.
func (c *Core) Syncing(ctx context.Context, monitoring ...string) (Syncing, error) {
	reports := map[string]*report{}
	for _, said := range c.askReports(ctx) {
		reports[said.Server] = said
	}
	var failed []error
	for _, address := range monitoring {
		said, err := fetchReport(ctx, address)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", address, err))
		case said.Cluster.Size <= 1 && said.Server != c.connection.ConnectedServerId():
			failed = append(failed, fmt.Errorf("%s is not the server that holds the ledger", address))
		default:
			reports[said.Server] = said
		}
	}
	return summarize(reports), errors.Join(failed...)
}

func summarize(reports map[string]*report) (all Syncing) {
	for _, said := range reports {
		if said.Disabled {
			continue
		}
		all.Servers = max(all.Servers, said.Cluster.Size, 1)
		if !said.Config.SyncAlways && said.Config.SyncInterval <= 0 {
			continue // it does not say, as those of before 2.10
		}
		all.Seen++
		if !said.Config.SyncAlways {
			all.Interval = max(all.Interval, said.Config.SyncInterval)
		}
	}
	return all
}

// askReports returns what the servers say over the connection: nothing, at once,
// when the account may not ask.
func (c *Core) askReports(ctx context.Context) (all []*report) {
	answers, err := c.connection.SubscribeSync(c.connection.NewInbox())
	if err != nil {
		return nil
	}
	defer func() { _ = answers.Unsubscribe() }()
	if c.connection.PublishRequest(reportSubject, answers.Subject, nil) != nil {
		return nil
	}
	for seen, size := 0, 1; seen < size; {
		answer, err := nextWithin(ctx, answers, reportWait)
		if err != nil { // nobody listens, or those who have not answered by now are away
			return all
		}
		var said struct {
			Data *report `json:"data"`
		}
		if json.Unmarshal(answer.Data, &said) != nil || said.Data == nil || said.Data.Disabled {
			continue
		}
		all = append(all, said.Data)
		seen, size = seen+1, max(size, said.Data.Cluster.Size)
	}
	return all
}

func nextWithin(ctx context.Context, answers *nats.Subscription, wait time.Duration) (*nats.Msg, error) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	return answers.NextMsgWithContext(ctx)
}

func fetchReport(ctx context.Context, address string) (*report, error) {
	ctx, stop := context.WithTimeout(ctx, readyWait)
	defer stop()
	place, err := url.JoinPath(address, "jsz")
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, errors.Unwrap(err) // without the address, which the caller names
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", response.Status)
	}
	var said report
	if err = json.NewDecoder(io.LimitReader(response.Body, reportLimit)).Decode(&said); err != nil || said.Server == "" {
		return nil, errors.Join(errors.New("it does not answer as a nats-server does"), err)
	}
	return &said, nil
}
