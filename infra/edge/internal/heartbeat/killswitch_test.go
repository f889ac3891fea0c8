package heartbeat

import (
	"net/http"
	"strings"
	"testing"
)

func TestKillSwitch(t *testing.T) {
	s := &KillSwitch{}
	told := func() string {
		question := http.Header{}
		s.announce(question)
		return question.Get("adaptive-h3-kill")
	}
	for i, step := range []struct {
		heard string
		on    bool
		told  string
	}{
		{"", false, ""},
		{"clear a", true, "clear a"},
		{"", true, "clear a"}, // a worker that was started since
		{strings.Repeat("x", 201), true, "clear a"},
		{"fixed-h2 b", true, "fixed-h2 b"},
		{"off", false, ""},
		{"off", false, ""},
	} {
		answer := http.Header{}
		if step.heard != "" {
			answer.Set("adaptive-h3-kill", step.heard)
		}
		s.hear(answer)
		if s.On() != step.on || told() != step.told {
			t.Errorf("%d, after %q: on %v, told %q", i, step.heard, s.On(), told())
		}
	}
	if (*KillSwitch)(nil).On() {
		t.Error("nil is on")
	}
}
