package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"time"
)

// WriteSelfSigned makes a self-signed ECDSA P-256 certificate for names that ends then, and writes it and its key as PEM. The key comes
// first: a certificate without its key is replaced, and nobody looks at a key without its certificate.
func WriteSelfSigned(certPath, keyPath string, names []string, ends time.Time) (made tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return made, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "adaptive-h3 development"},
		NotBefore:             ends.Add(-devCertLife - time.Hour), // clocks differ
		NotAfter:              ends,
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
		return made, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return made, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if err = writeFile(keyPath, keyPEM, 0o600); err == nil {
		err = writeFile(certPath, certPEM, 0o644)
	}
	if err != nil {
		return made, err
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}
