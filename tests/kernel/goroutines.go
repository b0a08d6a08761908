// SPDX-License-Identifier: LGPL-2.1-or-later

// Goroutines that allocate until they have used a second of CPU time, so that parts of the runtime run on the stacks of
// threads: for test_e2e_generated.c.
package main

import (
	"strconv"
	"syscall"
)

var sink map[string]int

func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

//go:noinline
func allocate() int {
	table := map[string]int{}
	for i := 0; i < 5000; i++ {
		table["key "+strconv.Itoa(i)] = i
	}
	sink = table
	return len(table)
}

func main() {
	for sum := 0; cpuNs() < 1000000000; {
		done := make(chan int)
		for i := 0; i < 4; i++ {
			go func() { done <- allocate() }()
		}
		for i := 0; i < 4; i++ {
			sum += <-done
		}
	}
}
