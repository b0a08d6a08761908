// SPDX-License-Identifier: LGPL-2.1-or-later

// Shop is a program that records events of its own:  tracedaemon t.trace -- ./shop
package main

import (
	"fmt"
	"syscall"
	"time"

	"tracetoolkit"
)

var (
	waiting  = tracetoolkit.NewCounter("shop", "waiting")
	order    = tracetoolkit.NewRequest("shop", "order")
	checkout = tracetoolkit.NewScope("shop", "checkout")
	paid     = tracetoolkit.NewEvent("shop", "order_paid", "id:i32 price:f64 customer:text")
	slept    time.Duration
)

func sleep() {
	begin := time.Now()
	nap := syscall.NsecToTimespec(2000000)
	syscall.Nanosleep(&nap, nil)
	slept += time.Since(begin)
}

func checkOut(id int) {
	defer checkout.Begin().End()
	sleep()
	paid.Record(id, float64(id)*9.5, "alice")
}

func main() {
	for id := 1; id <= 10; id++ {
		work := order.Begin(int64(id))
		waiting.Record(10 - id)
		checkOut(id)
		work.End()
	}
	fmt.Printf("10 orders, slept %d ns\n", slept.Nanoseconds())
}
