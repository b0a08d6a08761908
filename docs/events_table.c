/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* events_table.c - prints docs/events.md, the manual's list of events, from the catalogue. */
#include <stdio.h>
#include <string.h>
#include <trace/reader.h>

static const char *const kind_notes[] = {
	[TRACE_KIND_HEX] = "hex",   [TRACE_KIND_NS] = "ns",	[TRACE_KIND_PATH] = "path",
	[TRACE_KIND_TEXT] = "text", [TRACE_KIND_COMM] = "name",
};

static void print_field(const struct trace_field *field)
{
	const char *note = (size_t)field->kind < sizeof(kind_notes) / sizeof(*kind_notes) ? kind_notes[field->kind]
											  : NULL;

	if (field->bytes)
		printf("`%s` %c%d%s%s", field->name, field->is_signed ? 's' : 'u', field->bytes * 8, note ? " " : "",
		       note ? note : "");
	else
		printf("`%s` string", field->name);
}

static void print_event(const struct trace_event_type *type)
{
	const char *separator = "";

	printf("| %u | `%s` | %s | ", type->id, type->name, strcmp(type->classic, "NONE") ? type->classic : "");
	for (size_t i = 0; i < type->nr_fields; i++) {
		if (type->fields[i].kind == TRACE_KIND_PAD)
			continue;
		fputs(separator, stdout);
		print_field(&type->fields[i]);
		separator = ", ";
	}
	printf(" | %s |%s%s |\n", type->doc, type->flags & TRACE_EVENT_ON ? "" : " off",
	       type->flags & TRACE_EVENT_STRUCTURAL ? " structural" : "");
}

static void print_category(enum trace_category category)
{
	bool begun = false;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const struct trace_event_type *type = trace_catalogue_type(i);

		if (type->category != category)
			continue;
		if (!begun)
			printf("\n## %s\n\n| id | event | classic | fields | source | |\n| --- | --- | --- | --- | --- "
			       "| --- |\n",
			       trace_category_name(category));
		begun = true;
		print_event(type);
	}
}

int main(void)
{
	printf("# Events\n\n"
	       "This page has each event that the recorder can take from the kernel, with its fields: to select events "
	       "with `tracedaemon -e` and `tracevisualizer -t`, and to read them in a program of yours. "
	       "`include/trace/events.def` is the source; `cmake --build build/release --target docs` writes the page "
	       "from it, so do not edit. %zu events.\n\n"
	       "An example: `tracevisualizer -d -tsched_switch t.trace` lists the event `sched_switch`, in a line "
	       "each:\n\n"
	       "    CPU-ID  Event         Time                   PID    Length  Description\n"
	       "    1       Sched change  1,795,656,653,109,381  5491   16      IN : 27277; OUT : 5491; STATE : R\n"
	       "    0       Sched change  1,795,656,653,109,402  5425   16      IN : 5480; OUT : 5425; STATE : R\n\n"
	       "*classic* is the class of the original toolkit that covers the event; *off*: recorded only when named; "
	       "*structural*: kept in a ring of its own, because losing one spoils the attribution of all that "
	       "follows.\n",
	       trace_catalogue_size());
	for (int category = 0; category < TRACE_NR_CATEGORIES; category++)
		print_category((enum trace_category)category);
	return 0;
}
