/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_PROGRAM_TITLE_H
#define BASE_PROGRAM_TITLE_H
/*
 * program_title.h - the short title by which people know a process: "python3 app.py", "java Shop"
 *
 * docs/GLOSSARY.md has the rule. Arguments are those of start_args and sched_args:
 * TRACE_ARGS_SEPARATOR is between two of them.
 */
#include <stdbool.h>
#include <stddef.h>

#define PROGRAM_TITLE_BYTES 64

/**
 * program_title() - write the title of a process, cut to the buffer
 * @args: "" if not known. @is_cut: they are the begin of longer ones
 * @comm: the kernel's name of the process; "" if not known
 * Returns false, and writes nothing, if the title is @comm.
 */
bool program_title(const char *args, bool is_cut, const char *comm, char title[PROGRAM_TITLE_BYTES]);
/** program_is_interpreter() - is @name, of @bytes, an interpreter, such as python3.11? */
bool program_is_interpreter(const char *name, size_t bytes);
/**
 * program_is_called() - is @name the kernel's name of the process, its title, the base name of its
 * program or of its script, or the word before the colon of a title of its own?
 * The first 15 bytes of a longer @name are compared with the kernel's name.
 */
bool program_is_called(const char *args, bool is_cut, const char *comm, const char *name);
#define PROGRAM_NAMES 3
/**
 * program_names() - the names besides @comm by which program_is_called() knows a process: its
 * program, its script and its title
 * Two of them may be equal. A name that is too long for its row is left out. Returns their number.
 */
size_t program_names(const char *args, bool is_cut, const char *comm, char names[PROGRAM_NAMES][PROGRAM_TITLE_BYTES]);
/** program_args_have() - is @part anywhere in the arguments, which blanks separate? As pgrep -f */
bool program_args_have(const char *args, const char *part);
#endif
