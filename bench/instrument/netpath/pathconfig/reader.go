package pathconfig

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// reader takes values out of decoded JSON and collects what is wrong with them.
type reader struct {
	faults Faults
}

func (r *reader) fault(pointer, message string) {
	r.faults = append(r.faults, Fault{pointer, message})
}

// object reports every field that is not known, in order of their names.
func (r *reader) object(pointer string, value any, known ...string) (map[string]any, bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		r.fault(pointer, "must be an object")
		return nil, false
	}
	unknown := []string{}
	for name := range fields {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range unknown {
		r.fault(pointer+"/"+escape.Replace(name), "is not a field; those are "+strings.Join(known, ", "))
	}
	return fields, true
}

func (r *reader) number(pointer string, value any, low, high float64, orElse string) (float64, bool) {
	number, ok := value.(json.Number)
	if ok {
		if f, err := number.Float64(); err == nil && f >= low && f <= high {
			return f, true
		}
	}
	message := fmt.Sprintf("must be a number from %s to %s", plain(low), plain(high))
	if orElse != "" {
		message += ", " + orElse
	}
	r.fault(pointer, message)
	return 0, false
}

func (r *reader) ratio(pointer string, value any) float64 {
	f, _ := r.number(pointer, value, 0, 1, "")
	return f
}

// ms reads milliseconds and gives nanoseconds.
func (r *reader) ms(pointer string, value any, highMs float64) (int64, bool) {
	f, ok := r.number(pointer, value, 0, highMs, "")
	return int64(math.Round(f * 1e6)), ok
}

func (r *reader) whole(pointer string, value any) uint64 {
	if number, ok := value.(json.Number); ok {
		if n, err := strconv.ParseUint(number.String(), 10, 64); err == nil {
			return n
		}
	}
	r.fault(pointer, "must be a whole number from 0")
	return 0
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
