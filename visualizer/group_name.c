/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * group_name.c - the name of a control group: systemd unit, container, or path.
 *
 * The rules, for the components of the path from its end:
 *
 * 1. A component with an identifier of 64 hexadecimal digits is a container. Its name is the word
 *    in front of the identifier, or that of the group above it, and the first 12 digits:
 *    /docker/0123... and docker-0123....scope are both "docker-0123456789ab".
 * 2. A systemd unit but a slice is its own name. A slice is one if there is nothing else.
 * 3. Components below the container or unit follow it: "shop.service/worker".
 * 4. A path without any of them is shown whole.
 *
 * A unit inside a container has both: "docker-0123456789ab/cron.service".
 */
#include <stdio.h>
#include <string.h>
#include "group_name.h"
#include "value_text.h"

#define NAME_BYTES    256
#define ID_DIGITS     64
#define ID_SHOWN      12
#define MAX_COMPONENT 256

/* struct component - part of a path between two slashes */
struct component {
	const char *at;
	size_t bytes;
};

static bool ends_with(const struct component *c, const char *end)
{
	size_t bytes = strlen(end);

	return c->bytes > bytes && strncmp(c->at + c->bytes - bytes, end, bytes) == 0;
}

static bool is_slice(const struct component *c)
{
	return ends_with(c, ".slice");
}

static bool is_unit(const struct component *c)
{
	static const char *const suffixes[] = {".service", ".scope", ".socket", ".mount", ".swap"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends_with(c, suffixes[i]))
			return true;
	return false;
}

/* The offset of the identifier of a container in @c; @c->bytes: none. */
static size_t find_id(const struct component *c)
{
	size_t digits = 0;

	for (size_t i = 0; i < c->bytes; i++) {
		digits = strchr("0123456789abcdef", c->at[i]) ? digits + 1 : 0;
		if (digits == ID_DIGITS && (i + 1 == c->bytes || c->at[i + 1] == '.'))
			return i + 1 - ID_DIGITS;
	}
	return c->bytes;
}

/* "docker-0123456789ab"; kubernetes has a group for a pod between its own and the container */
static int container_name(const struct component *list, size_t nr, char *buffer, size_t size)
{
	const struct component *c = &list[nr];
	size_t id = find_id(c);
	struct component word = {.at = c->at, .bytes = id && c->at[id - 1] == '-' ? id - 1 : id};

	for (size_t i = nr; !word.bytes && i-- > 0;)
		if (strncmp(list[i].at, "pod", 3) != 0 && !is_slice(&list[i]) &&
		    strncmp(list[i].at, "besteffort", 10) && strncmp(list[i].at, "burstable", 9))
			word = list[i];
	if (!word.bytes)
		word = (struct component){"container", 9};
	return snprintf(buffer, size, "%.*s-%.*s", (int)word.bytes, word.at, ID_SHOWN, c->at + id);
}

static size_t split(const char *path, struct component *list, size_t max)
{
	size_t nr = 0;

	for (const char *at = path + strspn(path, "/"); *at && nr < max; at += strspn(at, "/")) {
		list[nr].at = at;
		list[nr].bytes = strcspn(at, "/");
		at += list[nr++].bytes;
	}
	return nr;
}

/* The last component that @is holds for; @nr: none. */
static size_t last_of(const struct component *list, size_t nr, bool (*is)(const struct component *))
{
	for (size_t i = nr; i-- > 0;)
		if (is(&list[i]))
			return i;
	return nr;
}

static bool is_container(const struct component *c)
{
	return find_id(c) < c->bytes;
}

/* @from: the component after the name: it and all below it follow */
static void add_rest(const char *path, const struct component *list, size_t nr, size_t from, char *buffer, size_t size)
{
	size_t used = strlen(buffer);

	if (from < nr && *path)
		snprintf(buffer + used, size - used, "/%s", list[from].at);
}

const char *group_name(const char *path, char *buffer, size_t size)
{
	struct component list[MAX_COMPONENT];
	size_t nr = split(path, list, MAX_COMPONENT), container = last_of(list, nr, is_container), below, unit;
	char name[NAME_BYTES] = "";

	if (!*path) {
		snprintf(buffer, size, "(unknown)");
		return buffer;
	}
	below = container < nr ? container + 1 : 0;
	if (container < nr)
		container_name(list, container, name, sizeof(name));
	unit = below + last_of(list + below, nr - below, is_unit);
	if (unit == nr && container == nr)
		unit = last_of(list, nr, is_slice);
	if (container < nr)
		add_rest(path, list, nr, unit < nr ? unit : below, name, sizeof(name));
	else if (unit < nr)
		snprintf(name, sizeof(name), "%s", list[unit].at);
	else
		snprintf(name, sizeof(name), "%s", path);
	return text_name(name, buffer, size);
}
