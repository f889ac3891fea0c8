// Package control is the socket over which a running path is configured and asked: one JSON object a line each way.
package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/report"
)

// Path is what is controlled. Its methods are called by several clients at once.
type Path interface {
	Set(config pathconfig.Config) error
	Stats() (report.Stats, error)
}

type request struct {
	Set   json.RawMessage `json:"set"`
	Stats bool            `json:"stats"`
}

type answer struct {
	OK     bool               `json:"ok"`
	Faults []pathconfig.Fault `json:"faults,omitempty"`
	Error  string             `json:"error,omitempty"`
	Stats  *report.Stats      `json:"stats,omitempty"`
}

const maxLineBytes = 1 << 20

// Listen opens the socket. One that a killed run left behind is replaced; one that answers belongs to somebody.
func Listen(file string) (net.Listener, error) {
	if info, err := os.Lstat(file); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists and is not a socket", file)
		}
		connection, err := net.Dial("unix", file)
		if err == nil {
			connection.Close()
			return nil, fmt.Errorf("%s is in use by another netpath", file)
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("cannot tell whether %s is in use: %w", file, err)
		}
		if err := os.Remove(file); err != nil {
			return nil, fmt.Errorf("cannot replace %s: %w", file, err)
		}
	}
	listener, err := net.Listen("unix", file)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", file, err)
	}
	return listener, nil
}

// Serve answers clients until the listener is closed.
func Serve(listener net.Listener, path Path) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		go talk(connection, path)
	}
}

func talk(connection net.Conn, path Path) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	lines.Buffer(make([]byte, 0, 4096), maxLineBytes)
	encoder := json.NewEncoder(connection)
	for lines.Scan() {
		if encoder.Encode(respond(lines.Bytes(), path)) != nil {
			return
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		_ = encoder.Encode(answer{Error: fmt.Sprintf("a request has at most %d bytes", maxLineBytes)})
	}
}

func respond(line []byte, path Path) answer {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{Error: fmt.Sprintf("the request is not understood: %v", err)}
	}
	switch {
	case (r.Set != nil) == r.Stats:
		return answer{Error: `ask for one of {"set": CONFIGURATION} and {"stats": true}`}
	case r.Stats:
		stats, err := path.Stats()
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{OK: true, Stats: &stats}
	}
	config, err := pathconfig.Parse(r.Set)
	var faults pathconfig.Faults
	if errors.As(err, &faults) {
		return answer{Faults: faults}
	}
	if err := path.Set(config); errors.As(err, &faults) {
		return answer{Faults: faults}
	} else if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{OK: true}
}
