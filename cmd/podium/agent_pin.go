package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"podium/agents/mcp"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
)

// firstStart is how long the server of a tool may take when somebody looks at it: its program may have to be fetched first.
const firstStart = 3 * time.Minute

// agentPinCommand agrees to the tool of an agent of kind mcp.
type agentPinCommand struct {
	Name   string `arg:"" help:"The agent, as podium.yaml has it." placeholder:"NAME"`
	Config string `help:"The configuration." short:"c" default:"podium.yaml" placeholder:"FILE"`
	DryRun bool   `help:"Write nothing; exit code 4 when the tool is not the one that was agreed to." name:"dry-run"`
}

func (agentPinCommand) Help() string {
	return `Starts the server of the agent as the service would, or calls it, asks it for the tool, shows what it says of
itself, and writes that to the agent's pin (NAME.pin.json beside podium.yaml, or the file that pin names). Until then
the agent does no work, and none once its tool is another one. What a tool says of itself is a stranger's word that models
and people go by: read it, and keep the file with podium.yaml. A running instance takes it over at its next start. With -o json
the pin itself is printed.

  podium agent pin fetch
  podium agent pin fetch --dry-run -c /etc/podium/podium.yaml`
}

func (c *agentPinCommand) Run(env *environment) error {
	settings, err := config.LoadUnpinned(c.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("%s does not exist; name the configuration with -c FILE", c.Config)
	}
	if err != nil {
		return usage(err)
	}
	if settings.Agents[c.Name].Kind != config.KindMCP {
		return notFound("there is no agent %q of kind mcp in %s", c.Name, c.Config)
	}
	file := settings.PinFile(c.Name)
	before, err := readPin(file)
	if err != nil {
		return err
	}
	server := service.ToolConfig(settings, c.Name, nil, env.log)
	server.Start = firstStart
	pin, err := mcp.Discover(env.ctx, server)
	if err != nil {
		return err
	}
	body, err := pin.Bytes()
	if err != nil {
		return err
	}
	if env.json {
		err = env.print("%s", body)
	} else {
		err = env.tellPin(pin, before)
	}
	switch {
	case err != nil:
		return err
	case before != nil && before.SHA256 == pin.SHA256:
		return env.tell("It is the one that %s was agreed to with.\n", filepath.Base(file))
	case c.DryRun:
		return &exitError{code: exitDiffers, err: fmt.Errorf("%s does not agree to it; without --dry-run it is written", filepath.Base(file))}
	}
	if err = os.WriteFile(file, body, 0o644); err != nil {
		return err
	}
	return env.tell("%s agrees to it. A running instance takes it over at its next start.\n", filepath.Base(file))
}

// readPin reads a pin that may not be there, or may be broken: then it is nil.
func readPin(file string) (*mcp.Pin, error) {
	body, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none yet
	}
	if err != nil {
		return nil, fmt.Errorf("read the pin: %w", err)
	}
	pin, err := mcp.ReadPin(body)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // it is written anew
	}
	return pin, nil
}

// tellPin shows a tool as its server describes it, and in what it is another than before.
func (e *environment) tellPin(pin, before *mcp.Pin) error {
	lines := []string{
		fmt.Sprintf("The tool %s of %s %s says of itself:", pin.Tool.Name, pin.Server, pin.Version), "",
		"description: " + seen(pin.Tool.Description), "input_schema: " + seen(string(pin.Tool.InputSchema)),
	}
	if len(pin.Tool.OutputSchema) > 0 {
		lines = append(lines, "output_schema: "+seen(string(pin.Tool.OutputSchema)))
	}
	if len(pin.Tool.Annotations) > 0 {
		lines = append(lines, "annotations: "+seen(string(pin.Tool.Annotations)))
	}
	for _, pattern := range pin.Unread {
		lines = append(lines, "left to the server, since it cannot be read here: pattern "+seen(pattern))
	}
	lines = append(lines, "sha256: "+pin.SHA256, "")
	if before != nil {
		for _, part := range before.Tool.Differs(&pin.Tool) {
			lines = append(lines, "It was agreed to with another "+part+".")
		}
	}
	return e.print("%s\n", strings.Join(lines, "\n"))
}

// seen is a stranger's text as somebody has to see it who agrees to it. A character that shows nothing, and that models read all the same, stands as
// its number; and a further line is set in, so that none looks like one of ours.
func seen(text string) string {
	var shown strings.Builder
	for _, c := range text {
		switch {
		case c == '\n':
			shown.WriteString("\n  | ")
		case !unicode.IsGraphic(c), unicode.In(c, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point), c == '\u2800':
			fmt.Fprintf(&shown, `\u{%x}`, c)
		default:
			shown.WriteRune(c)
		}
	}
	return shown.String()
}
