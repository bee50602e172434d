package config

import (
	"net/mail"
	"slices"

	"podium/schemas"
)

// A Person is somebody who does work, as agents of kind person name them.
type Person struct {
	Mail    string `yaml:"mail" required:"true" doc:"Their address. What they answer from another one does not count."`
	Account string `yaml:"account" doc:"The mail account that writes to them and takes their answers. Default: the first."`
}

// person returns who does the tasks of an agent that is a person; nil when it is none.
func (a *Agent) person() *schemas.PersonPolicy {
	if a.Kind != KindPerson {
		return nil
	}
	return &schemas.PersonPolicy{People: a.People, Remind: a.Remind, Expire: a.Expires}
}

// people returns those who do the tasks of some agents; nil when nobody does.
func (c *Config) people(uses []schemas.AgentUse) map[string]schemas.Person {
	var people map[string]schemas.Person
	for i := range uses {
		if uses[i].Person == nil {
			continue
		}
		for _, name := range uses[i].Person.People {
			if people == nil {
				people = map[string]schemas.Person{}
			}
			people[name] = schemas.Person(c.People[name])
		}
	}
	return people
}

// person checks somebody of the people section.
func (v *validator) person(name string) {
	person, path := v.config.People[name], "people."+name
	v.name(path, name)
	if address, err := mail.ParseAddress(person.Mail); err != nil || address.Address != person.Mail {
		v.problem(path+".mail", "%q is no address such as anna@example.org", person.Mail)
	}
	known := slices.ContainsFunc(v.config.Mail.Accounts, func(account Account) bool { return account.Name == person.Account || person.Account == "" })
	switch {
	case len(v.config.Mail.Accounts) == 0:
		v.problem(path, "whoever is asked is written to by mail, and there is no account: add one to mail.accounts")
	case !known:
		v.problem(path+".account", "there is no mail account %q", person.Account)
	}
}

// accountOf is the mail account that writes to a person: the first where they name none.
func (c *Config) accountOf(person *Person) string {
	if person.Account == "" && len(c.Mail.Accounts) > 0 {
		return c.Mail.Accounts[0].Name
	}
	return person.Account
}

// personAgent checks an agent of kind person.
func (v *validator) personAgent(path string, agent *Agent) {
	if agent.Kind != KindPerson {
		return
	}
	if len(agent.People) == 0 {
		v.problem(path, "an agent of kind person needs people: who does its tasks")
	}
	account := ""
	for _, name := range agent.People {
		person, known := v.config.People[name]
		switch {
		case !known:
			v.problem(path+".people", "there is nobody called %q in the people section", name)
		case account != "" && v.config.accountOf(&person) != account:
			v.problem(path+".people", "those who are asked together are written to by one mail account, and %q has another one", name)
		default:
			account = v.config.accountOf(&person)
		}
	}
}
