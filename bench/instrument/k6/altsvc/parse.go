// Package altsvc reads the Alt-Svc response header field and keeps the alternative services that a client knows
// (RFC 7838).
package altsvc

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Field is a parsed Alt-Svc field value: either clear, or the alternatives in the server's order of preference.
type Field struct {
	Clear        bool
	Alternatives []Alternative
}

// Alternative is one alternative service of an origin.
type Alternative struct {
	// The ALPN protocol id with its percent-encoding undone, such as h3.
	Protocol string
	// The host; empty where the field leaves it out, which means the origin's.
	Host string
	Port int
	// How long it is fresh, from when the response was generated.
	MaxAge time.Duration
	// Persist is read but moves nothing here: no client of this program changes its network.
	Persist bool
}

// Authority is the host and port to connect to, once the cache has filled in the origin's host.
func (a Alternative) Authority() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// DefaultMaxAge is the freshness of an alternative without the parameter ma (RFC 7838, section 3.1).
const DefaultMaxAge = 24 * time.Hour

// maxDeltaSeconds stands for every larger number (RFC 9111, section 1.2.2).
const maxDeltaSeconds = 1 << 31

// Parse reads the values of all Alt-Svc lines of one response. A field with an error anywhere gives an error and no
// alternative: RFC 7838 does not say what to do with a malformed member, and Chromium drops the whole field
// (spdy_alt_svc_wire_format.cc), so that no client acts on a half-understood list.
func Parse(lines []string) (Field, error) {
	// Several lines are one list (RFC 9110, section 5.3).
	value := strings.Trim(strings.Join(lines, ","), " \t")
	// clear is case-sensitive, and only a value by itself (RFC 7838, section 3).
	if value == "clear" {
		return Field{Clear: true}, nil
	}
	s := scanner{text: value}
	var field Field
	for {
		s.skip(" \t,") // empty list members are allowed (RFC 9110, section 5.6.1.2)
		if s.done() {
			break
		}
		alternative, err := s.alternative()
		if err != nil {
			return Field{}, fmt.Errorf("Alt-Svc %q: %w", value, err)
		}
		field.Alternatives = append(field.Alternatives, alternative)
	}
	if len(field.Alternatives) == 0 {
		return Field{}, errors.New("Alt-Svc is empty")
	}
	return field, nil
}

// alternative reads: protocol-id "=" alt-authority *( OWS ";" OWS parameter )
func (s *scanner) alternative() (Alternative, error) {
	a := Alternative{MaxAge: DefaultMaxAge}
	id, err := s.token()
	if err != nil {
		return a, err
	}
	if a.Protocol, err = decodeProtocolID(id); err != nil {
		return a, err
	}
	if err := s.expect('='); err != nil {
		return a, err
	}
	authority, err := s.quotedString()
	if err != nil {
		return a, err
	}
	if a.Host, a.Port, err = splitAuthority(authority); err != nil {
		return a, err
	}
	for {
		s.skip(" \t")
		if s.done() || s.peek() == ',' {
			return a, nil
		}
		if err := s.expect(';'); err != nil {
			return a, err
		}
		s.skip(" \t")
		if err := s.parameter(&a); err != nil {
			return a, err
		}
	}
}

// parameter reads: token "=" ( token / quoted-string ). Unknown ones are ignored (RFC 7838, section 3).
func (s *scanner) parameter(a *Alternative) error {
	name, err := s.token()
	if err != nil {
		return err
	}
	if err := s.expect('='); err != nil {
		return err
	}
	value, err := s.tokenOrQuotedString()
	if err != nil {
		return err
	}
	switch name {
	case "ma":
		a.MaxAge, err = deltaSeconds(value)
	case "persist":
		a.Persist = value == "1" // other values are to be ignored (section 3.1)
	}
	return err
}

func deltaSeconds(text string) (time.Duration, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("ma %q is no number of seconds", text)
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds > maxDeltaSeconds {
		seconds = maxDeltaSeconds
	}
	return time.Duration(seconds) * time.Second, nil
}

// decodeProtocolID undoes the percent-encoding of an ALPN id (RFC 7838, section 3: w%3Dx%3Ay#z is w=x:y#z).
func decodeProtocolID(id string) (string, error) {
	var decoded strings.Builder
	for i := 0; i < len(id); i++ {
		if id[i] != '%' {
			decoded.WriteByte(id[i])
			continue
		}
		if i+3 > len(id) {
			return "", fmt.Errorf("protocol id %q ends inside a percent-encoding", id)
		}
		octet, err := strconv.ParseUint(id[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("protocol id %q has a bad percent-encoding", id)
		}
		decoded.WriteByte(byte(octet))
		i += 2
	}
	return decoded.String(), nil
}

// splitAuthority reads: [ uri-host ] ":" port. The brackets of an IPv6 address go.
func splitAuthority(authority string) (host string, port int, err error) {
	colon := strings.LastIndexByte(authority, ':')
	if colon < 0 {
		return "", 0, fmt.Errorf("authority %q has no port", authority)
	}
	host = authority[:colon]
	digits := authority[colon+1:]
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || number == 0 {
		return "", 0, fmt.Errorf("authority %q has no valid port", authority)
	}
	if inside, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inside, "]"); !ok || host == "" {
			return "", 0, fmt.Errorf("authority %q has a broken IPv6 address", authority)
		}
	} else if strings.ContainsAny(host, ":]/@ ") {
		return "", 0, fmt.Errorf("authority %q has no valid host", authority)
	}
	return host, int(number), nil
}
