package session

import (
	"io"
	"time"
)

// Window is a time, in milliseconds since the epoch: what flows side by side got is compared over the same seconds.
type Window struct{ FromMs, ToMs float64 }

// timedBody counts what is read of a body within the window.
type timedBody struct {
	io.Reader
	window *Window
	bytes  int64
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.window == nil {
		return n, err
	}
	if now := float64(time.Now().UnixMicro()) / 1e3; now >= b.window.FromMs && now < b.window.ToMs {
		b.bytes += int64(n)
	}
	return n, err
}
