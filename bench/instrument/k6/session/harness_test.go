package session

import (
	"context"
	"os"
	"testing"
	"time"

	"adaptive-h3/bench/instrument/k6/testsite"
)

// patience bounds every wait of these tests; nothing waits that long unless it fails.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	os.Exit(m.Run())
}

// open begins a session with the site that ends with the test.
func open(t *testing.T, site *testsite.Site, change func(*Config)) *Session {
	t.Helper()
	config := Config{
		Origin:        Origin{Host: "localhost", Port: site.Port, Address: testsite.Address, CAFile: site.CAFile},
		FirstProtocol: H2, Switch: SwitchWait, QUICTimeoutMs: float64(patience.Milliseconds()),
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	session, err := Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(); cancel() })
	return session
}

func load(t *testing.T, s *Session, document string, subresources ...string) {
	t.Helper()
	if err := s.LoadPage(document, subresources...); err != nil {
		t.Fatal(err)
	}
}
