// Package altsvc reads the Alt-Svc response header field and keeps the alternative services over HTTP/3 that a client knows
// (RFC 7838).
package altsvc

import (
	"cmp"
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Alternative is where an origin is served over HTTP/3 as well.
type Alternative struct {
	Host string
	Port int
	// When it is stale.
	until time.Time
}

// Authority is the host and port to connect to.
func (a Alternative) Authority() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

const (
	// defaultMaxAge is the freshness of an alternative without the parameter ma (RFC 7838, section 3.1).
	defaultMaxAge = 24 * 60 * 60
	// maxDeltaSeconds stands for every larger number (RFC 9111, section 1.2.2).
	maxDeltaSeconds = 1 << 31

	// RFC 9110, section 5.6: the whitespace between parts, a token, a quoted string, a parameter.
	space  = `[ \t]*`
	token  = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	quoted = `"(?:[^"\\]|\\.)*"`
	param  = space + ";" + space + "(" + token + ")=(" + token + "|" + quoted + ")"
)

var (
	// A member of the list, as protocol id, authority and parameters, with the commas up to the next one. A member may be
	// empty (RFC 9110, section 5.6.1.2).
	member     = regexp.MustCompile("^(" + token + ")=(" + quoted + ")((?:" + param + ")*)" + space + `(?:,[ \t,]*|$)`)
	parameter  = regexp.MustCompile(param)
	quotedPair = regexp.MustCompile(`\\(.)`)
)

// Cache keeps the alternatives of one origin for one client. The clock is the caller's. Not safe for concurrent use.
type Cache struct {
	// Host is the origin's.
	Host string

	known []Alternative
}

// Update takes the Alt-Svc lines of a response that was received now and had the given Age. A field replaces everything
// known (RFC 7838, section 3); a response without the field leaves all as it was. So does a malformed one: RFC 7838 does not
// say what to do with a malformed member, and Chromium drops the whole field (spdy_alt_svc_wire_format.cc).
func (c *Cache) Update(lines []string, age time.Duration, now time.Time) {
	// Several lines are one list (RFC 9110, section 5.3).
	value := strings.Trim(strings.Join(lines, ","), " \t")
	rest := strings.TrimLeft(value, " \t,")
	// clear is case-sensitive, and only a value by itself (RFC 7838, section 3).
	if value == "clear" {
		c.known, rest = nil, ""
	}
	if rest == "" {
		return
	}
	var known []Alternative
	for rest != "" {
		parts := member.FindStringSubmatch(rest)
		if parts == nil {
			return
		}
		// Freshness counts from when the response was generated, not from when it came (section 3.1).
		alternative, ok := c.parse(unquote(parts[2]), parts[3], now.Add(-age))
		if !ok {
			return
		}
		if parts[1] == "h3" {
			known = append(known, alternative)
		}
		rest = rest[len(parts[0]):]
	}
	c.known = known
}

func (c *Cache) parse(authority, parameters string, generated time.Time) (Alternative, bool) {
	host, digits, err := net.SplitHostPort(authority)
	port, portErr := strconv.ParseUint(digits, 10, 16)
	if err != nil || portErr != nil || port == 0 || strings.ContainsAny(host, "/@ ") {
		return Alternative{}, false
	}
	maxAge := uint64(defaultMaxAge)
	for _, one := range parameter.FindAllStringSubmatch(parameters, -1) {
		// Others are to be ignored (RFC 7838, section 3). persist would matter to a client that changes its network.
		if one[1] != "ma" {
			continue
		}
		// A number too large is read as the largest one.
		if maxAge, err = strconv.ParseUint(unquote(one[2]), 10, 64); errors.Is(err, strconv.ErrSyntax) {
			return Alternative{}, false
		}
	}
	until := generated.Add(time.Duration(min(maxAge, maxDeltaSeconds)) * time.Second)
	return Alternative{cmp.Or(host, c.Host), int(port), until}, true
}

// unquote gives the value of a quoted string; of a token, which has no quotes and no backslash, the token.
func unquote(text string) string {
	return quotedPair.ReplaceAllString(strings.Trim(text, `"`), "$1")
}

// Fresh gives the alternatives to which a new connection may be opened now, in the server's order of preference. An
// entry that is stale says nothing of connections that were opened while it was fresh (RFC 7838, section 2.2).
func (c *Cache) Fresh(now time.Time) []Alternative {
	var fresh []Alternative
	for _, alternative := range c.known {
		if now.Before(alternative.until) {
			fresh = append(fresh, alternative)
		}
	}
	return fresh
}
