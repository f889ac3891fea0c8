package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
)

const ms = time.Millisecond

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	os.Exit(m.Run())
}

var protocols = []string{"HTTP/1.1", "HTTP/2", "HTTP/3"}

// testEdge is the program, run as main runs it, with an upstream and a place for samples.
type testEdge struct {
	t         testing.TB
	addresses []string
	http3     []bool
	tcp       []string // congestion controls
	spki      string
	state     string
	stderr    *edgetest.Buffer
	samples   chan pathSampleJSON
	stop      context.CancelFunc
	exit      chan int
}

// pathSampleJSON reads what was posted, independently of the encoder's types.
type pathSampleJSON struct {
	ClientAddress   string  `json:"clientAddress"`
	Transport       string  `json:"transport"`
	ConnectionID    string  `json:"connectionId"`
	AtMs            int64   `json:"atMs"`
	RTTMs           float64 `json:"rttMs"`
	MinRTTMs        float64 `json:"minRttMs"`
	PacketsSent     int64   `json:"packetsSent"`
	PacketsLost     int64   `json:"packetsLost"`
	BytesSent       int64   `json:"bytesSent"`
	BusyMs          int64   `json:"busyMs"`
	DeliveryRateBps float64 `json:"deliveryRateBps"`
	Closing         bool    `json:"closing"`
}

// startSampleSink serves POST /samples and gives what arrives.
func startSampleSink(t testing.TB) (string, chan pathSampleJSON) {
	t.Helper()
	samples := make(chan pathSampleJSON, 1000)
	url := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Samples []pathSampleJSON `json:"samples"`
		}
		dec := json.NewDecoder(r.Body)
		dec.DisallowUnknownFields()
		if err := dec.Decode(&body); err != nil || r.Method != http.MethodPost || r.URL.Path != "/samples" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("bad post: %s %s %q: %v", r.Method, r.URL, r.Header, err)
		}
		for _, s := range body.Samples {
			samples <- s
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return url, samples
}

// startEdgeWith runs the program with an upstream and further arguments.
func startEdgeWith(t testing.TB, upstream string, args ...string) *testEdge {
	t.Helper()
	e := &testEdge{t: t, state: filepath.Join(t.TempDir(), "state"), stderr: &edgetest.Buffer{}, exit: make(chan int, 1)}
	sink, samples := startSampleSink(t)
	e.samples = samples
	if !strings.Contains(strings.Join(args, " "), "-listen") {
		args = append(args, "-listen", "127.0.0.1:0")
	}
	args = append([]string{"-upstream", upstream, "-samples", sink, "-state", e.state, "-shutdown-timeout", "5s", "-server-timing=true"}, args...)
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	stdout, w := io.Pipe()
	go func() {
		code := run(ctx, args, w, e.stderr)
		w.Close()
		e.exit <- code
	}()
	t.Cleanup(func() { e.end() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the edge did not start: %s", e.stderr)
	}
	var ready struct {
		Event      string
		Addresses  []string
		HTTP3      []bool
		Congestion []string
		SPKISHA256 string
	}
	if err := json.Unmarshal(line, &ready); err != nil || ready.Event != "listening" {
		t.Fatalf("not the line a launcher waits for: %s (%v)", line, err)
	}
	e.addresses, e.http3, e.tcp, e.spki = ready.Addresses, ready.HTTP3, ready.Congestion, ready.SPKISHA256
	return e
}

// end stops the edge as a signal does and gives its exit code.
func (e *testEdge) end() int {
	e.t.Helper()
	e.stop()
	select {
	case code := <-e.exit:
		e.exit <- code
		return code
	case <-time.After(edgetest.Patience):
		e.t.Error("the edge does not end")
		return -1
	}
}

func (e *testEdge) tlsConfig() *tls.Config {
	e.t.Helper()
	pem, err := os.ReadFile(filepath.Join(e.state, "dev-cert.pem"))
	if err != nil {
		e.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots}
}

// testClient speaks one protocol, over one connection as long as that one is free. disconnect ends the connection when it is
// free, and leave ends it at once.
type testClient struct {
	*http.Client
	protocol          string
	disconnect, leave func()
}

// client makes a client of one protocol whose packets go to address (the edge's, or a relay's).
func (e *testEdge) client(protocol string, address ...string) *testClient {
	e.t.Helper()
	return e.clientWith(protocol, e.tlsConfig(), address...)
}

// clientWith makes one that trusts other certificates.
func (e *testEdge) clientWith(protocol string, config *tls.Config, address ...string) *testClient {
	e.t.Helper()
	to := e.addresses[0]
	if len(address) > 0 {
		to = address[0]
	}
	c := &testClient{Client: &http.Client{Timeout: edgetest.Patience}, protocol: protocol}
	if protocol == "HTTP/3" {
		tr := &http3.Transport{
			TLSClientConfig:    config,
			DisableCompression: true,
			Dial: func(ctx context.Context, _ string, tc *tls.Config, qc *quic.Config) (*quic.Conn, error) {
				return quic.DialAddr(ctx, to, tc, qc)
			},
		}
		c.Transport, c.disconnect = tr, func() { tr.Close() }
		c.leave = c.disconnect
	} else {
		leaving, leave := context.WithCancel(context.Background())
		c.leave = leave
		tr := &http.Transport{
			TLSClientConfig:    config,
			DisableCompression: true,
			// A client that waits for 100 (Continue) waits for ever.
			ExpectContinueTimeout: time.Hour,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
				if err == nil {
					context.AfterFunc(leaving, func() { conn.Close() })
				}
				return conn, err
			},
			Protocols: new(http.Protocols),
		}
		tr.Protocols.SetHTTP1(protocol == "HTTP/1.1")
		tr.Protocols.SetHTTP2(protocol == "HTTP/2")
		c.Transport, c.disconnect = tr, tr.CloseIdleConnections
	}
	e.t.Cleanup(c.disconnect)
	return c
}

// url is the edge's URL for path, whatever the packets pass on their way.
func (e *testEdge) url(path string) string { return "https://" + e.addresses[0] + path }

// get fetches path and fails the test unless the whole response came, over the client's protocol.
func (e *testEdge) get(c *testClient, path string) (*http.Response, []byte) {
	e.t.Helper()
	res, err := c.Get(e.url(path))
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	if want := map[string]int{"HTTP/1.1": 1, "HTTP/2": 2, "HTTP/3": 3}[c.protocol]; res.ProtoMajor != want {
		e.t.Fatalf("answered over %s, want %s", res.Proto, c.protocol)
	}
	return res, body
}

// roundTrip asks on one connection, and returns the answer once its body has been read.
func roundTrip(ctx context.Context, t *testing.T, conn http.RoundTripper, method, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := conn.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response
}
