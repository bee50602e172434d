package jetstream

// Server implements bus.Core. It is empty when the server that is connected to may go
// on while the one that counts the deliveries is started anew: a server without a
// store of its own, such as a leaf node, or one of a cluster in which queues have no
// replica. With replicas a queue's new leader knows what was handed out: the server
// hands nothing out before most of them do.
func (c *Core) Server() string {
	stores, _ := c.connection.ConnectedServerJetStream()
	if !stores || c.replicas == 1 && c.connection.ConnectedClusterName() != "" {
		return ""
	}
	return c.connection.ConnectedServerId()
}
