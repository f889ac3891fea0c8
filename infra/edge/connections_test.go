package main

import "testing"

func TestMostConnections(t *testing.T) {
	for _, tc := range []struct {
		descriptors int
		memory      uint64
		want        int
	}{{200, 24 << 30, 100}, {65536, 24 << 30, 16106}, {65536, 4 << 30, 2684}, {65536, 64 << 20, 64}, {65536, 0, 32768}, {40, 0, 20}} {
		if got := mostConnections(tc.descriptors, tc.memory); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}
