// Compare measures binaries of Podium against each other, in turn, so that its
// ratios hold on a machine whose speed changes. Each argument is one command that
// prints the figures of `podium-bench -o json`; the first is what the others are
// compared with. Every round runs each of them once, in the order given and in the
// opposite one by turns. It prints, for each of the others, the median of the ratios over
// the rounds, and the lowest and highest quarter's end.
//
//	go run ./tools/compare -rounds 20 -figures runs_per_s,cpu_ms_per_run \
//	    "bin/before/podium-bench w1 -o json" "bin/podium-bench w1 -o json"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	rounds := flag.Int("rounds", 20, "how often each command is run")
	figures := flag.String("figures", "runs_per_s,p50_ms,loaded_p99_ms,cpu_ms_per_run", "what is compared")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rounds, strings.Split(*figures, ","), flag.Args(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func run(ctx context.Context, rounds int, figures, commands []string, stdout, progress io.Writer) error {
	if len(commands) < 2 || rounds < 1 {
		return errors.New(`name at least two commands: go run ./tools/compare "bin/before/podium-bench w1 -o json" "bin/podium-bench w1 -o json"`)
	}
	seen := make([]map[string][]float64, len(commands))
	for round := range rounds {
		for turn := range commands {
			i := turn
			if round%2 == 1 {
				i = len(commands) - 1 - turn
			}
			measured, err := measure(ctx, commands[i], progress)
			if err != nil {
				return err
			}
			if seen[i] == nil {
				seen[i] = make(map[string][]float64)
			}
			for _, figure := range figures {
				value, ok := measured[figure].(float64)
				if !ok {
					return fmt.Errorf("%s prints no figure %q", commands[i], figure)
				}
				seen[i][figure] = append(seen[i][figure], value)
			}
		}
		if _, err := fmt.Fprintf(progress, "round %d of %d\n", round+1, rounds); err != nil {
			return err
		}
	}
	_, err := io.WriteString(stdout, report(figures, commands, seen))
	return err
}

func measure(ctx context.Context, command string, stderr io.Writer) (map[string]any, error) {
	words := strings.Fields(command)
	measuring := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // whoever calls says what is run
	measuring.Stderr = stderr
	printed, err := measuring.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	var measured map[string]any
	if err = json.Unmarshal(printed, &measured); err != nil {
		return nil, fmt.Errorf("%s prints no JSON object: %w", command, err)
	}
	return measured, nil
}

func report(figures, commands []string, seen []map[string][]float64) string {
	var text strings.Builder
	for _, figure := range figures {
		fmt.Fprintf(&text, "%s\n  %10.3f                            %s\n", figure, median(seen[0][figure]), commands[0])
		for i := 1; i < len(commands); i++ {
			ratios := make([]float64, len(seen[i][figure]))
			for round, value := range seen[i][figure] {
				ratios[round] = value / seen[0][figure][round]
			}
			slices.Sort(ratios)
			fmt.Fprintf(&text, "  %10.3f  x %.3f (%.3f to %.3f)  %s\n", median(seen[i][figure]),
				median(ratios), ratios[len(ratios)/4], ratios[len(ratios)-1-len(ratios)/4], commands[i])
		}
	}
	return text.String()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
