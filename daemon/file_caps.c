/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file_caps.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error_set.h"
#include "message.h"

/*
 * The kernel sets AT_SECURE only for programs that got a user, a group or capabilities from their
 * file (capabilities(7), "AT_SECURE").
 */
static bool has_file_caps(void)
{
	return getuid() != 0 && getauxval(AT_SECURE);
}

static bool is_member(void)
{
	const struct group *group = getgrnam(FILE_CAPS_GROUP);
	int nr = getgroups(0, NULL);
	gid_t *groups = group && nr > 0 ? calloc((size_t)nr, sizeof(*groups)) : NULL;
	bool found = group && getgid() == group->gr_gid;

	nr = groups ? getgroups(nr, groups) : 0;
	for (int i = 0; i < nr; i++)
		found |= groups[i] == group->gr_gid;
	free(groups);
	return found;
}

static int set_effective(bool on)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		data[i].effective = on ? data[i].permitted : 0;
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int file_caps_restrict(struct tracer_options *options, struct trace_error *ret_error)
{
	int result;

	if (!has_file_caps() || is_member())
		return 0;
	if (options->filter_uid >= 0 && options->filter_uid != (int64_t)getuid())
		return error_set(ret_error, -EPERM,
				 "--uid %lld: only root and members of the group %s may record the processes of "
				 "others; use sudo",
				 (long long)options->filter_uid, FILE_CAPS_GROUP);
	options->filter_uid = getuid();
	options->others_hidden = true;
	result = set_effective(false); /* CAP_PERFMON alone would show the mappings of others */
	return result ? error_set(ret_error, result, "cannot drop the capabilities of tracedaemon: %s",
				  strerror(-result))
		      : 0;
}

int file_caps_raise(const struct tracer_options *options, struct trace_error *ret_error)
{
	int result = options->others_hidden ? set_effective(true) : 0;

	if (result)
		return error_set(ret_error, result, "cannot raise the capabilities of tracedaemon: %s",
				 strerror(-result));
	if (options->others_hidden)
		message_note("recording your own processes only: you are neither root nor a member of the group %s",
			     FILE_CAPS_GROUP);
	return 0;
}

/*
 * The BPF programs of probes filter by user too. So if the pid is reused meanwhile, nothing of
 * other users is recorded.
 */
static bool is_own_process(pid_t pid, uid_t uid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return pid > 0 && stat(path, &status) == 0 && status.st_uid == uid;
}

static bool is_own_file(const char *path, uid_t uid)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_uid == uid;
}

int file_caps_check_probes(const struct trace_probes *probes, const struct tracer_options *options,
			   struct trace_error *ret_error)
{
	uid_t uid = getuid();

	for (size_t i = 0; options->others_hidden && probes && i < trace_probes_nr(probes); i++) {
		const struct trace_probe *probe = trace_probes_get(probes, i);

		if (probe->in_kernel)
			return error_set(ret_error, -EPERM,
					 "--probe %s%.200s: only root and members of the group %s may probe the "
					 "kernel; use sudo",
					 probe->tracepoint ? "tracepoint:" : "kernel:", probe->function,
					 FILE_CAPS_GROUP);
		if (!is_own_process(probe->pid, uid) && !is_own_file(probe->file, uid))
			return error_set(ret_error, -EPERM,
					 "--probe %.200s: only root and members of the group %s may probe a file that "
					 "others run; name a process of yours (FILE@PID:FUNCTION), or use sudo",
					 probe->file, FILE_CAPS_GROUP);
	}
	return 0;
}
