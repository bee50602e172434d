package bench

import (
	"context"
	"errors"
	"path/filepath"

	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// apart is Podium with its parts in processes of their own, so that each can be
// weighed and killed: the ledger's server, what conducts, and the agents. The
// server may be part of what conducts, as in `podium up`.
type apart struct {
	*conducted
	config    Config
	dir       string
	keys      embedded.Keys
	url       string
	shards    int
	link      *jetstream.Core
	server    *process // nil while the conductor holds the ledger
	conductor *process
	agents    []*process
	open      []uint64
}

// startApart starts all of it, with a server of its own or with one in the conductor.
func startApart(ctx context.Context, config Config, name string, work workload, served bool) (_ *apart, err error) {
	a := &apart{conducted: &conducted{work: work, stop: func() {}}, config: config, dir: filepath.Join(config.Dir, name)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.keys, err = embedded.Credentials(filepath.Join(a.dir, "credentials"), work.agentNames()); err != nil {
		return nil, err
	}
	if served {
		if a.server, err = start(ctx, config, assignment{
			Role: roleServer, Workload: config.Workload, Dir: a.dir, Durability: config.Durability, Shards: config.Shards,
		}); err != nil {
			return nil, err
		}
	}
	if err = a.conduct(ctx, nil); err != nil {
		return nil, err
	}
	return a, a.join(ctx)
}

// conduct starts what conducts, with the ledger in it if there is no server. It
// is ready with so many open runs of each shard; nil is none.
func (a *apart) conduct(ctx context.Context, open []int) (err error) {
	given := assignment{Role: roleConductor, Workload: a.config.Workload, Shards: a.config.Shards, Open: open}
	if a.server == nil {
		given.Dir, given.Durability = a.dir, a.config.Durability
	} else {
		given.URL, given.Seed = a.server.url, a.keys.Core.SeedFile
	}
	a.conductor, err = start(ctx, a.config, given)
	if err == nil {
		a.url = a.conductor.url
	}
	return err
}

// join connects this process and the agents that are there from the beginning.
func (a *apart) join(ctx context.Context) (err error) {
	a.link, err = jetstream.Connect(ctx, jetstream.Config{URL: a.url, SeedFile: a.keys.Core.SeedFile, Name: "driver", Logger: a.config.Log})
	if err != nil {
		return err
	}
	a.shards = a.link.Shards()
	if err = declare(ctx, a.link, a.work, a.config.InFlight); err != nil {
		return err
	}
	if err = a.employ(ctx, a.work.present()...); err != nil {
		return err
	}
	used := a.used.Load() // numbers are never used twice
	if a.conducted, err = begun(ctx, a.work, a.link, nil, a.parts()...); err == nil {
		a.used.Store(used)
	}
	return err
}

func (a *apart) parts() []*process {
	running := append([]*process{a.conductor}, a.agents...)
	if a.server != nil {
		running = append(running, a.server)
	}
	return running
}

// employ starts agents in one process.
func (a *apart) employ(ctx context.Context, names ...string) error {
	agents, err := start(ctx, a.config, assignment{
		Role: roleAgents, Workload: a.config.Workload, URL: a.url,
		Seeds: seedsOf(a.keys, names), Concurrency: a.work.pool(a.config.InFlight),
	})
	if err == nil {
		a.agents = append(a.agents, agents)
	}
	return err
}

// leave undoes join.
func (a *apart) leave() error {
	err := a.end()
	for _, agents := range a.agents {
		err = errors.Join(err, agents.stop())
	}
	a.agents = nil
	if a.link != nil {
		a.link.Close()
		a.link = nil
	}
	return err
}

// restart ends all of it in order, and starts it again.
func (a *apart) restart(ctx context.Context) error {
	if err := errors.Join(a.leave(), a.conductor.stop()); err != nil {
		return err
	}
	if err := a.conduct(ctx, nil); err != nil {
		return err
	}
	return a.join(ctx)
}

func (a *apart) close() error {
	err := a.leave()
	for _, p := range []*process{a.conductor, a.server} {
		if p != nil {
			err = errors.Join(err, p.stop())
		}
	}
	return err
}
