package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/caldav"
	"podium/agents/carddav"
	"podium/agents/members"
	"podium/cleartext"
	"podium/schemas"
)

// collections are the kinds of agent that keep a calendar or an address book on a server.
func collections() []AgentKind { return []AgentKind{KindCaldav, KindCarddav} }

func (a *Agent) keepsCollection() bool { return slices.Contains(collections(), a.Kind) }

// builtInSchema is the schema of the arguments that a kind takes by itself; nil of those whose file says it.
func (a *Agent) builtInSchema() jsontext.Value {
	switch a.Kind { //nolint:exhaustive // all others take what their file says
	case KindCaldav:
		return members.Names(a.Members).Write(caldav.InputSchema())
	case KindCarddav:
		return members.Names(a.Members).Write(carddav.InputSchema())
	}
	return nil
}

// fillSchemas gives agents the schema of their kind where the file has none, so that arguments are filled by it.
func (c *Config) fillSchemas() {
	for name, agent := range c.Agents {
		if schema := agent.builtInSchema(); len(agent.InputSchema) == 0 && schema != nil {
			agent.InputSchema = schema
			c.Agents[name] = agent
		}
	}
}

// membersOf are the members that may be called otherwise, by kind.
func membersOf(kind AgentKind) string {
	switch kind { //nolint:exhaustive // agentKeys refuses the others
	case KindCaldav:
		return "person"
	case KindCarddav:
		return "number"
	case KindRetrieval:
		return "context"
	}
	return ""
}

// members checks what an agent has its members called.
func (v *validator) members(path string, agent *Agent) {
	known := membersOf(agent.Kind)
	if known == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(agent.Members)) {
		switch called := agent.Members[name]; {
		case name != known:
			v.problem(path+".members."+name, "an agent of kind %s has no such member; it can be: %s", agent.Kind, known)
		case called == "":
			v.problem(path+".members."+name, "it needs a name")
		}
	}
}

// collection checks what an agent of a calendar or an address book needs.
func (v *validator) collection(path string, agent *Agent) {
	v.endpoint(path, "url", agent.URL, agent)
	if target, err := url.Parse(agent.URL); err == nil && (target.RawQuery != "" || target.Fragment != "") {
		v.problem(path+".url", "it has something behind the path, which no call would have")
	}
	if (agent.User == "") != (agent.Password == "") {
		v.problem(path, "user and password go together")
	}
	if agent.Kind != KindCaldav {
		return
	}
	if agent.Timezone == "" {
		v.problem(path, "an agent of kind caldav needs a timezone, such as Europe/Berlin: that of its days and times")
	} else {
		v.timezone(path+".timezone", agent.Timezone)
	}
	if lasts := time.Duration(agent.Duration); lasts < 0 || lasts > 24*time.Hour || lasts%time.Minute != 0 {
		v.problem(path+".duration", "it is one of whole minutes, up to 24h")
	}
	v.openingHours(path, agent)
	if agent.Concurrency > 1 {
		v.problem(path+".concurrency", "a calendar cannot be written on the condition that a time is free: it is kept by one request at a time, and concurrency is 1")
	}
}

// OpenHours are the hours in which appointments are made; zero is the whole day.
func (a *Agent) OpenHours() (caldav.Hours, error) {
	if a.Hours == nil {
		return caldav.Hours{}, nil
	}
	from, err := sinceMidnight(a.Hours.From)
	if err != nil {
		return caldav.Hours{}, err
	}
	until, err := sinceMidnight(a.Hours.Until)
	return caldav.Hours{From: from, Until: until}, err
}

// Opening is when in a week appointments are made; zero is within OpenHours.
func (a *Agent) Opening() (caldav.Opening, error) {
	return caldav.ParseOpening(a.OpeningHours, a.Closed)
}

// openingHours checks that opening hours can be read, and that times are meant in them: else nobody could book there by an hour alone.
func (v *validator) openingHours(path string, agent *Agent) {
	opening, err := agent.Opening()
	if err != nil {
		for _, fault := range joined(err) {
			v.problem(path+".opening_hours", "%v", fault)
		}
		return
	}
	hours, err := agent.OpenHours()
	if err != nil || agent.Hours == nil {
		return // said already, or nothing
	}
	for day, spans := range opening.Week {
		for _, span := range spans {
			if span.From < hours.From || span.Until > hours.Until {
				v.problem(path+".opening_hours", "on %s it is open outside of hours (%s to %s), in which times are meant: make these wider", time.Weekday(day), agent.Hours.From, agent.Hours.Until)
			}
		}
	}
}

func sinceMidnight(clock string) (time.Duration, error) {
	at, err := time.Parse("15:04", clock)
	if err != nil {
		return 0, fmt.Errorf("%q is no time of a day, such as 07:00", clock)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

// calendarDefaults are those of a calendar, which one request at a time changes.
func (a *Agent) calendarDefaults() {
	if a.Kind != KindCaldav {
		return
	}
	a.Concurrency = cmp.Or(a.Concurrency, 1)
	a.Duration = cmp.Or(a.Duration, schemas.Duration(caldav.DefaultDuration))
}

// readablePasswords cautions about agents whose password crosses a network where others may read it.
func (c *Config) readablePasswords() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		agent := c.Agents[name]
		target, err := url.Parse(agent.URL)
		if err == nil && agent.keepsCollection() && agent.Password != "" && target.Scheme == "http" && !cleartext.Here(target.Hostname()) {
			cautions = append(cautions, fmt.Sprintf("agent %q sends its password readable over the network (agents.%s.url: http://…): write https:// where the server has it", name, name))
		}
	}
	return cautions
}
