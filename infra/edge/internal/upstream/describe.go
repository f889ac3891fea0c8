package upstream

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// Describe shortens the error of a system call to what a reader needs: connection refused, no such socket, no connection in
// time. It returns any other error as it is.
func Describe(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, os.ErrNotExist):
		return errors.New("no such socket")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no connection in time")
	}
	return err
}
