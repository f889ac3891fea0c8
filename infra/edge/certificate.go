package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	devCertFile = "dev-cert.pem"
	devKeyFile  = "dev-key.pem"

	devCertLife = 90 * 24 * time.Hour
	// A certificate that ends sooner is made again, so that none ends while a program of this kind runs.
	devCertReserve = 7 * 24 * time.Hour
)

// loadCertificate gives the configured certificate, or the development certificate.
func loadCertificate(opts options, now time.Time) (tls.Certificate, error) {
	if opts.certFile == "" {
		return developmentCertificate(opts.stateDir, opts.hosts, now)
	}
	cert, err := tls.LoadX509KeyPair(opts.certFile, opts.keyFile)
	if err != nil {
		return cert, fmt.Errorf("flags -cert and -key must name a PEM certificate and its private key: %w", err)
	}
	return cert, nil
}

// developmentCertificate reads the certificate kept in dir, and makes another where there is none, where it ends soon,
// or where it lacks one of the hosts.
func developmentCertificate(dir string, hosts []string, now time.Time) (tls.Certificate, error) {
	names := append([]string{"localhost", "*.localhost", "127.0.0.1", "::1"}, hosts...)
	certPath, keyPath := filepath.Join(dir, devCertFile), filepath.Join(dir, devKeyFile)
	// Whatever is wrong with what is there, a new one mends it.
	if cert, err := tls.LoadX509KeyPair(certPath, keyPath); err == nil && stillGood(cert.Leaf, names, now) {
		return cert, nil
	}
	cert, key, err := makeCertificate(names, now)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a development certificate: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return tls.Certificate{}, folderError(dir, err)
	}
	// The key first: a certificate without its key is made again, a key without its certificate never seen.
	if err := writeFile(keyPath, key, 0o600); err != nil {
		return tls.Certificate{}, folderError(dir, err)
	}
	if err := writeFile(certPath, cert, 0o644); err != nil {
		return tls.Certificate{}, folderError(dir, err)
	}
	return tls.X509KeyPair(cert, key)
}

func folderError(dir string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("the folder %s cannot take the development certificate (%w): choose another with -state", dir, err)
}

// writeFile replaces path as a whole, so that a program that starts at the same time reads the old or the new.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func stillGood(leaf *x509.Certificate, names []string, now time.Time) bool {
	if leaf == nil || now.Before(leaf.NotBefore) || now.Add(devCertReserve).After(leaf.NotAfter) {
		return false
	}
	have := map[string]bool{}
	for _, name := range leaf.DNSNames {
		have[name] = true
	}
	for _, ip := range leaf.IPAddresses {
		have[ip.String()] = true
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			name = ip.String()
		}
		if !have[name] {
			return false
		}
	}
	return true
}

// makeCertificate makes a self-signed ECDSA P-256 certificate, as PEM.
func makeCertificate(names []string, now time.Time) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "adaptive-h3 development"},
		NotBefore:             now.Add(-time.Hour), // clocks differ
		NotAfter:              now.Add(devCertLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

// spkiSHA256 is what Chromium's --ignore-certificate-errors-spki-list takes: base64 of the SHA-256 of the certificate's
// SubjectPublicKeyInfo (the same as RFC 7469, section 2.4).
func spkiSHA256(leaf *x509.Certificate) string {
	sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// leafOf is the certificate itself, without those that vouch for it.
func leafOf(cert tls.Certificate) (*x509.Certificate, error) {
	if cert.Leaf != nil {
		return cert.Leaf, nil
	}
	return x509.ParseCertificate(cert.Certificate[0])
}
