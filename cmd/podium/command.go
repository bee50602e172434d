package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/rs/zerolog"

	"podium/cmd/podium/config"
	"podium/cmd/podium/diagnostic"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/likely"
	"podium/cmd/podium/pseudonym"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
)

// The exit codes. Scripts depend on them.
const (
	exitOK       = 0
	exitFailed   = 1 // it was tried and did not work
	exitUsage    = 2 // the command line or the configuration is wrong
	exitNotFound = 3 // there is no such run, message, agent or ledger
	exitDiffers  = 4 // a verification found differences, keywords are in conflict, or mail is unaccounted for
	exitOther    = 5 // a verification found nothing but decisions of other builds that this one would make otherwise
	exitAsks     = 6 // the run waits for a person: the wait is over, or the answer did not fit and is asked for again
)

// command is the whole command line.
type command struct {
	Data    string `help:"Directory of the ledger; ./podium-data when none is named." env:"PODIUM_DATA" placeholder:"DIR"`
	Output  string `help:"text for people, json for programs." short:"o" enum:"text,json" default:"text"`
	Verbose int    `help:"Log what happens, as JSON lines on standard error; -vv also the NATS server's notices." short:"v" type:"counter"`

	Print kong.VersionFlag `name:"version" help:"Print the version."`

	Demo       demoCommand       `cmd:"" help:"Show a mail and a chat message on their way through Podium; needs no network, account or key."`
	Up         upCommand         `cmd:"" help:"Run the service."`
	Send       sendCommand       `cmd:"" help:"Send a chat message to a running instance."`
	Runs       runsCommand       `cmd:"" help:"List, show, watch and cancel runs, and send answers again."`
	Artifact   artifactCommand   `cmd:"" help:"Get the bytes of a file or a body by its hash."`
	Plan       planCommand       `cmd:"" help:"Show the plan of a run as a document, or write it into a file."`
	Score      scoreCommand      `cmd:"" help:"Say how well runs went, for each profile, and make a table of them."`
	Budget     budgetCommand     `cmd:"" help:"Say what runs have used of the budgets of a day."`
	Inbox      inboxCommand      `cmd:"" help:"List what runs ask people, and wait for."`
	Answer     answerCommand     `cmd:"" help:"Answer what a run asks, in the place of whoever was asked."`
	Approve    approveCommand    `cmd:"" help:"Agree to what a run asks leave for."`
	Raise      raiseCommand      `cmd:"" help:"Raise the budget of a run that asks for more."`
	Reject     rejectCommand     `cmd:"" help:"Decline work that a run asks a person for, or say no to what it asks leave or budget for."`
	Route      routeCommand      `cmd:"" help:"Explain where a text would go, and why."`
	Replay     replayCommand     `cmd:"" help:"Print the ledger, or decide all of it again."`
	Ledger     ledgerCommand     `cmd:"" help:"Say what a ledger at rest has lost, and go on without it."`
	Agent      agentCommand      `cmd:"" help:"Run an agent."`
	Agents     agentsCommand     `cmd:"" help:"List the agents, take external ones in, and cut them off."`
	NATS       natsCommand       `cmd:"" name:"nats" help:"Prepare a NATS server of your own."`
	Mail       mailCommand       `cmd:"" help:"Prove that no mail is missing, and show what mail becomes."`
	Pseudonym  pseudonymCommand  `cmd:"" help:"Say what stands in the log for an address, a name or a run."`
	Quarantine quarantineCommand `cmd:"" help:"List, show, retry and discard messages that could not be used."`
	Check      checkCommand      `cmd:"" help:"Check a configuration, or a plan."`
	Schema     schemaCommand     `cmd:"" help:"Print the schemas."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
	Summarize  summarizeCommand  `cmd:"" hidden:""`
}

func (command) Help() string {
	return `Begin with these:

  podium demo --once                        # see it work, then look around
  podium up -c podium.yaml                  # run it
  podium send "What is 6 * 7?" --wait       # in another terminal

What reads the ledger works on a running instance and, when none runs on --data, on the ledger at
rest; -c FILE or --nats URL name one that is on a NATS server of its own. Durations are such as 500ms, 30s, 2m or 1h. Times are shown in local time, and in UTC by -o json.

Exit codes:
  0  it worked
  1  it was tried and did not work; also a run that did not complete
  2  the command line or the configuration is wrong
  3  there is no such run, message, agent, profile, file or ledger, or no instance runs
  4  replay --verify or ledger check found differences or losses, replay --verify -c what another configuration would change, route --lint keywords in conflict, or mail audit gaps
  5  replay --verify found nothing but decisions of other builds of Podium that this one would make otherwise
  6  the run waits for a person, and podium answer goes on with it: a wait was over, or an answer did not say what is needed`
}

// environment is what every verb works with.
type environment struct {
	ctx    context.Context //nolint:containedctx // lives as long as one command
	stdin  io.Reader
	stdout io.Writer // guarded: nothing that is written to it commands a terminal
	stderr io.Writer // the same
	raw    io.Writer // stdout as it is, for what no person reads
	log    zerolog.Logger
	ids    *pseudonym.Writer // what the log is written to: it hides whose ids they are, where that is asked for
	data   string            // as given, or the default
	given  bool              // --data or PODIUM_DATA names it
	json   bool
	named  ledgerFlags  // of the verb, if it has them
	nats   *config.NATS // the server of its own that holds the ledger, once that is settled
}

// defaultData is where the ledger is when nobody says otherwise.
const defaultData = "./podium-data"

// print writes what people read.
func (e *environment) print(format string, values ...any) error {
	_, err := fmt.Fprintf(e.stdout, format, values...)
	return err
}

// tellNothing says that a list is empty, in the place of a table without rows; beside the output, which programs read.
func (e *environment) tellNothing(sentence string) error {
	_, err := fmt.Fprintln(e.stderr, sentence)
	return err
}

// answer prints a value to programs, or a sentence to people.
func (e *environment) answer(value any, format string, values ...any) error {
	if e.json {
		return json.NewEncoder(e.stdout).Encode(value)
	}
	return e.print(format, values...)
}

// printLine prints a value as one line of JSON.
func (e *environment) printLine(value any) error {
	body, err := schemas.Marshal(value)
	if err != nil {
		return err
	}
	return json.NewEncoder(e.stdout).Encode(json.RawMessage(body))
}

// exitError is an error with an exit code of its own. Without err there is
// nothing left to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func notFound(format string, arguments ...any) error {
	return &exitError{code: exitNotFound, err: fmt.Errorf(format, arguments...)}
}

// run parses the arguments, does what they say and returns the exit code.
func run(ctx context.Context, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var parsed command
	exited := -1
	env := &environment{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	parser, err := kong.New(&parsed,
		kong.Bind(env),
		kong.Name("podium"),
		kong.Description("The conductor for agents on NATS: mail and chat in, work to agents, answers back, every step on a log."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.UsageOnError(),
		kong.Vars{"version": versionLine(versions())},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return report(stderr, err)
	}
	if len(arguments) > 0 && arguments[0] == "help" { // as people type it: podium help send
		arguments = append(slices.Clone(arguments[1:]), "--help")
	}
	chosen, err := parser.Parse(arguments)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "podium: %s\nSee `%s --help`.\n", view.Plain(misunderstood(err)), verbOf(err))
		return exitUsage
	}
	env.data, env.given, env.json = cmp.Or(parsed.Data, defaultData), parsed.Data != "", parsed.Output == "json"
	env.stdout, env.stderr, env.raw = view.NewGuard(stdout, env.json), view.NewGuard(stderr, false), stdout
	env.ids = pseudonym.NewWriter(view.NewGuard(stderr, true))
	env.log = logger(env.ids, parsed.Verbose)
	if err = chosen.Run(env); err != nil {
		return report(env.stderr, err)
	}
	return exitOK
}

// unexpected is what the parser says of a word that is no command.
var unexpected = regexp.MustCompile(`^(unexpected argument ([a-z]+))(?:, did you mean .*)?$`)

// misunderstood says what is wrong with a command line, and names the command that somebody means who typed a word of another program in its place.
func misunderstood(err error) string {
	said := unexpected.FindStringSubmatch(err.Error())
	if verb := verbOf(err); said == nil || verb != "podium" && verb != "podium runs list" {
		return plainUsage(err.Error())
	}
	if command := likely.Command(said[2]); command != "" {
		return said[1] + "; what you look for is " + command
	}
	return err.Error()
}

// verbOf names the verb, as far as it was typed, whose help says what is wrong.
func verbOf(err error) string {
	words := []string{"podium"}
	if failed, ok := errors.AsType[*kong.ParseError](err); ok {
		for _, step := range failed.Context.Path {
			if step.Command != nil {
				words = append(words, step.Command.Name)
			}
		}
	}
	return strings.Join(words, " ")
}

func logger(stderr io.Writer, verbose int) zerolog.Logger {
	level := zerolog.ErrorLevel
	switch {
	case verbose > 1:
		level = zerolog.TraceLevel
	case verbose == 1:
		level = zerolog.DebugLevel
	}
	return zerolog.New(stderr).Level(level).With().Timestamp().Logger()
}

// report tells an error to a person and returns its exit code.
func report(stderr io.Writer, err error) int {
	coded, isCoded := errors.AsType[*exitError](err)
	_, misnamed := errors.AsType[*runlog.NameError](err)
	if !isCoded || coded.err != nil {
		_, _ = fmt.Fprintf(stderr, "podium: %v\n", err)
	}
	switch {
	case isCoded:
		return coded.code
	case misnamed, diagnostic.ProblemsOf(err) != nil, errors.Is(err, installation.ErrNotExternal):
		return exitUsage
	case errors.Is(err, runlog.ErrNoRun), errors.Is(err, runlog.ErrNoInquiry), errors.Is(err, os.ErrNotExist),
		errors.Is(err, installation.ErrNoLedger), errors.Is(err, installation.ErrNotRunning), errors.Is(err, installation.ErrNoAgent):
		return exitNotFound
	}
	return exitFailed
}

// usageFaults puts what the parser of the command line says into plain words.
var usageFaults = [...]struct { //nolint:gochecknoglobals // never written
	said  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`expected duration but got ("(?:[^"\\]|\\.)*").*`), `${1} is not a duration such as 500ms, 30s or 5m`},
	{regexp.MustCompile(`expected (?:an? )?valid \d+ bit u?int but got ("(?:[^"\\]|\\.)*").*`), `${1} is not a whole number`},
	{regexp.MustCompile(`expected (?:an? )?(?:valid )?(?:\d+ bit )?float but got ("(?:[^"\\]|\\.)*").*`), `${1} is not a number`},
	{regexp.MustCompile(`expected bool value but got ("(?:[^"\\]|\\.)*").*`), `${1} is neither true nor false`},
	{regexp.MustCompile(`expected \w+ value but got "EOL".*`), `a value is missing behind it`},
	{regexp.MustCompile(`expected \w+ value but got ("(?:[^"\\]|\\.)*") \((?:short|long) flag\); perhaps try (--[^?]+)\?`), `${1} is taken for another flag; write ${2}`},
	{regexp.MustCompile(`^expected "(<[^"]+>)(?: \.\.\.)?".*`), `${1} is missing`},
	{regexp.MustCompile(`(must be one of )"",`), `${1}`},
}

// plainUsage says what is wrong with a command line, without the words of a parser.
func plainUsage(said string) string {
	for _, fault := range usageFaults {
		if fault.said.MatchString(said) {
			return fault.said.ReplaceAllString(said, fault.plain)
		}
	}
	return said
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// speakerFlags are those of verbs by which a person decides something.
type speakerFlags struct {
	As string `help:"The person of the people section who decides. It is recorded as your claim, with your user of the operating system." placeholder:"NAME"`
}

// signs records in a control message who sends it: the user of the operating system, and the person that --as names.
func (f *speakerFlags) signs(control *schemas.Control) {
	control.Via, control.By, control.As = schemas.ViaCLI, systemUser(), f.As
}

// systemUser is the user of the operating system that runs the command; its number where it has no name.
func systemUser() string {
	known, err := user.Current()
	if err != nil || known.Username == "" {
		return "uid " + strconv.Itoa(os.Getuid())
	}
	return known.Username
}
