package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/listen"
)

// restarts is how many times TestRestartsUnderLoad restarts the edge. The recorded run is:
//
//	go test -count=1 -timeout 30m -run TestRestartsUnderLoad -v . -restarts 100
var restarts = flag.Int("restarts", 5, "how many times TestRestartsUnderLoad restarts the edge")

// asProgram has this test's program be the edge (TestMain).
const asProgram = "ADAPTIVE_H3_TEST_AS_PROGRAM"

// service starts the edge as the unit does: by its shell, and with sockets that stay when it ends.
type service struct {
	t       *testing.T
	dir     string
	args    []string
	sockets []*os.File
	shell   *exec.Cmd
	starts  int
}

// start starts a shell, and returns once its edge accepts connections.
func (s *service) start() {
	s.t.Helper()
	s.prepare()
	s.starts++
	out, err := os.Create(filepath.Join(s.dir, fmt.Sprintf("stdout-%d", s.starts)))
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	said, err := os.OpenFile(filepath.Join(s.dir, "stderr"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer said.Close()
	s.shell = exec.Command("sh", append([]string{"-c", `export LISTEN_PID=$$; exec "$@"`, "sh", "../systemd/edge.sh", os.Args[0]}, s.args...)...)
	s.shell.Env = append(os.Environ(), asProgram+"=1", fmt.Sprint("LISTEN_FDS=", len(s.sockets)))
	s.shell.Stdout, s.shell.Stderr, s.shell.ExtraFiles = out, said, s.sockets
	if err := s.shell.Start(); err != nil {
		s.t.Fatal(err)
	}
	edgetest.Eventually(s.t, "the edge listens", func() bool {
		line, _ := os.ReadFile(out.Name())
		return bytes.Contains(line, []byte("listening"))
	})
}

// end ends the shell, as systemd does, and returns when it has ended.
func (s *service) end() {
	_ = s.shell.Process.Signal(syscall.SIGTERM)
	_ = s.shell.Wait()
}

// startService starts it for an upstream, on sockets of one address, whose TCP an earlier program has set to reno.
func startService(t *testing.T, upstream string) (*testEdge, *service) {
	t.Helper()
	dir := t.TempDir()
	socket := mustOpen(t, reno)[0]
	s := &service{t: t, dir: dir}
	for _, c := range []syscall.Conn{socket.TCP, socket.UDP} {
		file, err := duplicate(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		s.sockets = append(s.sockets, file)
	}
	address := socket.Address().String()
	listen.Close([]listen.Socket{socket})
	e := &testEdge{t: t, state: filepath.Join(dir, "s"), addresses: []string{address}}
	s.args = []string{"-upstream", upstream, "-listen", address, "-state", e.state}
	s.start()
	t.Cleanup(func() {
		s.end()
		// The edge is no child of this program: its last socket is gone when it has ended.
		edgetest.Eventually(t, "the edge has ended", func() bool {
			left, _ := filepath.Glob(filepath.Join(e.state, "quic-*"))
			return len(left) == 0
		})
	})
	return e, s
}

// prepare sets the sockets as systemd does before each start. All programs share that setting.
func (s *service) prepare() {
	s.t.Helper()
	unit, err := os.ReadFile("../systemd/adaptive-h3-edge.service")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, socket := range s.sockets {
		err := control(socket, func(fd int) error {
			return syscall.SetNonblock(fd, bytes.Contains(unit, []byte("\nNonBlocking=yes\n")))
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// duplicate returns another descriptor of a socket, which os/exec passes on as it is. Those of net's File it has block.
func duplicate(socket syscall.Conn) (file *os.File, err error) {
	err = control(socket, func(fd int) error {
		copied, err := syscall.Dup(fd)
		if err == nil {
			syscall.CloseOnExec(copied)
			file = os.NewFile(uintptr(copied), "socket")
		}
		return err
	})
	return file, err
}

// control calls f with the descriptor of a socket.
func control(socket syscall.Conn, f func(fd int) error) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	if controlErr := raw.Control(func(fd uintptr) { err = f(int(fd)) }); controlErr != nil {
		return controlErr
	}
	return err
}

// tally is what the clients of one kind saw.
type tally struct {
	Done    atomic.Int64
	slowest atomic.Int64 // ns
	mu      sync.Mutex
	failed  []string
}

func (c *tally) count(began time.Time, err error) {
	c.Done.Add(1)
	for took := time.Since(began).Nanoseconds(); ; {
		if most := c.slowest.Load(); took <= most || c.slowest.CompareAndSwap(most, took) {
			break
		}
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failed = append(c.failed, err.Error())
	}
}

// While the edge is restarted again and again, nobody is refused, and nothing that is under way is cut: requests over each protocol, on
// connections that stay and on new ones, downloads that last longer than a restart, and websockets that speak.
func TestRestartsUnderLoad(t *testing.T) {
	e, service := startService(t, edgetest.StartUpstream(t, restartUpstream))
	stop := make(chan struct{})
	var all sync.WaitGroup
	results := map[string]*tally{}
	run := func(name string, visit func() error) {
		c := results[name]
		if c == nil {
			c = &tally{}
			results[name] = c
		}
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				c.count(began, visit())
			}
		})
	}
	for _, p := range protocols {
		kept := e.client(p)
		for range 3 {
			run(p+", kept connections", func() error { return postTo(kept, e.url("/echo")) })
		}
		run(p+", new connections", func() error {
			c := e.clientWith(p, e.tlsConfig())
			defer c.disconnect()
			return postTo(c, e.url("/echo"))
		})
		run(p+", downloads", func() error { return download(kept, e.url("/slow")) })
	}
	run("websockets", func() error { return talk(e.addresses[0], e.tlsConfig()) })

	for range *restarts {
		time.Sleep(300 * ms) // between two deployments
		service.end()
		service.start()
	}
	time.Sleep(500 * ms)
	close(stop)
	all.Wait()
	for name, c := range results {
		line, _ := json.Marshal(map[string]any{
			"clients": name, "restarts": *restarts, "done": c.Done.Load(), "failed": len(c.failed), "slowestMs": c.slowest.Load() / 1e6,
		})
		t.Log(string(line))
		if len(c.failed) > 0 {
			t.Errorf("%s: %d of %d failed, the first: %s", name, len(c.failed), c.Done.Load(), c.failed[0])
		}
	}
	said, _ := os.ReadFile(filepath.Join(service.dir, "stderr"))
	for line := range strings.Lines(string(said)) {
		t.Log(line)
	}
}

// The sockets outlive each edge. Each one chooses the congestion control anew.
func TestRestartedEdgeChoosesTheCongestionControl(t *testing.T) {
	_, service := startService(t, edgetest.StartUpstream(t, restartUpstream))
	service.end()
	service.start()
	want := mustOpen(t, "127.0.0.1:0")[0].Congestion
	for start := range service.starts {
		line, err := os.ReadFile(filepath.Join(service.dir, fmt.Sprintf("stdout-%d", start+1)))
		if err != nil || !bytes.Contains(line, fmt.Appendf(nil, `"congestion":[%q]`, want)) {
			t.Errorf("start %d, want %s: %s (%v)", start+1, want, line, err)
		}
	}
}

// An edge that is restarted ends, though a visitor came while systemd prepared the next start, and nobody comes afterwards.
func TestRestartedEdgeEndsWithoutAnotherVisitor(t *testing.T) {
	e, service := startService(t, edgetest.StartUpstream(t, restartUpstream)) // whose cleanup waits for the ends
	service.prepare()
	if err := postTo(e.client("HTTP/1.1"), e.url("/echo")); err != nil {
		t.Error(err)
	}
	service.end()
	service.start()
}

const slowParts = 15

func restartUpstream(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/slow":
		for i := range slowParts {
			fmt.Fprintf(w, "part %2d\n", i)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(100 * ms)
		}
	case "/echo":
		_, _ = io.Copy(w, r.Body)
	default:
		echoUpgrade(w, r)
	}
}

func postTo(c *testClient, url string) error {
	const order = "one order, once"
	res, err := c.Post(url, "text/plain", strings.NewReader(order))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != order {
		return fmt.Errorf("%s, %q, %w", res.Status, body, err)
	}
	return nil
}

func download(c *testClient, url string) error {
	res, err := c.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || bytes.Count(body, []byte("part")) != slowParts {
		return fmt.Errorf("%s, %d bytes, %w", res.Status, len(body), err)
	}
	return nil
}

// talk opens a websocket, and has it echo for as long as a download takes.
func talk(address string, config *tls.Config) error {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: edgetest.Patience}, "tcp", address, config)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(edgetest.Patience))
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	answer := make([]byte, 4096)
	for n, at := 0, 0; !bytes.HasSuffix(answer[:at], []byte("\r\n\r\n")); at += n {
		if n, err = conn.Read(answer[at:]); err != nil {
			return err
		}
	}
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 101 ")) {
		return fmt.Errorf("%q", answer[:20])
	}
	for range slowParts {
		if _, err := conn.Write([]byte("word")); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, answer[:4]); err != nil {
			return err
		}
		time.Sleep(100 * ms)
	}
	return nil
}
