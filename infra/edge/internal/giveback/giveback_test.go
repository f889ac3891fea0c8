package giveback

import (
	"runtime/debug"
	"testing"
)

func TestDue(t *testing.T) {
	for _, step := range []struct {
		name            string
		now, last, left usage
		want            bool
	}{
		{"little memory", usage{20 << 20, 0}, usage{20 << 20, 0}, usage{}, false},
		{"much, and a collection just now", usage{300 << 20, 7}, usage{20 << 20, 0}, usage{}, false},
		{"much, and quiet", usage{300 << 20, 7}, usage{300 << 20, 7}, usage{}, true},
		{"what is left is in use", usage{210 << 20, 8}, usage{200 << 20, 8}, usage{200 << 20, 8}, false},
		{"the next burst", usage{250 << 20, 8}, usage{210 << 20, 8}, usage{200 << 20, 8}, true},
	} {
		if got := due(step.now, step.last, step.left); got != step.want {
			t.Errorf("%s: %t", step.name, got)
		}
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
