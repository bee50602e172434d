package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"

	"podium/cmd/podium/egress"
	"podium/schemas"
)

// endpoint checks where an agent's calls go to.
func (v *validator) endpoint(path, key, address string, agent *Agent) {
	target, err := url.Parse(address)
	if address == "" || err != nil || target.Host == "" {
		needs := "the url of its endpoint, such as https://erp.example.org/podium"
		switch {
		case agent.Kind == KindLLM:
			needs = "the base_url of its server, such as http://127.0.0.1:11434/v1"
		case agent.keepsCollection():
			needs = "the url of its server, such as https://dav.example.org/praxis/termine/"
		}
		v.problem(path+"."+key, "an agent of kind %s needs %s", agent.Kind, needs)
		return
	}
	leads, err := agent.egress()
	if err == nil {
		err = leads.Check(target)
	}
	if err != nil {
		v.problem(path+"."+key, "%v", err)
	}
}

// egress is where the calls of an agent may lead: what is configured, or else the host of its url or base_url alone.
func (a *Agent) egress() (egress.Policy, error) {
	if len(a.Egress) > 0 {
		return a.Egress, nil
	}
	target, err := url.Parse(cmp.Or(a.URL, a.BaseURL))
	if err != nil {
		return nil, err
	}
	port := target.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[target.Scheme]
	}
	return egress.Parse(net.JoinHostPort(target.Hostname(), port))
}

// Leads is where the calls of an agent may lead. It is checked by then.
func (a *Agent) Leads() egress.Policy {
	leads, err := a.egress()
	if err != nil {
		return nil // nowhere
	}
	return leads
}

// A reachedAgent is one that a profile may ask, and the key that names it there.
type reachedAgent struct{ key, agent string }

// reached lists everybody whom a profile may ask: agents, who stand in for them, planner and routers.
func (p *Profile) reached() []reachedAgent {
	var all []reachedAgent
	for i, use := range p.Agents {
		at := fmt.Sprintf(".agents[%d]", i)
		all = append(all, reachedAgent{at, use.Name})
		if use.Fallback != "" {
			all = append(all, reachedAgent{at + ".fallback", use.Fallback})
		}
	}
	if p.Planner != nil && p.Planner.Agent != "" {
		all = append(all, reachedAgent{".planner.agent", p.Planner.Agent})
	}
	for _, judge := range p.judges() {
		if judge.agent != "" {
			all = append(all, judge)
		}
	}
	for i := range p.Routers {
		if p.Routers[i].Kind == schemas.RouterAgent {
			all = append(all, reachedAgent{fmt.Sprintf(".routers[%d].agent", i), p.Routers[i].Agent})
		}
	}
	return all
}

// judges are who judges a run of the profile, where somebody does.
func (p *Profile) judges() []reachedAgent {
	var all []reachedAgent
	if p.Replan != nil {
		all = append(all, reachedAgent{".replan.agent", p.Replan.Agent})
	}
	if planner := p.Escalation.Planner; planner != nil {
		all = append(all, reachedAgent{".escalation.planner.agent", planner.Agent})
	}
	if p.Summary != nil {
		all = append(all, reachedAgent{".summary.agent", p.Summary.Agent})
	}
	if p.Review != nil {
		all = append(all, reachedAgent{".review.merge", p.Review.Merge})
		for i := range p.Review.Checks {
			all = append(all, reachedAgent{fmt.Sprintf(".review.checks[%d].agent", i), p.Review.Checks[i].Agent})
		}
	}
	return all
}

// localOnly checks that nobody whom a profile reaches goes beyond this machine and private networks. What is
// wrong is told where the outermost profile names it; way holds the profiles on the way there.
func (v *validator) localOnly(path, name string, way []string) {
	if slices.Contains(way, name) {
		return // a circle, which has been told
	}
	profile := v.config.Profiles[name]
	reached := profile.reached()
	for i, use := range profile.Agents {
		if extractor := v.config.Agents[use.Name].Extractor; extractor != "" {
			reached = append(reached, reachedAgent{fmt.Sprintf(".agents[%d]", i), extractor})
		}
	}
	told := map[string]bool{}
	for _, next := range reached {
		at, by := path, ""
		if len(way) == 0 {
			at = path + next.key
		} else {
			by = fmt.Sprintf(", which it reaches by way of profile %q,", name)
		}
		agent := v.config.Agents[next.agent]
		switch {
		case told[next.agent]:
		case agent.Kind == KindSupervisor:
			v.localOnly(at, agent.Profile, append(slices.Clip(way), name))
		case !agent.local():
			v.problem(at, "the profile is local_only, and agent %q%s %s: write egress: local at agents.%s", next.agent, by, agent.beyond(), next.agent)
		}
		told[next.agent] = true
	}
}

// local reports whether an agent stays on this machine and private networks, as far as its configuration says.
func (a *Agent) local() bool {
	switch a.Kind {
	case KindHTTP, KindLLM, KindCaldav, KindCarddav:
		leads, err := a.egress()
		return err != nil || leads.Local() // what is wrong with it has been told
	case KindExec, KindExternal, KindMCP:
		if a.Kind == KindMCP && a.URL != "" {
			leads, err := a.egress()
			return err != nil || leads.Local()
		}
		return a.Egress.Local()
	case KindCalculator, KindEcho, KindScripted, KindDocument, KindFile, KindRetrieval, KindPerson, KindSupervisor, KindMail, KindChat:
	}
	return true
}

// beyond says why an agent that is not local is not.
func (a *Agent) beyond() string {
	if len(a.Egress) == 0 && a.URL == "" && a.BaseURL == "" {
		return "does not say where it goes"
	}
	leads := a.Leads()
	return "may go beyond this machine and private networks (" + leads.String() + ")"
}

// Local is where a profile with local_only may lead.
func Local() egress.Policy {
	policy, err := egress.Parse("local")
	if err != nil {
		panic("config: " + err.Error())
	}
	return policy
}

// LocalAccounts are the mail accounts that a profile with local_only writes by, to whoever has asked and to people who do
// its work, each with such a profile.
func (c *Config) LocalAccounts() map[string]string {
	accounts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		if !c.Profiles[name].LocalOnly {
			continue
		}
		for i := range c.Mail.Accounts {
			if c.Mail.Accounts[i].Profile == name {
				accounts[c.Mail.Accounts[i].Name] = name
			}
		}
		for _, person := range c.peopleOf(name, nil) {
			if c.People[person].Mail == "" {
				continue
			}
			if by := c.People[person].Account; by != "" {
				accounts[by] = name
			} else if len(c.Mail.Accounts) > 0 {
				accounts[c.Mail.Accounts[0].Name] = name
			}
		}
	}
	return accounts
}

// peopleOf lists who may be handed work by a profile, nested ones included; way holds the profiles on the way there.
func (c *Config) peopleOf(name string, way []string) []string {
	if slices.Contains(way, name) {
		return nil
	}
	var people []string
	profile := c.Profiles[name]
	for _, next := range profile.reached() {
		agent := c.Agents[next.agent]
		people = append(people, agent.People...)
		if agent.Kind == KindSupervisor {
			people = append(people, c.peopleOf(agent.Profile, append(slices.Clip(way), name))...)
		}
	}
	return people
}

// localAccounts checks that the servers of those accounts are on this machine or a private network.
func (v *validator) localAccounts() {
	local := v.config.LocalAccounts()
	for i := range v.config.Mail.Accounts {
		account := &v.config.Mail.Accounts[i]
		profile, held := local[account.Name]
		if !held {
			continue
		}
		for _, server := range [...]struct {
			key, host string
			port      int
		}{{"imap", account.IMAP.Host, account.IMAP.Port}, {"smtp", account.SMTP.Host, account.SMTP.Port}} {
			at := url.URL{Scheme: "https", Host: net.JoinHostPort(server.host, strconv.Itoa(max(server.port, 1)))}
			if server.host != "" && Local().Check(&at) != nil {
				v.problem(fmt.Sprintf("mail.accounts[%d].%s.host", i, server.key), mustBeLocal, profile)
			}
		}
	}
}

const (
	mustBeLocal     = "profiles.%s is local_only, and this server is neither on this machine nor on a private network"
	publicProviders = "profiles.%s is local_only, and the servers of %s are public"
)

// localChannels checks the same of the chat channels of a profile.
func (v *validator) localChannels(name string) {
	for _, channel := range slices.Sorted(maps.Keys(v.config.Chat.Channels)) {
		settings, path := v.config.Chat.Channels[channel], "chat.channels."+channel
		if settings.Profile != name {
			continue
		}
		switch settings.Provider {
		case schemas.ProviderSlack, schemas.ProviderTelegram, schemas.ProviderTeams:
			v.problem(path, publicProviders, name, settings.Provider)
		case schemas.ProviderMattermost, schemas.ProviderWebhook, "":
			for key, address := range map[string]string{"url": settings.URL, "callback": settings.Callback} {
				target, err := url.Parse(address)
				if address != "" && err == nil && Local().Check(target) != nil {
					v.problem(path+"."+key, mustBeLocal, name)
				}
			}
		}
	}
}
