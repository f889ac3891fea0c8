package proxy

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	// lookEvery is the time between two looks at a websocket. The first one that finds it stuck and the one that ends it may each come so late.
	lookEvery = 2 * time.Second
	// settleAfter is how long what the server sent last may stand still on its way to the client.
	settleAfter = 5 * time.Second
	// stuckAfter is how long a server may take nothing of what waits for it while nothing comes from it either. Nobody can see that a
	// client has left behind bytes that are not taken.
	stuckAfter = 20 * time.Second
)

// websocket is the way to the server of a websocket. Its two ends end together, whatever the other one does: ReverseProxy sees an
// end only when it reads from it or writes to it, and it does neither while both servers wait for each other.
type websocket struct {
	io.ReadWriteCloser
	client *connpath.Connection
	rest   time.Duration // that both ends may be quiet

	writes atomic.Uint64 // that began to the server, and that ended: odd while one waits
	over   atomic.Bool   // the server's end has ended
}

// watchWebsocket makes the way to the server one that ends, at the latest with ctx.
func watchWebsocket(ctx context.Context, server io.ReadWriteCloser, client *connpath.Connection, rest time.Duration) io.ReadWriteCloser {
	w := &websocket{ReadWriteCloser: server, client: client, rest: rest}
	go w.watch(ctx)
	return w
}

func (w *websocket) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	if err != nil {
		w.over.Store(true)
	}
	return n, err
}

func (w *websocket) Write(p []byte) (int, error) {
	w.writes.Add(1)
	defer w.writes.Add(1)
	return w.ReadWriteCloser.Write(p)
}

// watch ends the websocket where nothing moves any more and one end has ended, and where nothing has moved for rest.
func (w *websocket) watch(ctx context.Context) {
	ticker := time.NewTicker(min(lookEvery, max(w.rest/4, time.Millisecond)))
	defer ticker.Stop()
	last, since := uint64(0), time.Now() // of the writes, and when a look first found so many
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, quiet, writes := time.Now(), w.client.Quiet(), w.writes.Load()
		if writes != last {
			last, since = writes, now
			continue
		}
		// What the server sent last may still be on its way to the client.
		over := w.client.Left() || (w.over.Load() && quiet >= min(settleAfter, w.rest/4))
		stuck := writes%2 == 1 && now.Sub(since) >= stuckAfter && quiet >= stuckAfter
		if over || stuck || quiet >= w.rest {
			w.client.Abort()
			_ = w.Close()
			return
		}
	}
}
