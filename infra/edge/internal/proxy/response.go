package proxy

import (
	"io"
	"net/http"
	"strings"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/fields"
	"adaptive-h3/infra/edge/internal/origin"
)

// modifyResponse gives the visitor lines back that were joined on the way. It finishes the header of a switched protocol, which
// does not pass responseWriter.
func (p *Handler) modifyResponse(res *http.Response) error {
	fields.Split(res.Header)
	if res.StatusCode == http.StatusSwitchingProtocols {
		c := connpath.FromContext(res.Request.Context())
		p.finishHeader(res.Header, res.Request, c)
		c.Upgraded.Store(true)
		if server, is := res.Body.(io.ReadWriteCloser); is {
			res.Body = watchWebsocket(res.Request.Context(), server, c, p.options.RestTimeout)
		}
	}
	return nil
}

// finishHeader makes a response's header what the visitor gets. It reads the connection for Server-Timing now, and not when
// the request came, because the page wants the latest figures.
func (p *Handler) finishHeader(h http.Header, r *http.Request, c *connpath.Connection) {
	h.Del(origin.UnreachedHeader)
	if !c.MayOffer() {
		dropOffers(h)
	}
	if p.options.Kill.On() {
		h.Set("Alt-Svc", "clear")
	}
	if strings.HasPrefix(h.Get("Alt-Svc"), "h3=") {
		c.Offers()
	}
	if p.options.ServerTiming {
		if figures := connpath.ServerTiming(c, time.Now()); figures != "" {
			h.Add("Server-Timing", figures)
		}
	}
}

// dropOffers removes an Alt-Svc that offers something, and keeps one that takes offers back (RFC 7838, section 3).
func dropOffers(h http.Header) {
	if values := h.Values("Alt-Svc"); len(values) != 1 || strings.TrimSpace(values[0]) != "clear" {
		h.Del("Alt-Svc")
	}
}
