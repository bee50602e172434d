package config

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"podium/agents/mcp"
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/diagnostic"
)

// toolServer checks what an agent of kind mcp needs.
func (v *validator) toolServer(path string, agent *Agent) {
	if agent.Tool == "" {
		v.problem(path, "an agent of kind mcp needs the name of a tool")
	}
	if agent.URL != "" {
		v.endpoint(path, "url", agent.URL, agent)
		v.key(path+".key", agent.Key)
		if len(agent.Command) > 0 {
			v.problem(path+".command", "the server is either at a url, or started by a command")
		}
		if len(agent.Env) > 0 {
			v.problem(path+".env", "a server at a url gets no variables: it gets a key")
		}
		return
	}
	if agent.Key != "" {
		v.problem(path+".key", "a server that is started gets its keys by env")
	}
	if len(agent.Command) == 0 || agent.Command[0] == "" {
		v.problem(path, "an agent of kind mcp needs the command that starts its server, or its url")
		return
	}
	if name, floats := floating(agent.Command); floats {
		v.problem(path+".command", "%q has no exact version, so that each start may run another program: write %s", name, versioned(agent.Command[0], name))
	}
}

// fetchers are programs that fetch a package and run it, and the words of theirs that stand before its name.
func fetchers() map[string][]string {
	return map[string][]string{
		"npx": nil, "bunx": nil, "uvx": nil, "pipx": {"run"}, "pnpm": {"dlx"}, "yarn": {"dlx"}, "npm": {"exec", "x"}, "uv": {"tool", "run"},
	}
}

// exactVersion is a version that stays what it is, behind the name of a package.
var exactVersion = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z]+)*([-+][0-9A-Za-z.+-]+)?$`)

// floating returns the package that a command fetches without an exact version.
func floating(command []string) (name string, floats bool) {
	program := strings.TrimSuffix(strings.ToLower(filepath.Base(command[0])), ".cmd")
	words, fetches := fetchers()[strings.TrimSuffix(program, ".exe")]
	if !fetches {
		return "", false
	}
	for i, word := range command[1:] {
		if strings.HasPrefix(word, "-") || slices.Contains(words, word) && i < len(words) {
			continue
		}
		if filepath.IsAbs(word) || strings.HasPrefix(word, ".") {
			return "", false // it is here
		}
		_, version, python := strings.Cut(word, "==")
		if at := strings.LastIndexByte(word, '@'); !python && at > 0 {
			version = word[at+1:]
		}
		return word, !exactVersion.MatchString(version)
	}
	return "", false
}

// versioned shows how a package is written with a version.
func versioned(program, name string) string {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	if at := strings.IndexAny(name, "<>=!~^"); at > 0 {
		name = name[:at]
	}
	if strings.Contains(program, "pip") {
		return name + "==1.2.3"
	}
	return name + "@1.2.3"
}

// PinFile is the file with the tool of an agent as it was agreed to.
func (c *Config) PinFile(agent string) string {
	file := cmp.Or(c.Agents[agent].Pin, agent+".pin.json")
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(c.Directory, file)
}

// readPins reads what was agreed to of the tools of agents, as readScripts does scripts. What an agent does not say of
// itself it has from its tool.
func (c *Config) readPins() diagnostic.Problems {
	v := &validator{config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		entry, path, file := c.Agents[name], "agents."+name, c.PinFile(name)
		if entry.Kind != KindMCP {
			continue
		}
		body, err := beside.Read(os.DirFS(filepath.Dir(file)), filepath.Base(file), mcp.MaxPin)
		if errors.Is(err, fs.ErrNotExist) {
			v.problem(path, "nobody has agreed to its tool yet: podium agent pin %s -c %s shows it and writes %s", name, c.file, filepath.Base(file))
			continue
		}
		if err == nil {
			entry.Pinned, err = mcp.ReadPin(body)
		}
		if err != nil {
			v.problem(path+".pin", "%s: %v; podium agent pin %s -c %s writes it anew", filepath.Base(file), err, name, c.file)
			continue
		}
		if entry.Pinned.Tool.Name != entry.Tool {
			v.problem(path+".tool", "%s is for the tool %q; podium agent pin %s -c %s pins this one", filepath.Base(file), entry.Pinned.Tool.Name, name, c.file)
			continue
		}
		entry.Description = cmp.Or(entry.Description, entry.Pinned.Tool.Summary())
		if len(entry.InputSchema) == 0 {
			entry.InputSchema = entry.Pinned.Tool.HeldInput()
			v.arguments(path, &entry)
		}
		if len(entry.OutputSchema) == 0 {
			entry.OutputSchema = entry.Pinned.Tool.HeldOutput()
		}
		c.Agents[name] = entry
	}
	return v.problems
}
