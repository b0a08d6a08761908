// SPDX-License-Identifier: LGPL-2.1-or-later
package main

import (
	"fmt"
	"time"

	"tracetoolkit"
)

var (
	none  = tracetoolkit.NewEvent("cost", "none", "")
	one   = tracetoolkit.NewEvent("cost", "one", "value:i64")
	three = tracetoolkit.NewEvent("cost", "three", "id:i64 price:f64 customer:text")
	scope = tracetoolkit.NewScope("cost", "scope")
)

const events = 10000

func nsPerTurn(run func(i int)) float64 {
	best := 1e9
	for round := 0; round < 50; round++ {
		begin := time.Now()
		for i := 0; i < events; i++ {
			run(i)
		}
		if ns := float64(time.Since(begin).Nanoseconds()) / events; ns < best {
			best = ns
		}
	}
	return best
}

func main() {
	fmt.Printf("%.1f %.1f %.1f %.1f\n", nsPerTurn(func(i int) { none.Record() }), nsPerTurn(func(i int) { one.Record(i) }),
		nsPerTurn(func(i int) { three.Record(i, 9.5, "alice") }), nsPerTurn(func(i int) { scope.Begin().End() }))
}
