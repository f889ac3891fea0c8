package certificate

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
)

const resetSecretFile = "reset-secret"

// ResetSecret returns the secret from which QUIC's stateless resets are derived (RFC 9000, section 10.3.2). It makes one where
// stateDir keeps none. If that folder cannot keep it, the secret is good for this process alone, and err says so.
func ResetSecret(stateDir string) (secret [32]byte, err error) {
	path := filepath.Join(stateDir, resetSecretFile)
	if kept, err := os.ReadFile(path); err == nil && len(kept) == len(secret) {
		return [32]byte(kept), nil
	}
	_, _ = rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
	if err = os.MkdirAll(stateDir, 0o700); err == nil {
		err = writeFile(path, secret[:], 0o600)
	}
	if err != nil {
		err = fmt.Errorf("the folder %s cannot keep the secret of QUIC's stateless resets (%w): after a restart clients wait for "+
			"their own timeouts; choose another with -state", stateDir, reasonOf(err))
	}
	return secret, err
}
