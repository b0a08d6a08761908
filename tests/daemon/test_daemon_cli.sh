#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tracedaemon as a user sees it: exit statuses, signals, streams, control. With a tracer in plain
# memory; needs no root.
set -u
daemon=$TRACE_BUILD/tests/tracedaemon-fake
control=$TRACE_BUILD/bin/tracectl
visualizer=$TRACE_BUILD/bin/tracevisualizer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TRACE_FAKE_EVENTS=1000000000 TRACE_FAKE_PAUSE_US=5000
failures=0

# The daemon looks at all processes, and those of other tests may not answer meanwhile: true, but nothing of this test.
not_of_others() { sed -i '/not traced: what .* contains\{0,1\}: .* did not answer in time/d' "$1"; } # of one or of several
# expect STATUS PATTERN COMMAND...: the exit status, and a pattern in what it says on stderr ("" = nothing at all)
expect() {
	local status=$1 pattern=$2 got
	shift 2
	"$@" >out 2>err
	got=$?
	not_of_others err
	if [ $got -ne "$status" ]; then
		echo "FAILED: $*: exit status $got, not $status"; cat err; failures=$((failures + 1))
	elif [ -z "$pattern" ] && [ -s err ] || ! grep -qe "$pattern" err; then
		[ -z "$pattern" ] && [ ! -s err ] && return
		echo "FAILED: $*: not \"$pattern\" but:"; cat err; failures=$((failures + 1))
	fi
}
check() { # check WHAT COMMAND...: the command succeeds
	local what=$1
	shift
	"$@" || { echo "FAILED: $what; the latest messages:"; tail -n 5 err; failures=$((failures + 1)); }
}
run() { "$daemon" --control "$work/control" "$@"; }
silent() { run --quiet -b4194304 "$@"; } # with room: a loss is reported, quiet or not
start() { # in the background of this script, until it answers
	"$daemon" --control "$work/control" "$@" 2>daemon.err & # no function here: $! has to be the daemon itself
	pid=$!
	for _ in $(seq 400); do
		"$control" --control "$work/control" status >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "FAILED: $* does not answer"; cat daemon.err; failures=$((failures + 1))
}

# the control socket of a user other than root: daemon and tracectl find it without
# the option for its path
user_control() {
	local as=()
	[ "$(id -u)" = 0 ] && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	mkdir -m 0700 "$work/run" "$work/theirs"
	chmod 0755 "$work"
	[ "$(id -u)" = 0 ] && chown 65534:65534 "$work/run" "$work/theirs"
	"${as[@]}" test -x "$daemon" || return 0 # a folder that only root can enter
	(cd "$work/theirs" && XDG_RUNTIME_DIR=$work/run exec "${as[@]}" "$daemon" -ts120 t.trace 2>"$work/theirs.err") &
	pid=$!
	for _ in $(seq 400); do
		XDG_RUNTIME_DIR=$work/run "${as[@]}" "$control" status >/dev/null 2>&1 && break
		sleep 0.05
	done
	(cd "$work/theirs" && XDG_RUNTIME_DIR=$work/run exec "${as[@]}" "$daemon" --no-user -ts120 second.trace 2>"$work/second.err") &
	local second=$!
	for _ in $(seq 400); do [ -S "$work/run/tracedaemon/control-$second" ] && break; sleep 0.05; done
	check "a user's daemon is found" env XDG_RUNTIME_DIR="$work/run" "${as[@]}" "$control" stop
	wait $pid
	expect 1 "another one is: --control $work/run/tracedaemon/control-$second\$" env XDG_RUNTIME_DIR="$work/run" "${as[@]}" "$control" status
	expect 1 "another daemon runs: --control $work/run/tracedaemon/control-$second\$" env XDG_RUNTIME_DIR="$work/run" "${as[@]}" "$control"
	check "another daemon is found" env XDG_RUNTIME_DIR="$work/run" "${as[@]}" "$control" --control "$work/run/tracedaemon/control-$second" stop
	wait $second
	check "its socket is gone" test ! -e "$work/run/tracedaemon/control"
	check "a second daemon says how to control the first one" grep -q "another daemon runs; tracectl --control $work/run/tracedaemon/control-$second controls this one\$" "$work/second.err"

	# messages about each of two daemons reach that daemon
	mine() { (cd "$work/theirs" && PATH=$work/path:$PATH XDG_RUNTIME_DIR=$work/run exec "${as[@]}" "$@"); }
	mkdir path
	ln -s "$daemon" path/tracedaemon
	ln -s "$control" path/tracectl
	mine tracedaemon --no-user -k 2>first.err
	check "the first daemon prints the usual message" grep -q "; tracedaemon -j TRACE saves it, tracedaemon -q stops it\$" first.err
	for begin in "-k" "--background b.trace"; do
		mine tracedaemon --no-user $begin 2>second.err
		not_of_others second.err
		check "the second daemon, $begin, reports the first in one line" test "$(grep -c "process\|daemon runs" second.err)" -eq 1
		mine bash -c "$(sed -n 's/.*\(tracedaemon\|tracectl\) \(.*\) \(stops\|ends\) it$/\1 \2/p' second.err)" >/dev/null
		check "the second, $begin, is what stops" test -z "$(ls run/tracedaemon/control-* 2>/dev/null)"
		check "the first goes on beside $begin" mine tracectl status >/dev/null
	done
	mine tracedaemon -q >/dev/null
	for _ in $(seq 400); do [ -e run/tracedaemon/control ] || break; sleep 0.05; done
}
user_control
export TRACER_SOCKET=$work/programs # a folder of its own, so that no other daemon and no other program uses it

# usage
expect 2 "unknown option -Z" run -Z
expect 2 "similar names: .*sched_switch" run -esched_swich t
expect 2 "is not a time" run -tsx t
expect 2 "-e chooses the events of a new recording, and -j begins none" run -j -e sched t
expect 2 "-t sets the duration of a new recording, and -v begins none" run -ts1 -v
expect 2 "one argument too many" run a b c d
expect 2 "^tracedaemon: -k begins a recording and -j does not: give only one of them$" run -j -k
check "a contradiction is one line" test "$(wc -l <err)" = 1
expect 2 "--background begins a recording and -q does not" run --background -q
expect 2 "save them later: tracedaemon -j 'two words'\$" run -k "two words"
expect 2 "the name of the trace is empty" run -tu100000 ""
expect 2 "the trace and the list of processes cannot be the same file" run -tu100000 - -
expect 2 "the second one: give only one; --follow adds" run -tu100000 -P1 -P2 t
expect 2 "^tracedaemon: no event.*\"nope\"" run -Dnope t
check "an unknown event is not reported as recorded" test "$(wc -l <err)" = 1
expect 2 "c: one argument too many; put a command after --: a -- b c$" run -tu100000 a b c
check "no file has the name of a command" test ! -e b
expect 1 "there is no process 2147483647 to record" run -P2147483647 none.trace
expect 1 "there is no process group 2147483647 to record" run -G2147483647 none.trace
check "no process, no trace" test ! -e none.trace
expect 0 "" run --help
expect 0 "" run --version
expect 0 "" run --list
check "the list has an event" grep -q "^sched_switch .*sched:sched_switch" out

# a user who asks for the kernel without permission gets one line and no trace; others record their
# programs
without() { env TRACE_FAKE_FORBIDDEN=1 "$daemon" --control "$work/control" "$@"; }
for asked in -efs "-esched,-fs_open" "-e+page_alloc" "-esched,-user" -P$$ "-G$(($(ps -o pgid= $$)))" -u0 -g0 "-eall -euser,-user" --no-user; do
	expect 1 "the kernel is root's: run as root" without $asked -tu100000 none.trace
	check "$asked: one line" test "$(wc -l <err)" -eq 1
done
expect 1 "run as root; -e user records events of your programs only\$" without -k -efs
expect 1 "run as root; -e user records events of your programs only\$" without -efs none.trace -- touch started
check "no trace, and no command" test ! -e none.trace -a ! -e started
for asked in "" -euser -eall "-efs,shop:*" "-P$$ -eshop:*" -e-shop:*; do
	# a pattern of programs' events that no program had is status 1
	expected=0
	case $asked in -e-*) ;; *:*) expected=1 ;; esac
	expect $expected "recording events of your programs only, not the kernel's: .* run as root\$" without $asked -tu100000 programs.trace
	check "'$asked' records nothing of the kernel" test -z "$(grep "assigned to a process" err)"
done
expect 0 "" without --quiet --follow programs.trace -- true
expect 0 "scheduling, begin and end of processes are recorded too" run -efs -tu100000 t.trace

# time, summary, files
expect 0 "t.trace: .* events, .* lost" run -ts1 t.trace t.proc
check "what an event takes" grep -q " events, .* ([0-9.]* B/event), .* lost" err
check "next command" grep -q "next: tracevisualizer t.trace" err
check "mode 0600" test "$(stat -c %a t.trace)" = 600
check "process list" grep -qx "PID: 1; PPID: 0; NAME: init" t.proc
check "interrupt list" grep -qx "IRQ: 9; NAME: timer" t.proc
expect 0 "" silent -tu100000 t.trace
advised() { # what is advised can be pasted
	run -tu100000 --output "$1" 2>err
	eval "$(sed -n 's/.*next: tracevisualizer \(.*\)/"$visualizer" \1/p' err)" >out 2>&1
	check "the next command of $1" grep -q "^More: tracevisualizer -a " out
}
advised t.trace
advised "two words.trace"
advised "-dash.trace"
advised "it's; \$(rm -r here).trace"
expect 0 "recording trace-20[-0-9]*.trace$" run -tu100000
start
kill -INT $pid
wait $pid
check "SIGINT before any option ends with 0" test $? -eq 0
check "the message without options" grep -q "recording trace-20[-0-9]*.trace; Ctrl-C ends it$" daemon.err
check "the made-up names" eval 'ls trace-20*.trace >/dev/null && test -z "$(find trace-20*.trace -empty)"' # of one second, or of two
expect 0 "is ignored" run -d -o -tu100000 /dev/tracer t.trace t.proc
expect 1 "symbolic link" run -ts1 "$(ln -s t.trace link; echo link)"
expect 1 "not a regular file" run -ts1 /dev/null
expect 1 "create its directory" run -ts1 none/t.trace
cp t.trace kept.trace
expect 1 "not a list of processes" run -tu100000 kept.trace "$(echo precious >words; echo words)"
check "an older trace stays if the recording fails" cmp -s t.trace kept.trace
expect 1 "cannot create" "$daemon" --control "$work/none/control" -tu100000 kept.trace
check "an older trace stays if the socket fails" cmp -s t.trace kept.trace
expect 1 "is not a socket and is not replaced" "$daemon" --control words -tu100000 kept.trace
check "the socket replaces no file" grep -qx precious words
check "and nothing is left beside it" test -z "$(ls kept.trace.* words.lock 2>/dev/null)"
expect 0 "few.trace: [1-9][0-9]* events, [0-9.]* [KM]iB, .* s, nothing lost$" env TRACE_FAKE_EVENTS=10 "$daemon" --control "$work/control" -tu100000 few.trace
run -tu100000 - >piped 2>err
check "stdout" cmp -s -n 8 piped t.trace

# the trace names the processes it was restricted to
expect 0 "" silent -tu100000 -P$$ -u0 filtered.trace
"$TRACE_BUILD/bin/tracevisualizer" -s filtered.trace >out
check "a filter is reported" grep -q "Not traced: other processes: the recording has only events of process $$ of user 0" out
"$TRACE_BUILD/bin/tracevisualizer" -s t.trace >out
check "no filter, no word" test -z "$(grep 'other processes' out)"

# a daemon reports, quiet or not, that another daemon has the programs, and so does the trace; not
# if no programs were asked for
barred="events of programs: they could not join, another daemon recorded them"
start first.trace
second() { "$daemon" --control "$work/second" --quiet -b4194304 -tu100000 "$@"; }
expect 0 "^tracedaemon: warning: programs that start now cannot join until the other daemon ends: $work/programs belongs" second second.trace
check "the end reports that programs could not join" grep -q "warning: not traced: $barred\$" err
"$visualizer" -s second.trace >out
check "that programs could not join is in the report" grep -q "$barred" out
"$visualizer" --json second.trace >out
check "that programs could not join is in JSON" grep -q "$barred" out
expect 0 "" second --no-user second.trace
expect 0 "" second -esched,-user second.trace
"$visualizer" -s second.trace >out
check "without events of programs none are reported missing" test -z "$(grep "could not join" out)"
expect 0 "cannot join until the other daemon ends" "$daemon" --control "$work/second" --quiet -k -b4194304
expect 0 "Programs with tracepoints: 0 now, 0 so far, 0 refused; new ones cannot join" eval '"$control" --control "$work/second" status >&2'
expect 0 "" "$daemon" --control "$work/second" --quiet -j snapshot.trace
"$daemon" --control "$work/second" -q >/dev/null
"$visualizer" -s snapshot.trace >out
check "that programs could not join is in a snapshot" grep -q "$barred" out
"$daemon" --control "$work/second" --quiet second.trace 2>second.err &
second=$!
for _ in $(seq 400); do grep -q "cannot join" second.err && break; sleep 0.05; done
expect 0 "" "$control" --control "$work/control" stop
wait $pid
for _ in $(seq 400); do [ -S programs ] && break; sleep 0.05; done
"$control" --control "$work/second" stop >/dev/null
wait $second
check "the time in which programs could not join is reported" grep -q "not traced: events of programs in the first [0-9.]* s: they could not join, another daemon recorded them" second.err
"$visualizer" first.trace >out 2>err
check "the daemon that had the programs reports none missing" test -z "$(grep "could not join" out)"

# a command
expect 0 "" silent t.trace -- true
expect 7 "" silent t.trace -- sh -c "exit 7"
expect 143 "" silent t.trace -- sh -c 'kill $$'
rm -f none.trace
expect 127 "command not found; nothing was recorded" run none.trace -- no_such_command
touch plain
expect 126 "cannot be run" run none.trace -- ./plain
check "nothing recorded" test ! -e none.trace
check "the command's streams" test "$(echo in | silent t.trace -- sh -c 'cat; echo err >&2' 2>&1)" = "$(printf 'in\nerr')"
expect 3 "waiting for" run -tu100000 t.trace -- sh -c 'for _ in $(seq 600); do grep -q "waiting for" err && break; sleep 0.1; done; exit 3'

# signals
start t.trace
kill -INT $pid
wait $pid
check "SIGINT ends with 0" test $? -eq 0
start t.trace
kill -TERM $pid
wait $pid
check "SIGTERM ends with 0" test $? -eq 0
start t.trace -- sh -c 'trap "exit 5" TERM; : >trapped; while :; do sleep 0.1; done'
until [ -e trapped ]; do sleep 0.05; done
kill -TERM $pid
wait $pid
check "SIGTERM is passed on to the command" test $? -eq 5

# the command inherits no descriptor of the daemon
sh -c 'ls /proc/self/fd' >without
silent t.trace -- sh -c 'ls /proc/self/fd' >with
check "the command's descriptors" cmp -s without with

# twenty daemons at once: one gets the socket
for i in $(seq 20); do "$daemon" --control "$work/control" "many$i.trace" 2>many$i.err & many[i]=$!; done
refused() { grep -l "^tracedaemon: $work/control belongs to another daemon that runs" many*.err | wc -l; }
for _ in $(seq 400); do [ "$(refused)" -eq 19 ] && break; sleep 0.05; done
check "nineteen are refused" test "$(refused)" -eq 19
expect 0 "" "$control" --control "$work/control" stop
for i in $(seq 20); do wait "${many[i]}" && many_ended=$((${many_ended:-0} + 1)); done
check "one of them records" test "${many_ended:-0}" -eq 1
check "and has a trace, the others none" test "$(echo many*.trace | wc -w)" -eq 1

# a disk that is full for a while
full_for_a_while() {
	mount -t tmpfs -o size=512k none "$work/full" || exit 77
	cd "$work/full" || exit 1
	head -c 480k /dev/zero >ballast
	start t.trace
	for _ in $(seq 400); do grep -q "No space left on device.*recording goes on" daemon.err && break; sleep 0.05; done
	grep -q "No space left on device.*recording goes on" daemon.err || echo "FAILED: a full disk is reported"
	rm ballast
	"$control" --control "$work/control" mark "there is room" >/dev/null
	"$control" --control "$work/control" stop >/dev/null 2>&1 && echo "FAILED: what is missing is an error"
	wait "$pid" && echo "FAILED: what is missing is exit 1"
	grep -q "lost because they could not be written" daemon.err || echo "FAILED: what is missing is counted"
	"$visualizer" --verify t.trace >/dev/null 2>&1 || echo "FAILED: the counts add up after a full disk"
	"$visualizer" -d t.trace 2>/dev/null | grep -q "there is room" || echo "FAILED: what there is room for is written"
	[ "$(grep -c "No space left" daemon.err)" -eq 1 ] || echo "FAILED: the full disk is reported once"
}
mkdir full
export -f start full_for_a_while
export daemon control visualizer work
unshare -m bash -uc full_for_a_while >full.out 2>&1
[ $? -eq 77 ] || check "a disk that is full for a while: $(cat full.out)" test ! -s full.out

# a list of processes that does not fit on the disk
list_without_room() {
	mount -t tmpfs -o size=16k none "$work/full" || exit 77
	head -c 20k /dev/zero >"$work/full/ballast" 2>/dev/null
	run -tu100000 t.trace "$work/full/t.proc" 2>err && echo "FAILED: a list of processes that could not be written is exit 1"
	grep -q "cannot write .*t.proc: No space left" err || echo "FAILED: an unwritten list is reported"
	# losses are possible: this machine may be busy
	"$visualizer" --verify t.trace >/dev/null 2>&1 || echo "FAILED: the trace is whole without the list"
}
export -f run list_without_room
unshare -m bash -uc list_without_room >full.out 2>&1
[ $? -eq 77 ] || check "a list of processes without room: $(cat full.out)" test ! -s full.out

# an unwritable trace is reported in one line, before anything is started or attached, and leaves
# nothing behind
mkdir folder
unwritable() { # unwritable PATTERN TRACE
	local nobody=4194305 # above the maximum pid: checked only when the tracer begins
	expect 1 "$1" run "$2" -- touch started
	check "$2: one line" test "$(wc -l <err)" -eq 1
	check "$2: the command has not run" test ! -e started
	expect 1 "$1" run --background -ts1 "$2"
	check "$2: one line of what would have run in the background" test "$(wc -l <err)" -eq 1
	expect 1 "$1" run -P$nobody -ts1 "$2"
}
unwritable "missing/t.trace: No such file.*; create its directory first" missing/t.trace
unwritable "folder is a directory; name a file in it" folder
unwritable "folder/: Is a directory; name a file in it" folder/
unwritable "t.proc/t.trace: Not a directory" t.proc/t.trace
check "nothing is left of them" test -z "$(ls -A folder)"
expect 1 "no process 4194305" run -P4194305 -ts1 folder/t.trace
check "what began in vain leaves no file" test -z "$(ls -A folder)"

# a disk that accepts nothing, a reader that closes
run -tu200000 - >/dev/full 2>err
check "disk full is exit 1" test $? -eq 1
check "a full disk is reported" grep -q "stdout: .*No space left.*; free some space, or name a file elsewhere" err
run -ts20 - 2>err | head -c 20000 >/dev/null
check "a reader that goes ends it" test "${PIPESTATUS[0]}" -eq 1
(ulimit -f 8; trap '' XFSZ; run -ts2 small.trace) 2>err
check "a file limit is exit 1" test $? -eq 1
check "a file size limit is reported" grep -q "File too large" err

# a trace that is removed or moved during its recording
start removed.trace
rm removed.trace
for _ in $(seq 400); do grep -q "removed.trace was removed" daemon.err && break; sleep 0.05; done
saves=$(sed -n 's/.*"cp \([^ ]*\) NAME" saves it$/\1/p' daemon.err)
check "the message says how to save the trace" cp "$saves" saved.trace
check "what was saved is right" "$visualizer" --verify saved.trace >/dev/null 2>&1
expect 1 "not all events are on disk: removed.trace was removed" "$control" --control "$work/control" dump
expect 1 "not all events are on disk: removed.trace was removed" "$control" --control "$work/control" stop
wait $pid
check "of a trace that was removed nothing is left" test $? -eq 1
check "the removal is reported" grep -q "removed.trace was removed during the recording: the trace is lost" daemon.err
mkdir -p folder
expect 1 "folder/removed.trace was removed" run folder/removed.trace -- rm -r folder
check "what is not there is not recommended" test -z "$(grep next: err)"
expect 0 "warning: moved.trace is no longer the recorded trace" run moved.trace -- mv moved.trace elsewhere.trace
check "what is not there is not recommended, either" test -z "$(grep next: err)"
check "a moved trace is whole" "$visualizer" --verify elsewhere.trace >/dev/null 2>&1

# a killed daemon: the events that it had not written are missing, and their number is unknown
start killed.trace
sleep 0.3
disown $pid # the shell must not report it
kill -KILL $pid
while kill -0 $pid 2>/dev/null; do sleep 0.05; done
check "a killed daemon's trace is right" "$visualizer" --verify killed.trace >/dev/null 2>err
check "the number of missing events is unknown" grep -q "events may have been lost in .*count unknown\|at least .* lost in" err

# control
expect 1 "no tracedaemon is running" "$control" --control "$work/control" status
check "no state" test "$("$control" --control "$work/control")" = "tracedaemon: not running"
expect 2 "unknown command" "$control" --control "$work/control" bogus
expect 2 "PATH is missing" "$control" --control
start t.trace
ask() { "$control" --control "$work/control" "$@"; }
letters() { "$TRACE_BUILD/bin/kgmon" --control "$work/control" "$@"; }
check "recording" test "$(ask)" = "tracedaemon: recording"
expect 0 "" ask halt
check "halt says what it stopped" grep -qx "tracedaemon: halted pid $pid, which writes t.trace; tracectl --control $work/control begin goes on" out
check "halted" test "$(ask)" = "tracedaemon: halted"
expect 0 "" letters -b
check "begun" test "$(ask)" = "tracedaemon: recording"
expect 0 "" ask pause
check "pause halts" test "$(ask)" = "tracedaemon: halted"
for word in resume start; do
	expect 0 "" ask $word
	check "$word begins" test "$(ask)" = "tracedaemon: recording"
done
expect 0 "" ask mask sched,-sched_prio
check "new mask" grep -q sched_wait out
check "removed" test -z "$(grep sched_prio out)"
expect 1 "no event" ask mask nonsense
expect 0 "" ask mark a note
expect 2 "mark: give one line" ask mark $'two\nlines'
expect 0 "" ask mark "$(printf %02031d 7)"
expect 1 "a mark has at most 2031 bytes, and this text has 2032" ask mark "$(printf %02032d 8)"
expect 2 "mask: EVENTS is empty" ask mask ""
expect 2 "dump: TRACE is empty" ask dump ""
expect 2 "mark: TEXT is empty" ask mark ""
expect 2 "a path is missing" "$control" --control "" status
expect 2 "a path is missing" "$control" --control= status
expect 2 "mask: give one line" ask mask $'sched\nstop'
for answer in "ask" "ask status" "ask mask" "ask --help" "run -v" "run --list" "run --help"; do
	$answer >/dev/full 2>err
	check "$answer: an unwritable answer is exit 1" test $? -eq 1
	check "$answer: an unwritable answer is reported" grep -q "standard output could not be written completely: No space left" err
done
expect 0 "" ask dump
check "dump reports success" grep -q "on disk" out
expect 1 "writes to a file" letters -r
expect 1 "takes no samples: tracedaemon --sample TRACE does" letters -p
expect 1 "takes no samples" letters -B
expect 0 "" run -p
check "-p" grep -q "Current event mask 0x" out
expect 0 "" run -v
check "-v" grep -q "Trace Mode" out
check "-v does not list the usual events" grep -q "^Events of the kernel: .* (tracectl mask lists them)$" out
expect 0 "" run -m -efs
expect 1 "belongs to another daemon" run -ts1 other.trace
check "a refusal is one line" test "$(wc -l <err)" -eq 1
expect 1 "t.trace is being written by another recording and is not replaced" "$daemon" --control "$work/second" -tu100000 t.trace
expect 2 "stop takes no argument: nowplease is one word too many, and no command" ask stop nowplease
expect 2 "halt takes no argument: bogus is one word too many" ask halt bogus
expect 2 "dump takes TRACE only: b.trace is one word too many" ask dump a.trace b.trace
expect 2 "unknown option -x" ask halt -x
expect 2 "TEXT is missing" ask halt mark
expect 2 "unknown command stauts; did you mean status?" ask stauts
expect 0 "" ask status --json
check "the status as JSON" grep -q '^{"schema":"trace-status/1",.*"mode":"file",.*}$' out
expect 2 "^tracectl: --json is for status; the answer of halt is text" ask halt --json
expect 2 "^tracectl: record: tracedaemon TRACE records" "$control" record t.trace
expect 2 "^kgmon: status is no letter of kgmon" letters status
expect 2 "saved by the word: tracectl dump TRACE" "$control" -p
expect 0 "" ask -h
check "-h is help" grep -q "^Usage: tracectl " out
expect 0 "" "$control" help
check "help is help" grep -q "^Usage: tracectl " out
check "what is not understood does nothing" test "$(ask)" = "tracedaemon: recording"
expect 0 "" ask stop
wait $pid
check "stopped" test $? -eq 0
check "the recording has its file" "$visualizer" --verify t.trace >/dev/null
"$visualizer" -d -ttrace_mark t.trace >out
check "a mark of the greatest length is whole, and no piece of a longer one is there" test "$(grep -o 'MARK : 0.*' out)" = "MARK : $(printf %02031d 7)"
expect 0 "t.trace: .* events" "$daemon" --control "$work/second" -tu100000 t.trace

# a dump of events that the disk refused
(ulimit -f 32; trap '' XFSZ; exec "$daemon" --control "$work/control" full.trace 2>daemon.err) &
pid=$!
for _ in $(seq 400); do grep -q "File too large" daemon.err && break; sleep 0.05; done
expect 1 "not all events are on disk: .*File too large" ask dump
expect 1 "not all events are on disk: .*File too large" ask stop
wait $pid
check "a recording that could not be written" test $? -eq 1

# counts in the kernel: the tracer in memory has some
start --sample=1ms t.trace
expect 0 "" ask profile
check "what was counted" grep -q "^in .* s: 70,005 samples at 3 addresses of the kernel, one about every 1000.0 us of a CPU; 5,000,000,009 runs of calls" out
expect 1 "\"often\" is neither reset nor a number from 1 to 100" ask profile often
expect 0 "" letters -B
expect 0 "" ask profile
check "-B takes more samples" grep -q "one about every 100.0 us" out
expect 0 "" ask profile 60
check "no more than one each 20 us" grep -q "one about every 20.0 us" out
expect 0 "" letters -b
expect 0 "" ask profile
check "-b takes as many as before" grep -q "one about every 1000.0 us" out
expect 0 "" letters -r
check "a reset of a file leaves its events" grep -q "the events in the file remain" out
expect 0 "" ask profile
check "nothing was counted since" grep -q ": 0 samples at 0 addresses" out
expect 1 "nothing was counted yet" letters -p
check "a refused dump leaves no file" test ! -e gmon.out
expect 0 "" ask stop
wait $pid
check "the reset is in the trace" test "$("$visualizer" -d -ttrace_mark t.trace | grep -c 'MARK : profile reset')" -eq 1

# flight recorder
expect 0 "flight recorder runs" run -k
check "flight status" test -n "$(ask status | grep 'Flight Recorder Mode')"
sleep 0.3
expect 0 "older ones were overwritten" run -j flight.trace
check "snapshot" test -s flight.trace
expect 0 "saved.trace: .* events" ask snapshot saved.trace
for _ in 1 2 3; do expect 0 "trace-.*: .* events" ask snapshot; done
check "snapshots of one second have names of their own" test "$(ls trace-*.trace | wc -l)" -ge 3
rm -f trace-*.trace
expect 0 "" letters -r
expect 0 "flight2.trace: .* events" letters -p flight2.trace -r
expect 0 "stdout: .* events" letters -p -
check "snapshot to stdout" cmp -s -n 8 out t.trace
expect 0 "" run -q
gone() { for _ in $(seq 400); do ask >/dev/null || break; sleep 0.05; done; check "gone" test "$(ask)" = "tracedaemon: not running"; }
gone

# a snapshot that the disk refuses; the message names the file of the client that asked
expect 0 "flight recorder runs" eval "(ulimit -f 1; trap '' XFSZ; run -k)"
sleep 0.3
expect 1 "^tracedaemon: refused.trace: .*File too large" run -j refused.trace
check "nothing of it is left" test ! -e refused.trace
expect 0 "" run -q
gone

# a snapshot into a pipe, larger than the pipe: at least two sub-buffers, 130 kB
export TRACE_FAKE_PAUSE_US=50
expect 0 "flight recorder runs" run -k -b4194304
for _ in $(seq 400); do [ "$(ask status | grep -c "CPU [01]: \([3-9]\|[1-9][0-9]\) sub-buffers")" -eq 2 ] && break; sleep 0.05; done
run -j - 2>goes.err | head -c 10 >/dev/null
check "a reader of a snapshot that closes" test "${PIPESTATUS[0]}" -eq 1
check "a reader of a snapshot that closes is reported" grep -q "the reader closed before the end of the snapshot: .* of .* were written" goes.err
mkfifo slow
run -j - >slow 2>slow.err &
asked=$!
exec 7<slow
head -c 8 <&7 >slow.trace # and reads no more until the daemon has ended
expect 0 "" run -q
gone
cat <&7 >>slow.trace
exec 7<&-
wait $asked
check "a slow reader's snapshot" test $? -eq 0
check "a slow reader's snapshot is reported" grep -q "older ones were overwritten" slow.err
check "a slow reader's snapshot is long" test "$(stat -c %s slow.trace)" -gt 70000
check "a slow reader's snapshot is right" "$visualizer" --verify slow.trace >/dev/null 2>verify.err
check "a slow reader's snapshot is whole" test -z "$(grep "not finished" verify.err)"

export TRACE_FAKE_PAUSE_US=500

# background
background_is_detached() {
	local lock=$work/caller.lock leader
	rm -f detached.trace
	(
		exec 9>"$lock"
		flock 9
		run --background detached.trace 2>err
	)
	local pid=$(sed -n 's/.*recording detached.trace as process \([0-9]*\).*/\1/p' err)
	check "a daemon in the background prints its pid" test -n "$pid"
	leader=$(ps -o sid= -p "$pid" | tr -d ' ')
	check "a daemon in the background does not lead its session, so no terminal can become its own" test "$leader" != "$pid"
	check "a daemon in the background has left the caller's session" test "$leader" != "$(ps -o sid= -p $$ | tr -d ' ')"
	check "a daemon in the background closes the caller's descriptors" flock --nonblock "$lock" true
	expect 0 "" "$control" --control "$work/control" stop
}
background_is_detached
expect 1 "symbolic link" run --background link
for i in 1 2 3; do # stopping it gives a complete trace and its figures, and the next one may begin
	expect 0 "recording b.trace as process" run --background b.trace
	sleep 0.1
	expect 0 "" ask stop
	check "its figures are printed" grep -q "^tracedaemon: b.trace: .* events, .* lost" out
	check "no daemon is left" test "$(ask)" = "tracedaemon: not running"
	check "background trace" "$visualizer" --verify b.trace >/dev/null 2>err
	check "background trace is whole" test -z "$(grep "not finished" err)"
done

# started without stdin, stdout and stderr: it returns, and handles signals
check "without streams it goes to the background" timeout 20 "$daemon" --control "$work/control" --background closed.trace <&- >&- 2>&-
pid=$(ask status | sed -n 's/.*, process \([0-9]*\),.*/\1/p')
check "without streams it answers requests" test -n "$pid"
kill -TERM "$pid"
for _ in $(seq 400); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
check "without streams it handles signals" test "$(ask)" = "tracedaemon: not running"
check "without streams the trace is whole" "$visualizer" --verify closed.trace >/dev/null 2>err
check "without stdout there is no trace" test "$(run -tu100000 - 2>&1 >&-)" = "tracedaemon: stdout is not open for writing"
kill -0 "$pid" 2>/dev/null && kill -KILL "$pid"

[ $failures -eq 0 ] && echo "all as expected" || echo "$failures failures"
exit $((failures > 0))
