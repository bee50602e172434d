package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/nats-io/nkeys"

	"podium/bus/embedded/secrets"
	"podium/bus/embedded/wholefile"
	"podium/schemas"
)

// A Key is an nkey: where its seed is kept, and its public half.
type Key struct {
	SeedFile string
	Public   string
}

// Keys are the keys of one installation.
type Keys struct {
	Core   Key
	Agents map[string]Key
}

// Accounts returns what a server needs to know of the keys, and which of the agents
// are external.
func (k Keys) Accounts(external ...string) Accounts {
	accounts := Accounts{Core: []string{k.Core.Public}, Agents: make(map[string]string), External: make(map[string]string)}
	for name, key := range k.Agents {
		if slices.Contains(external, name) {
			accounts.External[name] = key.Public
		} else {
			accounts.Agents[name] = key.Public
		}
	}
	return accounts
}

// names returns who has a key, by its public half.
func (k Keys) names() map[string]string {
	names := map[string]string{k.Core.Public: "core"}
	for name, key := range k.Agents {
		names[key.Public] = name
	}
	return names
}

// Credentials returns the keys in dir, core.nk and agent-<name>.nk, and makes those that
// never were: see package secrets. Agents that are retired have none. A key once made is never replaced. The directory is for
// its owner only (0700), and so is every file (0600): a seed that others can read is an
// error.
func Credentials(dir string, agents []string) (Keys, error) {
	list, err := secrets.Open(dir)
	if err != nil {
		return Keys{}, fmt.Errorf("credentials: %w", err)
	}
	core, err := key(list, CoreSeedFile(dir), "programs on other machines that have a copy of it cannot connect any more")
	if err != nil {
		return Keys{}, err
	}
	keys := Keys{Core: core, Agents: make(map[string]Key, len(agents))}
	for _, name := range agents {
		if Retired(dir, name) {
			continue
		}
		if keys.Agents[name], err = agentKey(list, dir, name); err != nil {
			return Keys{}, err
		}
	}
	return keys, list.Save()
}

// retiredFile says that an agent is to have no key.
func retiredFile(dir, agent string) string { return filepath.Join(dir, "agent-"+agent+".retired") }

// Retired reports whether an agent has no key any more, and none is made.
func Retired(dir, agent string) bool {
	_, err := os.Stat(retiredFile(dir, agent))
	return err == nil
}

// Retire does away with the key of an agent: nobody connects by it once the server knows, and no start makes another
// before Reinstate.
func Retire(dir, agent string) error {
	if err := wholefile.Replace(retiredFile(dir, agent), nil); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	list, err := secrets.Open(dir)
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	return list.Remove(filepath.Base(AgentSeedFile(dir, agent)))
}

// Reinstate makes a key for an agent that may have been retired. One that has a key keeps it.
func Reinstate(dir, agent string) (Key, error) {
	if err := os.Remove(retiredFile(dir, agent)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Key{}, fmt.Errorf("credentials: %w", err)
	}
	return AgentKey(dir, agent)
}

// AgentKey returns the key of one agent in dir, as Credentials does.
func AgentKey(dir, agent string) (Key, error) {
	list, err := secrets.Open(dir)
	if err != nil {
		return Key{}, fmt.Errorf("credentials: %w", err)
	}
	found, err := agentKey(list, dir, agent)
	if err != nil {
		return Key{}, err
	}
	return found, list.Save()
}

func agentKey(list *secrets.List, dir, agent string) (Key, error) {
	if !schemas.ValidAgentName(agent) {
		return Key{}, fmt.Errorf("credentials: %q cannot be the name of an agent", agent)
	}
	return key(list, AgentSeedFile(dir, agent), "the agent cannot connect where it runs elsewhere, until it is given the new one")
}

// CoreSeedFile is where Credentials keeps the seed of the core account.
func CoreSeedFile(dir string) string { return filepath.Join(dir, "core.nk") }

// AgentSeedFile is where Credentials keeps the seed of an agent.
func AgentSeedFile(dir, agent string) string { return filepath.Join(dir, "agent-"+agent+".nk") }

func key(list *secrets.List, file, loss string) (Key, error) {
	if _, err := list.Keep(filepath.Base(file), loss); err != nil {
		return Key{}, fmt.Errorf("credentials: %w", err)
	}
	found, err := ReadKey(file)
	if err != nil {
		return Key{}, err
	}
	return found, checkPrivate(file)
}

// ReadKey returns the key whose seed a file holds. It makes none, and leaves it to
// whoever made the file who can read it.
func ReadKey(file string) (Key, error) {
	seed, err := os.ReadFile(file)
	if err != nil {
		return Key{}, fmt.Errorf("credentials: %w", err)
	}
	pair, err := nkeys.ParseDecoratedNKey(seed)
	if err != nil {
		return Key{}, fmt.Errorf("credentials: %s holds no nkey seed: %w", file, err)
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return Key{}, fmt.Errorf("credentials: %s: %w", file, err)
	}
	if !nkeys.IsValidPublicUserKey(public) {
		return Key{}, fmt.Errorf("credentials: %s is not the seed of a user", file)
	}
	return Key{SeedFile: file, Public: public}, nil
}

func checkPrivate(file string) error {
	if runtime.GOOS == "windows" { // modes say nothing there
		return nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("credentials: others can read %s (mode %04o); run chmod 600 on it", file, mode)
	}
	return nil
}
