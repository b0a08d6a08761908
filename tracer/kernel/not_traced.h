/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_NOT_TRACED_H
#define TRACER_NOT_TRACED_H
/* not_traced.h - the notes about what is not recorded. */
#include "loader.h"

/**
 * tracer_has_sibling() - is another variant of the event available? Then one with a tracepoint that
 * this machine lacks, or has in another form, is not missed.
 */
bool tracer_has_sibling(const struct tracer *tracer, const struct tracer_program *program);
void tracer_note_not_traced(struct tracer *tracer, const struct tracer_program *program);
/**
 * tracer_note() - add a line to tracer_not_traced(), shorter than TRACER_NOTE_BYTES,
 * unless it is there already
 */
void tracer_note(struct tracer *tracer, const char *text);
/** tracer_note_steal() - note that stolen time is not recorded, if that is so */
void tracer_note_steal(struct tracer *tracer);

#endif
