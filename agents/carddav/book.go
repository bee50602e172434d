package carddav

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"podium/agents/dav"
	"podium/bus/agent"
)

// A view is what the address book holds.
type view struct {
	all    []entry // by name
	unread int     // contacts that cannot be read
}

func (j *job) look(ctx context.Context) (view, error) {
	resources, err := j.server.Contacts(ctx)
	if err != nil {
		return view{}, err
	}
	var seen view
	for i := range resources {
		read, err := readCard(&resources[i])
		if err != nil {
			seen.unread++
			continue
		}
		seen.all = append(seen.all, read)
	}
	slices.SortFunc(seen.all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(dav.Fold(a.Name), dav.Fold(b.Name)), cmp.Compare(a.BirthDate, b.BirthDate), cmp.Compare(a.resource.Path, b.resource.Path))
	})
	return seen, nil
}

// own returns a contact by its address; nil is none.
func (j *job) own(ctx context.Context, path string) (*entry, error) {
	resource, err := j.server.Find(ctx, path)
	if err != nil || resource == nil {
		return nil, err
	}
	read, err := readCard(resource)
	if err != nil {
		return nil, refuse("unreadable")
	}
	return &read, nil
}

// create makes a contact, once for an effect.
func (j *job) create(ctx context.Context) (agent.Outcome, error) {
	collection, err := j.server.Collection(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	name := dav.Name(j.Request)
	path := collection + name + ".vcf"
	made, err := j.own(ctx, path)
	switch {
	case err != nil:
		return agent.Outcome{}, err
	case made != nil:
		return j.outcome("created", made.Contact)
	case j.wanted.Data.Name == "":
		return agent.Outcome{}, refuse("arguments")
	}
	select {
	case j.creating <- struct{}{}:
		defer func() { <-j.creating }()
	case <-ctx.Done():
		return agent.Outcome{}, context.Cause(ctx)
	}
	if err := j.unlisted(ctx); err != nil {
		return agent.Outcome{}, err
	}
	if err := j.Permit(ctx, j.wanted.Action); err != nil {
		return agent.Outcome{}, err
	}
	body := newCard(name, &j.wanted.Data, j.config.Now())
	err = j.server.Settle(ctx, j.server.Create(ctx, path, body), func(ctx context.Context) (bool, error) {
		made, err := j.own(ctx, path)
		return made != nil, err
	})
	if err != nil {
		return agent.Outcome{}, err
	}
	read, err := readCard(&dav.Resource{Path: path, Body: body})
	if err != nil {
		return agent.Outcome{}, refuse("unreadable")
	}
	return j.outcome("created", read.Contact)
}

// unlisted refuses a contact who is there already: with the same name and nothing that speaks for another person.
func (j *job) unlisted(ctx context.Context) error {
	seen, err := j.look(ctx)
	if err != nil {
		return err
	}
	data := &j.wanted.Data
	for i := range seen.all {
		other := &seen.all[i]
		sameName := dav.Matches(data.Name, other.Name) && dav.Matches(other.Name, data.Name)
		differs := data.BirthDate != "" && other.BirthDate != "" && data.BirthDate != other.BirthDate ||
			data.Number != "" && other.Number != "" && !strings.EqualFold(data.Number, other.Number)
		if sameName && !differs {
			return refuse("listed")
		}
	}
	return nil
}

// update replaces what a request says of a contact, once for an effect.
func (j *job) update(ctx context.Context) (agent.Outcome, error) {
	change := j.wanted.Data
	change.Name = ""
	if j.wanted.Data.Name == "" || change == (Contact{}) {
		return agent.Outcome{}, refuse("arguments")
	}
	seen, err := j.look(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	name := dav.Name(j.Request)
	if at := slices.IndexFunc(seen.all, func(one entry) bool { return one.effect == name }); at >= 0 {
		return j.outcome("updated", seen.all[at].Contact)
	}
	one, err := j.chosen(&seen)
	switch {
	case err != nil:
		return agent.Outcome{}, err
	case one == nil:
		return agent.Outcome{}, refuse("not_found")
	}
	body, err := changedCard(one.resource.Body, name, &change, j.config.Now())
	if err != nil {
		return agent.Outcome{}, refuse("unreadable")
	}
	changed, err := readCard(&dav.Resource{Path: one.resource.Path, Body: body})
	if err != nil {
		return agent.Outcome{}, refuse("unreadable")
	}
	if err := j.Permit(ctx, j.wanted.Action); err != nil {
		return agent.Outcome{}, err
	}
	err = j.server.Settle(ctx, j.server.Replace(ctx, one.resource, body), func(ctx context.Context) (bool, error) {
		now, err := j.own(ctx, one.resource.Path)
		return now != nil && now.effect == name, err
	})
	if err != nil {
		return agent.Outcome{}, err
	}
	return j.outcome("updated", changed.Contact)
}

// delete deletes a contact. A repeated request that does not find it has nothing left to do.
func (j *job) delete(ctx context.Context) (agent.Outcome, error) {
	if j.wanted.Data.Name == "" {
		return agent.Outcome{}, refuse("arguments")
	}
	seen, err := j.look(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	one, err := j.chosen(&seen)
	switch {
	case err != nil:
		return agent.Outcome{}, err
	case one == nil && j.Repeated():
		return j.outcome("deleted_before")
	case one == nil:
		return agent.Outcome{}, refuse("not_found")
	}
	if err := j.Permit(ctx, j.wanted.Action); err != nil {
		return agent.Outcome{}, err
	}
	if err := j.server.Remove(ctx, one.resource); err != nil {
		return agent.Outcome{}, err
	}
	return j.outcome("deleted", one.Contact)
}

// chosen returns the one contact that is meant; nil when there is none. To be changed is what is said beside the name, so
// that the name alone says who is meant, and what tells equal names apart is asked for.
func (j *job) chosen(seen *view) (*entry, error) {
	looked := j.wanted.Data
	if j.wanted.Action == actionUpdate {
		looked = Contact{Name: looked.Name, BirthDate: j.told("birth_date", looked.BirthDate)}
	}
	var meant []entry
	for i := range seen.all {
		if seen.all[i].matches(&looked) {
			meant = append(meant, seen.all[i])
		}
	}
	if chosen := j.told("name", looked.Name); len(meant) > 1 && chosen != "" { // it is one of the names that were offered
		meant = slices.DeleteFunc(meant, func(one entry) bool { return one.Name != chosen })
	}
	switch len(meant) {
	case 0:
		return nil, nil //nolint:nilnil // there is none, and nothing wrong
	case 1:
		return &meant[0], nil
	}
	return nil, which(meant, j.wanted.Data.BirthDate == "")
}

// told is a value that somebody was asked for, to tell contacts apart; what the request itself says of it is a change.
func (j *job) told(name, value string) string {
	for _, answer := range j.Request.Task().Context.Answers {
		if slices.Contains(answer.Needs, "contact_data."+name) {
			return value
		}
	}
	return ""
}

// search finds contacts by all that is said of them.
func (j *job) search(ctx context.Context) (agent.Outcome, error) {
	if j.wanted.Data == (Contact{}) {
		return agent.Outcome{}, refuse("arguments")
	}
	seen, err := j.look(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	var found []Contact
	for i := range seen.all {
		if seen.all[i].matches(&j.wanted.Data) {
			found = append(found, seen.all[i].Contact)
		}
	}
	matched := len(found)
	found = found[:min(matched, mostListed)]
	key := "found"
	if matched == 0 {
		key = "nothing"
	}
	outcome, err := j.outcome(key, found...)
	if matched > mostListed {
		outcome.Issues = append(outcome.Issues, j.note("cut", mostListed))
	}
	if seen.unread > 0 {
		outcome.Issues = append(outcome.Issues, j.note("unread", seen.unread))
	}
	return outcome, err
}

// mostListed bounds the contacts of an answer.
const mostListed = 50
