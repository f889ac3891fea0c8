package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"adaptive-h3/infra/edge/internal/certificate"
	"adaptive-h3/infra/edge/internal/listen"
	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/proxy"
	"adaptive-h3/infra/edge/internal/quicserver"
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
	connections     int // visitors' connections that may be open
	maxStreams      int
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
			UpstreamTimeout: 60 * time.Second, BodyTimeout: 60 * time.Second, UnreadTimeout: 60 * time.Second, RestTimeout: 120 * time.Second,
			SlowestRate: slowestRate,
		},
		certificate: certificate.Options{StateDir: ".adaptive-h3"},
		handshakes:  quicserver.HandshakeLimits{Unproven: 256, Total: 1024},
		maxStreams:  100, shutdownTimeout: 10 * time.Second,
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
	fs.Func("host", "a `NAME` that visitors use: the development certificate gets it, and a certificate of -cert must have it, or health is not ok; a request for a host that is neither here nor in a certificate gets 421; repeatable", func(s string) error {
		if !validHost(s) {
			return errors.New("it must be a host name or an IP address, without port")
		}
		o.certificate.Hosts = append(o.certificate.Hosts, s)
		return nil
	})
	fs.BoolFunc("server-timing", "add Server-Timing: cfL4 to responses, as Cloudflare does, for scripts that read it: true or false (default false)", setBool(&o.proxy.ServerTiming))
	fs.Func("max-requests", "at most `N` requests in flight; beyond it they wait for a second, then get a 503 (default: an eighth of the descriptors that the upstream's process may open, up to 4096, to half of the memory, and to a quarter of this program's own descriptors; 128 where that cannot be told)", setCount(&o.requests.Total))
	fs.Func("shutdown-timeout", "`DURATION` that requests and websockets have to finish at the end (default 10s)", setDuration(&o.shutdownTimeout))
	bounds := o.bounds()
	fs.Func("config", "`FILE` of bounds and of what is for looking into transports, a line NAME=VALUE each, or one such line; repeatable (infra/edge/README.md lists the names)", func(s string) error {
		return setAll(bounds, s)
	})

	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) || strings.HasPrefix(err.Error(), "flag provided but not defined") {
			fs.SetOutput(stderr)
			fs.Usage()
		}
		return options{}, err
	}
	return o, o.check(fs)
}

// bounds are what hardly anybody sets: the bounds of what attackers can hold, and what is for tests and measurements.
func (o *options) bounds() *flag.FlagSet {
	fs := flag.NewFlagSet("bounds", flag.ContinueOnError)
	fs.BoolFunc("as-cloudflare", "", setBool(&o.proxy.AsCloudflare))
	fs.BoolFunc("early-data", "", setBool(&o.earlyData))
	fs.StringVar(&o.qlogDir, "qlog", "", "")
	fs.StringVar(&o.traceFile, "trace", "", "")
	fs.BoolFunc("retry", "", setBool(&o.handshakes.Always))
	for name, count := range map[string]*int{
		"retry-above": &o.handshakes.Unproven, "max-handshakes": &o.handshakes.Total, "max-requests-client": &o.requests.PerClient,
		"max-streams": &o.maxStreams, "slowest-rate": &o.proxy.SlowestRate,
	} {
		fs.Func(name, "", setCount(count))
	}
	for name, duration := range map[string]*time.Duration{
		"body-timeout": &o.proxy.BodyTimeout, "unread-timeout": &o.proxy.UnreadTimeout, "rest-timeout": &o.proxy.RestTimeout, "upstream-timeout": &o.proxy.UpstreamTimeout,
	} {
		fs.Func(name, "", setDuration(duration))
	}
	return fs
}

// setAll sets what a line NAME=VALUE says, or each line of a file. Empty lines, and those that begin with #, say nothing.
func setAll(fs *flag.FlagSet, s string) error {
	if !strings.Contains(s, "=") {
		text, err := os.ReadFile(s)
		if err != nil {
			return err
		}
		s = string(text)
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		if err := fs.Set(name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
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
	descriptors, memory := ownDescriptors(), memorySize()
	o.connections, o.requests.Most = mostConnections(descriptors, memory), mostRequests(descriptors, memory)
	if o.handshakes.Unproven > o.handshakes.Total {
		return fmt.Errorf("retry-above is %d: it must not be above max-handshakes, which is %d", o.handshakes.Unproven, o.handshakes.Total)
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

func setBool(b *bool) func(string) error {
	return func(s string) (err error) {
		if *b, err = strconv.ParseBool(s); err != nil {
			return errors.New("it must be true or false")
		}
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
