/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_collected.c - what the passes of a session collect beside the states: view_collected.h. */
#include "view_collected.h"

bool view_is_collected(struct view_session *session)
{
	if (session->is_of_index && !session->counters)
		session->is_billed = false;
	return session->is_complete && (session->is_billed || !session->is_of_index);
}
