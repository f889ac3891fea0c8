// Package extension is the k6 module "k6/x/adaptive-h3".
package extension

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"

	"adaptive-h3/bench/instrument/k6/load"
	"adaptive-h3/bench/instrument/k6/reading"
)

// Name is what a script imports.
const Name = "k6/x/adaptive-h3"

func init() { modules.Register(Name, &root{}) }

// root is there once for all VUs.
type root struct {
	once   sync.Once
	busy   *reading.Busy // nil where the cores cannot be read
	stdout sync.Mutex
}

type instance struct {
	root    *root
	vu      modules.VU
	metrics loadMetrics
}

var (
	_ modules.Module   = &root{}
	_ modules.Instance = &instance{}
)

// NewModuleInstance gives each VU its own instance.
func (r *root) NewModuleInstance(vu modules.VU) modules.Instance {
	// The watch ends with the process.
	r.once.Do(func() { r.busy, _ = reading.StartBusy() })
	metrics, err := registerMetrics(vu.InitEnv().Registry)
	if err != nil {
		common.Throw(vu.Runtime(), err)
	}
	return &instance{root: r, vu: vu, metrics: metrics}
}

// Exports are what scripts can call.
func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"load": i.load, "visit": i.visit, "print": i.print}}
}

// load runs a load (plan.ts) and blocks until it ends, like http.get. Its result is returned, and counted in the metrics.
func (i *instance) load(value sobek.Value) (sobek.Value, error) {
	var spec load.Spec
	if err := fromJS(value, &spec, false); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return i.run(spec)
}

// visit is a load of one session with a URL.
func (i *instance) visit(url string, value sobek.Value) (sobek.Value, error) {
	var options visitOptions
	if err := fromJS(value, &options, true); err != nil {
		return nil, fmt.Errorf("visit: %w", err)
	}
	spec, err := options.spec(url)
	if err != nil {
		return nil, fmt.Errorf("visit: %w", err)
	}
	return i.run(spec)
}

func (i *instance) run(spec load.Spec) (sobek.Value, error) {
	state := i.vu.State()
	if state == nil {
		return nil, errors.New("a load is run by a VU, not in the init context")
	}
	spec.InsecureSkipVerify = state.Options.InsecureSkipTLSVerify.Bool
	// k6's own look-up, so that its options hosts and dns hold.
	if resolver := state.GetAddrResolver(); spec.Origin.Address == "" && resolver != nil {
		host := net.JoinHostPort(spec.Origin.Host, strconv.Itoa(spec.Origin.Port))
		address, _, err := resolver.ResolveAddr(host)
		if err != nil {
			return nil, fmt.Errorf("looking up %s: %w", host, err)
		}
		spec.Origin.Address = address.String()
	}
	result, err := load.Run(i.vu.Context(), spec, i.root.busy)
	if err != nil {
		return nil, err
	}
	i.metrics.push(i.vu.Context(), state, spec, result)
	return toJS(i.vu.Runtime(), result)
}

// print writes a value as one line of JSON to stdout, at once. console.log cannot do it: k6 opens what --console-output
// names, and cannot open the socket that node gives a child as a pipe.
func (i *instance) print(value sobek.Value) error {
	line, err := toJSON(value)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	i.root.stdout.Lock()
	defer i.root.stdout.Unlock()
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
