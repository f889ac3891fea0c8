// Package control is the socket over which a running path is configured and asked: one JSON object each way.
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/tunpath"
)

// Path is what is controlled. Its methods are called by several clients at once.
type Path interface {
	Set(config pathconfig.Config)
	Stats() tunpath.Stats
}

// request sets a configuration, or asks for the counters.
type request struct {
	Set json.RawMessage
}

type answer struct {
	OK    bool           `json:"ok"`
	Error string         `json:"error,omitempty"`
	Stats *tunpath.Stats `json:"stats,omitempty"`
}

// Serve answers clients until the listener is closed.
func Serve(listener net.Listener, path Path) {
	for {
		connection, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go talk(connection, path)
		}
	}
}

func talk(connection net.Conn, path Path) {
	defer connection.Close()
	decoder, encoder := json.NewDecoder(connection), json.NewEncoder(connection)
	for {
		var r request
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			_ = encoder.Encode(answer{Error: fmt.Sprintf("the request is not understood: %v", err)})
			return
		}
		if encoder.Encode(respond(r, path)) != nil {
			return
		}
	}
}

func respond(r request, path Path) answer {
	if r.Set == nil {
		stats := path.Stats()
		return answer{OK: true, Stats: &stats}
	}
	config, err := pathconfig.Parse(r.Set)
	if err != nil {
		return answer{Error: err.Error()}
	}
	path.Set(config)
	return answer{OK: true}
}
