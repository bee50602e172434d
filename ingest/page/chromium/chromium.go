// Package chromium drives a headless Chromium for tests, by the Chrome DevTools
// Protocol over a pipe (https://chromedevtools.github.io/devtools-protocol/). The
// browser has a profile of its own, which is removed with it. On Linux it ends with the process
// that has started it, however that ends.
//
// chromedp would spare the messages, half of this test aid, for 60 packages of generated
// code; and it drives the browser by a port, which any user of the machine can reach.
package chromium

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrMissing reports that there is no Chromium; `make chromium` installs one.
var ErrMissing = errors.New("chromium is not installed: run `make chromium`")

var errGone = errors.New("the browser has ended")

// complaintsFile holds what the browser writes to its standard error.
const complaintsFile = "stderr"

// stopWithin is how long a browser may take to end when it is told to.
const stopWithin = 5 * time.Second

// A Browser is one running Chromium with one page. It is safe for use by several
// goroutines at once.
type Browser struct {
	command *exec.Cmd
	profile string
	write   *os.File
	ended   chan struct{} // closed when nothing more comes from the browser
	exited  chan error    // one value, once its process has ended

	mutex   sync.Mutex
	session string // of the page
	number  int
	calls   map[int]chan reply
	events  []Event
}

// An Event is what the browser says by itself.
type Event struct {
	Method string
	Params jsontext.Value
}

type reply struct {
	result jsontext.Value
	err    error
}

// Start starts a browser that asks for pages in a language (BCP 47).
func Start(ctx context.Context, language string) (*Browser, error) {
	program := find()
	if program == "" {
		return nil, ErrMissing
	}
	profile, err := os.MkdirTemp("", "podium-chromium-")
	if err != nil {
		return nil, err
	}
	b := &Browser{profile: profile, ended: make(chan struct{}), exited: make(chan error, 1), calls: make(map[int]chan reply)}
	if err := b.launch(program, language); err != nil {
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	if err := b.openPage(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// find returns the browser's program under one of the names that systems give it.
func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

func (b *Browser) launch(program, language string) error {
	theirRead, write, err := os.Pipe()
	if err != nil {
		return err
	}
	read, theirWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirRead.Close(), write.Close())
	}
	args := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + b.profile, "--no-first-run", "--no-default-browser-check",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--no-sandbox", // it refuses root and most containers, and nothing but the page under test is opened
		"--hide-scrollbars", "--force-color-profile=srgb", "--lang=" + language, "--accept-lang=" + language,
	}
	b.command = exec.Command(program, append(args, "about:blank")...) //nolint:noctx // Close ends it, in order
	b.command.ExtraFiles = []*os.File{theirRead, theirWrite}
	complaints, err := os.Create(filepath.Join(b.profile, complaintsFile))
	if err != nil {
		return errors.Join(err, theirRead.Close(), theirWrite.Close(), read.Close(), write.Close())
	}
	b.command.Stderr = complaints
	b.write = write
	started := make(chan error)
	go b.attend(started)
	err = <-started
	_ = theirRead.Close()
	_ = theirWrite.Close()
	_ = complaints.Close()
	if err != nil {
		return errors.Join(err, read.Close(), write.Close())
	}
	go b.listen(read)
	return nil
}

// attend starts the browser and waits until it ends, on one thread for as long as that takes: the browser dies with the thread
// that has started it, so that a test which is killed leaves none behind.
func (b *Browser) attend(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.command.SysProcAttr = mortal()
	err := b.command.Start()
	started <- err
	if err == nil {
		b.exited <- b.command.Wait()
	}
}

func (b *Browser) openPage(ctx context.Context) error {
	var target struct {
		ID string `json:"targetId"`
	}
	if err := b.Call(ctx, "Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.Call(ctx, "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached); err != nil {
		return err
	}
	b.mutex.Lock()
	b.session = attached.Session
	b.mutex.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Accessibility", "Audits"} {
		if err := b.Call(ctx, domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

type message struct {
	ID     int            `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// listen reads messages, which a zero byte ends, until the browser has gone.
func (b *Browser) listen(from *os.File) {
	defer close(b.ended)
	defer from.Close() //nolint:errcheck // it was only read
	for reader := bufio.NewReader(from); ; {
		body, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var got message
		if json.Unmarshal(body[:len(body)-1], &got) != nil {
			continue // no message that a test could have asked for
		}
		b.mutex.Lock()
		if call := b.calls[got.ID]; got.ID > 0 && call != nil {
			delete(b.calls, got.ID)
			answer := reply{result: got.Result.Clone()}
			if got.Error != nil {
				answer.err = errors.New(got.Error.Message)
			}
			call <- answer
		} else if got.Method != "" {
			b.events = append(b.events, Event{Method: got.Method, Params: got.Params.Clone()})
		}
		b.mutex.Unlock()
	}
}

// Call asks the browser, or its page once there is one, and reads the answer into
// result unless that is nil.
func (b *Browser) Call(ctx context.Context, method string, params, result any) error {
	answered := make(chan reply, 1)
	if err := b.send(method, params, answered); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case got := <-answered:
		if got.err != nil || result == nil {
			return wrap(method, got.err)
		}
		return wrap(method, json.Unmarshal(got.result, result))
	case <-b.ended:
		complaints, _ := os.ReadFile(filepath.Join(b.profile, complaintsFile)) // empty when it says nothing
		return fmt.Errorf("%s: %w: %s", method, errGone, complaints)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

func wrap(method string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (b *Browser) send(method string, params any, answered chan reply) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.number++
	if params == nil {
		params = map[string]any{}
	}
	body, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
		Session string `json:"sessionId,omitzero"`
	}{b.number, method, params, b.session})
	if err != nil {
		return err
	}
	b.calls[b.number] = answered
	_, err = b.write.Write(append(body, 0))
	return err
}

// Events returns what the browser has said of a kind, the oldest first.
func (b *Browser) Events(method string) []Event {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var found []Event
	for _, event := range b.events {
		if event.Method == method {
			found = append(found, event)
		}
	}
	return found
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	_ = b.write.Close() // a browser without its pipe ends
	select {
	case <-b.ended:
	case <-time.After(stopWithin):
		_ = b.command.Process.Kill() // it may have ended meanwhile
	}
	err := <-b.exited
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = nil // how it ended is nobody's concern
	}
	return errors.Join(err, b.removeProfile())
}

// removeProfile tries again while processes of the browser still end.
func (b *Browser) removeProfile() (err error) {
	for range 50 {
		if err = os.RemoveAll(b.profile); err == nil || !strings.Contains(err.Error(), "not empty") {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}
