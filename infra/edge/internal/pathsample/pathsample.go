// Package pathsample takes path samples of the visitors' connections, and posts them to the worker's internal listener. It
// makes no visitor wait. Of this module it imports errorlog, measure, upstream and visitor.
package pathsample

import (
	"net/netip"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor"
)

// Sample is one reading of one connection, in the form of its JSON. The client's address travels in bodies only.
type Sample struct {
	ClientAddress netip.Addr        `json:"clientAddress"`
	Transport     measure.Transport `json:"transport"`
	ConnectionID  string            `json:"connectionId"`
	AtMs          int64             `json:"atMs"` // Unix time
	measure.Figures
	Closing bool `json:"closing"`
}

// New reads c. It returns false when c cannot be read, when its client's address is not known, or when the client moves meanwhile.
func New(c *visitor.Connection, now time.Time, closing bool) (Sample, bool) {
	id := c.ID()
	r, ok := c.Read()
	s := Sample{
		ClientAddress: c.Client(), Transport: c.Transport, ConnectionID: id,
		AtMs: now.UnixMilli(), Figures: measure.NewFigures(r, c.Busy.Until(now)), Closing: closing,
	}
	return s, ok && s.ClientAddress.IsValid() && c.ID() == id
}
