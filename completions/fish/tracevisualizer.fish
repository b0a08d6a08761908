# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for tracevisualizer, written by docs/option_texts.c: do not edit

# The values of a kind that the trace on the command line has.
function __tracevisualizer_trace
    for word in (commandline -op)[2..]
        if not string match -q -- '-*' $word; and test -f $word
            tracevisualizer --complete=$argv[1] $word 2>/dev/null
            return
        end
    end
end

complete -c tracevisualizer -s a -l analyze -d 'where the time of every process went'
complete -c tracevisualizer -l critical-path -a '(__tracevisualizer_trace task)' -d 'what a thread really waited for: PID, TID or name; the command without TASK'
complete -c tracevisualizer -s d -l dump -d 'one line for each event'
complete -c tracevisualizer -l diff -d 'compare two traces: tracevisualizer --diff A B'
complete -c tracevisualizer -s p -l pid -x -a '(__tracevisualizer_trace pid)' -d 'only this process, by number or name'
complete -c tracevisualizer -l comm -x -a '(__tracevisualizer_trace comm)' -d 'only processes or threads of this name'
complete -c tracevisualizer -l all -d 'all rows of each table'
complete -c tracevisualizer -l json -d 'reports and lists (-d) as JSON'
complete -c tracevisualizer -s h -d 'the most used options'
complete -c tracevisualizer -l help -d 'all options'
complete -c tracevisualizer -l slowest -x -a '(__tracevisualizer_trace instance)' -d 'the longest instances of a scope, a system call or a command'
complete -c tracevisualizer -l profile -a 'flat tree lines' -d 'the time by function, of a recording with --sample'
complete -c tracevisualizer -l lines -rF -d 'a source file with the time of each line'
complete -c tracevisualizer -l asm -x -d 'the instructions of a function with the time of each'
complete -c tracevisualizer -l callers -x -d 'the time in and under a function, by what called it'
complete -c tracevisualizer -l callees -x -d 'the time in and under a function, by what it called'
complete -c tracevisualizer -l folded -a 'on off all wakers' -d 'a line for each stack: on, off, all, or wakers'
complete -c tracevisualizer -l flame -rF -d 'the profile as a flame graph, a page of its own'
complete -c tracevisualizer -l pprof -rF -d 'the profile as a file for pprof'
complete -c tracevisualizer -l scope -x -d 'the profile of a scope or request of programs'
complete -c tracevisualizer -l client -x -d 'the profile of what servers did for a client'
complete -c tracevisualizer -s s -l summary -d 'times and numbers of events only'
complete -c tracevisualizer -l timeline -d 'states over time, for ui.perfetto.dev'
complete -c tracevisualizer -l view -d 'a page in the browser, of one trace or two'
complete -c tracevisualizer -l port -x -d 'with --view: this port of 127.0.0.1'
complete -c tracevisualizer -l no-browser -d 'with --view: only print the address'
complete -c tracevisualizer -l no-index -d 'with --view: neither read nor write TRACE.view'
complete -c tracevisualizer -l html -rF -d 'the view as one file, for any browser, without a network'
complete -c tracevisualizer -l anonymous -d 'with --html: pseudonyms for programs, paths, hosts, arguments, users'
complete -c tracevisualizer -l max-size -x -d 'with --html: write no larger page than this; 20M'
complete -c tracevisualizer -l fail-above -x -d 'with --diff: exit with 1 if B ran longer by 10%, 50ms'
complete -c tracevisualizer -l verify -d 'check the trace and all its sums, to 1 ns'
complete -c tracevisualizer -l tid -x -d 'only this thread, or threads of a name'
complete -c tracevisualizer -l cgroup -x -a '(__tracevisualizer_trace cgroup)' -d 'only processes of this control group'
complete -c tracevisualizer -l top -x -d 'N rows of each table'
complete -c tracevisualizer -l sort -x -a 'elapsed cpu user system wait wait-cpu pid name' -d 'elapsed cpu user system wait wait-cpu pid name'
complete -c tracevisualizer -l section -x -a 'cpus processes groups servers programs probes kinds takers files locks interrupted pairs interrupts devices disks work events details' -d 'only these sections of -a: files,locks'
complete -c tracevisualizer -l classic -d 'only the pages of -a for each process: --section=details'
complete -c tracevisualizer -l ns -d 'exact times, in ns'
complete -c tracevisualizer -l output -rF -d 'write the report to FILE'
complete -c tracevisualizer -l no-pager -d 'no $TRACE_PAGER, $PAGER or less on a terminal'
complete -c tracevisualizer -l from -x -d 'from 1.5s after the start, -5s before the end, or 23:06:41.5 by the wall clock'
complete -c tracevisualizer -l to -x -d 'until then; as --from'
complete -c tracevisualizer -l around -x -d 'both: 23:06:41+-100ms'
complete -c tracevisualizer -l time -x -a 'classic wall relative' -d 'classic wall relative: how -d shows times'
complete -c tracevisualizer -s c -l cpu -x -d 'only this CPU'
complete -c tracevisualizer -s t -l trace -x -a '(__tracevisualizer_trace event)' -d 'only these events, classes, categories'
complete -c tracevisualizer -s o -l omit -x -a '(__tracevisualizer_trace event)' -d 'all but these'
complete -c tracevisualizer -s y -l paths -d 'paths of descriptors'
complete -c tracevisualizer -s f -l forget -x -a 'c t p l s' -d 'without CPU, time, PID, length, text'
complete -c tracevisualizer -l symfs -x -a '(__fish_complete_directories)' -d 'names of functions from the files below DIR'
complete -c tracevisualizer -l debuginfod -d 'names of functions also from debuginfod servers'
complete -c tracevisualizer -s b -l benchmark -d 'time the phases of this program'
complete -c tracevisualizer -s V -l version -d 'the version'
