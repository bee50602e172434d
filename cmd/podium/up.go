package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded/recovery"
	"podium/cmd/podium/activity"
	"podium/cmd/podium/config"
	"podium/cmd/podium/demo"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/cmd/podium/view"
	"podium/deploy/examples/summary/summarize"
)

// upCommand runs the service.
type upCommand struct {
	Config string `help:"The configuration; podium.yaml when none is named." short:"c" default:"podium.yaml" type:"path" placeholder:"FILE"`
	NATS   string `help:"A NATS server or cluster instead of the embedded one." name:"nats" placeholder:"URL"`

	Quiet bool `help:"Say only that it is up, waits or stops, and not what happens." short:"q"`

	Credentials string `help:"With --nats: the file of the core account's key. Default: that of the configuration, else the one that --data has." placeholder:"FILE"`
}

func (upCommand) Help() string {
	return `Runs the ledger, the supervisor, the agents and the adapters that the configuration names, until
it is told to stop (Ctrl-C or SIGTERM). Then it takes nothing new and waits up to 10 s for agents at
work; a second Ctrl-C ends it at once. Either way the ledger knows where to go on. Standard output has a line
for each message, run, answer and failure, and for an agent that is gone; no line holds an address, a subject
or a word of anybody, and a slow output leaves lines out and slows nobody down. Logs are JSON lines on standard
error: errors, warnings and what is rare (level info), with -v also what Podium does (debug), with -vv also the
NATS server's notices (trace). Ids that lead to a person are keyed hashes there (podium pseudonym); standard output
has whole ids of runs. --data wins over
ledger.data of the configuration. A NATS server of your own is waited for; what it needs is printed by podium
nats accounts. One process works on a ledger at a time.

  podium up -c podium.yaml --data ./podium-data
  podium up -q 2>> podium.log                      # as a service, when nobody looks
  podium up -o json | jq .event                    # what happens, for a program
  podium up --nats nats://nats.example.org:4222    # the ledger is on a cluster
  podium check -c podium.yaml                      # is the configuration right?`
}

func (c *upCommand) Run(env *environment) error {
	settings, err := config.Load(c.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("%s does not exist; `podium schema config` describes it, and README shows a small one", c.Config)
	}
	if err != nil {
		return err
	}
	if env.given {
		settings.Ledger.Data = env.data
	}
	if err = c.join(&settings.Ledger); err != nil {
		return usage(err)
	}
	env.ids.Hide(nil) // nothing is decided before there is a key
	log := env.log.Level(min(env.log.GetLevel(), zerolog.InfoLevel))
	running, err := c.start(env, settings, log)
	if err != nil && env.ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(env.ctx))) {
		return env.says("podium stops: it was told to before it was up")
	}
	if err != nil {
		return err
	}
	place := fmt.Sprintf("ledger in %s, NATS on %s", settings.Ledger.Data, running.Ledger.URL)
	if nats := settings.Ledger.NATS; nats != nil {
		place = fmt.Sprintf("ledger on %s, keys in %s", nats.Servers(), installation.CredentialsDir(settings.Ledger.Data))
	}
	up := fmt.Sprintf("podium is up: listening on %s, %s\npodium promises: %s", running.Address(), place, running.Durability().Promise)
	if err = env.says(up); err != nil {
		return errors.Join(err, running.Close())
	}
	env.ids.Hide(running.Pseudonym)
	running.Activity.Begin(!c.Quiet)
	ceased := env.show(running.Activity)
	told := make(chan struct{})
	unless := context.AfterFunc(env.ctx, func() {
		defer close(told)
		running.Activity.Say("podium stops: it waits up to 10s for agents at work; Ctrl-C again ends it at once")
	})
	err = running.Run(env.ctx)
	if !unless() {
		<-told
	}
	err = errors.Join(err, running.Close())
	ceased()
	return err
}

// says tells a sentence of the service, as activity does.
func (e *environment) says(sentence string) error {
	if e.json {
		return activity.WriteJSON(e.stdout, time.Now(), sentence)
	}
	return e.print("%s\n", sentence)
}

// lastLines is how long whoever stops waits for an output that takes no more.
const lastLines = 2 * time.Second

// show shows what happens while the service works. The function it returns ends that.
func (e *environment) show(feed *activity.Feed) (ceased func()) {
	// Without this, whoever read the output and left would end the service with it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := context.WithCancel(context.WithoutCancel(e.ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := feed.Show(ctx, e.output()); err != nil {
			e.log.Warn().Err(err).Msg("nobody reads what happens any more")
		}
	}()
	return func() {
		stop()
		select {
		case <-ended:
		case <-time.After(lastLines):
		}
	}
}

// output is where what happens is written, with colors in a terminal.
func (e *environment) output() activity.Output {
	to := activity.Output{Writer: e.stdout, JSON: e.json}
	if terminal := view.TerminalOf(e.stdout); terminal != nil && terminal.Colors && !e.json {
		to.Writer, to.Colors = terminal, true // every line is plain before it is colored
	}
	return to
}

// start starts the service. On a damaged ledger it says so until that is mended, or it is
// told to stop.
func (c *upCommand) start(env *environment, settings *config.Config, log zerolog.Logger) (*service.Service, error) {
	for {
		running, err := service.StartTelling(env.ctx, settings, func(sentence string) {
			_ = env.says(fmt.Sprintf("podium waits: %s. Ctrl-C ends it", sentence))
		}, log)
		lost, damaged := errors.AsType[*recovery.LossError](err)
		if !damaged {
			return running, err
		}
		if err = env.says(fmt.Sprintf("podium does nothing: %s\nAfter a repair it goes on by itself; stop it before you restore a backup. Until then, http://%s/healthz says so", lost, settings.HTTP.Listen)); err == nil {
			err = service.ServeLoss(env.ctx, settings, lost, log)
		}
		if !errors.Is(err, service.ErrLedgerChanged) {
			return nil, errors.Join(lost, err)
		}
		if err = env.says("podium looks again: somebody has changed the ledger"); err != nil {
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

// demoCommand shows the main job on real parts.
type demoCommand struct {
	Once bool `help:"Exit when the mail and the chat message are answered."`
}

func (demoCommand) Help() string {
	return `Starts everything in this process: a ledger, a mailbox (IMAP), a mail server (SMTP), the supervisor
and three agents. A mail asks for a calculation and a summary, a chat message for a calculation. You
see what becomes of them; the ledger is kept, and the last lines say how to replay it.

  podium demo
  podium demo --once -o json       # one JSON object; exit code 0 only if all of it happened`
}

func (c *demoCommand) Run(env *environment) error {
	given := demo.Config{Once: c.Once, Out: env.stdout, JSON: env.json, Log: env.log}
	if env.given {
		given.Data = env.data
	}
	return demo.Show(env.ctx, given)
}

// summarizeCommand is the demo's program: it answers one request on standard input.
type summarizeCommand struct{}

func (summarizeCommand) Run(env *environment) error {
	if code := summarize.Main(nil, env.stdin, env.raw, env.stderr); code != exitOK {
		return &exitError{code: code} // it has said why
	}
	return nil
}
