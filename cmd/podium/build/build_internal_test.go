package build

import (
	"runtime/debug"
	"testing"
)

// TestName: a build is known by its version and by the source that it was made of.
func TestName(t *testing.T) {
	t.Parallel()
	of := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "e08cd82"}
	for want, info := range map[string]*debug.BuildInfo{
		"devel":                  of(""),
		"devel e08cd82":          of("(devel)", revision),
		"v1.2.3 e08cd82":         of("v1.2.3", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
		"devel e08cd82 modified": of("", debug.BuildSetting{Key: "vcs.modified", Value: "true"}, revision),
	} {
		if got := name(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if This() == "" {
		t.Error("this binary has no name")
	}
}
