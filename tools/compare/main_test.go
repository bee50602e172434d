package main

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	var stdout, progress strings.Builder
	commands := []string{`echo {"runs_per_s":100}`, `echo {"runs_per_s":90}`}
	if err := run(t.Context(), 3, []string{"runs_per_s"}, commands, &stdout, &progress); err != nil {
		t.Fatal(err)
	}
	want := `runs_per_s
     100.000                            echo {"runs_per_s":100}
      90.000  x 0.900 (0.900 to 0.900)  echo {"runs_per_s":90}
`
	if stdout.String() != want {
		t.Errorf("printed\n%s, want\n%s", stdout.String(), want)
	}
	if got := strings.Count(progress.String(), "\n"); got != 3 {
		t.Errorf("%d lines of progress", got)
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		commands []string
		says     string
	}{
		"one command":   {[]string{"echo {}"}, "at least two commands"},
		"no JSON":       {[]string{"echo no", "echo {}"}, "echo no prints no JSON object"},
		"no figure":     {[]string{"echo {}", "echo {}"}, `echo {} prints no figure "runs_per_s"`},
		"a failed one":  {[]string{"false", "echo {}"}, "false: exit status 1"},
		"a missing one": {[]string{"./not-there", "echo {}"}, "./not-there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ignored strings.Builder
			err := run(t.Context(), 1, []string{"runs_per_s"}, test.commands, &ignored, &ignored)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.values, got, test.want)
		}
	}
}
