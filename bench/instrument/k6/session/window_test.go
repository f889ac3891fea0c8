package session

import (
	"testing"
	"time"

	"adaptive-h3/bench/instrument/k6/testsite"
)

// Only bytes that come within the window are reported.
func TestCountedWindow(t *testing.T) {
	const size = 300_000
	now := float64(time.Now().UnixMilli())
	hour := time.Hour.Seconds() * 1e3
	for name, c := range map[string]struct {
		window Window
		want   int64
	}{
		"before":  {Window{now - hour, now - 1}, 0},
		"during":  {Window{now - hour, now + hour}, size},
		"later":   {Window{now + hour, now + 2*hour}, 0},
		"no time": {Window{}, 0},
	} {
		for _, protocol := range allProtocols {
			t.Run(name+" "+string(protocol), func(t *testing.T) {
				site := testsite.Start(t)
				s := open(t, site, func(config *Config) { config.FirstProtocol, config.Counted = protocol, &c.window })
				load(t, s, "/bytes/300000")
				if got := s.Report().Bytes; got != c.want {
					t.Errorf("%d bytes, want %d", got, c.want)
				}
			})
		}
	}
}
