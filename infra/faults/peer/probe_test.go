package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOneLineForEachURL(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Method", r.Method)
		w.Header().Set("X-Own", r.Header.Get("X-Own"))
		switch r.URL.Path {
		case "/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		case "/long":
			_, _ = w.Write(make([]byte, 1<<20))
		default:
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, protocol := range []string{"h1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			opts := probing{protocol: protocol, caFile: ca, timeout: 10 * time.Second, headers: http.Header{"X-Own": {"1"}}}
			loads := runForTest(t, opts, server.URL+"/", server.URL+"/broken")
			if got := loads[0]; got.Status != 200 || got.Error != "" || got.Headers.Get("X-Own") != "1" || got.Ms <= 0 {
				t.Errorf("a plain load: %+v", got)
			}
			if got := loads[1]; got.Status != 200 || got.Error == "" {
				t.Errorf("a broken load must say so: %+v", got)
			}

			opts.postBytes = 100_000
			if got := runForTest(t, opts, server.URL+"/")[0]; got.Bytes != 100_000 || got.Headers.Get("X-Method") != "POST" {
				t.Errorf("a body of 100,000 bytes came back as %+v", got)
			}
			opts.postBytes, opts.leaveAfter = 0, 1000
			if got := runForTest(t, opts, server.URL+"/long")[0]; got.Bytes != 1000 || got.Error != "" {
				t.Errorf("left after 1,000 bytes: %+v", got)
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	notPEM := filepath.Join(t.TempDir(), "not.pem")
	if err := os.WriteFile(notPEM, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		opts probing
		urls []string
		want string
	}{
		{probing{protocol: "h2"}, nil, "at least one URL"},
		{probing{protocol: "h4"}, []string{"https://localhost/"}, "none of h1, h2, h3"},
		{probing{protocol: "h2", caFile: "/nowhere.pem"}, []string{"https://localhost/"}, "-ca"},
		{probing{protocol: "h2", caFile: notPEM}, []string{"https://localhost/"}, "no certificate"},
	} {
		if err := test.opts.run(test.urls, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.opts, err, test.want)
		}
	}
}

func runForTest(t *testing.T, opts probing, urls ...string) []loaded {
	t.Helper()
	var out bytes.Buffer
	if err := opts.run(urls, &out); err != nil {
		t.Fatal(err)
	}
	var loads []loaded
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var one loaded
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		loads = append(loads, one)
	}
	return loads
}
