package config

import (
	"cmp"
	"net"
	"net/url"

	"podium/cmd/podium/egress"
)

// endpoint checks where an agent's calls go to.
func (v *validator) endpoint(path, key, address string, agent *Agent) {
	target, err := url.Parse(address)
	if address == "" || err != nil || target.Host == "" {
		needs := "the url of its endpoint, such as https://erp.example.org/podium"
		if agent.Kind == KindLLM {
			needs = "the base_url of its server, such as http://127.0.0.1:11434/v1"
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
