# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for kgmon, written by docs/option_texts.c: do not edit

complete -c kgmon -s b -d 'go on recording after -h (tracectl begin)'
complete -c kgmon -s h -d 'record nothing until -b; the daemon stays (tracectl halt)'
complete -c kgmon -s p -rF -d 'save the flight recorder to TRACE; else: write all events so far to the disk (tracectl dump)'
complete -c kgmon -s r -d 'flight recorder: drop what is in memory (tracectl reset)'
complete -c kgmon -l control -rF -d 'the daemon\'s socket, as for tracectl'
complete -c kgmon -l help -d 'this text'
complete -c kgmon -l version -d 'the version'
