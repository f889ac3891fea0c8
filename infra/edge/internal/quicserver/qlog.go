package quicserver

import (
	"bufio"
	"context"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"

	"adaptive-h3/infra/edge/internal/errorlog"
)

// qlogs returns a tracer that writes the packets of every QUIC connection into a file of its own in dir, as
// qlog (draft-ietf-quic-qlog-quic-events), without addresses. It returns nil where dir is empty.
func qlogs(dir string, log *errorlog.Log) tracer {
	if dir == "" {
		return nil
	}
	open := func(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
		file, err := os.OpenFile(filepath.Join(dir, id.String()+".sqlog"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			log.Logger("qlog").Printf("a connection has none: %v", err)
			return nil
		}
		trace := qlogwriter.NewConnectionFileSeq(&bufferedFile{bufio.NewWriter(file), file}, isClient, id)
		go trace.Run()
		return trace
	}
	return qlog.RedactIPs(open, func(netip.AddrPort, bool) (string, bool) { return "redacted", true })
}

// bufferedFile is complete once it is closed, at the connection's end.
type bufferedFile struct {
	*bufio.Writer
	file *os.File
}

func (f *bufferedFile) Close() error {
	err := f.Flush()
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	return err
}
