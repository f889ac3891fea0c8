package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/quicprobe"
)

// asked is what came of a handshake with one address.
type asked struct {
	HandshakeAnswer
	err error
}

// handshakes makes one with every address, all at the same time, until ctx ends.
func (s *server) handshakes(ctx context.Context) (https, http3 []asked) {
	leaf := s.subject.Certificates.First().Leaf
	https, http3 = make([]asked, len(s.subject.TCP)), make([]asked, len(s.subject.HTTP3))
	var all sync.WaitGroup
	for i, t := range s.subject.TCP {
		all.Go(func() {
			took, err := handshakeTCP(ctx, t.ReachedAt(), leaf)
			https[i] = answerOf(t.Address, took, err)
		})
	}
	for i, h := range s.subject.HTTP3 {
		all.Go(func() {
			took, err := quicprobe.Handshake(ctx, h.ReachedAt(), leaf)
			if err == nil && !h.Serves.Load() {
				err = errors.New("it is not offered yet")
			}
			http3[i] = answerOf(h.Address, took, err)
		})
	}
	all.Wait()
	return https, http3
}

func answerOf(address string, took time.Duration, err error) asked {
	return asked{HandshakeAnswer{Address: address, OK: err == nil, HandshakeMs: float64(took.Microseconds()) / 1000}, err}
}

// handshakeTCP opens a connection for HTTP/2, closes it, and returns how long the handshake took. The certificate must be this one,
// whatever its names.
func handshakeTCP(ctx context.Context, at netip.AddrPort, leaf *x509.Certificate) (time.Duration, error) {
	began := time.Now()
	dialer := tls.Dialer{Config: &tls.Config{
		NextProtos:         []string{"h2"},
		InsecureSkipVerify: true, // the names are not this machine's: it is compared as a whole
		VerifyConnection: func(c tls.ConnectionState) error {
			if !c.PeerCertificates[0].Equal(leaf) {
				return errors.New("another certificate than this server's own")
			}
			return nil
		},
	}}
	c, err := dialer.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return 0, err
	}
	return time.Since(began), c.Close()
}

// problemsOf returns a sentence for each address that does not answer.
func problemsOf(protocol string, all []asked) (answers []HandshakeAnswer, problems []string) {
	answers = make([]HandshakeAnswer, 0, len(all))
	for _, a := range all {
		answers = append(answers, a.HandshakeAnswer)
		if a.err != nil {
			problems = append(problems, fmt.Sprintf("%s on %s: %v", protocol, a.Address, a.err))
		}
	}
	return answers, problems
}
