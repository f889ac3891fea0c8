package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// lookInterval is how often the files are read. A renewal comes weeks before the old certificate ends.
const lookInterval = 10 * time.Second

// Set has the certificates in use. It reads their files again and again: a program that renews them only has to write them.
type Set struct {
	options Options
	report  func(string)
	now     atomic.Pointer[loaded]
}

// loaded is what the files had when they were read last.
type loaded struct {
	certificates []tls.Certificate // not empty; each with its Leaf
	names        names             // which they and -host cover
	failed       string            // why the files as they are now cannot be used; "": they are in use
}

// Open reads the certificates for the first time. report gets a sentence for each change and for all that is wrong with them.
func Open(options Options, now time.Time, report func(string)) (*Set, error) {
	certificates, err := Load(options, now)
	if err != nil {
		return nil, err
	}
	s := &Set{options: options, report: report}
	s.use(certificates)
	for _, problem := range s.Problems(now) {
		report(problem)
	}
	return s, nil
}

func (s *Set) use(certificates []tls.Certificate) {
	covered := namesOf(certificates)
	covered.add(s.options.Hosts)
	s.now.Store(&loaded{certificates: certificates, names: covered})
}

// Run looks at the files again and again, and when wanted says so, until ctx ends.
func (s *Set) Run(ctx context.Context, wanted <-chan os.Signal) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wanted:
		case <-ticker.C:
		}
		s.look(time.Now())
	}
}

// look takes what the files have now. If that cannot be used, what they had before stays in use.
func (s *Set) look(now time.Time) {
	before := s.now.Load()
	if len(s.options.CertFiles) == 0 && now.Add(devCertReserve).Before(s.Ends()) {
		return // two programs with other hosts and one folder would replace each other's for ever
	}
	certificates, err := Load(s.options, now)
	if err != nil {
		failed := fmt.Sprintf("the certificate before it stays in use: %v", err)
		if failed != before.failed {
			s.now.Store(&loaded{certificates: before.certificates, names: before.names, failed: failed})
			s.report(failed)
		}
		return
	}
	if before.failed == "" && same(before.certificates, certificates) {
		return
	}
	s.use(certificates)
	s.report(fmt.Sprintf("the certificate for %s is in use, which ends on %s", Names(certificates[0].Leaf), day(s.Ends())))
	for _, problem := range s.Problems(now) {
		s.report(problem)
	}
}

// same says whether two lists have the same chains.
func same(a, b []tls.Certificate) bool {
	return slices.EqualFunc(a, b, func(x, y tls.Certificate) bool { return slices.EqualFunc(x.Certificate, y.Certificate, bytes.Equal) })
}

// Get returns the certificate for a client. It is tls.Config.GetCertificate.
func (s *Set) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	all := s.now.Load().certificates
	for i := range all {
		if hello.SupportsCertificate(&all[i]) == nil {
			return &all[i], nil
		}
	}
	return &all[0], nil
}

// Leaves returns the certificates in use. A client that names no host gets the first.
func (s *Set) Leaves() []*x509.Certificate {
	var leaves []*x509.Certificate
	for _, c := range s.now.Load().certificates {
		leaves = append(leaves, c.Leaf)
	}
	return leaves
}

// Covers says whether a certificate or -host has the host, a name or an IP address without port.
func (s *Set) Covers(host string) bool { return s.now.Load().names.cover(host) }

// Ends returns when the first of the certificates ends.
func (s *Set) Ends() time.Time {
	earlier := func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }
	return slices.MinFunc(s.Leaves(), earlier).NotAfter
}

// Problems returns a sentence for each thing that is wrong with the certificates.
func (s *Set) Problems(now time.Time) []string {
	var problems []string
	for _, leaf := range s.Leaves() {
		if now.After(leaf.NotAfter) {
			problems = append(problems, fmt.Sprintf("the certificate for %s ended on %s", Names(leaf), day(leaf.NotAfter)))
		}
		if now.Before(leaf.NotBefore) {
			problems = append(problems, fmt.Sprintf("the certificate for %s begins on %s only", Names(leaf), day(leaf.NotBefore)))
		}
	}
	all := s.now.Load()
	covered := namesOf(all.certificates)
	for _, host := range s.options.Hosts {
		if !covered.cover(host) {
			problems = append(problems, fmt.Sprintf("no certificate is for %s, which -host names", host))
		}
	}
	if all.failed != "" {
		problems = append(problems, all.failed)
	}
	return problems
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Names returns the names of a certificate, for messages.
func Names(leaf *x509.Certificate) string {
	if all := namesIn(leaf); len(all) > 0 {
		return strings.Join(all, ", ")
	}
	return "no name"
}

func namesIn(leaf *x509.Certificate) []string {
	all := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}

// names are host names and addresses, to be looked up without allocations. "*.a.example" is here as ".a.example".
type names map[string]bool

func (n names) add(hosts []string) {
	for _, host := range hosts {
		if a, err := netip.ParseAddr(host); err == nil {
			host = a.Unmap().String()
		}
		n[strings.TrimPrefix(strings.ToLower(host), "*")] = true
	}
}

// cover says whether host is among the names. A wildcard stands for one label (RFC 9525, section 6.3).
func (n names) cover(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if dot := strings.IndexByte(host, '.'); dot != 0 && n[host] || dot > 0 && n[host[dot:]] {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && n[a.Unmap().String()]
}

func namesOf(certificates []tls.Certificate) names {
	n := names{}
	for _, c := range certificates {
		n.add(namesIn(c.Leaf))
	}
	return n
}
