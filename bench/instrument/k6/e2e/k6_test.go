// Package e2e runs the built k6 with its scripts: go build -o dist/k6 first (npm run bench does).
package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adaptive-h3/bench/instrument/k6/testsite"
)

const patience = 60 * time.Second

// k6 prepares a run of the program, without its API's server, whose port is another k6's; K6 names another one than dist/k6.
func k6(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := os.Getenv("K6")
	if program == "" {
		program = filepath.Join("..", "..", "..", "..", "dist", "k6")
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("k6 is not built (cd bench/instrument/k6 && go build -o ../../../dist/k6 .): %v", err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"run", "--no-usage-report", "--quiet", "--address="}, args...)...)
	cmd.Env = append(os.Environ(), "K6_AUTO_EXTENSION_RESOLUTION=false", "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING=true")
	cmd.WaitDelay = patience
	return cmd
}

func planFile(t *testing.T, site *testsite.Site, loads ...string) string {
	t.Helper()
	for i, load := range loads {
		loads[i] = fmt.Sprintf(`{"id":"%d","clientAddress":"127.0.0.4","origin":{"host":"localhost",
			"address":"%s","port":%d,"caFile":%q,"note":"the driver's own"},"edgePids":[],"timeoutMs":60000,
			"switch":"wait",%s}`, i, testsite.Address, site.Port, site.CAFile, load)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	plan := `{"control":null,"loads":[` + strings.Join(loads, ",") + `]}`
	if err := os.WriteFile(path, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadsOfAPlan(t *testing.T) {
	site := testsite.Start(t)
	site.Offer(fmt.Sprintf(`h3=":%d"`, site.Port))
	plan := planFile(
		t, site,
		`"sessions":[{"timed":false,"firstProtocol":"h3","pages":[{"document":"/bytes/9","subresources":[]}],"pauseAfterMs":1},
			{"timed":true,"firstProtocol":"h2","pages":[{"document":"/bytes/100","subresources":["/bytes/50"]}],"pauseAfterMs":0}]`,
		`"sessions":[{"timed":true,"firstProtocol":"h1","pages":[{"document":"/status/500","subresources":[]}],"pauseAfterMs":0}]`,
	)
	cmd := k6(t, "-e", "PLAN="+plan, filepath.Join("..", "loads.ts"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(stdout)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), stdout)
	}
	var first, second struct {
		ID, Outcome, Error             string
		DocumentProtocol, LastProtocol string
		Switched                       bool
		Bytes                          int
		LoadMs                         *float64
	}
	for line, into := range map[string]any{lines[0]: &first, lines[1]: &second} {
		if err := json.Unmarshal([]byte(line), into); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	if first.ID != "0" || first.Outcome != "ok" || first.DocumentProtocol != "h2" ||
		first.LastProtocol != "h3" || !first.Switched || first.Bytes != 150 || first.LoadMs == nil {
		t.Errorf("%s", lines[0])
	}
	if second.ID != "1" || second.Outcome != "failed" || second.LoadMs != nil || !strings.Contains(second.Error, "500") {
		t.Errorf("%s", lines[1])
	}
	if client := site.Requests()[0].Client.String(); client != "127.0.0.4" {
		t.Errorf("the client came from %s", client)
	}
}

// A driver reads the lines while k6 runs, and stops it by a signal: what was done stays, and nothing is made up.
func TestALineComesWhenItsLoadEnds(t *testing.T) {
	site := testsite.Start(t)
	page := func(path string) string {
		return `"sessions":[{"timed":true,"firstProtocol":"h2","pages":[{"document":"` + path + `","subresources":[]}],"pauseAfterMs":0}]`
	}
	cmd := k6(t, "-e", "PLAN="+planFile(t, site, page("/bytes/1"), page("/never")), filepath.Join("..", "loads.ts"))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":"0"`) {
		t.Fatalf("the first line: %q", lines.Text())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("after the interruption: %s", lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || !exit.Exited() {
		t.Errorf("k6 ended with %v", err)
	}
}

func TestStockOptionsOutputsAndThresholds(t *testing.T) {
	site := testsite.Start(t)
	site.Offer(fmt.Sprintf(`h3=":%d"`, site.Port))
	folder := t.TempDir()
	points, table, summary := filepath.Join(folder, "p.json"), filepath.Join(folder, "p.csv"), filepath.Join(folder, "s.json")
	url := fmt.Sprintf("https://localhost:%d/bytes/1000", site.Port)
	visit := func(more ...string) *exec.Cmd {
		environment := []string{"-e", "URL=" + url, "-e", "ADDRESS=" + testsite.Address, "-e", "CA=" + site.CAFile}
		return k6(t, slices.Concat(more, environment, []string{filepath.Join("..", "visit.ts")})...)
	}
	out, err := visit(
		"--vus", "2", "--iterations", "4", "--summary-export", summary,
		"--out", "json="+points, "--out", "csv="+table, "-e", "MODE=fixed-h3",
	).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []struct{ path, want string }{
		{points, `"metric":"h3_load","type":"Point"`},
		{points, `"protocol":"h3"`},
		{table, "h3_switch_handshake,"},
		{summary, `"h3_load{protocol:h3}"`},
	} {
		if text, err := os.ReadFile(file.path); err != nil || !bytes.Contains(text, []byte(file.want)) {
			t.Errorf("%s has no %s (%v)", filepath.Base(file.path), file.want, err)
		}
	}

	// A server that does not do as the mode says crosses a threshold.
	var exit *exec.ExitError
	out, err = visit("--iterations", "1", "-e", "MODE=fixed-h2").CombinedOutput()
	if !errors.As(err, &exit) || exit.ExitCode() != 99 {
		t.Errorf("%v, want k6's 99 for thresholds\n%s", err, out)
	}
	out, err = visit("--iterations", "1", "-e", "MODE=fast").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("MODE is one of observe, fixed-h2")) {
		t.Errorf("a mode that is none: %v\n%s", err, out)
	}
}
