package control

import (
	"bufio"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/tunpath"
)

type fakePath struct {
	set []pathconfig.Config
}

func (f *fakePath) Set(config pathconfig.Config) { f.set = append(f.set, config) }

func (f *fakePath) Stats() tunpath.Stats {
	return tunpath.Stats{AToB: tunpath.Reading{Counters: tunpath.Counters{Forwarded: 3}}}
}

func TestAnswers(t *testing.T) {
	cases := map[string]struct {
		request string
		want    string
		sets    int
	}{
		"stats":    {`{"stats":true}`, `{"ok":true,"stats":{"aToB":{"forwardedPackets":3,`, 0},
		"set":      {`{"set":{"steps":[{}]}}`, `{"ok":true}`, 1},
		"a fault":  {`{"set":{"steps":[{"aToB":{"lossRatio":2}}]}}`, `{"ok":false,"error":"steps[0].aToB.lossRatio must be`, 0},
		"not JSON": {`hello`, `{"ok":false,"error":"the request is not understood`, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := &fakePath{}
			listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
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
