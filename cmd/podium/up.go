package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rs/zerolog"

	"podium/bus/embedded/recovery"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
)

// upCommand runs the service.
type upCommand struct {
	Config string `help:"The configuration; podium.yaml when none is named." short:"c" default:"podium.yaml" type:"path" placeholder:"FILE"`
	NATS   string `help:"A NATS server or cluster instead of the embedded one." name:"nats" placeholder:"URL"`

	Credentials string `help:"With --nats: the file of the core account's key. Default: that of the configuration, else the one that --data has." placeholder:"FILE"`
}

// Help is shown by --help.
func (upCommand) Help() string {
	return `Runs the ledger, the supervisor, the agents and the doors that the configuration names, until
it is told to stop (Ctrl-C or SIGTERM). Then it takes nothing new and waits up to 10 s for agents at
work; a second Ctrl-C ends it at once. Either way the ledger knows where to go on. Logs are JSON lines
on standard error; --data wins over ledger.data of the configuration. A NATS server of your own is waited
for; what it needs is printed by podium nats accounts. One process works on a ledger at a time.

  podium up -c podium.yaml --data ./podium-data
  podium up --nats nats://nats.example.org:4222    # the ledger is on a cluster
  podium check -c podium.yaml                      # is the configuration right?`
}

// Run implements the verb.
func (c *upCommand) Run(env *environment) error {
	settings, err := config.Load(c.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("%s does not exist; `podium schema config` describes it, and README shows a small one", c.Config)
	}
	if err != nil {
		return err
	}
	if env.dataGiven() {
		settings.Ledger.Data = env.data
	}
	if err = c.join(&settings.Ledger); err != nil {
		return usage(err)
	}
	log := env.log.Level(min(env.log.GetLevel(), zerolog.InfoLevel))
	running, err := c.start(env, settings, log)
	if err != nil && env.ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(env.ctx))) {
		_, err = fmt.Fprintln(env.stdout, "podium stops: it was told to before it was up")
		return err
	}
	if err != nil {
		return err
	}
	place := fmt.Sprintf("ledger in %s, NATS on %s", settings.Ledger.Data, running.Ledger.URL())
	if nats := settings.Ledger.NATS; nats != nil {
		place = fmt.Sprintf("ledger on %s, keys in %s", nats.Servers(), service.CredentialsDir(settings.Ledger.Data))
	}
	if _, err = fmt.Fprintf(env.stdout, "podium is up: listening on %s, %s\npodium promises: %s\n", running.Address(), place, running.Durability().Promise); err != nil {
		return errors.Join(err, running.Close())
	}
	told := make(chan struct{})
	unless := context.AfterFunc(env.ctx, func() {
		defer close(told)
		_, _ = fmt.Fprintln(env.stdout, "podium stops: it waits up to 10s for agents at work; Ctrl-C again ends it at once")
	})
	err = running.Run(env.ctx)
	if !unless() {
		<-told
	}
	return errors.Join(err, running.Close())
}

// start starts the service. On a damaged ledger it says so until that is mended, or it is
// told to stop.
func (c *upCommand) start(env *environment, settings *config.Config, log zerolog.Logger) (*service.Service, error) {
	for {
		running, err := service.StartTelling(env.ctx, settings, func(sentence string) {
			_, _ = fmt.Fprintf(env.stdout, "podium waits: %s. Ctrl-C ends it\n", sentence)
		}, log)
		lost, damaged := errors.AsType[*recovery.LossError](err)
		if !damaged {
			return running, err
		}
		if _, err = fmt.Fprintf(env.stdout, "podium does nothing: %s\nIt goes on by itself after that. Until then, http://%s/healthz says so\n", lost, settings.HTTP.Listen); err == nil {
			err = service.ServeLoss(env.ctx, settings, lost, log)
		}
		if !errors.Is(err, service.ErrLedgerChanged) {
			return nil, errors.Join(lost, err)
		}
		if _, err = fmt.Fprintln(env.stdout, "podium looks again: somebody has changed the ledger"); err != nil {
			return nil, errors.Join(lost, err)
		}
	}
}

var errNoCredentials = errors.New("--credentials goes with --nats")

// join puts the server of the command line into a configuration.
func (c *upCommand) join(ledger *config.Ledger) error {
	if c.NATS == "" {
		if c.Credentials != "" {
			return errNoCredentials
		}
		return nil
	}
	if fault := config.ServersFault(c.NATS); fault != "" {
		return fmt.Errorf("--nats: %s", fault)
	}
	joined := config.NATS{URL: c.NATS, Credentials: c.Credentials}
	if configured := ledger.NATS; configured != nil {
		joined.Credentials = cmp.Or(joined.Credentials, configured.Credentials)
		joined.Monitoring = configured.Monitoring
	} else {
		ledger.Durability = "" // it was that of the embedded server
	}
	ledger.NATS = &joined
	return nil
}
