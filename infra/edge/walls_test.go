package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const thisModule = "adaptive-h3/infra/edge"

// walls says what each package imports besides the standard library: packages of this module by their folder, and other
// modules by their path. A new import needs a line here, and a reason to be there.
var walls = map[string][]string{
	".": {
		"connpath", "internal/certificate", "internal/crowd", "internal/errorlog", "internal/giveback",
		"internal/heartbeat", "internal/listen", "internal/operator", "internal/origin",
		"internal/pathsample", "internal/proxy", "internal/quicserver", "internal/rehearsal", "internal/resting",
		"internal/trace", "internal/upstream",
	},

	// For other servers too: no QUIC library, and nothing of this module.
	"connpath": {sys},

	// They import nothing of this module.
	"internal/admission":   {},
	"internal/certificate": {},
	"internal/errorlog":    {},
	"internal/fields":      {xNet},
	"internal/giveback":    {},
	"internal/listen":      {sys},
	"internal/handover":    {quicGo, sys, xNet},
	"internal/slowstart":   {},

	"internal/upstream":  {"internal/admission", "internal/errorlog", sys},
	"internal/heartbeat": {"internal/upstream"},

	"internal/crowd": {"connpath", "internal/admission"},
	"internal/quicserver": {
		"connpath", "internal/admission", "internal/errorlog", "internal/handover", "internal/slowstart", quicGo, xNet,
	},
	"internal/rehearsal":  {"connpath"},
	"internal/resting":    {"connpath"},
	"internal/trace":      {"connpath", "internal/errorlog"},
	"internal/pathsample": {"connpath", "internal/errorlog", "internal/upstream"},
	"internal/origin": {
		"connpath", "internal/errorlog", "internal/fields", "internal/heartbeat", "internal/upstream",
	},
	"internal/proxy": {
		"connpath", "internal/admission", "internal/errorlog", "internal/fields", "internal/heartbeat", "internal/origin",
		"internal/upstream", xNet,
	},
	"internal/operator": {
		"connpath", "internal/admission", "internal/certificate", "internal/errorlog", "internal/upstream", prometheus, quicGo,
	},

	// For tests: no package above may import them.
	"internal/edgetest": {},
}

const (
	quicGo     = "github.com/quic-go/quic-go"
	prometheus = "github.com/prometheus/client_golang"
	sys        = "golang.org/x/sys"
	xNet       = "golang.org/x/net"
)

// A package imports what its wall lets in, and nothing else.
func TestWalls(t *testing.T) {
	for _, breach := range breaches(walls, importsOfPackages(t)) {
		t.Error(breach)
	}
}

func TestBreaches(t *testing.T) {
	allowed := map[string][]string{".": {"a"}, "a": {"b", quicGo}, "b": {}}
	for _, test := range []struct {
		name   string
		actual map[string][]string
		want   []string
	}{
		{"as allowed", map[string][]string{".": {"a"}, "a": {"b", quicGo}, "b": {}}, nil},
		{"in another order", map[string][]string{".": {"a"}, "a": {quicGo, "b"}, "b": nil}, nil},
		{
			"upwards",
			map[string][]string{".": {"a"}, "a": {"b", quicGo}, "b": {"a"}},
			[]string{"b imports a, which its wall does not let in"},
		},
		{
			"past a package",
			map[string][]string{".": {"a", "b"}, "a": {"b", quicGo}, "b": {}},
			[]string{". imports b, which its wall does not let in"},
		},
		{
			"another module",
			map[string][]string{".": {"a"}, "a": {"b", quicGo}, "b": {sys}},
			[]string{"b imports golang.org/x/sys, which its wall does not let in"},
		},
		{
			"a package without a wall",
			map[string][]string{".": {"a"}, "a": {"b", quicGo}, "b": {}, "c": {}},
			[]string{"c has no wall"},
		},
		{
			"walls that are too wide",
			map[string][]string{".": {"a"}, "a": {"b"}},
			[]string{"a does not import github.com/quic-go/quic-go, which its wall lets in", "b has a wall, and does not exist"},
		},
	} {
		if got := breaches(allowed, test.actual); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// breaches compares the imports of packages with what their walls let in, and returns a sentence for each difference.
func breaches(allowed, actual map[string][]string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(actual)) {
		wall, ok := allowed[name]
		if !ok {
			found = append(found, name+" has no wall")
			continue
		}
		for _, imported := range actual[name] {
			if !slices.Contains(wall, imported) {
				found = append(found, fmt.Sprintf("%s imports %s, which its wall does not let in", name, imported))
			}
		}
		for _, imported := range wall {
			if !slices.Contains(actual[name], imported) {
				found = append(found, fmt.Sprintf("%s does not import %s, which its wall lets in", name, imported))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if _, ok := actual[name]; !ok {
			found = append(found, name+" has a wall, and does not exist")
		}
	}
	return found
}

// importsOfPackages asks the go command for the imports of this module's packages, without those of their tests, in the form
// in which walls has them.
func importsOfPackages(t *testing.T) map[string][]string {
	t.Helper()
	// The cache of test results does not see what another process reads. This walk shows it the folders, so that a result does
	// not outlive a change of a package that package main does not import.
	if err := filepath.WalkDir(".", func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard,Module", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type goPackage struct {
		ImportPath string
		Imports    []string
		Standard   bool
		Module     struct{ Path string }
	}
	packages := map[string]goPackage{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	imports := map[string][]string{}
	for _, p := range packages {
		if p.Module.Path != thisModule {
			continue
		}
		names := []string{}
		for _, path := range p.Imports {
			if imported := packages[path]; !imported.Standard {
				names = append(names, nameInWalls(path, imported.Module.Path))
			}
		}
		slices.Sort(names)
		imports[nameInWalls(p.ImportPath, thisModule)] = slices.Compact(names)
	}
	return imports
}

// nameInWalls is a package's folder in this module, or the path of its module.
func nameInWalls(path, module string) string {
	if module != thisModule {
		return module
	}
	if path == thisModule {
		return "."
	}
	return strings.TrimPrefix(path, thisModule+"/")
}
