package altsvc

import (
	"errors"
	"fmt"
	"strings"
)

// scanner reads the tokens of RFC 9110, section 5.6.
type scanner struct {
	text string
	at   int
}

func (s *scanner) done() bool { return s.at >= len(s.text) }

func (s *scanner) peek() byte { return s.text[s.at] }

func (s *scanner) skip(octets string) {
	for !s.done() && strings.IndexByte(octets, s.peek()) >= 0 {
		s.at++
	}
}

func (s *scanner) expect(octet byte) error {
	if s.done() || s.peek() != octet {
		return fmt.Errorf("expected %q at offset %d", octet, s.at)
	}
	s.at++
	return nil
}

func (s *scanner) token() (string, error) {
	start := s.at
	for !s.done() && isTokenOctet(s.peek()) {
		s.at++
	}
	if s.at == start {
		return "", fmt.Errorf("expected a token at offset %d", start)
	}
	return s.text[start:s.at], nil
}

func (s *scanner) quotedString() (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	var value strings.Builder
	for ; !s.done(); s.at++ {
		switch octet := s.peek(); octet {
		case '"':
			s.at++
			return value.String(), nil
		case '\\': // quoted-pair (section 5.6.4)
			s.at++
			if !s.done() {
				value.WriteByte(s.peek())
			}
		default:
			value.WriteByte(octet)
		}
	}
	return "", errors.New("a quoted string does not end")
}

func (s *scanner) tokenOrQuotedString() (string, error) {
	if !s.done() && s.peek() == '"' {
		return s.quotedString()
	}
	return s.token()
}

func isTokenOctet(octet byte) bool {
	return octet >= '0' && octet <= '9' || octet >= 'a' && octet <= 'z' || octet >= 'A' && octet <= 'Z' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", octet) >= 0
}
