/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* browser.c - a browser gets a file that leads to the page. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "browser.h"

#define PATH_BYTES 512

extern char **environ;

static char file[PATH_BYTES]; /* "": none was made */

static int has_display(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

static char *browser(void)
{
	static char xdg_open[] = "/usr/bin/xdg-open";
	char *chosen = getenv("BROWSER");

	if (chosen && *chosen)
		return chosen;
	return has_display() && geteuid() != 0 && access(xdg_open, X_OK) == 0 ? xdg_open : NULL;
}

int browser_can_open(void)
{
	return browser() != NULL;
}

/* In the folder of the user's session, or the user's home: not where others can see names. */
static int make_file(const char *address)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	FILE *out;
	int fd;

	if (!folder || !*folder)
		folder = getenv("HOME");
	if (!folder || snprintf(file, sizeof(file), "%s/trace-view-XXXXXX.html", folder) >= (int)sizeof(file))
		return -1;
	fd = mkostemps(file, 5, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return -1;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		return -1;
	}
	fprintf(out,
		"<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n"
		"<title>trace</title><a href=\"%s\">The trace</a>\n",
		address, address);
	return fclose(out);
}

/* No browser can be started here; view_server.c says how a remote one gets to the address. */
static void say_by_hand(const char *reason)
{
	fprintf(stderr, "tracevisualizer: %s: open the address above in one\n", reason);
}

void browser_open(const char *address)
{
	char *arguments[] = {browser(), file, NULL};
	posix_spawn_file_actions_t actions;
	pid_t child;
	int error;

	if (!arguments[0]) {
		say_by_hand(has_display() && geteuid() == 0 ? "as root no browser is started"
							    : "no browser is started without a display");
		return;
	}
	if (make_file(address) != 0) {
		*file = 0;
		say_by_hand("no browser is started without a home folder that can be written");
		return;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		fprintf(stderr, "tracevisualizer: %s does not start (%s): open the address above in a browser\n",
			arguments[0], strerror(error));
}

void browser_end(void)
{
	if (*file)
		unlink(file);
	*file = 0;
}
