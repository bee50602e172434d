package exec_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// programVariable makes this test binary behave as one of the programs below.
const programVariable = "PODIUM_EXEC_TEST_PROGRAM"

// endAtOnce keeps a program that was built with the race detector from waiting a second before it ends.
const endAtOnce = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	mode := os.Getenv(programVariable)
	if mode == "" {
		os.Exit(m.Run())
	}
	name, argument, _ := strings.Cut(mode, ":")
	program, known := programs()[name]
	if !known {
		fmt.Fprintln(os.Stderr, "no such program")
		os.Exit(78)
	}
	program(argument)
}

func programs() map[string]func(argument string) {
	return map[string]func(string){
		"print": func(text string) { fmt.Fprint(os.Stdout, text) },
		"request": func(string) {
			var request struct {
				Type    string `json:"type"`
				Payload struct {
					Tasks []struct {
						Description string `json:"description"`
					} `json:"tasks"`
				} `json:"payload"`
			}
			if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
				os.Exit(65)
			}
			fmt.Fprintln(os.Stdout, request.Type, request.Payload.Tasks[0].Description)
		},
		"files":  files,
		"litter": litter,
		"stuff":  stuff,
		"alike":  alike,
		"half":   half,
		"crowd":  crowd,
		"burrow": burrow,
		"link":   link,
		"stubborn": func(string) {
			stay(syscall.SIGTERM)
		},
		"obedient": func(note string) {
			told := make(chan os.Signal, 1)
			signal.Notify(told, syscall.SIGTERM)
			fmt.Fprintln(os.Stderr, "ready")
			<-told
			if err := os.WriteFile(note, []byte("told"), 0o600); err != nil {
				os.Exit(70)
			}
			os.Exit(0)
		},
		"environment": func(string) {
			var names []string
			for _, variable := range os.Environ() {
				name, value, _ := strings.Cut(variable, "=")
				if strings.HasPrefix(name, "PODIUM_") || strings.HasPrefix(name, "TEST_") {
					name = variable
				}
				_ = value
				names = append(names, name)
			}
			fmt.Fprint(os.Stdout, strings.Join(names, "\n"))
		},
		"directory": func(string) {
			dir, _ := os.Getwd()
			fmt.Fprint(os.Stdout, dir)
		},
		"progress": func(text string) {
			fmt.Fprint(os.Stderr, text)
			fmt.Fprint(os.Stdout, "done")
		},
		"exit": func(argument string) {
			code, _ := strconv.Atoi(argument)
			fmt.Fprintln(os.Stdout, "half an answer")
			fmt.Fprintln(os.Stderr, "first line")
			fmt.Fprintln(os.Stderr, "the reason")
			os.Exit(code)
		},
		"touch": func(file string) {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				os.Exit(74)
			}
			fmt.Fprintln(os.Stdout, "touched")
		},
		"silent": func(string) { os.Exit(3) },
		"flood": func(string) {
			writer := bufio.NewWriter(os.Stdout)
			for {
				if _, err := writer.WriteString(strings.Repeat("x", 1024)); err != nil {
					os.Exit(1)
				}
			}
		},
		"hang":   func(string) { hang() },
		"family": func(string) { family(true) },
		"orphan": func(string) { family(false) },
		"child":  func(string) { hang() },
	}
}

// stay ends for none of the signals: only killing ends it. Whoever waits for nothing at all is ended by the runtime, unless
// there is C in it.
func stay(signals ...os.Signal) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, signals...)
	for range heard {
		continue
	}
}

// hang waits for standard input to end, which it has, and then for a signal
// that is never sent: only killing ends it.
func hang() {
	signal.Ignore(os.Interrupt)
	_, _ = io.Copy(io.Discard, os.Stdin)
	stay(os.Interrupt)
}

// family starts a child that holds our pipes, says its process id, and hangs or leaves.
func family(stay bool) {
	self, err := os.Executable()
	if err != nil {
		os.Exit(71)
	}
	child := osexec.CommandContext(context.Background(), self)
	child.Env = []string{programVariable + "=child"}
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		os.Exit(71)
	}
	fmt.Fprintln(os.Stderr, "1% child", child.Process.Pid)
	fmt.Fprint(os.Stdout, "left")
	if stay {
		hang()
	}
}
