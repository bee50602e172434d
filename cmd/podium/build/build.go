// Package build says which Podium a binary is.
package build

import "runtime/debug"

// Version is the version of the module that a binary was built of; devel where it has none.
func Version(info *debug.BuildInfo) string {
	if info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// This is what a ledger says of the epochs in which this binary decides: its version and the
// revision of its source, as far as they are known. Two binaries that say the same are taken
// for one that decides alike.
func This() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return name(info)
}

func name(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	said := Version(info)
	if revision := settings["vcs.revision"]; revision != "" {
		said += " " + revision
	}
	if settings["vcs.modified"] == "true" {
		said += " modified"
	}
	return said
}
