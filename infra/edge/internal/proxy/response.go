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
		p.finishHeader(res.Header, res.StatusCode, res.Request, c)
		c.Upgraded.Store(true)
		if server, is := res.Body.(io.ReadWriteCloser); is {
			res.Body = watchWebsocket(res.Request.Context(), server, c, p.options.RestTimeout)
		}
	}
	return nil
}

// finishHeader makes a response's header what the visitor gets. It reads the connection for Server-Timing now, and not when
// the request came, because the page wants the latest figures.
func (p *Handler) finishHeader(h http.Header, status int, r *http.Request, c *connpath.Connection) {
	h.Del(origin.UnreachedHeader)
	if p.options.HoldOffers && c != nil && c.Transport == connpath.TCP {
		holdOffer(h, status, r, c, time.Now())
	}
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

// A page's files are asked for within this time.
const offerHeld = 10 * time.Second

// holdOffer has an offer of a page of Firefox' go out with the first of the page's files. Firefox sends what it asks for after an offer over
// QUIC as soon as it can, before anybody has tried that. Where no file follows, the next page on the connection makes the offer.
func holdOffer(h http.Header, status int, r *http.Request, c *connpath.Connection, now time.Time) {
	isPage, offer, held := r.Header.Get("Sec-Fetch-Dest") == "document", h.Get("Alt-Svc"), c.HeldOffer.Load()
	isNext := held != nil && held.Host == r.Host // an offer is its origin's
	switch {
	case isPage && (!isNext || held.LeadsOn):
		c.HeldOffer.Store(nil)
		if strings.HasPrefix(offer, "h3=") && strings.Contains(r.UserAgent(), "Firefox/") {
			leadsOn := status >= 300 && status < 400 && status != http.StatusNotModified
			c.HeldOffer.Store(&connpath.HeldOffer{Value: offer, Host: r.Host, LeadsOn: leadsOn, At: now})
			h.Del("Alt-Svc")
		}
	case !isNext || (!isPage && now.Sub(held.At) >= offerHeld):
	case c.HeldOffer.CompareAndSwap(held, nil) && !isPage && offer == "":
		h.Set("Alt-Svc", held.Value)
	}
}

// dropOffers removes an Alt-Svc that offers something, and keeps one that takes offers back (RFC 7838, section 3).
func dropOffers(h http.Header) {
	if values := h.Values("Alt-Svc"); len(values) != 1 || strings.TrimSpace(values[0]) != "clear" {
		h.Del("Alt-Svc")
	}
}
