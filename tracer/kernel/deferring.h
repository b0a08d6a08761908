/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_DEFERRING_H
#define TRACER_DEFERRING_H
/* deferring.h - whether entries of system calls may be deferred */

struct tracer;

void tracer_choose_deferring(struct tracer *tracer); /* after attaching or detaching programs or probes */

#endif
