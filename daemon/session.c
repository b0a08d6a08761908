/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "background.h"
#include "clock.h"
#include "command_user.h"
#include "control_commands.h"
#include "file_caps.h"
#include "loop.h"
#include "message.h"
#include "notify.h"
#include "preload.h"
#include "priority.h"
#include "session_probes.h"
#include "sudo_user.h"
#include "format_text.h"

#define SESSION_WORD_BYTES CONTROL_OPTION_BYTES

/* ---- signals ---- */

/*
 * With nohup SIGHUP stays ignored. SIGPIPE and SIGXFSZ are ignored, so that a closed reader or a
 * file size limit becomes an error of write(2).
 */
static int take_signals(const struct auto_options *saves, int *ret_fd, sigset_t *ret_old_mask)
{
	struct sigaction hangup;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGCHLD);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&wanted, SIGHUP);
	for (size_t i = 0; i < saves->nr_on; i++)
		if (saves->on[i].to_daemon)
			sigaddset(&wanted, saves->on[i].signal);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &wanted, ret_old_mask);
	*ret_fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

/* ---- begin ---- */

static int begin_signals(struct session *session, sigset_t *ret_old_mask, struct trace_error *ret_error)
{
	int err = take_signals(&session->options->saves, &session->signal_fd, ret_old_mask);

	return err ? error_set(ret_error, err, "cannot take signals: %s", strerror(-err)) : 0;
}

static int begin_command(struct session *session, const sigset_t *old_mask, struct trace_error *ret_error)
{
	const struct session_options *options = &session->options->session;
	struct command_user *user = NULL;
	int err;

	if (!options->command)
		return 0;
	if (options->command_user) {
		user = command_user_find(options->command_user, ret_error);
		if (!user)
			return -EPERM;
	}
	err = preload_begin(session->options->preload, ret_error);
	if (!err)
		err = command_spawn(&session->command, options->command, user, old_mask, ret_error);
	preload_end();
	command_user_free(user);
	return err;
}

static void report_geometry(const struct session *session)
{
	const struct tracer_options *wanted = &session->options->tracer;
	const struct subbuf_ring *ring;

	for (size_t i = 0; session->tracer && i < tracer_nr_rings(session->tracer); i++) {
		if (tracer_get_ring(session->tracer, i)->structural)
			continue;
		ring = &tracer_get_ring(session->tracer, i)->ring;
		if ((wanted->subbuf_bytes && wanted->subbuf_bytes != ring->subbuf_bytes) ||
		    (wanted->nr_subbufs && wanted->nr_subbufs != ring->nr_subbufs))
			message_note("using %u sub-buffers of %s for each CPU", ring->nr_subbufs,
				     text_bytes(ring->subbuf_bytes).s);
		return;
	}
}

static bool wants_programs(const struct session *session)
{
	return !session->options->selection.no_user;
}

/*
 * True if the options name kernel events, or a process or user to filter on, and no events of
 * programs: the user wants the kernel recorded, not only tracepoints in programs.
 */
static bool wants_kernel(const struct daemon_options *options)
{
	const struct tracer_options *filter = &options->tracer;
	bool filters = filter->filter_pid || filter->filter_pgrp ||
		       (filter->filter_uid >= 0 && !filter->others_hidden) || filter->filter_gid >= 0;

	return (options->selection.begun || filters) && !options->selection.nr_user;
}

/*
 * Any user may record their own programs; recording the kernel needs privileges. An empty trace
 * would look as if nothing had happened, so that is an error.
 */
static int continue_without_kernel(const struct session *session, struct trace_error *error)
{
	if ((error->code != -EPERM && error->code != -EACCES) || session->probes ||
	    !select_wants_any_user(&session->selection))
		return error->code;
	if (wants_kernel(session->options)) {
		struct trace_error cause = *error;

		return error_set(error, cause.code, "%s; -e user records events of your programs only", cause.message);
	}
	message_note("recording events of your programs only, not the kernel's: %s", error->message);
	return 0;
}

/* Fail early if a selected process does not exist: the recording would stay empty. */
static int check_filter(const struct tracer_options *options, struct trace_error *ret_error)
{
	if (options->filter_pid && kill(options->filter_pid, 0) < 0 && errno == ESRCH)
		return error_set(ret_error, -ESRCH, "there is no process %d to record", (int)options->filter_pid);
	if (options->filter_pgrp && kill(-options->filter_pgrp, 0) < 0 && errno == ESRCH)
		return error_set(ret_error, -ESRCH, "there is no process group %d to record",
				 (int)options->filter_pgrp);
	return 0;
}

/*
 * Each BPF program needs one or two descriptors, and each traced program two. The command keeps its
 * original limit.
 */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Until the command runs, and after it has ended, nothing else writes to the terminal. */
static void wait_on_terminal(const struct session *session, const char *what)
{
	if (!session->options->session.background)
		message_waiting(what);
}

static int begin_tracer(struct session *session, struct trace_error *ret_error)
{
	struct tracer_options options = session->options->tracer;

	if (check_filter(&options, ret_error))
		return ret_error->code;
	allow_descriptors();
	memcpy(options.mask, session->mask, sizeof(options.mask));
	options.exclude_pid = getpid();
	if (session->options->session.command)
		options.sample_command = session->options->session.command;
	if (session->options->follow_command)
		options.filter_pid = session->command.pid;
	session->filter = options;
	wait_on_terminal(session, "loading the programs into the kernel");
	session->tracer = tracer_new(&options, ret_error);
	message_waiting_end();
	if (!session->tracer)
		return continue_without_kernel(session, ret_error);
	report_geometry(session);
	return 0;
}

static int begin_programs(struct session *session, struct trace_error *ret_error)
{
	struct clients_options options = {
		.tracer = session->tracer,
		.selection = &session->selection,
		.filter = &session->filter,
		.blocking = session->options->session.block_programs,
		.flight = session->options->tracer.overwrite,
	};

	if (!wants_programs(session))
		return 0;
	session->clients = clients_new(&options, ret_error);
	return session->clients ? 0 : ret_error->code;
}

static FILE *open_proc(const char *path, struct trace_error *ret_error)
{
	struct output_target output;
	FILE *file;

	if (output_open(&output, path, OUTPUT_PROC, ret_error))
		return NULL;
	if (output_commit(&output, ret_error)) {
		output_discard(&output);
		return NULL;
	}
	file = fdopen(output.fd, "w");
	if (!file) {
		error_set(ret_error, -errno, "cannot open %s: %s", path, strerror(errno));
		output_discard(&output);
	}
	return file;
}

static int close_proc(FILE *proc, const char *path, struct trace_error *ret_error)
{
	bool failed = proc && ferror(proc);

	errno = 0;
	if (proc && (fclose(proc) == EOF || failed))
		return error_set(ret_error, errno ? -errno : -EIO, "cannot write %s: %s", path,
				 strerror(errno ? errno : EIO));
	return 0;
}

static int begin_recording(struct session *session, struct trace_error *ret_error)
{
	const struct daemon_options *options = session->options;
	struct recording_options recording_options = {.level = options->session.level,
						      .command = options->session.command,
						      .probes = session->probes,
						      .selection = &session->selection,
						      .filter = &session->filter,
						      .keep = session->keeper ? keeper_keep(session->keeper) : NULL,
						      .clients = session->clients};
	struct trace_error error;

	if (options->output.proc_path) {
		recording_options.proc = open_proc(options->output.proc_path, ret_error);
		if (!recording_options.proc)
			return ret_error->code;
	}
	wait_on_terminal(session, "reading the state of all processes");
	session->recording = recording_begin(session->tracer, session->output.fd, &recording_options, ret_error);
	message_waiting_end();
	if (close_proc(recording_options.proc, options->output.proc_path, &error)) {
		message_warning("%s", error.message); /* the trace does not need that file */
		session->proc_failed = true;
	}
	if (!session->recording && (ret_error->code == -ENOSPC || ret_error->code == -EDQUOT)) {
		error = *ret_error;
		error_set(ret_error, error.code, "%s: %s; free some space, or name a file elsewhere",
			  session->output.path, error.message);
	}
	return session->recording ? 0 : ret_error->code;
}

static int begin_keeper(struct session *session, struct trace_error *ret_error)
{
	const struct keep_choice *keep = &session->options->keep;
	struct keep_options options = {.keep_ns = keep->keep_ns,
				       .max_bytes = keep->max_bytes,
				       .shrinks = !session->options->session.level};
	struct keep_source source = {.tracer = session->tracer,
				     .clients = session->clients,
				     .filter = &session->filter,
				     .level = session->options->session.level};
	int err;

	session->keeper = keeper_new(&options, &session->options->saves, ret_error);
	err = session->keeper ? begin_recording(session, ret_error) : ret_error->code;
	if (err)
		return err;
	source.recording = session->recording;
	return keeper_begin(session->keeper, &source, ret_error);
}

static int begin_flight(struct session *session, struct trace_error *ret_error)
{
	char text[SELECT_TEXT_BYTES];

	session->flight = flight_begin(session->tracer, session->clients, ret_error);
	if (!session->flight)
		return ret_error->code;
	select_print_user(&session->selection, text, sizeof(text));
	if (session->selection.nr_user)
		flight_select(session->flight, text);
	flight_set_filter(session->flight, &session->filter);
	return flight_attach_probes(session->flight, session->probes, &session->selection, ret_error);
}

static int begin_events(struct session *session, struct trace_error *ret_error)
{
	if (session->options->tracer.overwrite)
		return begin_flight(session, ret_error);
	return session->options->flight ? begin_keeper(session, ret_error) : begin_recording(session, ret_error);
}

/*
 * A flight recorder needs the socket, because clients request snapshots on it. A recording to a
 * file can do without.
 */
static int begin_control(struct session *session, struct trace_error *ret_error)
{
	struct trace_error error = {0};

	session->control = control_listen(session->options->session.control_path, &error);
	if (!session->control && (session->options->flight || session->options->session.control_path)) {
		*ret_error = error;
		return error.code;
	}
	if (!session->control)
		message_note("tracectl will not find this recording: %s", error.message);
	return 0;
}

static void report_not_traced(const struct session *session)
{
	const char *text;

	for (size_t i = 0; session->tracer && (text = tracer_not_traced(session->tracer, i)); i++)
		message_note("not traced: %s", text);
}

static void report_background(const struct session *session, const char *option)
{
	int pid = (int)getpid();

	if (session_is_flight(session))
		message_note("flight recorder runs as process %d; tracedaemon%s -j TRACE saves it, tracedaemon%s -q "
			     "stops it",
			     pid, option, option);
	else if (session->control)
		message_note("recording %s as process %d; tracectl%s stop ends it", session->options->output.path, pid,
			     option);
	else
		message_note("recording %s as process %d; kill %d ends it", session->options->output.path, pid, pid);
}

static void report_watch(const struct session *session)
{
	const struct auto_options *saves = &session->options->saves;
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < saves->nr_on && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", saves->on[i].text);
	message_note("keeping the last %s, and saving on %s; Ctrl-C ends it",
		     text_seconds(session->options->keep.keep_ns).s, text);
}

/*
 * SECURITY: the trace has what all processes did, and the command could change it: so it does not
 * belong to the user as whom the command runs.
 */
static void report_user(const struct session *session)
{
	const char *name = session->options->session.command_user;
	char path[SESSION_WORD_BYTES], user[SESSION_WORD_BYTES];

	if (!name || !session->output.created || command_user_owns(name, session->output.fd))
		return;
	if (text_shell(session->options->output.path, path, sizeof(path)) && text_shell(name, user, sizeof(user)))
		message_note("%s cannot open the trace, which has what all processes did; chown %s %s gives it away",
			     name, user, path);
}

/* By sudo the command runs as root, and the trace is for the caller. */
static void report_owner(const struct session *session)
{
	const struct session_options *options = &session->options->session;
	struct sudo_user user;

	if (!sudo_user_find(&user))
		return;
	if (session->output.created)
		message_note("the trace belongs to %s, who called sudo", user.name);
	if (options->command && !options->command_user)
		message_note("%s runs as root; --user %s runs it as that user", options->command[0], user.name);
}

/* With -u of another user, no event of the command passes. */
static void report_other_user(const struct session *session)
{
	const struct session_options *options = &session->options->session;
	int64_t uid = session->options->tracer.filter_uid;
	const struct passwd *user;

	if (!options->command || options->command_user || uid < 0 || uid == (int64_t)geteuid())
		return;
	user = getpwuid((uid_t)uid);
	if (user)
		message_note("-u: only processes of %s are recorded, and %s is none; --user %s runs it as that user",
			     user->pw_name, options->command[0], user->pw_name);
}

static void report_begun(struct session *session)
{
	const struct daemon_options *options = session->options;
	const char *end = options->session.duration_ns || options->session.command ? "" : "; Ctrl-C ends it";
	char option[CONTROL_OPTION_BYTES];

	control_print_option(session->control, option);
	if (session->adds_required_events && session->tracer)
		message_note("scheduling, begin and end of processes are recorded too, so that every event can be "
			     "assigned to a process");
	report_not_traced(session);
	if (options->session.background)
		report_background(session, option);
	else if (options->saves.prints)
		report_watch(session);
	else if (options->output.is_default_name)
		message_note("recording %s%s", options->output.path, end);
	else if (options->output.is_bare_word)
		message_note("recording into the file %s%s", options->output.path, end);
	report_owner(session);
	report_user(session);
	report_other_user(session);
	if (*option && !options->session.background && !options->session.control_path)
		message_note("another daemon runs; tracectl%s controls this one", option);
}

/*
 * If the trace cannot be written, the user gets only this error, before anything is started or
 * attached. An existing file stays until output_commit().
 */
static int begin_output(struct session *session, struct trace_error *ret_error)
{
	if (session->options->flight)
		return 0;
	return output_open(&session->output, session->options->output.path, OUTPUT_TRACE, ret_error);
}

/*
 * On a busy machine the start would take minutes at normal priority. The command was forked before
 * this, so it does not inherit the priority.
 */
static void begin_priority(void)
{
	priority_enter(PRIORITY_DRAIN);
	priority_watch(false, clock_now());
}

static uint32_t nr_cpus(const struct tracer *tracer)
{
	uint32_t nr = 0;

	if (!tracer)
		return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	for (size_t i = 0; i < tracer_nr_rings(tracer); i++)
		if (tracer_get_ring(tracer, i)->cpu >= nr)
			nr = tracer_get_ring(tracer, i)->cpu + 1;
	return nr;
}

static int begin(struct session *session, struct trace_error *ret_error)
{
	sigset_t old_mask;
	int err = begin_signals(session, &old_mask, ret_error);

	if (!err) /* after signals are blocked: a fatal signal would leave the file behind */
		err = begin_output(session, ret_error);
	if (!err)
		err = begin_command(session, &old_mask, ret_error);
	if (!err) /* before all slow steps and messages: control may refuse the session */
		err = begin_control(session, ret_error);
	if (!err)
		begin_priority();
	if (!err)
		err = begin_tracer(session, ret_error);
	if (!err)
		err = begin_programs(session, ret_error);
	if (!err)
		err = begin_events(session, ret_error);
	if (err)
		return err;
	if (session->tracer && session->filter.sample_period)
		session->samples = samples_init(session->filter.sample_period, nr_cpus(session->tracer), clock_now());
	session->profile = profile_counts_init(session->samples.period, clock_now());
	if (session->samples.period) /* the programs have counted since they were attached */
		profile_counts_reset(&session->profile, session->tracer, clock_now());
	session->flush = flush_init(session->options->session.flush_ns);
	session->start_ns = session->recording ? recording_start_ns(session->recording) : clock_now();
	if (session->options->session.duration_ns &&
	    __builtin_add_overflow(session->start_ns, session->options->session.duration_ns, &session->end_ns))
		session->end_ns = UINT64_MAX;
	session->progress.end_ns = session->end_ns;
	err = loop_init(session, ret_error);
	return err ? err : output_commit(&session->output, ret_error);
}

/* ---- end ---- */

/* Returns -ENOENT if the recorded file was removed, so that nothing is left of it. */
static int check_output(struct session *session, bool *ret_found)
{
	struct trace_error error;
	int err = output_check(&session->output, &error);

	*ret_found = session->output.created && !err;
	if (err == -ESTALE)
		message_warning("%s", error.message);
	if (err != -ENOENT)
		return 0;
	message_error("%s during the recording: the trace is lost", error.message);
	session->end_error = error;
	return err;
}

static void report_next_step(const char *path, bool has_samples)
{
	char word[SESSION_WORD_BYTES];

	if (text_shell(path, word, sizeof(word)))
		message_note("next: tracevisualizer %s%s", has_samples ? "--profile " : "", word);
}

static int end_recording(struct session *session)
{
	uint64_t elapsed_ns = clock_now() - session->start_ns;
	struct recording_status status;
	struct trace_error error;
	int err, removed;
	bool found;

	if (!session->options->session.command || session->command.ended)
		wait_on_terminal(session, "writing the rest of the trace");
	err = recording_end(session->recording, loop_interrupted, session, &error);
	message_waiting_end();
	if (err)
		session->end_error = error;
	if (err && !session->write_error_reported)
		message_error("%s: %s", session->output.path, error.message);
	if (session->keeper)
		return err;
	removed = check_output(session, &found);
	if (output_close(&session->output, &error)) {
		message_error("%s", error.message);
		session->end_error = error;
		err = error.code;
	}
	if (session->tracer) {
		session_probes_report_unread(session->tracer);
		session_probes_report_unhit(session->tracer, session->probes, session->options);
	}
	recording_get_status(session->recording, &status);
	progress_print_summary(&status, session->output.path, elapsed_ns, session->summary);
	progress_report(session->recording, &status, session->output.path, elapsed_ns, nr_cpus(session->tracer));
	if (found)
		report_next_step(session->output.path, session->samples.period);
	if (!err && !removed && recording_nr_unmatched(session->recording))
		return -ENOENT;
	return err ? err : removed;
}

/*
 * The command may outlive a recording that ended by time or by request. The daemon still returns
 * the command's exit status.
 */
static int wait_for_command(struct session *session)
{
	sigset_t none;

	if (!session->command.ended) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL); /* the trace is on disk: a signal may kill the daemon now */
		message_note("waiting for %s to end", session->options->session.command[0]);
		command_reap(&session->command, true);
	}
	return command_exit_status(&session->command);
}

static int end(struct session *session)
{
	int err, status = 0;

	keeper_finish(session->keeper); /* it reads the recording */
	err = session->recording ? end_recording(session) : 0;
	session->control = control_close(session->control);
	/* programs must not record while the daemon only waits for the command */
	session->clients = clients_free(session->clients);
	if (session->tracer)
		tracer_stop(session->tracer);
	priority_leave();
	control_commands_close(session); /* a client that requested the stop may start the next recording now */
	if (session->command.pid)
		status = wait_for_command(session);
	return status ? status : err || session->proc_failed;
}

static void release(struct session *session)
{
	profile_counts_release(&session->profile);
	loop_free(session);
	control_close(session->control);
	recording_free(session->recording);
	keeper_free(session->keeper);
	flight_free(session->flight);
	clients_free(session->clients);
	tracer_free(session->tracer);
	trace_probes_free(session->probes);
	output_discard(&session->output); /* only if it is still open, when nothing was recorded */
	if (session->signal_fd >= 0)
		close(session->signal_fd);
}

/* ---- the run ---- */

static int run(struct session *session, int ready_fd)
{
	struct trace_error error = {0};

	if (begin(session, &error)) {
		message_error("%s", error.message);
		command_cancel(&session->command);
		return 1;
	}
	report_begun(session);
	if (ready_fd >= 0)
		background_ready(ready_fd);
	notify_manager("READY=1");
	if (session->command.pid)
		command_release(&session->command);
	loop_run(session);
	notify_manager("STOPPING=1");
	return end(session);
}

/* -e syscall is for all calls of the category; their callers cost much more, and take -s. */
static void choose_caller(const struct tracer_options *options, uint64_t mask[TRACE_MASK_WORDS])
{
	if (options->caller)
		select_set(mask, TRACE_EV_sys_caller);
	else
		mask[TRACE_EV_sys_caller / 64] &= ~(1ull << TRACE_EV_sys_caller % 64);
}

/* The same of the memory of arguments, which takes --args. */
static void choose_data(const struct tracer_options *options, uint64_t mask[TRACE_MASK_WORDS])
{
	if (options->data_bytes)
		select_set(mask, TRACE_EV_sys_data);
	else
		mask[TRACE_EV_sys_data / 64] &= ~(1ull << TRACE_EV_sys_data % 64);
}

int session_run(const struct daemon_options *options)
{
	struct session session = {
		.options = options, .output = {.fd = -1}, .epoll_fd = -1, .signal_fd = -1, .flush_timer_fd = -1};
	struct trace_error error;
	int status, ready_fd = -1;

	session.adds_required_events = select_finish(&options->selection, session.mask);
	choose_caller(&options->tracer, session.mask);
	choose_data(&options->tracer, session.mask);
	samples_choose(session.mask, &options->tracer, true);
	if (options->session.command) {
		status = command_check(options->session.command[0], &error);
		if (status) {
			message_error("%s", error.message);
			return status;
		}
	}
	if (session_probes_parse(options, &session.probes, &error)) {
		message_error("%s", error.message);
		return error.code == -ENOMEM ? 1 : 2;
	}
	if (file_caps_check_probes(session.probes, &options->tracer, &error) ||
	    file_caps_raise(&options->tracer, &error)) {
		message_error("%s", error.message);
		trace_probes_free(session.probes);
		return 2;
	}
	session.selection = options->selection;
	if (session.probes)
		select_set(session.mask, TRACE_EV_USER);
	session_probes_note(session.probes, &session.selection);
	session_probes_report_off(session.probes, &session.selection);
	if (options->session.background) {
		ready_fd = background_start();
		if (ready_fd < 0) {
			message_error("cannot go to the background: %s", strerror(-ready_fd));
			return 1;
		}
	}
	status = run(&session, ready_fd);
	release(&session);
	return status;
}
