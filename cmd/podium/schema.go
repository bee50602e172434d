package main

import (
	"slices"
	"strings"

	"podium/cmd/podium/config"
	"podium/schemas"
)

// schemaCommand prints the schemas.
type schemaCommand struct {
	Name string `arg:"" optional:"" help:"The schema; without one, their names are listed."`
}

func (schemaCommand) Help() string {
	return `Prints the JSON Schemas of every message, of the configuration and of scripts.

  podium schema
  podium schema execution_response
  podium schema config > podium.schema.json     # for your editor`
}

// The schemas of what people write.
const (
	configSchema = "config"
	scriptSchema = "script"
)

func (c *schemaCommand) Run(env *environment) error {
	names := append(schemas.Names(), configSchema, scriptSchema)
	slices.Sort(names)
	if c.Name == "" {
		return env.answer(names, "%s\n", strings.Join(names, "\n"))
	}
	var body []byte
	var err error
	switch c.Name {
	case configSchema:
		body = config.Schema()
	case scriptSchema:
		body = config.ScriptSchema()
	default:
		body, err = schemas.Schema(c.Name)
	}
	if err != nil {
		return notFound("there is no schema %q; there are: %s", c.Name, strings.Join(names, ", "))
	}
	return env.print("%s\n", body)
}
