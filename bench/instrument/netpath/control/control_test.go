package control

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/report"
)

type fakePath struct {
	set []pathconfig.Config
	err error
}

func (f *fakePath) Set(config pathconfig.Config) error {
	f.set = append(f.set, config)
	return f.err
}

func (f *fakePath) Stats() (report.Stats, error) {
	return report.Stats{AToB: report.Direction{ReceivedPackets: 3}}, f.err
}

func TestAnswers(t *testing.T) {
	const stats = `"aToB":{"receivedPackets":3,`
	cases := map[string]struct {
		request string
		err     error
		want    string
		sets    int
	}{
		"stats":             {`{"stats":true}`, nil, `{"ok":true,"stats":{` + stats, 0},
		"set":               {`{"set":{"seed":7}}`, nil, `{"ok":true}`, 1},
		"faults":            {`{"set":{"aToB":{"rateMbps":0},"x":1}}`, nil, `{"ok":false,"faults":[{"pointer":"/x",`, 0},
		"not JSON":          {`hello`, nil, `{"ok":false,"error":"the request is not understood`, 0},
		"nothing asked":     {`{}`, nil, `{"ok":false,"error":"ask for one of`, 0},
		"two things asked":  {`{"set":{},"stats":true}`, nil, `{"ok":false,"error":"ask for one of`, 0},
		"a set that fails":  {`{"set":{}}`, errors.New("broken"), `{"ok":false,"error":"broken"}`, 1},
		"stats that fail":   {`{"stats":true}`, errors.New("broken"), `{"ok":false,"error":"broken"}`, 0},
		"an engine refuses": {`{"set":{}}`, pathconfig.Faults{{Pointer: "/a", Message: "m"}}, `{"ok":false,"faults":[{"pointer":"/a","message":"m"}]}`, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := &fakePath{err: c.err}
			listener, err := Listen(filepath.Join(t.TempDir(), "s"))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go Serve(listener, path)
			if got := ask(t, listener.Addr().String(), c.request); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if len(path.set) != c.sets {
				t.Errorf("%d configurations were set", len(path.set))
			}
		})
	}
}

func ask(t *testing.T, file, request string) string {
	t.Helper()
	connection, err := net.Dial("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(request + "\n")); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestListen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	first, err := Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file); err == nil {
		t.Error("took the socket of one that runs")
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false) // as if killed
	first.Close()
	second, err := Listen(file)
	if err != nil {
		t.Fatalf("did not replace what a killed run left: %v", err)
	}
	second.Close()
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Error("the socket is still there after the end")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file); err == nil {
		t.Error("replaced a file that is no socket")
	}
}
