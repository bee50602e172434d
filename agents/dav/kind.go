package dav

// A Kind is what the resources of a collection are.
type Kind struct {
	media     string // of a resource
	namespace string
	element   string // by which a collection says what it is
	home      string // the property that leads to somebody's collections
}

// Calendars are collections of appointments (RFC 4791).
func Calendars() Kind {
	return Kind{media: "text/calendar", namespace: caldavNamespace, element: "calendar", home: "calendar-home-set"}
}

// AddressBooks are collections of contacts (RFC 6352).
func AddressBooks() Kind {
	return Kind{media: "text/vcard", namespace: carddavNamespace, element: "addressbook", home: "addressbook-home-set"}
}

const (
	caldavNamespace  = "urn:ietf:params:xml:ns:caldav"
	carddavNamespace = "urn:ietf:params:xml:ns:carddav"
)
