package altsvc

import (
	"sync"
	"time"
)

// Origin names whose alternatives are meant: scheme https, host and port.
type Origin struct {
	Host string
	Port int
}

// Cache keeps the alternatives of each origin for one client. The clock is the caller's.
type Cache struct {
	mu      sync.Mutex
	entries map[Origin][]entry
}

type entry struct {
	alternative Alternative
	staleAt     time.Time
}

// Update takes the Alt-Svc lines of a response of the origin that was received now and had the given Age. A field
// replaces everything known of the origin (RFC 7838, section 3); a response without the field leaves all as it was, and
// so does a malformed one, which is returned as an error.
func (c *Cache) Update(origin Origin, lines []string, age time.Duration, now time.Time) error {
	if len(lines) == 0 {
		return nil
	}
	field, err := Parse(lines)
	if err != nil {
		return err
	}
	entries := make([]entry, 0, len(field.Alternatives))
	for _, alternative := range field.Alternatives {
		if alternative.Host == "" {
			alternative.Host = origin.Host
		}
		// Freshness counts from when the response was generated, not from when it came (section 3.1).
		entries = append(entries, entry{alternative, now.Add(alternative.MaxAge - age)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[Origin][]entry{}
	}
	c.entries[origin] = entries
	return nil
}

// Fresh gives the alternatives to which a new connection may be opened now, in the server's order of preference. An
// entry that is stale says nothing of connections that were opened while it was fresh (RFC 7838, section 2.2).
func (c *Cache) Fresh(origin Origin, now time.Time) []Alternative {
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []Alternative
	for _, entry := range c.entries[origin] {
		if now.Before(entry.staleAt) {
			fresh = append(fresh, entry.alternative)
		}
	}
	return fresh
}
