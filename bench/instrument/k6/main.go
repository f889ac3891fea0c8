// This k6 is the stock one with the module k6/x/adaptive-h3.
package main

import (
	"go.k6.io/k6/cmd"

	_ "adaptive-h3/bench/instrument/k6/extension"
)

func main() { cmd.Execute() }
