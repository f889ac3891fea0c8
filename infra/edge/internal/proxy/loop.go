package proxy

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// loopHeader has a name of each server of this kind that passed a request on (RFC 8586). Via has the same purpose (RFC 9110, section
// 7.6.3), but some origins answer otherwise where it is there: nginx compresses nothing then, unless gzip_proxied says so.
const loopHeader = "Cdn-Loop"

// newPseudonym makes a name for this process that no other one has, and no visitor knows.
func newPseudonym() []string { return []string{"adaptive-h3-" + rand.Text()} }

// hasPassed says whether a request has come through this process already: the origin leads back here. It reports that.
func (p *Handler) hasPassed(r *http.Request) bool {
	for _, names := range r.Header[loopHeader] {
		if strings.Contains(names, p.pseudonym[0]) {
			p.log.Report("loop", "a request came back that this program had passed on: the origin leads here")
			return true
		}
	}
	return false
}

// addName adds this process to those that passed a request on. Requests share the slice, which nobody changes.
func (p *Handler) addName(h http.Header) {
	if names := h[loopHeader]; len(names) > 0 {
		h[loopHeader] = append(names, p.pseudonym[0])
	} else {
		h[loopHeader] = p.pseudonym
	}
}
