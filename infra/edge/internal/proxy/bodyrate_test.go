package proxy

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// drip is a connection whose client sends some bytes at a time, with pauses in between. Its deadline is the last one set.
type drip struct {
	http.ResponseWriter
	bytes    int
	pause    time.Duration
	deadline time.Time
}

func (d *drip) SetReadDeadline(t time.Time) error { d.deadline = t; return nil }

func (d *drip) Close() error { return nil }

func (d *drip) Read(p []byte) (int, error) {
	if left := time.Until(d.deadline); !d.deadline.IsZero() && left < d.pause {
		time.Sleep(left) // fake time
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(d.pause) // fake time
	return min(d.bytes, len(p)), nil
}

// A body must come at the slowest rate once the timeout has passed; how long the upstream takes to read it does not count.
func TestSlowestRateOfABody(t *testing.T) {
	const timeout, rate = time.Minute, 1000
	for _, test := range []struct {
		name  string
		bytes int
		pause time.Duration
		reads time.Duration // that the upstream takes between two reads
		ended time.Duration // 0: it goes on
	}{
		{"a byte just before each pause ends", 1, 59 * time.Second, 0, 60 * time.Second},
		{"half the rate", 5000, 10 * time.Second, 0, 115 * time.Second},
		{"twice the rate", 20_000, 10 * time.Second, 0, 0},
		{"fast, and a slow upstream", 32 << 10, time.Millisecond, time.Minute, 0},
		{"one long pause", 32 << 10, 61 * time.Second, 0, 60 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := &drip{bytes: test.bytes, pause: test.pause}
			request, err := http.NewRequest(http.MethodPost, "/", client)
			if err != nil {
				t.Fatal(err)
			}
			request, body := boundBody(client, request, &Options{UpstreamTimeout: time.Hour, BodyTimeout: timeout, SlowestRate: rate})
			defer body.end()
			body.start()
			began := time.Now()
			var waited time.Duration
			buffer := make([]byte, 32<<10)
			for time.Since(began) < time.Hour && err == nil {
				before := time.Now()
				_, err = request.Body.Read(buffer)
				waited += time.Since(before)
				time.Sleep(test.reads)
			}
			if test.ended == 0 {
				if err != nil {
					t.Errorf("%s: after %s %v", test.name, waited, err)
				}
				return
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) || waited.Round(time.Second) != test.ended {
				t.Errorf("%s: after %s %v, want %s", test.name, waited, err, test.ended)
			}
		})
	}
}
