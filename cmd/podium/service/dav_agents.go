package service

import (
	"errors"
	"net/netip"
	"time"

	"podium/agents/caldav"
	"podium/agents/carddav"
	"podium/agents/dav"
	"podium/cmd/podium/config"
	"podium/cmd/podium/egress"
	"podium/schemas/timezone"
)

// davConfig is the server of an agent that keeps a calendar or an address book. Own is where Podium itself listens, and no call leads.
func davConfig(settings *config.Agent, own func() []netip.AddrPort) dav.Config {
	guard := egress.Guard{Policy: settings.Leads(), Own: own, Limits: egress.Limits{Body: dav.MaxBody + 1}} // the agent itself says what is too much
	return dav.Config{
		URL: settings.URL, User: settings.User, Password: string(settings.Password), Client: guard.Client(),
		Barred: func(err error) bool { return errors.Is(err, egress.ErrEgress) },
	}
}

// calendarAgent makes an agent of kind caldav.
func calendarAgent(settings *config.Agent, own func() []netip.AddrPort) (*caldav.Agent, error) {
	location, err := timezone.Load(settings.Timezone)
	if err != nil {
		return nil, err
	}
	hours, err := settings.OpenHours()
	if err != nil {
		return nil, err
	}
	opening, err := settings.Opening()
	if err != nil {
		return nil, err
	}
	return caldav.New(caldav.Config{
		Server: davConfig(settings, own), Location: location, Duration: time.Duration(settings.Duration), Hours: hours, Opening: opening, Members: settings.Members,
		Description: settings.Description, InputSchema: settings.InputSchema, OutputSchema: settings.OutputSchema,
	})
}

// contactsAgent makes an agent of kind carddav.
func contactsAgent(settings *config.Agent, own func() []netip.AddrPort) (*carddav.Agent, error) {
	return carddav.New(carddav.Config{
		Server: davConfig(settings, own), Members: settings.Members, Description: settings.Description, InputSchema: settings.InputSchema, OutputSchema: settings.OutputSchema,
	})
}
