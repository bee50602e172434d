package installation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus/embedded"
	"podium/bus/embedded/secrets"
	"podium/cmd/podium/config"
)

// Keys returns the keys by which the core and the agents of an installation connect
// to a ledger on a server of its own. What is missing is made in the data directory,
// and nowhere else: beside a credentials file that somebody has named, keys of agents
// are used when they are there.
func Keys(settings config.Ledger, agents []string) (embedded.Keys, error) {
	own := CredentialsDir(settings.Data)
	if settings.NATS == nil || settings.NATS.Credentials == "" {
		return embedded.Credentials(own, agents)
	}
	core, err := namedKey(settings.NATS.Credentials)
	if err != nil {
		return embedded.Keys{}, err
	}
	keys := embedded.Keys{Core: core, Agents: make(map[string]embedded.Key, len(agents))}
	beside := filepath.Dir(settings.NATS.Credentials)
	for _, name := range agents {
		if embedded.Retired(own, name) {
			continue // it is revoked
		}
		if seed := embedded.AgentSeedFile(beside, name); isThere(seed) {
			keys.Agents[name], err = embedded.ReadKey(seed)
		} else {
			keys.Agents[name], err = embedded.AgentKey(own, name)
		}
		if err != nil {
			return embedded.Keys{}, err
		}
	}
	return keys, nil
}

// RenewSecret gives up a key of an installation that is lost, so that the next start makes
// another. It returns where a damaged file is kept. Errors: secrets.ErrNone, secrets.ErrSound.
func RenewSecret(data, name string) (kept string, err error) {
	list, err := secrets.Open(CredentialsDir(data))
	if err != nil {
		return "", err
	}
	return list.GiveUp(name)
}

// namedKey reads the key that somebody has named.
func namedKey(file string) (embedded.Key, error) {
	key, err := embedded.ReadKey(file)
	if errors.Is(err, fs.ErrNotExist) {
		return key, fmt.Errorf("%w; name the file of a key of the core account, or leave it out: then the key is core.nk in the credentials of --data, "+
			"which `podium nats accounts` makes", err)
	}
	return key, err
}

// agentSeed returns the file of an agent's key: that beside the core's, as Keys
// prefers it, else that of the installation. It may be missing.
func agentSeed(core, own, agent string) string {
	if seed := embedded.AgentSeedFile(filepath.Dir(core), agent); isThere(seed) {
		return seed
	}
	return embedded.AgentSeedFile(own, agent)
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// A GrantsCopy keeps the keys of an embedded ledger among the credentials of its data directory.
// It implements keyring.Copy.
type GrantsCopy struct{ Data string }

const grantsFile = "grants.json"

// Read implements keyring.Copy.
func (c GrantsCopy) Read() (content []byte, made bool, err error) {
	list, err := secrets.Open(CredentialsDir(c.Data))
	if err != nil {
		return nil, false, err
	}
	return list.Copied(grantsFile)
}

// Write implements keyring.Copy.
func (c GrantsCopy) Write(content []byte) error {
	list, err := secrets.Open(CredentialsDir(c.Data))
	if err != nil {
		return err
	}
	return list.Copy(grantsFile, content)
}

// KeepKey reads a key among the credentials, and makes it the first time. The loss is what
// making another one means.
func KeepKey(file, loss string) ([]byte, error) {
	list, err := secrets.Open(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	key, err := list.Keep(filepath.Base(file), loss)
	if err != nil {
		return nil, err
	}
	return key, list.Save()
}
