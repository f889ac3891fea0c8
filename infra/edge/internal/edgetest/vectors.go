package edgetest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// vector is one case of the files that the TypeScript side is tested with, too.
type vector struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// CheckVectors compares JSON texts, by name, with the vectors of a file, byte for byte but for white space.
func CheckVectors(t *testing.T, path string, encoded map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(encoded) {
		t.Errorf("%d vectors, %d cases", len(vectors), len(encoded))
	}
	for _, v := range vectors {
		var want bytes.Buffer
		if err := json.Compact(&want, v.JSON); err != nil {
			t.Fatal(err)
		}
		if got := encoded[v.Name]; got != want.String() {
			t.Errorf("%s:\n got %s\nwant %s", v.Name, got, want.String())
		}
	}
}
