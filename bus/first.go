package bus

import "podium/schemas"

// First reports whether a request in somebody's hands was handed to nobody before. A
// count of 1 does not say so: what the server knows of its queues is written late,
// so that after a crash it counts from 1 again what was worked on already. The copy of
// a request that is published first therefore names the server that takes it
// (Event.First), and only deliveries by that very server, which has not been started
// anew since, are believed. Copies that follow name none.
func First(request *schemas.Event, d Delivery) bool {
	return d.Deliveries() == 1 && request.First != "" && request.First == d.Server()
}
