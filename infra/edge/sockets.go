package main

import (
	"adaptive-h3/infra/edge/internal/listen"
)

// openSockets binds what the flags name, or takes what was inherited of it. On error nothing is left behind.
func openSockets(specs []listen.Spec) (sockets []listen.Socket, err error) {
	inherited, err := listen.Inherit()
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		opened, err := listen.Open(spec, inherited)
		if err != nil {
			listen.Close(sockets)
			return nil, err
		}
		sockets = append(sockets, opened...)
	}
	if err := inherited.Unclaimed(); err != nil {
		listen.Close(sockets)
		return nil, err
	}
	return sockets, nil
}
