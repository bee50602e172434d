package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Discover starts the server of a configuration, or calls it, asks it for the tool and ends it again. What it returns is the tool as
// it is now, for somebody to look at before it is used. The error says which tools there are when there is none of that
// name, and what the server has written to standard error when it did not start.
func Discover(ctx context.Context, config Config) (*Pin, error) {
	config.InputSchema, config.OutputSchema, config.Pin = nil, nil, nil
	asking, err := New(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, asking.config.Start, errStarting)
	defer cancel()
	live, err := asking.connect(ctx)
	if started, is := errors.AsType[*startError](err); is && started.said != "" {
		err = fmt.Errorf("%w; its last words are: %s", err, started.said)
	}
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	if err != nil {
		return nil, asking.hide(err)
	}
	defer live.end()
	tool, listed, err := find(ctx, live, config.Tool)
	if errors.Is(err, ErrNoTool) {
		return nil, fmt.Errorf("%w as %q; it has: %s", err, config.Tool, strings.Join(listed.names, ", "))
	}
	if err != nil {
		return nil, err
	}
	if listed.trouble != nil {
		asking.config.Log.Warn().Err(listed.trouble).Msg("the server does not end the list of its tools; what it has listed counts")
	}
	if err := tool.check(); err != nil {
		return nil, err
	}
	var server, version string
	if hello := live.client.InitializeResult(); hello != nil && hello.ServerInfo != nil {
		server, version = plain(hello.ServerInfo.Name, maxSummary), plain(hello.ServerInfo.Version, maxSummary)
	}
	for _, part := range [...]*jsontext.Value{&tool.InputSchema, &tool.OutputSchema, &tool.Annotations} {
		_ = part.Canonicalize() // the file is the same for the same tool
	}
	return NewPin(tool, server, version)
}
