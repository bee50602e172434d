// Package discovery answers the questions of NATS services ($SRV.PING, INFO and STATS) for all agents, from the
// registry: tools that list services, such as nats micro ls, see every process of an agent.
//
// The core answers, and nobody else can: agents have no right to these subjects, so that none poses as another. No agent
// has an endpoint there: requests come by the stream alone.
package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"

	"podium/bus"
	"podium/bus/jetstream"
	"podium/bus/registry"
	"podium/schemas"
)

// Numbers are what is counted of an agent, over all its processes.
type Numbers struct {
	Requests, Errors int
	LastError        string
	Working          time.Duration // together
}

// Serve answers until stop is called. List returns the agents as they are now, and numbers what is counted of one.
func Serve(core *jetstream.Core, list func(ctx context.Context) ([]registry.Entry, error), numbers func(agent string) Numbers) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, one := range stops {
			one()
		}
	}
	for verb, answerOf := range map[micro.Verb]func(*registry.Entry, micro.ServiceIdentity) any{
		micro.PingVerb: func(_ *registry.Entry, is micro.ServiceIdentity) any {
			return micro.Ping{ServiceIdentity: is, Type: micro.PingResponseType}
		},
		micro.InfoVerb: func(entry *registry.Entry, is micro.ServiceIdentity) any {
			return micro.Info{ServiceIdentity: is, Type: micro.InfoResponseType, Description: entry.Description, Endpoints: []micro.EndpointInfo{}}
		},
		micro.StatsVerb: func(entry *registry.Entry, is micro.ServiceIdentity) any {
			return stats(entry, is, numbers(entry.Name))
		},
	} {
		all, err := micro.ControlSubject(verb, "", "")
		if err != nil {
			stop()
			return nil, err
		}
		answer := func(ctx context.Context, subject string) ([][]byte, error) {
			entries, err := list(ctx)
			if err != nil {
				return nil, err
			}
			return answers(entries, strings.TrimPrefix(strings.TrimPrefix(subject, all), "."), time.Now(), answerOf)
		}
		for _, subject := range []string{all, all + ".>"} {
			one, err := core.ServeMany(subject, answer)
			if err != nil {
				stop()
				return nil, fmt.Errorf("answer questions about services: %w", err)
			}
			stops = append(stops, one)
		}
	}
	return stop, nil
}

// answers returns one answer of each process that is asked: by nothing, by the name of its agent, or by that and its id.
func answers(entries []registry.Entry, asked string, now time.Time, answerOf func(*registry.Entry, micro.ServiceIdentity) any) (bodies [][]byte, err error) {
	name, id, one := strings.Cut(asked, ".")
	for i := range entries {
		entry := &entries[i]
		if name != "" && entry.Name != name || entry.Revoked != nil {
			continue
		}
		for _, process := range processes(entry, now) {
			if one && process.ID != id {
				continue
			}
			body, err := json.Marshal(answerOf(entry, identity(entry, &process)))
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, body)
		}
	}
	return bodies, nil
}

// processes lists those that are alive. Somebody who takes requests without announcing himself is one.
func processes(entry *registry.Entry, now time.Time) (alive []schemas.Agent) {
	for i := range entry.Instances {
		if now.Sub(entry.Instances[i].LastSeen) <= registry.AliveWithin {
			alive = append(alive, entry.Instances[i])
		}
	}
	if len(alive) == 0 && entry.Presence(now).Served {
		alive = append(alive, schemas.Agent{ID: schemas.DefaultInstanceID})
	}
	return alive
}

func identity(entry *registry.Entry, process *schemas.Agent) micro.ServiceIdentity {
	about := map[string]string{"podium.state": string(entry.State), "podium.subject": bus.RequestSubject(entry.Name)}
	for key, value := range map[string]string{"podium.kind": entry.Kind, "podium.side_effects": entry.SideEffects} {
		if value != "" {
			about[key] = value
		}
	}
	return micro.ServiceIdentity{Name: entry.Name, ID: process.ID, Version: SemVer(cmp.Or(process.Version, entry.Version)), Metadata: about}
}

// stats are those of the agent: nothing is counted apart for each process.
func stats(entry *registry.Entry, is micro.ServiceIdentity, counted Numbers) micro.Stats {
	work := micro.EndpointStats{
		Name: string(schemas.KindWork), Subject: bus.RequestSubject(entry.Name), NumRequests: counted.Requests, NumErrors: counted.Errors,
		LastError: counted.LastError, ProcessingTime: counted.Working,
	}
	if counted.Requests > 0 {
		work.AverageProcessingTime = counted.Working / time.Duration(counted.Requests)
	}
	return micro.Stats{ServiceIdentity: is, Type: micro.StatsResponseType, Started: entry.Announced, Endpoints: []*micro.EndpointStats{&work}}
}

// SemVer makes a version one of Semantic Versioning 2.0.0, as the protocol demands: numbers that it begins with count, and what
// follows is build metadata. A version without a number is 0.0.0 with that.
func SemVer(version string) string {
	version = strings.TrimPrefix(version, "v")
	if regexp.MustCompile(semVer).MatchString(version) {
		return version
	}
	numbers := []string{"0", "0", "0"}
	rest := version
	for i := range numbers {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if digits == "" {
			break
		}
		numbers[i] = cmp.Or(strings.TrimLeft(digits, "0"), "0")
		rest = rest[len(digits):]
		after, dotted := strings.CutPrefix(rest, ".")
		if !dotted {
			break
		}
		rest = after
	}
	said := strings.Trim(regexp.MustCompile(`[^0-9A-Za-z]+`).ReplaceAllString(rest, "-"), "-")
	if said != "" {
		said = "+" + said
	}
	return strings.Join(numbers, ".") + said
}

// semVer is the expression that semver.org suggests.
const semVer = `^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`
