package giveback

import (
	"runtime/debug"
	"testing"
)

func TestDue(t *testing.T) {
	var k keeper
	for _, step := range []struct {
		name string
		now  usage
		want bool
	}{
		{"little memory", usage{held: 20 << 20, collections: 0}, false},
		{"much, and a collection just now", usage{held: 300 << 20, collections: 7}, false},
		{"much, and quiet", usage{held: 300 << 20, collections: 7}, true},
	} {
		if got := k.due(step.now); got != step.want {
			t.Errorf("%s: %t", step.name, got)
		}
	}
	// What is left is in use: nobody collects for it again.
	k.freed(usage{held: 200 << 20, collections: 8})
	if k.due(usage{held: 210 << 20, collections: 8}) {
		t.Error("it collects again for what is in use")
	}
	if !k.due(usage{held: 250 << 20, collections: 8}) {
		t.Error("it does not see the next burst")
	}
}

var burst []byte

// The figures are the runtime's: what is held goes down once a burst has passed.
func TestRead(t *testing.T) {
	burst = make([]byte, 200<<20)
	for i := 0; i < len(burst); i += 4096 {
		burst[i] = 1
	}
	before := read()
	burst = nil
	debug.FreeOSMemory()
	after := read()
	if before.held < 200<<20 || after.held > before.held-150<<20 || after.collections <= before.collections {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
