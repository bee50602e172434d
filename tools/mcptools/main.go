// Command mcptools records what real servers of the Model Context Protocol say of their tools, for the tests of
// agents/mcp:
//
//	go run ./tools/mcptools [-only PACKAGE] servers.json DIRECTORY
//
// Each package of the list is installed by npm into a folder of its own, without running scripts of packages, its server is
// started with the variables of the list, asked for its tools, and ended. It needs npm, and calls nothing else.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A listed is a server to record.
type listed struct {
	Package   string   `json:"package"` // with its exact version behind the last @
	Program   string   `json:"program"` // of the package; empty when it has one
	Arguments []string `json:"arguments"`
	Env       []string `json:"env"` // values that let it start; none is a secret
}

// A recorded is what a server has said.
type recorded struct {
	Package string              `json:"package"`
	Version string              `json:"version"`
	License string              `json:"license"`
	Server  *mcp.Implementation `json:"server"`
	Tools   []*mcp.Tool         `json:"tools"`
}

const patience = 3 * time.Minute // for one server

func main() {
	only := flag.String("only", "", "the one package to record")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: mcptools [-only PACKAGE] servers.json DIRECTORY")
		os.Exit(2)
	}
	if err := record(ctx, flag.Arg(0), flag.Arg(1), *only); err != nil {
		fmt.Fprintln(os.Stderr, "mcptools:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, list, directory, only string) error {
	body, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var servers []listed
	if err = json.Unmarshal(body, &servers); err != nil {
		return fmt.Errorf("read %s: %w", list, err)
	}
	var failed []error
	for i := range servers {
		server := &servers[i]
		if name, _ := server.split(); only != "" && only != name {
			continue
		}
		if err := server.record(ctx, directory); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", server.Package, err))
		}
	}
	return errors.Join(failed...)
}

// split returns the name of a package and its version.
func (s *listed) split() (name, version string) {
	at := strings.LastIndexByte(s.Package, '@')
	if at <= 0 {
		return s.Package, ""
	}
	return s.Package[:at], s.Package[at+1:]
}

func (s *listed) record(ctx context.Context, directory string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	folder, err := os.MkdirTemp("", "mcptools-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	install := exec.CommandContext(ctx, "npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error", s.Package)
	install.Stderr = os.Stderr
	if err = install.Run(); err != nil {
		return fmt.Errorf("install it: %w", err)
	}
	name, version := s.split()
	made := recorded{Package: name, Version: version}
	program, err := made.about(filepath.Join(folder, "node_modules", filepath.FromSlash(name)), s.Program)
	if err != nil {
		return err
	}
	if err = made.ask(ctx, folder, program, s); err != nil {
		return err
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err = encoder.Encode(made); err != nil {
		return err
	}
	file := strings.NewReplacer("@", "", "/", "_").Replace(name) + ".json"
	fmt.Fprintf(os.Stdout, "%s: %s, tools %d\n", s.Package, made.License, len(made.Tools))
	return os.WriteFile(filepath.Join(directory, file), body.Bytes(), 0o644)
}

// about reads what a package says of itself, and returns the path of its program.
func (r *recorded) about(folder, program string) (string, error) {
	body, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return "", err
	}
	var about struct {
		Version string          `json:"version"`
		License string          `json:"license"`
		Bin     json.RawMessage `json:"bin"`
	}
	if err = json.Unmarshal(body, &about); err != nil {
		return "", err
	}
	if about.Version != r.Version {
		return "", fmt.Errorf("version %s was installed", about.Version)
	}
	r.License = about.License
	if strings.HasPrefix(about.License, "SEE LICENSE IN ") { // some packages leave that file out
		text, err := os.ReadFile(filepath.Join(folder, "README.md"))
		if err != nil {
			return "", err
		}
		if _, says, found := strings.Cut(string(text), "\n## License\n"); found {
			r.License, _, _ = strings.Cut(strings.TrimSpace(says), ".")
		}
	}
	var one string
	var several map[string]string
	switch {
	case json.Unmarshal(about.Bin, &one) == nil:
	case json.Unmarshal(about.Bin, &several) != nil:
		return "", errors.New("the package has no program")
	case program != "":
		one = several[program]
	case len(several) == 1:
		for _, one = range several {
		}
	}
	if one == "" {
		return "", fmt.Errorf("say which program: it has %v", several)
	}
	return filepath.Join(folder, filepath.FromSlash(one)), nil
}

// ask starts the server and asks it for its tools.
func (r *recorded) ask(ctx context.Context, folder, program string, s *listed) error {
	command := exec.CommandContext(ctx, "node", append([]string{program}, s.Arguments...)...)
	command.Dir = folder
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder}, s.Env...)
	var said bytes.Buffer
	command.Stderr = &said
	client := mcp.NewClient(&mcp.Implementation{Name: "mcptools", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	asking, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	session, err := client.Connect(asking, &mcp.CommandTransport{Command: command, TerminateDuration: time.Second}, nil)
	if err != nil {
		return fmt.Errorf("start it: %w; it says: %.500s", err, said.String())
	}
	defer func() { _ = session.Close() }()
	r.Server = session.InitializeResult().ServerInfo
	for tool, err := range session.Tools(asking, nil) {
		if err != nil {
			return fmt.Errorf("ask it for its tools: %w", err)
		}
		tool.Icons, tool.Meta = nil, nil // nothing follows from them, and some are large pictures
		r.Tools = append(r.Tools, tool)
	}
	return nil
}
