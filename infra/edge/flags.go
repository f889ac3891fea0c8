package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"adaptive-h3/infra/edge/internal/certificate"
	"adaptive-h3/infra/edge/internal/listen"
	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/proxy"
	"adaptive-h3/infra/edge/internal/quicserver"
	"adaptive-h3/infra/edge/internal/unread"
	"adaptive-h3/infra/edge/internal/upstream"
)

// options is what the command line says, checked.
type options struct {
	listen          []listen.Spec
	proxy           proxy.Options
	samples         upstream.Target // the zero target: post none
	origin          *url.URL        // nil: only the upstream is asked
	health          upstream.Target // the zero target: nowhere
	metrics         upstream.Target // the zero target: nothing is counted
	certificate     certificate.Options
	traceFile       string // "": no trace
	qlogDir         string // "": no qlog
	earlyData       bool
	handshakes      quicserver.HandshakeLimits
	requests        upstream.RequestLimits
	unread          unread.Limits
	connections     int // visitors' connections that may be open
	maxStreams      int
	restTimeout     time.Duration
	shutdownTimeout time.Duration
}

const (
	defaultListen = "localhost:8443"
	// Bytes per second: less than a modem's, and slow enough that no visitor waits for a page at it.
	slowestRate = 1000
)

// parseOptions reads the command line. Errors are one sentence that names the flag and what is allowed; for a flag that
// does not exist the list of flags goes to stderr too. -h gives flag.ErrHelp after the list was printed.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{
		proxy: proxy.Options{
			UpstreamTimeout: 60 * time.Second, BodyTimeout: 60 * time.Second, AltSvc: proxy.AltSvcPass,
		},
		certificate: certificate.Options{StateDir: ".adaptive-h3"},
		handshakes:  quicserver.HandshakeLimits{Unproven: 256, Total: 1024},
		unread:      unread.Limits{Timeout: 60 * time.Second, Rate: slowestRate},
		maxStreams:  100, restTimeout: 120 * time.Second, shutdownTimeout: 10 * time.Second,
	}
	// The flag package prints every error with the whole list; only an unknown flag deserves that here.
	var printed bytes.Buffer
	fs := flag.NewFlagSet("edge", flag.ContinueOnError)
	fs.SetOutput(&printed)

	fs.Func("listen", "`ADDR[,congestion=cubic|bbr|reno][,http3=off]` to serve, TCP and UDP on the same port number; repeatable (default "+defaultListen+")", func(s string) error {
		spec, err := listen.ParseSpec(s)
		o.listen = append(o.listen, spec)
		return err
	})
	fs.Func("upstream", "where requests go: `http://HOST:PORT | unix:/path` (required)", setTarget(&o.proxy.Upstream))
	fs.Func("samples", "where path samples are posted: `http://HOST:PORT | unix:/path` (default: nowhere)", setTarget(&o.samples))
	fs.Func("origin", "who is asked while the worker behind -upstream is gone: `http[s]://HOST[:PORT]`; wants -samples, whose listener is asked for a heartbeat (default: nobody)", func(s string) (err error) {
		o.origin, err = origin.Parse(s)
		return err
	})
	fs.Func("health", "where GET /health says how this program is, for this machine only: `http://HOST:PORT | unix:/path` (default: nowhere)", setTarget(&o.health))
	fs.Func("metrics", "where GET /metrics tells Prometheus what this program did, for this machine only: `http://HOST:PORT | unix:/path` (default: nowhere)", setTarget(&o.metrics))
	fs.Func("cert", "certificate chain, PEM `FILE`, read again when it changes; with -key, instead of the development certificate; repeatable", addTo(&o.certificate.CertFiles))
	fs.Func("key", "private key, PEM `FILE`, of the certificate that has the same place among the -cert flags; repeatable", addTo(&o.certificate.KeyFiles))
	fs.StringVar(&o.certificate.StateDir, "state", o.certificate.StateDir, "`DIR` that keeps the development certificate, and the secret by which QUIC clients learn of a restart")
	fs.StringVar(&o.qlogDir, "qlog", "", "`DIR` that exists, for a qlog of every QUIC connection, a file each without addresses; for looking into transports, as it grows without end")
	fs.StringVar(&o.traceFile, "trace", "", "`FILE` for every connection's window, RTT and bytes, a line of JSON each 50 ms; for looking into transports, as it grows without end")
	fs.BoolVar(&o.earlyData, "early-data", false, "take GET and HEAD requests over HTTP/3 in 0-RTT, with Early-Data: 1; anybody may send such a request again, from an address that nobody verified: for looking into transports, not for visitors")
	fs.BoolVar(&o.handshakes.Always, "retry", false, "have every QUIC client prove its address before its handshake begins, by a Retry (RFC 9000, section 8.1.2), which takes a round trip; without this flag only while -retry-above says so")
	fs.Func("retry-above", "have each new QUIC client prove its address while `N` handshakes are in progress whose clients have not, down to half as many (default 256)", setCount(&o.handshakes.Unproven))
	fs.Func("max-handshakes", "at most `N` QUIC handshakes in progress, a quarter of that of one client that proved its address, and half of an IPv6 /48; others are refused (default 1024)", setCount(&o.handshakes.Total))
	fs.Func("host", "a `NAME` that visitors use: the development certificate gets it, and a certificate of -cert must have it, or health is not ok; a request for a host that is neither here nor in a certificate gets 421; repeatable", func(s string) error {
		if !validHost(s) {
			return errors.New("it must be a host name or an IP address, without port")
		}
		o.certificate.Hosts = append(o.certificate.Hosts, s)
		return nil
	})
	fs.Func("alt-svc", "what happens to the upstream's Alt-Svc: `pass|strip|override` (default pass)", func(s string) error {
		switch m := proxy.AltSvcMode(s); m {
		case proxy.AltSvcPass, proxy.AltSvcStrip, proxy.AltSvcOverride:
			o.proxy.AltSvc = m
			return nil
		}
		return errors.New("it must be pass, strip or override")
	})
	fs.BoolFunc("server-timing", "add Server-Timing: cfL4 to responses, as Cloudflare does, for scripts that read it: true or false (default false)", func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("it must be true or false")
		}
		o.proxy.ServerTiming = v
		return nil
	})
	fs.BoolVar(&o.proxy.AsCloudflare, "as-cloudflare", false, "have request.cf say of a connection only what Cloudflare's says, its RTT and delivery rate; for trying what a worker with EDGE=cloudflare can do, with -server-timing=true and without -samples")
	fs.Func("max-requests", "at most `N` requests in flight; beyond it they wait for a second, then get a 503 (default: an eighth of the descriptors that the upstream's process may open, up to 4096, to four times -max-unread, and to a quarter of this program's own descriptors; 128 where that cannot be told)", setCount(&o.requests.Total))
	fs.Func("max-requests-client", "at most `N` of them, and of those that wait, of one client, an IPv4 address or an IPv6 /64 (default: a quarter of -max-requests, at least 100)", setCount(&o.requests.PerClient))
	fs.Func("reserved-requests", "`N` requests more for the worker's API (/_h3/), while others take all of -max-requests; a quarter of them for one client (default 16)", setCount(&o.requests.Reserved))
	fs.Func("max-streams", "at most `N` requests at a time on an HTTP/2 or HTTP/3 connection; the client waits by itself beyond that (default 100)", setCount(&o.maxStreams))
	fs.Func("body-timeout", "`DURATION` that a visitor's request body may pause, or come more slowly than -slowest-rate, before the upstream answers (default 60s)", setDuration(&o.proxy.BodyTimeout))
	fs.Func("unread-timeout", "`DURATION` that a response may wait for a client that takes less than -slowest-rate; then it is ended (default 60s)", setDuration(&o.unread.Timeout))
	fs.Func("slowest-rate", "`BYTES` a second that a client must take of a response that waits for it, and send of a request body (default 1000)", setCount(&o.unread.Rate))
	fs.Func("max-unread", "at most `N` responses that wait for clients who do not read; beyond it those that wait longest are ended (default: one for each 24 MB of memory, at least 64)", setCount(&o.unread.Total))
	fs.Func("max-unread-client", "at most `N` of them of one client, an IPv4 address or an IPv6 /64, and so many requests of it at a time that are younger than 10s: more wait for twelve seconds, then get a 503 (default 128)", setCount(&o.unread.PerClient))
	fs.Func("rest-timeout", "`DURATION` that a connection may rest between requests, and a websocket between bytes; requests and responses themselves may last, and a client of HTTP/2 or HTTP/3 has 5s more (default 120s)", setDuration(&o.restTimeout))
	fs.Func("upstream-timeout", "`DURATION` that the upstream has for its response header (default 60s)", setDuration(&o.proxy.UpstreamTimeout))
	fs.Func("shutdown-timeout", "`DURATION` that requests and websockets have to finish at the end (default 10s)", setDuration(&o.shutdownTimeout))

	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) || strings.HasPrefix(err.Error(), "flag provided but not defined") {
			fs.SetOutput(stderr)
			fs.Usage()
		}
		return options{}, err
	}
	return o, o.check(fs)
}

// check looks at the flags together.
func (o *options) check(fs *flag.FlagSet) error {
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: only flags are allowed", fs.Arg(0))
	}
	if o.proxy.Upstream == (upstream.Target{}) {
		return errors.New("flag -upstream is required: http://HOST:PORT or unix:/path of the server that answers the requests")
	}
	if o.origin != nil && o.samples == (upstream.Target{}) {
		return errors.New("flag -origin wants -samples: its listener is asked whether the worker is there")
	}
	o.proxy.SlowestRate, o.proxy.RestTimeout = o.unread.Rate, o.restTimeout
	if o.unread.Total == 0 {
		o.unread.Total = unread.DefaultTotal(unread.Memory())
	}
	if o.unread.PerClient == 0 {
		o.unread.PerClient = unread.DefaultPerClient(o.unread.Total)
	}
	descriptors := ownDescriptors()
	o.connections = mostConnections(descriptors, unread.Memory())
	o.requests.AtOnce, o.requests.Most = o.unread.PerClient, min(unread.Requests(o.unread.Total), max(descriptors/requestDescriptors, 1))
	if o.handshakes.Unproven > o.handshakes.Total {
		return fmt.Errorf("flag -retry-above is %d: it must not be above -max-handshakes, which is %d", o.handshakes.Unproven, o.handshakes.Total)
	}
	if len(o.certificate.CertFiles) != len(o.certificate.KeyFiles) {
		return errors.New("flags -cert and -key go together: give both, or neither for a development certificate")
	}
	if o.certificate.StateDir == "" {
		return errors.New("flag -state is empty: it must be a folder, for what this program keeps")
	}
	if len(o.listen) == 0 {
		spec, err := listen.ParseSpec(defaultListen)
		if err != nil {
			return err
		}
		o.listen = []listen.Spec{spec}
	}
	return nil
}

func setTarget(t *upstream.Target) func(string) error {
	return func(s string) (err error) {
		*t, err = upstream.ParseTarget(s)
		return err
	}
}

func addTo(list *[]string) func(string) error {
	return func(s string) error {
		*list = append(*list, s)
		return nil
	}
}

func setCount(n *int) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseUint(s, 10, 31)
		if err != nil || v == 0 {
			return errors.New("it must be a whole number above 0")
		}
		*n = int(v)
		return nil
	}
}

func setDuration(d *time.Duration) func(string) error {
	return func(s string) error {
		v, err := time.ParseDuration(s)
		if err != nil || v <= 0 {
			return errors.New("it must be a duration above 0, such as 500ms, 60s or 1m30s")
		}
		*d = v
		return nil
	}
}

// validHost says whether s can be a subject alternative name: an IP address, or a DNS name (RFC 1123, section 2.1),
// whose leftmost label may be *.
func validHost(s string) bool {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Zone() == ""
	}
	name := strings.TrimPrefix(s, "*.")
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return false
			}
		}
	}
	return true
}
