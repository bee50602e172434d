package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/diagnostic"
)

// maxIncluded bounds the files that a configuration includes.
const maxIncluded = 64

// include takes over what the files of include have of agents, people, profiles, mail accounts and chat channels. Each of them is a configuration that
// can run by itself, so that the paths in it are relative to where it lies, and what it says of its process holds only there.
func (c *Config) include(lookup variables) error {
	v := &validator{config: c}
	if len(c.Include) > maxIncluded {
		v.problem("include", "it has %d files; it may have %d", len(c.Include), maxIncluded)
		return v.problems
	}
	for n, file := range c.Include {
		at := fmt.Sprintf("include[%d]", n)
		path := beneath(filepath.Dir(c.file), file)
		body, err := os.ReadFile(path)
		if err != nil {
			v.problem(at, "read it: %v", err)
			continue
		}
		part, err := decode(body, path, lookup)
		if err != nil {
			if faults := diagnostic.ProblemsOf(err); faults != nil {
				v.problems = append(v.problems, faults...)
			} else {
				v.problem(at, "%v", err)
			}
			continue
		}
		if len(part.Include) > 0 {
			v.problem(at, "it includes others itself: name them here")
			continue
		}
		directory, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			return fmt.Errorf("find the directory of %s: %w", path, err)
		}
		part.anchor(directory)
		v.merge(part)
	}
	if len(v.problems) > 0 {
		return v.problems.Sorted()
	}
	return nil
}

// anchor makes the paths of agents and profiles independent of where the including file lies.
func (c *Config) anchor(directory string) {
	at := func(path *string) {
		if *path != "" {
			*path = beneath(directory, *path)
		}
	}
	for name, agent := range c.Agents {
		if agent.Kind == KindMCP && agent.Pin == "" {
			agent.Pin = name + ".pin.json"
		}
		for _, path := range []*string{&agent.Script, &agent.Prompt, &agent.Templates, &agent.Compounds, &agent.Pin, &agent.Dir} {
			at(path)
		}
		agent.Directory = directory
		c.Agents[name] = agent
	}
	for name, profile := range c.Profiles {
		at(&profile.Outputs.Plans)
		c.Profiles[name] = profile
	}
}

// merge adds what an included file has. A name stands for one thing.
func (v *validator) merge(part *Config) {
	c := v.config
	shift := len(c.Mail.Accounts)
	c.Mail.Accounts = slices.Concat(c.Mail.Accounts, part.Mail.Accounts)
	mergeInto(v, part, "agents.", &c.Agents, part.Agents)
	mergeInto(v, part, "people.", &c.People, part.People)
	mergeInto(v, part, "profiles.", &c.Profiles, part.Profiles)
	mergeInto(v, part, "chat.channels.", &c.Chat.Channels, part.Chat.Channels)
	for path, place := range part.places {
		section, name, _ := strings.Cut(path, ".")
		switch {
		case section == "agents" || section == "people" || section == "profiles" || strings.HasPrefix(name, "channels."):
		case strings.HasPrefix(path, accountsPath):
			var n int
			if _, err := fmt.Sscanf(path[len(accountsPath):], "%d", &n); err != nil {
				continue
			}
			_, rest, _ := strings.Cut(path, "]")
			path = fmt.Sprintf("%s%d]%s", accountsPath, n+shift, rest)
		default:
			continue
		}
		if _, taken := c.places[path]; !taken {
			place.File = part.file
			c.places[path] = place
		}
	}
}

const accountsPath = "mail.accounts["

func mergeInto[V any](v *validator, part *Config, section string, all *map[string]V, more map[string]V) {
	if *all == nil {
		*all = make(map[string]V, len(more))
	}
	for name, value := range more {
		if _, taken := (*all)[name]; taken {
			at := strictyaml.At(part.places, section+name)
			v.problems = append(v.problems, &diagnostic.Problem{
				File: part.file, Line: at.Line, Column: at.Column, Path: section + name, Message: "another file has this name as well: one of them needs another",
			})
			continue
		}
		(*all)[name] = value
	}
}
