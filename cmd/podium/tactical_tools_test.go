//go:build profiles

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// packagesOfProfiles is where the packages of npm are.
func packagesOfProfiles(t *testing.T) string {
	t.Helper()
	packages, err := filepath.Abs(profileParts + "/node_modules")
	if err == nil {
		_, err = os.Stat(packages)
	}
	if err != nil {
		t.Fatalf("%v: `make profiles` installs what is missing", err)
	}
	return packages
}

// tacticalWithTools installs the profile with the packages of npm.
func tacticalWithTools(t *testing.T, replaced ...string) *deployment {
	t.Helper()
	return tactical(t, append(replaced, "${TACTICAL_TOOLS:-node_modules}", packagesOfProfiles(t))...)
}

// TestTacticalProfile plays the scenarios of the profile: the nine specialists and the validators of every type of project, each on its real program, in the order schedule, levels,
// retries, merging, validation, mending, response.
func TestTacticalProfile_M04_M40_M55(t *testing.T) {
	t.Parallel()
	i := tacticalWithTools(t)
	i.playAll("tactical", tacticalProfile)
}
