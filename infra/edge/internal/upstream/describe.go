package upstream

import (
	"context"
	"errors"
	"net/textproto"
	"os"
	"syscall"
)

// Describe shortens the error of a system call to what a reader needs: connection refused, no such socket, no connection in
// time. Of a header that cannot be read it says only that, as the header may be a cookie. It returns any other error as it is.
func Describe(err error) error {
	var unreadable textproto.ProtocolError
	switch {
	case errors.As(err, &unreadable):
		return errors.New("a header of the answer cannot be read")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, os.ErrNotExist):
		return errors.New("no such socket")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no connection in time")
	}
	return err
}
