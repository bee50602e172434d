package jetstream

// Server implements bus.Core. It is empty when the server that is connected to may go
// on while the one that counts the deliveries is started anew: one of a cluster, or one
// without a store of its own, such as a leaf node.
func (c *Core) Server() string {
	if stores, _ := c.connection.ConnectedServerJetStream(); !stores || c.connection.ConnectedClusterName() != "" {
		return ""
	}
	return c.connection.ConnectedServerId()
}
