// Package altsvc reads the Alt-Svc response header field and keeps the alternative services that a client knows
// (RFC 7838).
package altsvc

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Alternative is one alternative service of an origin.
type Alternative struct {
	// The ALPN protocol id with its percent-encoding undone, such as h3.
	Protocol string
	// The host; empty where the field leaves it out, which means the origin's.
	Host string
	Port int
	// How long it is fresh, from when the response was generated.
	MaxAge time.Duration
}

// Authority is the host and port to connect to, once the cache has filled in the origin's host.
func (a Alternative) Authority() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

const (
	// defaultMaxAge is the freshness of an alternative without the parameter ma (RFC 7838, section 3.1).
	defaultMaxAge = 24 * time.Hour
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

// parse reads the values of all Alt-Svc lines of one response, and gives the alternatives in the server's order of
// preference; none for clear. An error anywhere spoils all of the field: RFC 7838 does not say what to do with a malformed
// member, and Chromium drops the whole field (spdy_alt_svc_wire_format.cc).
func parse(lines []string) ([]Alternative, error) {
	// Several lines are one list (RFC 9110, section 5.3).
	value := strings.Trim(strings.Join(lines, ","), " \t")
	// clear is case-sensitive, and only a value by itself (RFC 7838, section 3).
	if value == "clear" {
		return nil, nil
	}
	rest := strings.TrimLeft(value, " \t,")
	if rest == "" {
		return nil, errors.New("Alt-Svc is empty")
	}
	var alternatives []Alternative
	for rest != "" {
		parts := member.FindStringSubmatch(rest)
		if parts == nil {
			return nil, fmt.Errorf("Alt-Svc %q is malformed at %q", value, rest)
		}
		alternative, err := newAlternative(parts[1], unquote(parts[2]), parts[3])
		if err != nil {
			return nil, fmt.Errorf("Alt-Svc %q: %w", value, err)
		}
		alternatives = append(alternatives, alternative)
		rest = rest[len(parts[0]):]
	}
	return alternatives, nil
}

func newAlternative(id, authority, parameters string) (Alternative, error) {
	// RFC 7838, section 3: w%3Dx%3Ay#z is w=x:y#z.
	protocol, err := url.PathUnescape(id)
	if err != nil {
		return Alternative{}, fmt.Errorf("protocol id: %w", err)
	}
	host, digits, err := net.SplitHostPort(authority)
	if err != nil || strings.ContainsAny(host, "/@ ") {
		return Alternative{}, fmt.Errorf("%q is no host and port", authority)
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 {
		return Alternative{}, fmt.Errorf("authority %q has no valid port", authority)
	}
	maxAge := defaultMaxAge
	for _, one := range parameter.FindAllStringSubmatch(parameters, -1) {
		// Others are to be ignored (RFC 7838, section 3). persist would matter to a client that changes its network.
		if one[1] == "ma" {
			seconds, err := strconv.ParseUint(unquote(one[2]), 10, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				return Alternative{}, fmt.Errorf("ma %s is no number of seconds", one[2])
			}
			maxAge = time.Duration(min(seconds, maxDeltaSeconds)) * time.Second
		}
	}
	return Alternative{protocol, host, int(port), maxAge}, nil
}

// unquote gives the value of a quoted string; of a token, which has no quotes and no backslash, the token.
func unquote(text string) string {
	return quotedPair.ReplaceAllString(strings.Trim(text, `"`), "$1")
}

// Cache keeps the alternatives of one origin for one client. The clock is the caller's. Not safe for concurrent use.
type Cache struct {
	// Host is the origin's.
	Host string

	known     []Alternative
	generated time.Time // the response that they came with
}

// Update takes the Alt-Svc lines of a response that was received now and had the given Age. A field replaces everything
// known (RFC 7838, section 3); a response without the field leaves all as it was, and so does a malformed one, which is
// returned as an error.
func (c *Cache) Update(lines []string, age time.Duration, now time.Time) error {
	if len(lines) == 0 {
		return nil
	}
	known, err := parse(lines)
	if err != nil {
		return err
	}
	// Freshness counts from when the response was generated, not from when it came (section 3.1).
	c.known, c.generated = known, now.Add(-age)
	return nil
}

// Fresh gives the alternatives to which a new connection may be opened now, in the server's order of preference. An
// entry that is stale says nothing of connections that were opened while it was fresh (RFC 7838, section 2.2).
func (c *Cache) Fresh(now time.Time) []Alternative {
	var fresh []Alternative
	for _, alternative := range c.known {
		if now.Before(c.generated.Add(alternative.MaxAge)) {
			alternative.Host = cmp.Or(alternative.Host, c.Host)
			fresh = append(fresh, alternative)
		}
	}
	return fresh
}
