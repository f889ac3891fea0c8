// Package edgetest holds what tests of several packages share. Only tests import it; it imports only the standard
// library.
package edgetest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience bounds every wait of the tests; nothing waits that long unless it fails.
const Patience = 20 * time.Second

// Receive returns the next value of ch, and fails the test when none comes within Patience. what names the value.
func Receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		t.Fatalf("no %s in time", what)
		panic("unreachable")
	}
}

// Eventually polls a condition that only a socket or the runtime can show, and fails the test when it does not hold
// within Patience. what names the condition.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks: a socket or the kernel announces nothing
	}
}

// Pattern returns n bytes that show whether any of them was lost, doubled or moved.
func Pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// StartUpstream serves h on loopback until the test ends, and returns its URL.
func StartUpstream(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	// Connections of handlers that a test left hanging would make Close wait.
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// RefusingAddress returns an address (HOST:PORT) of the loopback that refuses connections. Its port stays bound, without
// a listener, until the test ends: a port that was closed may be another test's the next moment.
func RefusingAddress(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
}

// Buffer is a bytes.Buffer that several goroutines may use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p. It never fails.
func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written so far.
func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
