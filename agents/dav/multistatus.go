package dav

import (
	"cmp"
	"encoding/xml"
	"strings"
)

// A multistatus is the listing of RFC 4918, as far as it is asked for.
type multistatus struct {
	XMLName   xml.Name `xml:"DAV: multistatus"`
	Responses []struct {
		Href   string `xml:"DAV: href"`
		Status string `xml:"DAV: status"`
		Stats  []struct {
			Status string     `xml:"DAV: status"`
			Prop   properties `xml:"DAV: prop"`
		} `xml:"DAV: propstat"`
	} `xml:"DAV: response"`
}

type properties struct {
	Type struct {
		Elements []struct{ XMLName xml.Name } `xml:",any"`
	} `xml:"DAV: resourcetype"`
	ETag         string `xml:"DAV: getetag"`
	Principal    href   `xml:"DAV: current-user-principal"`
	CalendarHome href   `xml:"urn:ietf:params:xml:ns:caldav calendar-home-set"`
	AddressHome  href   `xml:"urn:ietf:params:xml:ns:carddav addressbook-home-set"`
	CalendarData string `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
	AddressData  string `xml:"urn:ietf:params:xml:ns:carddav address-data"`
	Components   struct {
		All []struct {
			Name string `xml:"name,attr"`
		} `xml:"urn:ietf:params:xml:ns:caldav comp"`
	} `xml:"urn:ietf:params:xml:ns:caldav supported-calendar-component-set"`
}

type href struct {
	Href string `xml:"DAV: href"`
}

// A listed resource is one of a listing, with the properties that the server has given.
type listed struct {
	address  string
	withheld bool // the server says that it could not list it, or not all of what is below it
	properties
}

// readListing reads a listing. What is not there any more is left out, as are the properties that the server does not have.
func readListing(body []byte) ([]listed, error) {
	var read multistatus
	if err := xml.Unmarshal(body, &read); err != nil {
		return nil, ErrUnreadable
	}
	var all []listed
	for i := range read.Responses {
		response := &read.Responses[i]
		one := listed{address: strings.TrimSpace(response.Href), withheld: response.Status != "" && !succeeded(response.Status)}
		for j := range response.Stats {
			if stat := &response.Stats[j]; succeeded(stat.Status) {
				one.add(&stat.Prop)
			}
		}
		if one.address != "" && !gone(response.Status) {
			all = append(all, one)
		}
	}
	return all, nil
}

// succeeded reads a status line, such as HTTP/1.1 200 OK.
func succeeded(status string) bool {
	fields := strings.Fields(status)
	return len(fields) >= 2 && strings.HasPrefix(fields[1], "2")
}

// gone reads a status line that says that there is nothing.
func gone(status string) bool {
	fields := strings.Fields(status)
	return len(fields) >= 2 && (fields[1] == "404" || fields[1] == "410")
}

// add takes over what a further part of an answer says of the same resource.
func (p *properties) add(more *properties) {
	p.Type.Elements = append(p.Type.Elements, more.Type.Elements...)
	p.Components.All = append(p.Components.All, more.Components.All...)
	for into, said := range map[*string]string{
		&p.ETag: more.ETag, &p.Principal.Href: more.Principal.Href, &p.CalendarHome.Href: more.CalendarHome.Href,
		&p.AddressHome.Href: more.AddressHome.Href, &p.CalendarData: more.CalendarData, &p.AddressData: more.AddressData,
	} {
		*into = cmp.Or(*into, said)
	}
}

func (p *properties) is(kind Kind) bool {
	for _, element := range p.Type.Elements {
		if element.XMLName.Space == kind.namespace && element.XMLName.Local == kind.element {
			return kind.namespace != caldavNamespace || p.takesEvents()
		}
	}
	return false
}

// takesEvents reports whether a calendar is for appointments: one that does not say takes everything.
func (p *properties) takesEvents() bool {
	for _, component := range p.Components.All {
		if strings.EqualFold(component.Name, "VEVENT") {
			return true
		}
	}
	return len(p.Components.All) == 0
}

func (p *properties) homeOf(kind Kind) string {
	if kind.namespace == caldavNamespace {
		return p.CalendarHome.Href
	}
	return p.AddressHome.Href
}

func (p *properties) data() string {
	if p.CalendarData != "" {
		return p.CalendarData
	}
	return p.AddressData
}
