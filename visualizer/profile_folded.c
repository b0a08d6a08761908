/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_folded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t profile_folded_ns(const struct profile_node *node, enum profile_part part)
{
	uint64_t off_ns = node->self.wait_cpu_ns + node->self.blocked_ns;

	if (part == PROFILE_WAKERS)
		return node->self.blocked_ns;
	return (part == PROFILE_OFF_CPU ? 0 : node->self.on_cpu_ns) + (part == PROFILE_ON_CPU ? 0 : off_ns);
}

static void add_name(const struct profile_row *row, struct string *text)
{
	size_t from = text->len;

	profile_row_text(row, text);
	for (char *at = string_text(text) + from; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	}
	if (row->file[0] == '[')
		string_add(text, "_[k]"); /* which scripts for such lines give a colour of its own */
}

void profile_folded_text(const struct profile_node *node, struct string *text)
{
	struct pointers way = {0};

	for (; node->parent; node = node->parent)
		pointers_add(&way, node);
	for (size_t i = way.nr; i-- > 0;) {
		node = way.at[i];
		add_name(node->row, text);
		if (i)
			string_add(text, ";");
	}
	pointers_free(&way);
}

void profile_folded_put(FILE *out, const struct profile_rows *rows, enum profile_part part)
{
	const struct profile_node *node = rows->tree.nodes.nr ? rows->tree.nodes.at[0] : NULL;

	for (; node; node = profile_node_next(node)) {
		struct string text = {0};

		if (profile_folded_ns(node, part)) {
			profile_folded_text(node, &text);
			fprintf(out, "%s %" PRIu64 "\n", string_text(&text), profile_folded_ns(node, part));
		}
		string_free(&text);
	}
}
