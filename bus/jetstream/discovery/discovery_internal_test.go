package discovery

import (
	"regexp"
	"testing"
)

// TestVersionsAreSemantic: whatever an agent calls its version, tools are told one that they take.
func TestVersionsAreSemantic(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"": "0.0.0", "1": "1.0.0", "1.2": "1.2.0", "1.2.3": "1.2.3", "v1.2.3-rc.1+x": "1.2.3-rc.1+x", "01.2.3": "1.2.3", "1.2.3.4": "1.2.3+4",
		"2026-11-24": "2026.0.0+11-24", "abc": "0.0.0+abc", "1.x": "1.0.0+x", "ä ö": "0.0.0", "1.2.3 (debug)": "1.2.3+debug",
	} {
		if got := SemVer(version); got != want || !regexp.MustCompile(semVer).MatchString(got) {
			t.Errorf("%q is told as %q, want %q", version, got, want)
		}
	}
}
