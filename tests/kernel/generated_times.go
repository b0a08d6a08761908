// SPDX-License-Identifier: LGPL-2.1-or-later

// Two functions that measure their own CPU time, for test_e2e_generated.c; the argument is the file of the truth.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID

var sink uint64

func now() int64 {
	var time syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}

//go:noinline
func own_light(n uint64) (s uint64) {
	for i := uint64(0); i < n; i++ {
		s = (s*31 + i) % 1000003
	}
	return s
}

//go:noinline
func own_heavy(n uint64) (s uint64) {
	for i := uint64(0); i < 2*n; i++ {
		s = (s*37 + i) % 1000003
	}
	return s
}

func main() {
	var light, heavy int64
	runtime.LockOSThread()
	for light+heavy < 1000000000 {
		begin := now()
		sink += own_light(200000)
		middle := now()
		sink += own_heavy(200000)
		light += middle - begin
		heavy += now() - middle
	}
	text := fmt.Sprintf("pid %d\nlight %d\nheavy %d\n", os.Getpid(), light, heavy)
	if os.WriteFile(os.Args[1], []byte(text), 0o644) != nil {
		os.Exit(1)
	}
}
