package proxy

import (
	"bufio"
	"net"
	"net/http"

	"adaptive-h3/infra/edge/connpath"
)

// responseWriter sees a response on its way out. It changes the header once, and counts what is written on the connection.
type responseWriter struct {
	http.ResponseWriter
	handler *Handler
	request *http.Request
	conn    *connpath.Connection
	body    *boundedBody
	done    bool // the final header is out
	unread  patience
}

// Unwrap lets http.ResponseController reach what this type does not wrap.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is for websockets, whose answer passes by WriteHeader.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.body.release()
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

func (w *responseWriter) WriteHeader(status int) {
	if w.done {
		return
	}
	h := w.Header()
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		// Early hints and the like: the final header is still to come.
		if !w.conn.MayOffer() || w.handler.options.Kill.On() {
			dropOffers(h)
		}
		w.ResponseWriter.WriteHeader(status)
		if status == http.StatusContinue {
			w.body.pass() // not before, or the server would say it once more
		}
		return
	}
	w.done = true
	if whole := w.body.release(); !whole && w.request.ProtoMajor == 1 {
		// Nobody can tell the rest of the body from the next request (RFC 9112, section 9.3).
		h.Set("Connection", "close")
		w.conn.Lingers.Store(true)
	}
	if w.request.ProtoMajor < 3 && w.handler.last.Load() {
		h.Set("Connection", "close")
	}
	w.handler.finishHeader(h, status, w.request, w.conn)
	if values := h.Values("Alt-Svc"); w.request.ProtoMajor == 3 && !w.handler.options.StaysOnClear && len(values) == 1 && values[0] == "clear" {
		w.conn.TakeBack() // Firefox would stay on its open connection
	}
	// The servers guess a missing Content-Type from the body, unless there is an entry, which may be nil.
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil
	}
	if status == http.StatusNotModified && w.request.ProtoMajor == 1 {
		// The server removes the type of a 304, but only by the usual spelling of the name.
		h["content-type"] = h["Content-Type"]
	}
	w.ResponseWriter.WriteHeader(status)
	if status < 300 {
		w.body.pass() // the upstream may read on. After a refusal nobody wants the body.
	}
	if w.request.Method == http.MethodHead {
		// Otherwise http3 adds Content-Length: 0 at the end of the handler where the upstream gave no length.
		_ = w.FlushError()
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	w.unread.begin(w)
	defer w.unread.end()
	w.conn.WriteBegins()
	n, err := w.ResponseWriter.Write(p)
	w.conn.WriteEnds(n)
	return n, err
}

// FlushError writes what is buffered. It can block, as Write can.
func (w *responseWriter) FlushError() error {
	w.unread.begin(w)
	defer w.unread.end()
	w.conn.WriteBegins()
	defer w.conn.WriteEnds(0)
	return http.NewResponseController(w.ResponseWriter).Flush()
}
