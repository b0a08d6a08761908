/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_GROUP_HIERARCHY_H
#define TRACER_GROUP_HIERARCHY_H
/*
 * group_hierarchy.h - the hierarchies of control groups that a recording shows
 *
 * A process is in one group of each hierarchy. Reports show that of version 2. If that is the root,
 * they show the group of version 1 that has the controller of CPU time, and so the quotas.
 */

/** tracer_group_hierarchy() - the number of that hierarchy of version 1; 0: there is none */
unsigned int tracer_group_hierarchy(void);
/**
 * tracer_group_path() - the path in a line of /proc/PID/cgroup, if it is of @hierarchy; else NULL
 * @line: without a line end. @hierarchy: 0: version 2
 */
const char *tracer_group_path(const char *line, unsigned int hierarchy);
#endif
