package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

func ends(t *testing.T) (sender, getter *net.TCPConn) {
	t.Helper()
	listener, err := listen(t.Context(), "127.0.0.1", "reno") // every kernel has it
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	get, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	send, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return send.(*net.TCPConn), get.(*net.TCPConn)
}

func TestDownloadsUntilItIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sender, getter := ends(t)
	if err := carry(ctx, sender, getter, cancel); err != nil {
		t.Error(err)
	}
	if _, err := getter.Write([]byte{0}); err == nil {
		t.Error("the connection goes on")
	}
}

func TestSaysThatTheDownloadEnded(t *testing.T) {
	sender, getter := ends(t)
	time.AfterFunc(10*time.Millisecond, func() { getter.Close() })
	if err := carry(t.Context(), sender, getter, func() {}); err == nil || !strings.HasPrefix(err.Error(), "the download ended") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownCongestionControl(t *testing.T) {
	if _, err := listen(t.Context(), "127.0.0.1", "nothing"); err == nil {
		t.Error("no error")
	}
}
