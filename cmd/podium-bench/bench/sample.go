package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podium/bus"
)

// A sample is what one run leaves on the ledger, but for its records.
type sample struct {
	input bus.Message
	tasks []exchange  // as the workload's steps
	final bus.Message // to whoever asked; without a subject when nobody waits for one
}

// An exchange is a request and the response to it.
type exchange struct {
	task              string
	after             []int // exchanges whose responses it waits for
	request, response bus.Message
}

// Headers that the bare bus reads: where a response goes and what it is about.
// Both are there on Podium's messages.
const (
	replyHeader   = "ce-replyto"
	subjectHeader = "ce-subject" // "<number>/<task>"; the input and the last message have no task
)

// addressed is a message under another subject and of another run.
func addressed(template bus.Message, subject, number, task string) bus.Message {
	header := make(bus.Header, len(template.Header)+1)
	maps.Copy(header, template.Header)
	header[subjectHeader] = []string{number + "/" + task}
	return bus.Message{Subject: subject, Header: header, Body: template.Body}
}

// about returns what addressed has written.
func about(message bus.Message) (number, task string) {
	number, task, _ = strings.Cut(first(message.Header, subjectHeader), "/")
	return number, task
}

// sample does the first run and takes its messages from the ledger.
func (c *conducted) sample(ctx context.Context) (*sample, error) {
	if err := c.run(ctx, c.next()); err != nil {
		return nil, err
	}
	taken := newSample(c.work.steps)
	for _, stream := range streamsOf(c.core) {
		for message, err := range c.core.Scan(ctx, stream, 1) {
			if err == nil {
				err = taken.take(message)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if taken.input.Subject == "" {
		return nil, errors.New("the first run left no input on the ledger")
	}
	for i := range taken.tasks {
		if e := &taken.tasks[i]; e.request.Subject == "" || e.response.Subject == "" {
			return nil, fmt.Errorf("the first run left no request or no response of task %s on the ledger", e.task)
		}
	}
	return taken, nil
}

func newSample(steps []step) *sample {
	s := &sample{tasks: make([]exchange, len(steps))}
	for i, given := range steps {
		s.tasks[i].task = given.task
		for _, task := range given.after {
			s.tasks[i].after = append(s.tasks[i].after, s.index(task))
		}
	}
	return s
}

func (s *sample) index(task string) int {
	return slices.IndexFunc(s.tasks, func(e exchange) bool { return e.task == task })
}

// take puts a message of the ledger in its place.
func (s *sample) take(message bus.Message) error {
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return err
	}
	_, task := about(message)
	i := s.index(task)
	switch subject.Kind {
	case bus.KindIn:
		s.input = message
	case bus.KindRequest:
		if i < 0 {
			return fmt.Errorf("the first run asked for task %q, which no step names", task)
		}
		s.tasks[i].request = message
	case bus.KindResponse:
		if i < 0 {
			s.final = message
			break
		}
		s.tasks[i].response = message
	case bus.KindProgress, bus.KindPermit, bus.KindControl, bus.KindSession, bus.KindShard, bus.KindQuarantine:
	}
	return nil
}

// agents lists those who were asked, in lexical order.
func (s *sample) agents() ([]string, error) {
	var names []string
	for i := range s.tasks {
		subject, err := bus.ParseSubject(s.tasks[i].request.Subject)
		if err != nil {
			return nil, err
		}
		names = append(names, subject.Agent)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// responses are the responses by task.
func (s *sample) responses() map[string]bus.Message {
	responses := make(map[string]bus.Message, len(s.tasks))
	for i := range s.tasks {
		responses[s.tasks[i].task] = s.tasks[i].response
	}
	return responses
}
