package tunpath

import (
	"bytes"
	"io"
	"strconv"
)

// droppedOnTransmit reads how many packets the device threw away because nobody read them in time.
func (d *device) droppedOnTransmit() uint64 {
	if _, err := d.stats.Seek(0, io.SeekStart); err != nil {
		return 0
	}
	text, err := io.ReadAll(d.stats)
	if err != nil {
		return 0
	}
	return transmitDrops(text, d.name)
}

// transmitDrops is the twelfth number of the device's line in /proc/net/dev.
func transmitDrops(text []byte, name string) uint64 {
	for line := range bytes.Lines(text) {
		label, numbers, ok := bytes.Cut(line, []byte(":"))
		if !ok || string(bytes.TrimSpace(label)) != name {
			continue
		}
		if fields := bytes.Fields(numbers); len(fields) > 11 {
			n, _ := strconv.ParseUint(string(fields[11]), 10, 64)
			return n
		}
	}
	return 0
}
