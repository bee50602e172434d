package chat

import "podium/bus"

// RunURLs returns where the run of an event is read and where its progress is
// followed, the key included, whichever door the event came in by.
func (d *Door) RunURLs(receipt bus.Receipt) (run, events string) { return d.urls(referenceOf(receipt)) }
