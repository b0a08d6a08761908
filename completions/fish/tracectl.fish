# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for tracectl, written by docs/option_texts.c: do not edit

function __tracectl_events
    set -l before (commandline -ct | string match -r '.*[,+-]|-[eED]' | string replace -r '^-[eED]' '')
    printf "$before%s\n" all default CORE (tracedaemon --list 2>/dev/null |
        awk 'NR > 1 && $4 != "always" { print $1; print $2; if ($3 != "-") print $3 }' | sort -u)
end

complete -c tracectl -f
complete -c tracectl -n __fish_use_subcommand -a status -d 'what it records, since when, and what was lost'
complete -c tracectl -n __fish_use_subcommand -a halt -d 'record nothing until begin; the daemon stays'
complete -c tracectl -n __fish_use_subcommand -a begin -d 'go on recording after halt'
complete -c tracectl -n __fish_use_subcommand -a dump -d 'save the flight recorder, or write all events to disk'
complete -c tracectl -n '__fish_seen_subcommand_from dump' -F
complete -c tracectl -n __fish_use_subcommand -a reset -d 'flight recorder: drop what is in memory'
complete -c tracectl -n __fish_use_subcommand -a mask -d 'print or change the events: sched,fs or +block,-irq'
complete -c tracectl -n '__fish_seen_subcommand_from mask' -a '(__tracectl_events)'
complete -c tracectl -n __fish_use_subcommand -a mark -d 'put a note into the trace'
complete -c tracectl -n __fish_use_subcommand -a stop -d 'end the recording and the daemon'
complete -c tracectl -n __fish_use_subcommand -a profile -d 'counts of the kernel; reset; N times as many samples'
complete -c tracectl -n __fish_use_subcommand -a gcov -d 'the counts of a running program, for gcov and lcov'
complete -c tracectl -n '__fish_seen_subcommand_from gcov' -a '(__fish_complete_pids)'
complete -c tracectl -n __fish_use_subcommand -a gprof -d 'the calls of a running program, for gprof'
complete -c tracectl -n '__fish_seen_subcommand_from gprof' -a '(__fish_complete_pids)'
complete -c tracectl -l control -rF -d 'the daemon\'s socket; /run/tracedaemon/control'
complete -c tracectl -l since -x -a '(__fish_complete_directories)' -d 'with gcov: only the counts since the dump in DIR'
complete -c tracectl -l json -d 'status as JSON: docs/JSON.md, trace-status/1'
complete -c tracectl -s h -l help -d 'this text'
complete -c tracectl -s V -l version -d 'the version'
