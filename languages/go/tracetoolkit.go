// SPDX-License-Identifier: LGPL-2.1-or-later

// Package tracetoolkit records events of a Go program, in the same trace as those of the kernel.
//
//	var paid = tracetoolkit.NewEvent("shop", "order_paid", "id:i64 price:f64 customer:text")
//	var checkout = tracetoolkit.NewScope("shop", "checkout")
//
//	defer checkout.Begin().End()
//	paid.Record(7, 9.5, "alice")
//
// An event belongs to the thread of the system that runs the goroutine at that moment. The runtime moves goroutines between
// threads, and lets a thread run another goroutine while one waits. A scope or a request says where the time of a thread
// went, so while one is open its goroutine is locked to its thread (runtime.LockOSThread), if a recording selects it. That
// makes its switches slower: a message over a channel and back took 4 us instead of 0.3 us on a virtual machine with two
// CPUs.
//
// Record never panics: a value that the field's type cannot take is zero or the empty text.
package tracetoolkit

/*
#cgo LDFLAGS: -ltracer
#include <stdlib.h>
#include <trace/dynamic.h>

// By value, so that nothing of Go is in memory that C reads.
static void record_words(struct trace_dynamic *event, uint64_t first, uint64_t second, size_t bytes)
{
	const uint64_t words[] = {first, second};

	trace_dynamic_record(event, words, bytes);
}

static const unsigned char *flag_of(const struct trace_dynamic *event)
{
	return (const unsigned char *)trace_dynamic_flag(event);
}
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	roleEvent = iota
	roleBegin
	roleEnd
	roleCounter
	roleRequestBegin
	roleRequestEnd
	roleRequestHandoff
)

const (
	maxFields    = 16
	maxTextBytes = 1025 // libtracer keeps one less, and marks what it cut
)

// The values of an event on their way to libtracer.
type values [8*maxFields + maxFields*maxTextBytes]byte

var buffers = sync.Pool{New: func() any { return new(values) }}

// Event is a declared event. Any goroutine may use it.
type Event struct {
	handle *C.struct_trace_dynamic
	word   *uint32 // the 4 aligned bytes around the event's flag
	mask   uint32
	kinds  []byte // of each field: i integer, f floating point, s text or bytes
}

// NewEvent declares an event with fields "NAME:TYPE NAME:TYPE ...", of the types i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool
// pointer text bytes. It panics if the declaration is against the rules.
func NewEvent(provider, name, fields string) *Event {
	return declare(provider, name, roleEvent, fields)
}

// NewCounter declares a value over time: Record(value).
func NewCounter(provider, name string) *Event {
	return declare(provider, name, roleCounter, "value:i64")
}

func declare(provider, name string, role uint32, fields string) *Event {
	_, file, line, _ := runtime.Caller(2)
	var texts [4]*C.char
	for i, text := range []string{provider, name, fields, file} {
		texts[i] = C.CString(text)
		defer C.free(unsafe.Pointer(texts[i]))
	}
	event := new(Event)
	if C.trace_dynamic_declare(texts[0], texts[1], C.uint32_t(role), texts[2], texts[3], C.uint32_t(line), &event.handle) != 0 {
		panic(fmt.Sprintf("tracetoolkit: %s:%s %q: %s", provider, name, fields, C.GoString(C.trace_dynamic_rules())))
	}
	flag := unsafe.Pointer(C.flag_of(event.handle))
	within := uintptr(flag) & 3
	event.word = (*uint32)(unsafe.Add(flag, -int(within)))
	var bytes [4]byte
	bytes[within] = 0xff
	event.mask = *(*uint32)(unsafe.Pointer(&bytes))
	for _, field := range strings.Fields(fields) {
		event.kinds = append(event.kinds, kindOf(field[strings.IndexByte(field, ':')+1:]))
	}
	return event
}

func kindOf(kind string) byte {
	switch {
	case kind == "text" || kind == "bytes":
		return 's'
	case kind[0] == 'f':
		return 'f'
	}
	return 'i'
}

// On says whether a recording selects the event: ask before you compute a value that takes long.
func (e *Event) On() bool {
	return atomic.LoadUint32(e.word)&e.mask != 0
}

// Record records the event with the values of its fields: integers, floats, bools, strings, byte slices.
func (e *Event) Record(fields ...any) {
	if e.On() {
		e.record(fields)
	}
}

func (e *Event) record(fields []any) {
	var words [2]uint64
	if len(e.kinds) <= len(words) && !e.hasTexts() {
		for i := range e.kinds {
			words[i] = word(e.kinds[i], fields, i)
		}
		C.record_words(e.handle, C.uint64_t(words[0]), C.uint64_t(words[1]), C.size_t(8*len(e.kinds)))
		return
	}
	buffer := buffers.Get().(*values)
	used := 8 * len(e.kinds)
	for i, kind := range e.kinds {
		var value uint64
		if kind == 's' {
			value = uint64(copyText(buffer[used:used+maxTextBytes], fields, i))
			used += int(value)
		} else {
			value = word(kind, fields, i)
		}
		binary.LittleEndian.PutUint64(buffer[8*i:], value)
	}
	C.trace_dynamic_record(e.handle, unsafe.Pointer(buffer), C.size_t(used))
	buffers.Put(buffer)
}

func (e *Event) hasTexts() bool {
	for _, kind := range e.kinds {
		if kind == 's' {
			return true
		}
	}
	return false
}

func copyText(to []byte, fields []any, i int) int {
	if i >= len(fields) {
		return 0
	}
	switch value := fields[i].(type) {
	case string:
		return copy(to, value)
	case []byte:
		return copy(to, value)
	}
	return 0
}

func word(kind byte, fields []any, i int) uint64 {
	if i >= len(fields) {
		return 0
	}
	integer, floating, isFloat := number(fields[i])
	switch {
	case kind == 'f' && isFloat:
		return math.Float64bits(floating)
	case kind == 'f':
		return math.Float64bits(float64(integer))
	case isFloat:
		return uint64(int64(floating))
	}
	return uint64(integer)
}

func number(value any) (integer int64, floating float64, isFloat bool) {
	switch value := value.(type) {
	case int:
		return int64(value), 0, false
	case int8:
		return int64(value), 0, false
	case int16:
		return int64(value), 0, false
	case int32:
		return int64(value), 0, false
	case int64:
		return value, 0, false
	case uint:
		return int64(value), 0, false
	case uint8:
		return int64(value), 0, false
	case uint16:
		return int64(value), 0, false
	case uint32:
		return int64(value), 0, false
	case uint64:
		return int64(value), 0, false
	case uintptr:
		return int64(value), 0, false
	case float32:
		return 0, float64(value), true
	case float64:
		return 0, value, true
	case bool:
		if value {
			return 1, 0, false
		}
	}
	return 0, 0, false
}

// Scope is the time from Begin to End, in one goroutine, properly nested with its other scopes.
type Scope struct {
	begin, end *Event
}

// NewScope declares a scope.
func NewScope(provider, name string) *Scope {
	return &Scope{declare(provider, name, roleBegin, ""), declare(provider, name, roleEnd, "")}
}

// Open is a scope that has begun.
type Open struct {
	end *Event
}

// Begin begins the scope: defer scope.Begin().End().
func (s *Scope) Begin() Open {
	if !s.begin.On() {
		return Open{}
	}
	runtime.LockOSThread()
	s.begin.Record()
	return Open{s.end}
}

// End ends the scope. It belongs to the goroutine that called Begin.
func (o Open) End() {
	if o.end != nil {
		o.end.Record()
		runtime.UnlockOSThread()
	}
}

// Request is a kind of requests that goroutines work for, each with a number.
type Request struct {
	begin, end, handoff *Event
}

// NewRequest declares requests.
func NewRequest(provider, name string) *Request {
	return &Request{declare(provider, name, roleRequestBegin, "id:i64"), declare(provider, name, roleRequestEnd, "id:i64"),
		declare(provider, name, roleRequestHandoff, "id:i64")}
}

// Work is the part of a request that one goroutine does.
type Work struct {
	request *Request
	id      int64
}

// Begin says that the goroutine works for request id from now on, until End or Handoff of the result.
func (r *Request) Begin(id int64) Work {
	if !r.begin.On() {
		return Work{}
	}
	runtime.LockOSThread()
	r.begin.Record(id)
	return Work{r, id}
}

// End says that the request is complete.
func (w Work) End() {
	if w.request != nil {
		w.request.end.Record(w.id)
		runtime.UnlockOSThread()
	}
}

// Handoff says that the goroutine passes the request on, to the one that begins it next.
func (w Work) Handoff() {
	if w.request != nil {
		w.request.handoff.Record(w.id)
		runtime.UnlockOSThread()
	}
}
