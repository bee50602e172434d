package chromium

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Open goes to an address and waits until it is loaded.
func (b *Browser) Open(ctx context.Context, address string) error {
	var gone struct {
		Error string `json:"errorText"`
	}
	if err := b.Call(ctx, "Page.navigate", map[string]any{"url": address}, &gone); err != nil {
		return err
	}
	if gone.Error != "" {
		return errors.New(gone.Error)
	}
	return b.Until(ctx, `document.readyState === 'complete'`)
}

// Evaluate reads the value of an expression of the page.
func (b *Browser) Evaluate(ctx context.Context, expression string, value any) error {
	result := struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}{}
	result.Result.Value = value
	params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
	if err := b.Call(ctx, "Runtime.evaluate", params, &result); err != nil {
		return err
	}
	if result.Exception != nil {
		return fmt.Errorf("%s: %s", expression, result.Exception.Text)
	}
	return nil
}

// Until waits until an expression of the page is true.
func (b *Browser) Until(ctx context.Context, expression string) error {
	for {
		var holds bool
		if err := b.Evaluate(ctx, "Boolean("+expression+")", &holds); err != nil || holds {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", expression, context.Cause(ctx))
		}
	}
}

// Type types text where the focus is, as a person with a keyboard does.
func (b *Browser) Type(ctx context.Context, text string) error {
	for _, letter := range text {
		params := map[string]any{"type": "char", "text": string(letter)}
		if err := b.Call(ctx, "Input.dispatchKeyEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// A Key is one that Press knows.
type Key struct {
	name string
	code int
	text string
}

// Enter submits.
func Enter() Key { return Key{"Enter", 13, "\r"} }

// Tab moves the focus.
func Tab() Key { return Key{"Tab", 9, ""} }

// Space presses what has the focus.
func Space() Key { return Key{" ", 32, " "} }

// Press presses a key and lets it go, with Shift or without.
func (b *Browser) Press(ctx context.Context, key Key, shift bool) error {
	params := map[string]any{"key": key.name, "code": key.name, "windowsVirtualKeyCode": key.code, "text": key.text, "modifiers": 0}
	if key.name == " " {
		params["code"] = "Space"
	}
	if shift {
		params["modifiers"] = 8
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		if params["type"] = kind; kind == "keyUp" {
			delete(params, "text")
		}
		if err := b.Call(ctx, "Input.dispatchKeyEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// Screen sets the size of the screen in CSS pixels, and what the person prefers:
// media features and their values.
func (b *Browser) Screen(ctx context.Context, width, height int, preferences map[string]string) error {
	size := map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}
	if err := b.Call(ctx, "Emulation.setDeviceMetricsOverride", size, nil); err != nil {
		return err
	}
	features := []map[string]string{}
	for name, value := range preferences {
		features = append(features, map[string]string{"name": name, "value": value})
	}
	return b.Call(ctx, "Emulation.setEmulatedMedia", map[string]any{"features": features}, nil)
}

// Picture returns the screen as a PNG.
func (b *Browser) Picture(ctx context.Context) ([]byte, error) {
	var shot struct {
		Data []byte `json:"data"`
	}
	err := b.Call(ctx, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	return shot.Data, err
}

// A Node is what a screen reader finds.
type Node struct {
	Role, Name, Description string
	Focusable, Invalid      bool
	Live                    string
}

// Accessible returns what screen readers find, in the order of the page.
func (b *Browser) Accessible(ctx context.Context) ([]Node, error) {
	type text struct {
		Value jsontext.Value `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored     bool `json:"ignored"`
			Role        text `json:"role"`
			Name        text `json:"name"`
			Description text `json:"description"`
			Properties  []struct {
				Name  string `json:"name"`
				Value text   `json:"value"`
			} `json:"properties"`
		} `json:"nodes"`
	}
	if err := b.Call(ctx, "Accessibility.getFullAXTree", nil, &tree); err != nil {
		return nil, err
	}
	plain := func(t text) string {
		if unquoted, err := jsontext.AppendUnquote(nil, t.Value); err == nil {
			return string(unquoted)
		}
		return string(t.Value)
	}
	var nodes []Node
	for _, found := range tree.Nodes {
		if found.Ignored {
			continue
		}
		node := Node{Role: plain(found.Role), Name: plain(found.Name), Description: plain(found.Description)}
		for _, property := range found.Properties {
			switch value := plain(property.Value); property.Name {
			case "focusable":
				node.Focusable = value == "true"
			case "invalid":
				node.Invalid = value == "true"
			case "live":
				node.Live = value
			}
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}
