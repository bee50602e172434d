package config

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"podium/agents/llm"
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// How long the server of a model may be silent, if nothing is said.
const (
	defaultFirstByte = schemas.Duration(time.Minute)
	defaultIdle      = schemas.Duration(20 * time.Second)
)

// maxPrompt bounds the file of a prompt, in bytes.
const maxPrompt = 256 << 10

// languageModel checks what an agent of kind llm needs.
func (v *validator) languageModel(path string, agent *Agent) {
	if agent.Role == "" {
		v.problem(path, "an agent of kind llm needs a role: %s", list(llm.Roles(), ", "))
	}
	if agent.Model == "" {
		v.problem(path, "an agent of kind llm needs the name of a model")
	}
	v.endpoint(path, "base_url", agent.BaseURL, agent)
	if target, err := url.Parse(agent.BaseURL); err == nil {
		switch {
		case target.RawQuery != "" || target.Fragment != "":
			v.problem(path+".base_url", "it has something behind the path, which no call would have")
		case strings.HasSuffix(strings.TrimRight(target.Path, "/"), "/chat/completions"):
			v.problem(path+".base_url", "leave out /chat/completions, which is added")
		}
	}
	v.azure(path, agent)
	v.key(path+".key", agent.Key)
	if len(agent.OutputSchema) > 0 && agent.Role != "" && agent.Role.Kind() != schemas.KindWork {
		v.problem(path+".output_schema", "the role %s has a schema of its own", agent.Role)
	}
}

// azureVersion is how Azure writes a version, azureDeployment the name of a deployment.
var (
	azureVersion    = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)
	azureDeployment = regexp.MustCompile(`^[\w.-]*$`)
)

// azure checks what is special about a model there.
func (v *validator) azure(path string, agent *Agent) {
	target, err := url.Parse(agent.BaseURL)
	switch {
	case agent.API != llm.APIAzure && agent.APIVersion != "":
		v.problem(path+".api_version", "only a server with api: azure has a version")
	case agent.API != llm.APIAzure:
	case !azureVersion.MatchString(agent.APIVersion):
		v.problem(path+".api_version", "%q is not a version such as 2024-10-21, which api: azure needs", agent.APIVersion)
	case !azureDeployment.MatchString(agent.Model):
		v.problem(path+".model", "%q is not the name of a deployment: letters, digits, -, _ and .", agent.Model)
	case err == nil && strings.Trim(target.Path, "/") != "":
		v.problem(path+".base_url", "it has the path %s; with api: azure it is that of the resource alone, such as https://NAME.openai.azure.com", target.Path)
	}
}

// key checks a key that is sent along.
func (v *validator) key(path string, key Secret) {
	if strings.ContainsFunc(string(key), func(c rune) bool { return c > unicode.MaxASCII || unicode.IsSpace(c) || unicode.IsControl(c) }) {
		v.problem(path, "a key has no blanks, line ends or special letters: look at where it comes from")
	}
}

// rolesOf lists the roles that answer requests of a kind.
func rolesOf(kind schemas.RequestKind) []llm.Role {
	return slices.DeleteFunc(llm.Roles(), func(role llm.Role) bool { return role.Kind() != kind })
}

// readPrompts reads the files of prompts, as readScripts does those of scripts.
func (c *Config) readPrompts(directory string) diagnostic.Problems {
	v := &validator{config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		entry := c.Agents[name]
		if entry.Prompt == "" {
			continue
		}
		file := entry.Prompt
		if !filepath.IsAbs(file) {
			file = filepath.Join(directory, file)
		}
		text, err := beside.Read(os.DirFS(filepath.Dir(file)), filepath.Base(file), maxPrompt)
		if err == nil {
			entry.PromptRead, err = llm.ParsePrompt(string(text))
		}
		if err != nil {
			v.problem("agents."+name+".prompt", "%v", err)
			continue
		}
		c.Agents[name] = entry
	}
	return v.problems
}
