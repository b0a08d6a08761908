/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_COLLECTED_H
#define VISUALIZER_VIEW_COLLECTED_H
/* view_collected.h - what the passes of a session collect beside the states */
#include "view_session.h"

/**
 * view_is_collected() - scopes and numbers over time are known
 * If the session is of an index, the pass that collects them begins with the next step.
 */
bool view_is_collected(struct view_session *session);
#endif
