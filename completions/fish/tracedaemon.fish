# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for tracedaemon, written by docs/option_texts.c: do not edit

function __tracedaemon_events
    set -l before (commandline -ct | string match -r '.*[,+-]|-[eED]' | string replace -r '^-[eED]' '')
    printf "$before%s\n" all default CORE (tracedaemon --list 2>/dev/null |
        awk 'NR > 1 && $4 != "always" { print $1; print $2; if ($3 != "-") print $3 }' | sort -u)
end

function __tracedaemon_probes
    set -l word (commandline -ct | string replace -r '^--[a-z-]+=' '')
    printf '%s\n' usdt: kernel:
    switch $word
        case 'usdt:*'
            __fish_complete_suffix ''
        case '*:*'
            tracedaemon --list "$word*" 2>/dev/null | string replace -r ' .*' ''
    end
end

complete -c tracedaemon -s t -l time -x -d 'record for this time: 60s, 500ms, 5m; -ts60, -tu500000'
complete -c tracedaemon -s o -rF -d 'the name of the trace, as the argument TRACE'
complete -c tracedaemon -s P -l pid -x -a '(__fish_complete_pids)' -d 'only this process: its number, or the name of its program or script'
complete -c tracedaemon -l follow -d 'also its descendants; without -P: COMMAND and its descendants'
complete -c tracedaemon -s e -l events -x -a '(__tracedaemon_events)' -d 'record only these (-eSCHED, sched,fs), or change the default: +NAME,-NAME'
complete -c tracedaemon -l probe -rF -a '(__tracedaemon_probes)' -d 'calls in programs: libc.so.6:malloc, \'./prog:pay order->id\', usdt:FILE'
complete -c tracedaemon -l background -d 'return once recording runs; tracectl controls it'
complete -c tracedaemon -s h -d 'the most used options'
complete -c tracedaemon -l help -d 'all options'
complete -c tracedaemon -s u -l uid -x -a '(__fish_complete_users)' -d 'only processes of this effective user'
complete -c tracedaemon -s g -l gid -x -a '(__fish_complete_groups)' -d 'only processes of this effective group'
complete -c tracedaemon -s G -l pgrp -x -a '(__fish_complete_pids)' -d 'only this process group'
complete -c tracedaemon -l preload -x -a 'malloc pthread pthread:all functions profil gprof gprof:times' -d 'trace what COMMAND does: malloc, pthread, functions'
complete -c tracedaemon -s s -x -d 'callers of system calls: at a depth, within bounds'
complete -c tracedaemon -l sample -a '250us 1ms 4ms cycles:1000000' -d 'samples of the code, for tracevisualizer --profile'
complete -c tracedaemon -l user -x -a '(__fish_complete_users)' -d 'run COMMAND as this user; only root may'
complete -c tracedaemon -l args -d 'what arguments of calls point to (256), for --strace'
complete -c tracedaemon -l no-args -d 'no arguments of programs: they may have secrets'
complete -c tracedaemon -l no-user -d 'no events of programs (-e chooses some: \'shop:*\')'
complete -c tracedaemon -s D -l details -x -a '(__tracedaemon_events)' -d 'as -e; details are always recorded'
complete -c tracedaemon -s k -l flight-recorder -l overwrite -d 'keep the latest events in memory, in the background; -j saves'
complete -c tracedaemon -l keep -x -a '10s 30s 60s 5m 30s,64M' -d '-k, with the events of the last TIME, compressed, in at most SIZE (256M)'
complete -c tracedaemon -l save-on -x -a 'wait wait: scope: call: event: signal:SIGUSR1 signal:SIGSEGV psi:io psi:cpu psi:memory loss' -d 'save by itself: wait>200ms, scope:pay>50ms, psi:io>200ms/2s ...'
complete -c tracedaemon -l save-after -x -d 'the time from that moment to the save (1s)'
complete -c tracedaemon -l save-distance -x -d 'the least time from one such moment to the next (10s)'
complete -c tracedaemon -l save-files -x -d 'save so many files by itself, and no more (10)'
complete -c tracedaemon -l watch -d '-k in the foreground, with a line for each file'
complete -c tracedaemon -l foreground -d 'with -k: stay in the foreground, for service managers'
complete -c tracedaemon -s j -l snapshot -d 'save the flight recorder\'s events to TRACE'
complete -c tracedaemon -s q -l stop -d 'stop the flight recorder, or background recording'
complete -c tracedaemon -s m -l set-mask -d 'change the events of the running daemon to the -e list'
complete -c tracedaemon -s p -l print-mask -d 'print the events of the running daemon'
complete -c tracedaemon -s v -l status -d 'print the state of the running daemon'
complete -c tracedaemon -s V -d 'as -v, and the version: --version prints only that'
complete -c tracedaemon -l control -rF -d 'control socket (/run/tracedaemon/control)'
complete -c tracedaemon -l output -rF -d 'as -o'
complete -c tracedaemon -s b -l subbuf-size -x -a '16k 64k 256k 512k 1M 4M 16M' -d 'size of a sub-buffer: 16k to 16M, rounded down to 2^n (1M)'
complete -c tracedaemon -s n -l subbufs -x -d 'sub-buffers per CPU: 2 to 256, rounded down to 2^n (8)'
complete -c tracedaemon -l flush -x -d 'write buffered events every MS ms; 0: never (1000 to 256000, by load)'
complete -c tracedaemon -l level -x -a '1 3 9 19' -d 'zstd level, 1 to 19 (about 1)'
complete -c tracedaemon -l block-programs -d 'programs that allow it wait for free buffers instead of losing events'
complete -c tracedaemon -l list -rF -a '(__tracedaemon_probes)' -d 'list all events, or places to probe: usdt:FILE, FILE:mem*'
complete -c tracedaemon -l quiet -d 'only warnings and errors'
complete -c tracedaemon -l version -d 'print the version'
