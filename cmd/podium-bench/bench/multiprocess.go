package bench

import (
	"context"
	"errors"
	"path/filepath"

	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// multiProcess is Podium with its parts in processes of their own, so that each can be
// weighed and killed: the ledger's server, what conducts, and the agents. The
// server may be part of what conducts, as in `podium up`.
type multiProcess struct {
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

// startMultiProcess starts all of it, with a server of its own or with one in the conductor.
func startMultiProcess(ctx context.Context, config Config, name string, work workload, served bool) (_ *multiProcess, err error) {
	m := &multiProcess{conducted: &conducted{work: work, stop: func() {}}, config: config, dir: filepath.Join(config.Dir, name)}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if m.keys, err = embedded.Credentials(filepath.Join(m.dir, "credentials"), work.agentNames()); err != nil {
		return nil, err
	}
	if served {
		if m.server, err = start(ctx, config, assignment{
			Role: roleServer, Workload: config.Workload, Dir: m.dir, Durability: config.Durability, Shards: config.Shards,
		}); err != nil {
			return nil, err
		}
	}
	if err = m.conduct(ctx, nil); err != nil {
		return nil, err
	}
	return m, m.join(ctx)
}

// conduct starts what conducts, with the ledger in it if there is no server. It
// is ready with so many open runs of each shard; nil is none.
func (m *multiProcess) conduct(ctx context.Context, open []int) (err error) {
	given := assignment{Role: roleConductor, Workload: m.config.Workload, Shards: m.config.Shards, Open: open}
	if m.server == nil {
		given.Dir, given.Durability = m.dir, m.config.Durability
	} else {
		given.URL, given.Seed = m.server.url, m.keys.Core.SeedFile
	}
	m.conductor, err = start(ctx, m.config, given)
	if err == nil {
		m.url = m.conductor.url
	}
	return err
}

// join connects this process and the agents that are there from the beginning.
func (m *multiProcess) join(ctx context.Context) (err error) {
	m.link, err = jetstream.Connect(ctx, jetstream.Config{URL: m.url, SeedFile: m.keys.Core.SeedFile, Name: "driver", Logger: m.config.Log})
	if err != nil {
		return err
	}
	m.shards = m.link.Shards()
	if err = declare(ctx, m.link, m.work, m.config.InFlight); err != nil {
		return err
	}
	if err = m.employ(ctx, m.work.present()...); err != nil {
		return err
	}
	used := m.used.Load() // numbers are never used twice
	if m.conducted, err = begun(ctx, m.work, m.link, nil, m.parts()...); err == nil {
		m.used.Store(used)
	}
	return err
}

func (m *multiProcess) parts() []*process {
	running := append([]*process{m.conductor}, m.agents...)
	if m.server != nil {
		running = append(running, m.server)
	}
	return running
}

// employ starts agents in one process.
func (m *multiProcess) employ(ctx context.Context, names ...string) error {
	agents, err := start(ctx, m.config, assignment{
		Role: roleAgents, Workload: m.config.Workload, URL: m.url,
		Seeds: seedsOf(m.keys, names), Concurrency: m.work.pool(m.config.InFlight),
	})
	if err == nil {
		m.agents = append(m.agents, agents)
	}
	return err
}

// leave undoes join.
func (m *multiProcess) leave() error {
	err := m.end()
	for _, agents := range m.agents {
		err = errors.Join(err, agents.stop())
	}
	m.agents = nil
	if m.link != nil {
		m.link.Close()
		m.link = nil
	}
	return err
}

// restart ends all of it in order, and starts it again.
func (m *multiProcess) restart(ctx context.Context) error {
	if err := errors.Join(m.leave(), m.conductor.stop()); err != nil {
		return err
	}
	if err := m.conduct(ctx, nil); err != nil {
		return err
	}
	return m.join(ctx)
}

func (m *multiProcess) close() error {
	err := m.leave()
	for _, p := range []*process{m.conductor, m.server} {
		if p != nil {
			err = errors.Join(err, p.stop())
		}
	}
	return err
}
