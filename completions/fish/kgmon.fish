# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for kgmon, written by docs/option_texts.c: do not edit

complete -c kgmon -s b -d 'go on recording after -h (tracectl begin)'
complete -c kgmon -s B -d 'the same, with 10 times as many samples'
complete -c kgmon -s h -d 'record nothing until -b (tracectl halt)'
complete -c kgmon -s p -rF -d 'write what was counted in the kernel to gmon.out, for gprof; with TRACE: save the flight recorder there (tracectl dump)'
complete -c kgmon -s r -d 'count from now on; empty a flight recorder'
complete -c kgmon -l control -rF -d 'the daemon\'s socket, as for tracectl'
complete -c kgmon -l help -d 'this text'
complete -c kgmon -l version -d 'the version'
