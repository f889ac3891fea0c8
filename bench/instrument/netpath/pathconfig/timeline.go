package pathconfig

// Timeline walks the profile of a configuration, in time since the configuration was set.
type Timeline struct {
	config Config
	cycle  int64
	next   int // 0 is the beginning of a cycle, i+1 the i-th step
}

// NewTimeline stands just after the beginning.
func NewTimeline(config Config) *Timeline {
	return &Timeline{config: config, next: 1}
}

// Peek is the next change; false if there is none.
func (t *Timeline) Peek() (Step, bool) {
	if t.next > len(t.config.Profile) {
		if t.config.RepeatNs == 0 {
			return Step{}, false
		}
		t.cycle, t.next = t.cycle+1, 0
	}
	step := Step{AToB: t.config.AToB, BToA: t.config.BToA}
	if t.next > 0 {
		step = t.config.Profile[t.next-1]
	}
	step.AtNs += t.cycle * t.config.RepeatNs
	return step, true
}

// Advance goes on to the change after.
func (t *Timeline) Advance() { t.next++ }
