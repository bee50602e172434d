package sim

import (
	"podium/bus"
	"podium/schemas"
	"podium/supervisor/restore"
)

// Ledger is what the world has left.
func (w *World) Ledger() bus.Core { return w.ledger }

// Recorded are the profiles that its runs have pinned.
func (w *World) Recorded() *restore.Profiles { return w.configurations[0] }

// Sources are its profiles by name; nil when somebody has edited them meanwhile, so that a name stands for several.
func (w *World) Sources() map[string]schemas.Profile {
	if len(w.configurations) > 1 {
		return nil
	}
	sources := map[string]schemas.Profile{}
	for _, name := range []string{outer, inner} {
		sources[name] = w.configurations[0].Current(name).Profile
	}
	return sources
}
