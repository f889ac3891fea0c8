package tunpath

import "time"

var started = time.Now()

// nowNs is CLOCK_MONOTONIC since the start of the process: Go reads it without a system call, and the shaper's
// fractions of a nanosecond want small numbers.
func nowNs() int64 { return int64(time.Since(started)) }
