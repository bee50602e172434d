package mcp_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/agents/mcp"
)

// TestPinIsCanonical: the sum is that of what is said, and not of how it is written; anything else that is said is another sum.
func TestPinIsCanonical(t *testing.T) {
	t.Parallel()
	first := mcp.Tool{Name: "x", Description: "Does.", InputSchema: []byte(`{"type":"object","properties":{"b":{"maximum":1e2},"a":{}}}`)}
	sum, err := first.Sum()
	if err != nil {
		t.Fatal(err)
	}
	// SHA-256 of {"description":"Does.","input_schema":{"properties":{"a":{},"b":{"maximum":100}},"type":"object"},"name":"x"}
	const want = "92de3f66bbaeb8a881a24f273107fde266ccba38cb7be4c965e2cf8b97e411fb"
	if sum != want {
		t.Errorf("%s, want %s", sum, want)
	}
	same := first
	same.InputSchema = []byte("{ \"properties\": {\"a\": {}, \"b\": {\"maximum\": 100.0}},\n \"type\": \"\\u006fbject\"}")
	if again, err := same.Sum(); err != nil || again != sum || len(first.Differs(&same)) > 0 {
		t.Errorf("%s, %v, differs in %v", again, err, first.Differs(&same))
	}
	for part, change := range map[string]func(*mcp.Tool){
		"name": func(t *mcp.Tool) { t.Name = "y" }, "description": func(t *mcp.Tool) { t.Description += " " },
		"input_schema": func(t *mcp.Tool) {
			t.InputSchema = []byte(`{"type":"object","properties":{"b":{"maximum":101},"a":{}}}`)
		},
		"output_schema": func(t *mcp.Tool) { t.OutputSchema = []byte(`{}`) }, "annotations": func(t *mcp.Tool) { t.Annotations = []byte(`{"readOnlyHint":true}`) },
	} {
		other := first
		change(&other)
		if again, err := other.Sum(); err != nil || again == sum || strings.Join(first.Differs(&other), " ") != part {
			t.Errorf("%s: %s, %v, differs in %v", part, again, err, first.Differs(&other))
		}
	}
}

// TestPinIsReadAsWritten: a file that was changed by hand is refused, and so is a tool that can be no agent.
func TestPinIsReadAsWritten(t *testing.T) {
	t.Parallel()
	pin := pinned(t, "add")
	if pin.Server != "test" || pin.Version != "1.2.3" || pin.Tool.Description != "Adds." || len(pin.Tool.OutputSchema) == 0 {
		t.Errorf("%+v", pin)
	}
	body, err := pin.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := mcp.ReadPin(body)
	if err != nil || read.SHA256 != pin.SHA256 || len(read.Tool.Differs(&pin.Tool)) > 0 {
		t.Errorf("%+v, %v", read, err)
	}
	again, err := read.Bytes()
	if err != nil || string(again) != string(body) {
		t.Errorf("written again it is %s, %v", again, err)
	}
	if _, err = mcp.ReadPin([]byte(strings.Replace(string(body), "Adds.", "Adds!", 1))); !errors.Is(err, mcp.ErrAltered) {
		t.Errorf("changed by hand: %v", err)
	}
	deep := mcp.Tool{Name: "deep", InputSchema: []byte(strings.Repeat(`{"not":`, 40) + `{}` + strings.Repeat(`}`, 40))}
	pin, err = mcp.NewPin(deep, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if body, err = pin.Bytes(); err != nil {
		t.Fatal(err)
	}
	if _, err = mcp.ReadPin(body); err == nil || !strings.Contains(err.Error(), "deeper than 32") {
		t.Errorf("too deep: %v", err)
	}
	if _, err = mcp.ReadPin([]byte(`[]`)); err == nil {
		t.Error("a list is a pin")
	}
}

// TestDiscover: whoever looks at a server is told what it has, and what it says when it does not start.
func TestDiscover(t *testing.T) {
	t.Parallel()
	_, err := mcp.Discover(t.Context(), configured(t, "well", "ecco"))
	if !errors.Is(err, mcp.ErrNoTool) || !strings.Contains(err.Error(), `"ecco"; it has: add, book, change`) {
		t.Errorf("%v", err)
	}
	for way, want := range map[string]string{"ends": "its last words are: the key is missing", "crashes": "its last words are: Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'sdk'"} {
		if _, err = mcp.Discover(t.Context(), configured(t, way, "echo")); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// TestDriftIsFound: a tool that changes while it is used is not called again, its health says so, and once it is
// the pinned one again it works.
func TestDriftIsFound(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "change")
	if err := one.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if outcome, err := one.Handle(t.Context(), request(`{}`), silent); err != nil || outcome.Text != "changing" {
		t.Fatalf("%q, %v", outcome.Text, err)
	}
	eventually(t, "the drift is found", func() bool { return errors.Is(one.Check(t.Context()), mcp.ErrDrifted) })
	failure := failed(t, one, `{}`)
	if !failure.Permanent || !strings.Contains(failure.Message, "podium agent pin tester") || !strings.Contains(failure.Remedy, "description, annotations") && !strings.Contains(failure.Remedy, "description") {
		t.Errorf("%+v", *failure)
	}
	if err := one.Close(); err != nil { // another process of the server has the tool that was pinned
		t.Fatal(err)
	}
	if outcome, err := one.Handle(t.Context(), request(`{}`), silent); err != nil || outcome.Text != "changing" {
		t.Errorf("%q, %v", outcome.Text, err)
	}
}

// TestChangeIsNoticedWithoutACheck: the server's own notice is enough for the next call to look again.
func TestChangeIsNoticedWithoutACheck(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "change")
	if _, err := one.Handle(t.Context(), request(`{}`), silent); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tool is refused", func() bool {
		_, err := one.Handle(t.Context(), request(`{}`), silent)
		return err != nil && strings.Contains(err.Error(), mcp.ErrDrifted.Error())
	})
}

// TestChangeWithoutANotice: a server that wants its tools to be remembered, and changes them in silence, is found out by the next check.
func TestChangeWithoutANotice(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "changed")
	one := tool(t, "sly:"+file, "echo")
	if err := one.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := one.Check(t.Context()); !errors.Is(err, mcp.ErrDrifted) || !strings.Contains(err.Error(), "description, input_schema") {
		t.Errorf("%v", err)
	}
}

// TestPinIsComparedAtEveryStart: a server that has become another one between two starts is found out.
func TestPinIsComparedAtEveryStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "started")
	config := configured(t, "once:"+file, "echo", func(config *mcp.Config) { config.Pin = pinned(t, "echo") })
	one := made(t, config)
	if failure := failed(t, one, `{}`); !strings.Contains(failure.Remedy, "description") {
		t.Errorf("%+v", *failure)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Handle(t.Context(), request(`{"text":"x"}`), silent); err != nil {
		t.Errorf("the one that was pinned: %v", err)
	}
}
