package quicserver

import (
	"strings"
	"testing"
)

// Small buffers are said with what to set.
func TestSmallBuffers(t *testing.T) {
	const linux = 2 * 212_992 // with Linux' defaults
	for _, test := range []struct {
		receive, send int
		want          string
	}{
		{wantedBuffer, wantedBuffer, ""},
		{linux, linux, "416 KiB to receive and 416 KiB to send"},
		{linux, wantedBuffer, "416 KiB to receive and 7168 KiB to send"},
		{wantedBuffer, linux, "7168 KiB to receive and 416 KiB to send"},
	} {
		got := Buffers{test.receive, test.send, wantedBuffer}.small()
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || (got != "" && !strings.Contains(got, "net.core.rmem_max")) {
			t.Errorf("%d, %d: %q", test.receive, test.send, got)
		}
	}
}
