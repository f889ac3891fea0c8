package connpath

import (
	"net/netip"
	"time"
)

// Sample is one reading of one connection, in the form of its JSON. The client's address travels in bodies only.
type Sample struct {
	ClientAddress netip.Addr `json:"clientAddress"`
	Transport     Transport  `json:"transport"`
	ConnectionID  string     `json:"connectionId"`
	AtMs          int64      `json:"atMs"` // Unix time
	figures
	Closing bool `json:"closing"`
}

// newSample reads c. It returns false when c cannot be read, when its client's address is not known, or when the client moves meanwhile.
func newSample(c *Connection, now time.Time, closing bool) (Sample, bool) {
	id := c.ID()
	r, ok := c.Read()
	s := Sample{
		ClientAddress: c.Client(), Transport: c.Transport, ConnectionID: id,
		AtMs: now.UnixMilli(), figures: figuresOf(r, c.busy.until(now)), Closing: closing,
	}
	return s, ok && s.ClientAddress.IsValid() && c.ID() == id
}
