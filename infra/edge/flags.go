package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"regexp"
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
	earlyData       bool
	rehearsal       bool
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
		maxStreams:  100, rehearsal: true, shutdownTimeout: 10 * time.Second,
	}
	// The flag package prints every error with the whole list; only an unknown flag deserves that here.
	fs := flag.NewFlagSet("edge", flag.ContinueOnError)
	fs.SetOutput(io.Discard)

	fs.Func("listen", "`ADDR[,congestion=auto|bbr|cubic|reno][,http3=off]` to serve, TCP and UDP on the same port number; auto is bbr where the kernel allows it to this process, else the kernel's default; repeatable (default "+defaultListen+")", add(&o.listen, listen.ParseSpec))
	fs.Func("upstream", "where requests go: `http://HOST:PORT | unix:/path` (required)", set(&o.proxy.Upstream, upstream.ParseTarget))
	fs.Func("samples", "where path samples are posted: `http://HOST:PORT | unix:/path` (default: nowhere)", set(&o.samples, upstream.ParseTarget))
	fs.Func("origin", "who is asked while the worker behind -upstream is gone: `http[s]://HOST[:PORT]`; wants -samples, whose listener is asked for a heartbeat (default: nobody)", set(&o.origin, origin.Parse))
	fs.Func("health", "where GET /health says how this program is, for this machine only: `http://HOST:PORT | unix:/path` (default: nowhere)", set(&o.health, upstream.ParseTarget))
	fs.Func("metrics", "where GET /metrics tells Prometheus what this program did, for this machine only: `http://HOST:PORT | unix:/path` (default: nowhere)", set(&o.metrics, upstream.ParseTarget))
	fs.Func("cert", "certificate chain, PEM `FILE`, read again when it changes; with -key, instead of the development certificate; repeatable", add(&o.certificate.CertFiles, text))
	fs.Func("key", "private key, PEM `FILE`, of the certificate that has the same place among the -cert flags; repeatable", add(&o.certificate.KeyFiles, text))
	fs.StringVar(&o.certificate.StateDir, "state", o.certificate.StateDir, "`DIR` that keeps the development certificate, and the secret by which QUIC clients learn of a restart")
	fs.Func("host", "a `NAME` that visitors use: the development certificate gets it, and a certificate of -cert must have it, or health is not ok; a request for a host that is neither here nor in a certificate gets 421; repeatable", add(&o.certificate.Hosts, host))
	fs.BoolFunc("server-timing", "add Server-Timing: cfL4 to responses, as Cloudflare does, for scripts that read it: true or false (default false)", set(&o.proxy.ServerTiming, boolean))
	fs.Func("max-requests", "at most `N` requests in flight; beyond it they wait for a second, then get a 503 (default: an eighth of the descriptors that the upstream's process may open, up to 4096, to half of the memory, and to a quarter of this program's own descriptors; 128 where that cannot be told)", set(&o.requests.Total, count))
	fs.Func("shutdown-timeout", "`DURATION` that requests and websockets have to finish at the end (default 10s)", set(&o.shutdownTimeout, duration))
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

// bounds are what hardly anybody sets, by name: the bounds of what attackers can hold, and what is for tests and measurements.
func (o *options) bounds() map[string]func(string) error {
	return map[string]func(string) error{
		"as-cloudflare":       set(&o.proxy.AsCloudflare, boolean),
		"body-timeout":        set(&o.proxy.BodyTimeout, duration),
		"early-data":          set(&o.earlyData, boolean),
		"max-handshakes":      set(&o.handshakes.Total, count),
		"max-requests-client": set(&o.requests.PerClient, count),
		"max-streams":         set(&o.maxStreams, count),
		"qlog":                logQUIC,
		"rehearsal":           set(&o.rehearsal, boolean),
		"rest-timeout":        set(&o.proxy.RestTimeout, duration),
		"retry":               set(&o.handshakes.Always, boolean),
		"retry-above":         set(&o.handshakes.Unproven, count),
		"slowest-rate":        set(&o.proxy.SlowestRate, count),
		"stays-on-clear":      set(&o.proxy.StaysOnClear, boolean),
		"trace":               set(&o.traceFile, text),
		"unread-timeout":      set(&o.proxy.UnreadTimeout, duration),
		"upstream-timeout":    set(&o.proxy.UpstreamTimeout, duration),
	}
}

// setAll sets what a line NAME=VALUE says, or each line of a file. Empty lines, and those that begin with #, say nothing.
func setAll(bounds map[string]func(string) error, s string) error {
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
		take := bounds[name]
		if take == nil {
			return fmt.Errorf("%s: no such name", name)
		}
		if err := take(value); err != nil {
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
	if o.samples == (upstream.Target{}) {
		o.rehearsal = false // nobody would learn what it shows
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
		return add(&o.listen, listen.ParseSpec)(defaultListen)
	}
	return nil
}

// set returns what reads a value into to.
func set[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) (err error) {
		*to, err = parse(s)
		return err
	}
}

// add returns what adds one more value to a list.
func add[T any](to *[]T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		one, err := parse(s)
		*to = append(*to, one)
		return err
	}
}

func text(s string) (string, error) { return s, nil }

// logQUIC has quic-go write a file of each connection into a folder (its qlog.DefaultConnectionTracer).
func logQUIC(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.Setenv("QLOGDIR", folder)
}

func boolean(s string) (bool, error) {
	v, err := strconv.ParseBool(s)
	if err != nil {
		err = errors.New("it must be true or false")
	}
	return v, err
}

func count(s string) (int, error) {
	v, err := strconv.ParseUint(s, 10, 31)
	if err != nil || v == 0 {
		err = errors.New("it must be a whole number above 0")
	}
	return int(v), err
}

func duration(s string) (time.Duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil || v <= 0 {
		err = errors.New("it must be a duration above 0, such as 500ms, 60s or 1m30s")
	}
	return v, err
}

// dnsName is a DNS name (RFC 1123, section 2.1), whose leftmost label may be *.
var dnsName = regexp.MustCompile(`^(\*\.)?` + label + `(\.` + label + `)*$`)

const label = `[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`

// host reads what can be a subject alternative name: a DNS name or an IP address.
func host(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	if err == nil && a.Zone() == "" || len(s) <= 255 && dnsName.MatchString(s) {
		return s, nil
	}
	return s, errors.New("it must be a host name or an IP address, without port")
}
