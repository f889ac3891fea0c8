// Package certificate has what the edge proves itself with: its certificates, given ones or a self-signed one for development, and
// the secret of QUIC's stateless resets. It makes and keeps the latter two. It imports only the standard library.
package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	devCertFile = "dev-cert.pem"
	devKeyFile  = "dev-key.pem"

	devCertLife = 90 * 24 * time.Hour
	// A certificate that ends sooner is replaced, so that no certificate ends while a program of this kind runs.
	devCertReserve = 7 * 24 * time.Hour
)

// Options say which certificates: those in CertFiles, or one for development.
type Options struct {
	CertFiles []string // certificate chains, PEM; none: the development certificate
	KeyFiles  []string // their private keys, PEM, in the same order
	StateDir  string   // folder that keeps the development certificate
	Hosts     []string // names that visitors use: the development certificate gets them, and given ones have to have them
}

// Load returns the given certificates, or the development certificate as it is good at the time now. Its error is one sentence
// that names the flags to change.
func Load(opts Options, now time.Time) ([]tls.Certificate, error) {
	if len(opts.CertFiles) == 0 {
		cert, err := developmentCertificate(opts.StateDir, opts.Hosts, now)
		return []tls.Certificate{cert}, err
	}
	var all []tls.Certificate
	for i := range opts.CertFiles {
		cert, err := tls.LoadX509KeyPair(opts.CertFiles[i], opts.KeyFiles[i])
		if err != nil {
			return nil, fmt.Errorf("flags -cert and -key must name a PEM certificate and its private key: %w", err)
		}
		all = append(all, cert)
	}
	return all, nil
}

// developmentCertificate reads the certificate kept in dir. It makes another one where that is missing, ends soon, or lacks
// one of the hosts.
func developmentCertificate(dir string, hosts []string, now time.Time) (tls.Certificate, error) {
	names := append([]string{"localhost", "*.localhost", "127.0.0.1", "::1"}, hosts...)
	certPath, keyPath := filepath.Join(dir, devCertFile), filepath.Join(dir, devKeyFile)
	// Whatever is wrong with the files, a new certificate repairs it.
	if cert, err := tls.LoadX509KeyPair(certPath, keyPath); err == nil && stillGood(cert.Leaf, names, now) {
		return cert, nil
	}
	err := os.MkdirAll(dir, 0o700)
	var cert tls.Certificate
	if err == nil {
		cert, err = WriteSelfSigned(certPath, keyPath, names, now.Add(devCertLife))
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the folder %s cannot take the development certificate (%w): choose another with -state", dir, reasonOf(err))
	}
	return cert, nil
}

// reasonOf leaves out the path, which may be that of a temporary file.
func reasonOf(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// writeFile replaces path as a whole, so that a program that starts at the same time reads the old or the new.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func stillGood(leaf *x509.Certificate, hosts []string, now time.Time) bool {
	if leaf == nil || now.Before(leaf.NotBefore) || now.Add(devCertReserve).After(leaf.NotAfter) {
		return false
	}
	have := names{}
	have.add(namesIn(leaf))
	return !slices.ContainsFunc(hosts, func(host string) bool { return !have.cover(host) })
}

// SPKISHA256 returns what Chromium's --ignore-certificate-errors-spki-list takes: base64 of the SHA-256 of the certificate's
// SubjectPublicKeyInfo (the same as RFC 7469, section 2.4).
func SPKISHA256(leaf *x509.Certificate) string {
	sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}
