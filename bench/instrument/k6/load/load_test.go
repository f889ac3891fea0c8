package load

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"adaptive-h3/bench/instrument/k6/session"
)

// site is a server of HTTP/1.1 and HTTP/2; what HTTP/3 adds is tested with the sessions.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	clients []string
}

func startSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		s.mu.Lock()
		s.clients = append(s.clients, host+" "+r.URL.Path)
		s.mu.Unlock()
		w.Header().Set("Alt-Svc", `h2=":1"; ma=60`)
		switch r.URL.Path {
		case "/never":
			<-r.Context().Done()
		case "/broken":
			w.WriteHeader(http.StatusBadGateway)
		default:
			_, _ = w.Write(make([]byte, 1000))
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *site) spec(t *testing.T, sessions ...SessionSpec) Spec {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	address := s.Listener.Addr().(*net.TCPAddr)
	return Spec{
		ID: "one", TimeoutMs: 20_000, Sessions: sessions,
		Config: session.Config{
			Origin:        session.Origin{Host: "example.com", Address: address.IP.String(), Port: address.Port, CAFile: ca},
			ClientAddress: netip.MustParseAddr("127.0.0.3"), Switch: session.SwitchWait,
		},
	}
}

func visit(timed bool, documents ...string) SessionSpec {
	one := SessionSpec{Timed: timed, FirstProtocol: session.H2}
	for _, document := range documents {
		one.Pages = append(one.Pages, PageSpec{Document: document, Subresources: []string{"/image"}})
	}
	return one
}

func run(t *testing.T, spec Spec) Result {
	t.Helper()
	result, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestALoad(t *testing.T) {
	site := startSite(t)
	spec := site.spec(t, visit(false, "/before"), visit(true, "/a", "/b"), visit(false, "/after"))
	spec.Sessions[1].Pages[0].PauseAfterMs = 50
	spec.EdgePids = []int{os.Getpid(), os.Getppid()}
	began := time.Now()
	result := run(t, spec)
	want := []string{
		"127.0.0.3 /before", "127.0.0.3 /image", "127.0.0.3 /a", "127.0.0.3 /image",
		"127.0.0.3 /b", "127.0.0.3 /image", "127.0.0.3 /after", "127.0.0.3 /image",
	}
	if !reflect.DeepEqual(site.clients, want) {
		t.Errorf("the server saw %q", site.clients)
	}
	if result.Outcome != OutcomeOK || result.Error != "" || result.Bytes != 4000 || len(result.Pages) != 2 {
		t.Errorf("%+v", result)
	}
	if sum := result.Pages[0] + result.Pages[1]; result.LoadMs < sum-0.01 || result.LoadMs > sum+0.01 || sum <= 0 {
		t.Errorf("loadMs %v of pages %v", result.LoadMs, result.Pages)
	}
	if result.Handshake != result.Connections[0].Handshake || result.FirstByte < result.Handshake || result.FirstByte > result.Pages[0] {
		t.Errorf("handshake %v, first byte %v, page %v", result.Handshake, result.FirstByte, result.Pages[0])
	}
	// The pause lies between, and what came after the timed session does not.
	if took := result.EndedMs - result.StartedMs; took < float64(result.LoadMs)+50 || took > float64(time.Since(began))/1e6 {
		t.Errorf("started %v, ended %v", result.StartedMs, result.EndedMs)
	}
	if result.DocumentProtocol != "h2" || result.LastProtocol != "h2" || result.AltSvc != `h2=":1"; ma=60` || result.Switched {
		t.Errorf("%+v", result)
	}
	if result.EdgeCPU <= 0 || result.ClientCPU <= 0 {
		t.Errorf("CPU time: %v, %v", result.EdgeCPU, result.ClientCPU)
	}
}

func TestALineOfOutput(t *testing.T) {
	site := startSite(t)
	line, err := json.Marshal(run(t, site.spec(t, visit(true, "/broken"))))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	null := []string{
		"loadMs", "switchHandshakeMs", "edgeCpuMs", "lateRatio", "droppedLoss", "droppedQueue", "droppedFault",
	}
	for _, name := range null {
		if value, ok := fields[name]; !ok || value != nil {
			t.Errorf("%s is %v, want null", name, value)
		}
	}
	if fields["outcome"] != "failed" || fields["error"] != "/broken over h2: status 502" ||
		!reflect.DeepEqual(fields["pageMs"], []any{}) || !reflect.DeepEqual(fields["filesH3"], []any{}) ||
		fields["documentProtocol"] != "h2" {
		t.Errorf("%s", line)
	}
	if len(fields) != 25 {
		t.Errorf("%d fields: %s", len(fields), line)
	}
}

func TestALineOfALoadWhoseTimedSessionNeverCame(t *testing.T) {
	site := startSite(t)
	line, err := json.Marshal(run(t, site.spec(t, visit(false, "/broken"), visit(true, "/a"))))
	if err != nil || !strings.Contains(string(line), `"pageMs":[]`) || !strings.Contains(string(line), `"connections":[]`) {
		t.Errorf("%s, %v", line, err)
	}
}

func TestOutcomes(t *testing.T) {
	site := startSite(t)
	for _, test := range []struct {
		name     string
		sessions []SessionSpec
		outcome  string
		error    string
		loaded   bool
	}{
		{"the timed session takes too long", []SessionSpec{visit(true, "/never")}, OutcomeTimeout, "/never over h2: ", false},
		{"its second page does", []SessionSpec{visit(true, "/a", "/never")}, OutcomeTimeout, "/never over h2: ", false},
		{"the session before it takes too long", []SessionSpec{visit(false, "/never"), visit(true, "/a")}, OutcomeFailed, "session 0: /never", false},
		{"the session before it fails", []SessionSpec{visit(false, "/broken"), visit(true, "/a")}, OutcomeFailed, "session 0: /broken", false},
		{"the session after it fails", []SessionSpec{visit(true, "/a"), visit(false, "/broken")}, OutcomeFailed, "session 1: /broken", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := site.spec(t, test.sessions...)
			if strings.Contains(test.name, "too long") || test.outcome == OutcomeTimeout {
				spec.TimeoutMs = 200
			}
			result := run(t, spec)
			if result.Outcome != test.outcome || !strings.HasPrefix(result.Error, test.error) || (result.LoadMs > 0) != test.loaded {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestPausesDoNotCountTowardsTheTimeout(t *testing.T) {
	one := visit(true, "/a", "/b", "/c")
	for i := range one.Pages {
		one.Pages[i].PauseAfterMs = 400
	}
	one.PauseAfterMs = 400
	// Two pauses lie between three pages; what comes after the last page is not waited for under the deadline.
	if got := one.timeout(300); got != 1100*time.Millisecond {
		t.Errorf("%s", got)
	}
}

func TestALoadThatIsNotResumedHasFailed(t *testing.T) {
	for _, test := range []struct {
		resume        Resume
		withoutTicket bool
		want          string
	}{
		{"tickets", false, ""},
		{"tickets", true, "the server did not resume the TLS session over h2"},
		{ResumeEarlyData, false, "the server took no early data over h2"},
		{"", true, ""},
	} {
		site := startSite(t)
		site.TLS.SessionTicketsDisabled = test.withoutTicket
		spec := site.spec(t, visit(false, "/before"), visit(true, "/a"))
		spec.Resume = test.resume
		result := run(t, spec)
		if result.Error != test.want || (result.Outcome == OutcomeOK) != (test.want == "") || (result.LoadMs > 0) != (test.want == "") {
			t.Errorf("%q without tickets %t: %+v", test.resume, test.withoutTicket, result)
		}
	}
}

func TestAnInterruptedLoadIsNoResult(t *testing.T) {
	site := startSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if result, err := Run(ctx, site.spec(t, visit(true, "/never"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPathCounters(t *testing.T) {
	site := startSite(t)
	control := filepath.Join(t.TempDir(), "control.sock")
	listener, err := net.Listen("unix", control)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for asked := 1; ; asked++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			one := fmt.Sprintf(`{"forwardedPackets":%d,"latePackets":%d,"droppedLoss":%d,"droppedQueue":7,"droppedWrite":%d}`, 100*asked, asked, 3*asked, asked)
			_, _ = fmt.Fprintf(conn, `{"ok":true,"stats":{"aToB":%s,"bToA":%s}}`+"\n", one, one)
			_ = conn.Close()
		}
	}()
	spec := site.spec(t, visit(true, "/a"))
	spec.Control = control
	result := run(t, spec)
	if *result.LateRatio != 0.01 || *result.DroppedLoss != 6 || *result.DroppedQueue != 0 || *result.DroppedFault != 2 {
		t.Errorf("%+v", result)
	}
	spec.Control = control + ".none"
	if result := run(t, spec); result.Outcome != OutcomeOK || result.DroppedLoss != nil || result.LateRatio != nil {
		t.Errorf("a path that does not answer: %+v", result)
	}
}

func TestACertificateThatIsNotThere(t *testing.T) {
	spec := startSite(t).spec(t, visit(true, "/a"))
	spec.Origin.CAFile = "/nowhere.pem"
	if _, err := Run(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "caFile") {
		t.Errorf("%v", err)
	}
}
