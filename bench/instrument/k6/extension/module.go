// Package extension is the k6 module "k6/x/adaptive-h3" (k6.d.ts).
package extension

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.k6.io/k6/js/modules"

	"adaptive-h3/bench/instrument/k6/load"
)

func init() { modules.Register("k6/x/adaptive-h3", root{}) }

type root struct{}

// NewModuleInstance gives each VU its own instance.
func (root) NewModuleInstance(vu modules.VU) modules.Instance { return &instance{vu} }

type instance struct{ vu modules.VU }

// Exports are what scripts can call.
func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"run": i.run, "print": printLine}}
}

// run runs a load (plan.ts) and blocks until it ends, like http.get. Load and result are JSON, so that both sides see what
// stands in plan.ts.
func (i *instance) run(text string) (string, error) {
	if i.vu.State() == nil {
		return "", errors.New("a load is run by a VU, not in the init context")
	}
	var spec load.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return "", fmt.Errorf("the load is not as it should be: %w", err)
	}
	result, err := load.Run(i.vu.Context(), spec)
	if err != nil {
		return "", err
	}
	line, err := json.Marshal(result)
	return string(line), err
}

// printLine writes to stdout at once. console.log cannot do it: k6 opens what --console-output names, and cannot open the
// socket that node gives a child as a pipe.
func printLine(line string) { fmt.Println(line) }
