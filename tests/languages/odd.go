// SPDX-License-Identifier: LGPL-2.1-or-later

// Odd has values and declarations that a program should not use; it prints what each event is to be.
package main

import (
	"fmt"
	"strings"
	"time"

	"tracetoolkit"
)

var (
	values = tracetoolkit.NewEvent("odd", "values", "small:i8 big:u64 number:f64 text:text blob:bytes flag:bool")
	raises = tracetoolkit.NewScope("odd", "raises")
	stays  = tracetoolkit.NewScope("odd", "stays")
)

func expect(description string, fields ...any) {
	values.Record(fields...)
	fmt.Println("expect", description)
}

func expectRefusal(fields string) {
	defer func() {
		if message := fmt.Sprint(recover()); !strings.Contains(message, "names are letters") {
			fmt.Println("no error for", fields)
		}
	}()
	tracetoolkit.NewEvent("odd", "wrong", fields)
}

func leave() {
	defer func() { _ = recover() }()
	defer raises.Begin().End()
	panic("left by a panic")
}

// A goroutine that sleeps would continue on any thread.
func stay(done chan bool) {
	open := stays.Begin()
	for i := 0; i < 5; i++ {
		time.Sleep(time.Millisecond)
	}
	open.End()
	done <- true
}

func main() {
	expect(`small=44 big=18446744073709551615 number=1 text="" blob=7879 flag=1`, 300, -1, true, 7, []byte("xy"), 2)
	expect(`small=0 big=0 number=0 text="" blob= flag=0`)
	expect(`small=0 big=0 number=0 text="" blob= flag=0`, expect, nil, expect, expect, nil, expect)
	expect(`small=0 big=0 number=2.5 text="a" blob=62 flag=0`, nil, "x", 2.5, "a", "b", nil, "too", "many")
	expect(`small=1 big=2 number=3 text="`+strings.Repeat("x", 1021)+`..." blob= flag=1`, 1, 2, float32(3), strings.Repeat("x", 5000), "", true)
	done := make(chan bool)
	go func() {
		expect(`small=2 big=0 number=0 text="thread" blob= flag=0`, 2, 0, 0, "thread")
		done <- true
	}()
	<-done
	for _, fields := range []string{"a-b:i32", "a:int", "a", "a:u8 a:u8"} {
		expectRefusal(fields)
	}
	leave()
	for i := 0; i < 20; i++ {
		go stay(done)
	}
	for i := 0; i < 20; i++ {
		<-done
	}
	fmt.Println("scopes 20")
}
