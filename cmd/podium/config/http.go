package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cleartext"
	"podium/schemas"
)

// HTTP is the listener of chat adapters, event sources and callbacks.
type HTTP struct {
	Listen    string                 `yaml:"listen" default:"127.0.0.1:8080" doc:"Address and port; loopback unless you say otherwise."`
	PublicURL string                 `yaml:"public_url" doc:"Where others reach this listener, such as https://podium.example.org: the address that endpoints of asynchronous agents are told to answer to. Default: its port on this machine."`
	Proxies   []string               `yaml:"proxies" min:"1" doc:"Addresses or networks, such as 127.0.0.1 or 10.0.0.0/8, of proxies that are believed what they add to X-Forwarded-For: who sends. Default: none; whoever connects is who sends."`
	Sources   map[string]EventSource `yaml:"sources" doc:"Who sends CloudEvents, by name; each posts to /v1/events/<name>."`
}

// An EventSource is one sender of CloudEvents.
type EventSource struct {
	Profile string               `yaml:"profile" required:"true" doc:"The profile that handles its events."`
	Token   Secret               `yaml:"token" doc:"Bearer token of the sender, of 16 characters or more."`
	Secrets Secrets              `yaml:"secret" single:"true" min:"1" doc:"whsec_… or whpk_… of a sender that signs by Standard Webhooks, or a list while one replaces the other. It sends structured events and batches."`
	Types   map[string]EventType `yaml:"types" required:"true" keys:"^[!-~]{1,255}$" doc:"The event types that are taken, by name. podium.execution_request.v1 is a plan and needs nothing more."`
	Origins []string             `yaml:"origins" min:"1" doc:"Who may ask by OPTIONS whether it may send (WebHook-Request-Origin), such as eventemitter.example.com."`
	Rate    int                  `yaml:"rate" min:"1" max:"1000000" doc:"Requests a minute that it may send. Default: as many as it likes."`
}

// An EventType says how an event of one type becomes a message.
type EventType struct {
	Text         Pointers `yaml:"text" single:"true" min:"1" doc:"JSON Pointer into the data to the words, or a list whose words are joined. Default: /text. Data of text/plain is the words itself."`
	PartitionKey string   `yaml:"partitionkey" doc:"JSON Pointer to what names the conversation, such as /ticket/id. Default: the event's attribute partitionkey, and without one each event is its own."`
}

// Pointers is one JSON Pointer (RFC 6901) or several.
type Pointers []string

// eventType is what can stand as the name of an event type.
var eventType = regexp.MustCompile(`^[!-~]{1,255}$`)

func (v *validator) listen() {
	if listen := v.config.HTTP.Listen; listen != "" {
		_, port, err := net.SplitHostPort(listen)
		_, bound := strconv.ParseUint(port, 10, 16)
		if err != nil || port == "" || errors.Is(bound, strconv.ErrRange) {
			v.problem("http.listen", "%q is not an address with a port of at most 65535, such as 127.0.0.1:8080", listen)
		}
	}
}

// publicURL checks the address that others are told.
func (v *validator) publicURL() {
	told := v.config.HTTP.PublicURL
	if told == "" {
		return
	}
	target, err := url.Parse(told)
	switch {
	case err != nil || !isURL(told, "http", "https"):
		v.problem("http.public_url", "it is not an address such as https://podium.example.org")
	case target.User != nil || target.RawQuery != "" || target.Fragment != "":
		v.problem("http.public_url", "it has a user, a query or a fragment: an address such as https://podium.example.org/podium has none")
	}
}

// Callbacks is the address below which answers by callback are taken. Bound is where the listener is.
func (h HTTP) Callbacks(bound netip.AddrPort) string {
	if h.PublicURL != "" {
		return strings.TrimRight(h.PublicURL, "/")
	}
	if address := bound.Addr(); address.IsUnspecified() {
		bound = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), bound.Port())
	}
	return "http://" + bound.String()
}

// async checks what an agent needs that answers by callback.
func (v *validator) async(path string, agent *Agent) {
	if !agent.Async || agent.Kind != KindHTTP {
		return
	}
	if agent.Secret == "" {
		v.problem(path+".async", "its answers come from outside, and anybody could send them: it needs a secret, such as whsec_… with the base64 of %d to %d random bytes", minKey, maxKey)
	} else if wrong := wrongSecret(schemas.ProviderWebhook, string(agent.Secret)); wrong != "" || strings.HasPrefix(string(agent.Secret), publicKeyPrefix) {
		v.problem(path+".secret", "its callbacks are signed with it: it has to be %q and the base64 of %d to %d random bytes", secretPrefix, minKey, maxKey)
	}
	target, err := url.Parse(agent.URL)
	if err == nil && target.Hostname() != "" && !cleartext.Here(target.Hostname()) && v.config.HTTP.PublicURL == "" {
		v.problem(path+".async", "its endpoint is on another machine and has to know where to answer: set http.public_url to the address at which it reaches this one")
	}
}

// hastyCallbacks are cautions about asynchronous agents that have no longer to answer than others have by default.
func (c *Config) hastyCallbacks() (cautions []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		profile := c.Profiles[name]
		if _, written := c.places["profiles."+name+".deadlines.work"]; written || profile.Deadlines.Work != defaultWork {
			continue
		}
		for i, use := range c.uses(name, &profile) {
			said := profile.Agents[i].Work > 0 || c.Agents[use.Name].Timeout > defaultWork
			if use.Async && !said {
				cautions = append(cautions, fmt.Sprintf("agent %q may answer by callback, and has %s for that in profile %q, which is what any agent has: say how long its answers may take, "+
					"such as profiles.%s.agents: [{name: %s, work: 24h}]; profiles.%s.deadlines.work: 30s says that it is meant",
					use.Name, time.Duration(cmp.Or(use.Work, profile.Deadlines.Work)), name, name, use.Name, name))
			}
		}
	}
	return cautions
}

func (v *validator) proxies() {
	for i, text := range v.config.HTTP.Proxies {
		if _, err := network(text); err != nil {
			v.problem(fmt.Sprintf("http.proxies[%d]", i), "%q is neither an address such as 127.0.0.1 nor a network such as 10.0.0.0/8", text)
		}
	}
}

// ProxyNetworks returns the proxies as networks.
func (h HTTP) ProxyNetworks() []netip.Prefix {
	var networks []netip.Prefix
	for _, text := range h.Proxies {
		if parsed, err := network(text); err == nil { // else it was refused
			networks = append(networks, parsed)
		}
	}
	return networks
}

func network(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}

func (v *validator) sources() {
	for _, name := range slices.Sorted(maps.Keys(v.config.HTTP.Sources)) {
		source, path := v.config.HTTP.Sources[name], "http.sources."+name
		v.name(path, name)
		v.profileExists(path+".profile", source.Profile)
		if len(source.Types) == 0 {
			v.problem(path+".types", "it takes no event: name a type, such as com.example.ticket.created: {text: /text}")
		}
		if len(source.Secrets) == 0 && source.Token == "" {
			v.problem(path, "nobody could prove to be this source: it needs a secret or a token")
		}
		v.secrets(path, schemas.ProviderWebhook, source.Secrets, source.Token)
		for _, name := range slices.Sorted(maps.Keys(source.Types)) {
			v.eventType(path+".types."+name, name, source.Types[name])
		}
		for i, origin := range source.Origins {
			if origin == "" || origin == "*" {
				v.problem(fmt.Sprintf("%s.origins[%d]", path, i), "name the origin, such as eventemitter.example.com")
			}
		}
	}
}

func (v *validator) eventType(path, name string, taken EventType) {
	if !eventType.MatchString(name) {
		v.problem(path, "%q is not the type of an event, such as com.example.ticket.created", name)
	}
	for i, pointer := range taken.Text {
		if !jsontext.Pointer(pointer).IsValid() {
			v.problem(fmt.Sprintf("%s.text[%d]", path, i), "%q is not a JSON Pointer such as /text", pointer)
		}
	}
	if !jsontext.Pointer(taken.PartitionKey).IsValid() {
		v.problem(path+".partitionkey", "%q is not a JSON Pointer such as /ticket/id", taken.PartitionKey)
	}
}
