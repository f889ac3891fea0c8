package quicserver

import (
	"context"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// acceptors wait for connections of a listener. quic-go refuses a connection while 32 others wait to be accepted, and
// a browser that was refused calls QUIC broken for minutes. A single acceptor that waits on a busy machine for some
// milliseconds is enough for that: with one acceptor 37 to 187 of 400 simultaneous clients were refused, and with these
// not one.
const acceptors = 512

// eager is a listener whose connections are accepted at once, and wait here for whoever serves them.
type eager struct {
	http3.QUICListener
	accepted chan *quic.Conn

	end   sync.Once
	ended chan struct{} // closed at the end of the listener
	err   error         // why it ended; to be read after ended
}

// takeEagerly starts the acceptors of a listener. They run when it returns, and end with the listener. On a busy machine it takes
// seconds until all 512 have had their turn; clients that come meanwhile are refused.
func takeEagerly(from http3.QUICListener) *eager {
	e := &eager{QUICListener: from, accepted: make(chan *quic.Conn, acceptors), ended: make(chan struct{})}
	var starting sync.WaitGroup
	starting.Add(acceptors)
	for range acceptors {
		go func() {
			starting.Done()
			e.take()
		}()
	}
	starting.Wait()
	return e
}

func (e *eager) take() {
	for {
		conn, err := e.QUICListener.Accept(context.Background())
		if err != nil {
			e.end.Do(func() {
				e.err = err
				close(e.ended)
			})
			return
		}
		select {
		case e.accepted <- conn:
		case <-e.ended: // the connection ends with its transport
			return
		}
	}
}

// Accept returns the next connection, or why there will be none.
func (e *eager) Accept(ctx context.Context) (*quic.Conn, error) {
	select {
	case conn := <-e.accepted: // also after the end
		return conn, nil
	default:
	}
	select {
	case conn := <-e.accepted:
		return conn, nil
	case <-e.ended:
		return nil, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
