package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"
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
	text := func(list []tls.Certificate) string {
		var all strings.Builder
		for _, c := range list {
			for _, der := range c.Certificate {
				all.Write(der)
			}
		}
		return all.String()
	}
	return text(a) == text(b)
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

// Leaves returns the certificates in use.
func (s *Set) Leaves() []*x509.Certificate {
	var leaves []*x509.Certificate
	for _, c := range s.now.Load().certificates {
		leaves = append(leaves, c.Leaf)
	}
	return leaves
}

// First returns the certificate that a client gets that names no host.
func (s *Set) First() tls.Certificate { return s.now.Load().certificates[0] }

// Covers says whether a certificate or -host has the host, a name or an IP address without port.
func (s *Set) Covers(host string) bool { return s.now.Load().names.cover(host) }

// Ends returns when the first of the certificates ends.
func (s *Set) Ends() time.Time {
	var first time.Time
	for i, leaf := range s.Leaves() {
		if i == 0 || leaf.NotAfter.Before(first) {
			first = leaf.NotAfter
		}
	}
	return first
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
	names := append([]string{}, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no name"
	}
	return strings.Join(names, ", ")
}

// names are host names and addresses, to be looked up without allocations.
type names struct {
	exact     map[string]bool
	wildcards map[string]bool // "*.a.example" as ".a.example"
	addresses map[netip.Addr]bool
}

func namesOf(certificates []tls.Certificate) names {
	n := names{exact: map[string]bool{}, wildcards: map[string]bool{}, addresses: map[netip.Addr]bool{}}
	for _, c := range certificates {
		n.add(c.Leaf.DNSNames)
		for _, ip := range c.Leaf.IPAddresses {
			if a, ok := netip.AddrFromSlice(ip); ok {
				n.addresses[a.Unmap()] = true
			}
		}
	}
	return n
}

func (n names) add(hosts []string) {
	for _, host := range hosts {
		host = strings.ToLower(host)
		if a, err := netip.ParseAddr(host); err == nil {
			n.addresses[a.Unmap()] = true
		} else if parent, ok := strings.CutPrefix(host, "*"); ok {
			n.wildcards[parent] = true
		} else {
			n.exact[host] = true
		}
	}
}

// cover says whether host is among the names. A wildcard stands for one label (RFC 9525, section 6.3).
func (n names) cover(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if n.exact[host] {
		return true
	}
	if label := strings.IndexByte(host, '.'); label > 0 && n.wildcards[host[label:]] {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && n.addresses[a.Unmap()]
}
