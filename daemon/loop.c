/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loop.c - the events that wake the main thread while it records. No handler waits for a disk or
 * for a client.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop.h"
#include "clock.h"
#include "control_commands.h"
#include "message.h"
#include "priority.h"
#include "progress_line.h"
#include "session.h"
#include "format_text.h"

#define LOOP_PROGRESS_NS  250000000ull
#define LOOP_EVENTS	  16
#define LOOP_LAST_CLIENTS 16 /* more than the socket's backlog */

enum source {
	SOURCE_RINGS,
	SOURCE_PROGRAMS,
	SOURCE_WRITER,
	SOURCE_SIGNAL,
	SOURCE_END,
	SOURCE_FLUSH,
	SOURCE_PROGRESS,
	SOURCE_CONTROL,
	SOURCE_CLIENT,
	SOURCE_KEEPER,
	SOURCE_PRESSURE,
	SOURCE_SAMPLES,
};

/* ---- timers ---- */

static int set_timer(int fd, uint64_t after_ns, uint64_t every_ns)
{
	struct itimerspec times = {
		.it_value = {.tv_sec = (time_t)(after_ns / 1000000000), .tv_nsec = (long)(after_ns % 1000000000)},
		.it_interval = {.tv_sec = (time_t)(every_ns / 1000000000), .tv_nsec = (long)(every_ns % 1000000000)},
	};

	return timerfd_settime(fd, 0, &times, NULL) < 0 ? -errno : 0;
}

static void read_timer(int fd)
{
	uint64_t expirations;

	if (read(fd, &expirations, sizeof(expirations)) < 0)
		return; /* the timer was set again meanwhile */
}

static void drain(struct session *session);

/*
 * If flushes are now rare, full sub-buffers must not wait for half a ring or for the next flush:
 * drain them.
 */
static void begin_flush_period(struct session *session)
{
	session->flush.begin_ns = clock_now();
	if (session->recording && recording_wake_at(session->recording, flush_is_often(&session->flush)))
		drain(session);
}

static void set_flush_timer(struct session *session)
{
	if (session->flush.period_ns != FLUSH_NEVER)
		set_timer(session->flush_timer_fd, session->flush.period_ns, 0);
	begin_flush_period(session);
}

/* ---- what wakes the main thread ---- */

/*
 * Reports a write error once, when it happens, so that the user can free space on a full disk. A
 * reader that has closed the pipe does not come back: stop.
 */
static void report_write_error(struct session *session)
{
	struct trace_error error;
	int err;

	if (!session->recording || session->write_error_reported)
		return;
	err = recording_write_error(session->recording, &error);
	if (!err)
		return;
	session->write_error_reported = true;
	session->stopping |= err == -EPIPE;
	message_warning("%s: %s; %s", session->output.path, error.message,
			err == -EPIPE ? "the reader closed the pipe, and the recording ends"
				      : "recording goes on, and what cannot be written is counted");
}

/* Reports that the trace file was removed, while its content can still be saved. */
static void report_removal(struct session *session)
{
	struct trace_error error;

	if (session->removal_reported || output_check(&session->output, &error) != -ENOENT)
		return;
	session->removal_reported = true;
	message_warning("%s; recording goes on, but its end will lose the trace. Until then \"cp /proc/%d/fd/%d NAME\" "
			"saves it",
			error.message, (int)getpid(), session->output.fd);
}

static void drain(struct session *session)
{
	if (session->flight) {
		priority_watch(false, clock_now()); /* its rings overwrite and are always full */
		flight_drain(session->flight);
	} else if (recording_drain(session->recording) == DRAIN_TOOK && flush_filled(&session->flush, clock_now()))
		set_flush_timer(session);
}

static void on_rings(struct session *session, int fd)
{
	tracer_acknowledge(session->tracer);
	drain(session);
}

static void on_programs(struct session *session, int fd)
{
	clients_dispatch(session->clients);
	drain(session);
	if (session->flight)
		clients_look(session->clients);
}

static void on_writer(struct session *session, int fd)
{
	control_commands_synced(session);
	drain(session);
	report_write_error(session);
}

#define LOOP_INTERRUPTS_MAX 3

/*
 * The user has asked the daemon twice to end, and the writer still hangs in a write. Die of the
 * signal as if it had not been blocked.
 */
static void die_by_signal(int signal_number)
{
	sigset_t one;

	signal(signal_number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	raise(signal_number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/*
 * Ctrl-C also reaches the recorded command, and the recording ends when the command ends. A signal
 * sent to the daemon alone is passed on to the command. The second signal ends the recording in any
 * case.
 */
static void on_interrupt(struct session *session, const struct signalfd_siginfo *info)
{
	if (++session->interrupts >= LOOP_INTERRUPTS_MAX)
		die_by_signal((int)info->ssi_signo);
	if (!session->command.pid || session->command.ended || session->interrupts > 1)
		session->stopping = true;
	else if (info->ssi_code != SI_KERNEL)
		kill(session->command.pid, (int)info->ssi_signo);
}

static void on_signal(struct session *session, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (session->keeper && keeper_signal(session->keeper, &info))
			continue;
		if (info.ssi_signo != SIGCHLD)
			on_interrupt(session, &info);
		else if (command_reap(&session->command, false))
			session->stopping = true;
	}
}

static void on_end(struct session *session, int fd)
{
	session->stopping = true;
}

static void on_flush(struct session *session, int fd)
{
	uint32_t fill = 0;

	read_timer(fd);
	if (session->recording) {
		fill = recording_flush(session->recording);
		report_write_error(session);
		report_removal(session);
	}
	flush_flushed(&session->flush, fill);
	set_flush_timer(session);
}

static void on_progress(struct session *session, int fd)
{
	struct recording_status status;
	struct keeper_status kept;

	read_timer(fd);
	if (session->keeper) {
		keeper_get_status(session->keeper, &kept);
		progress_show_kept(&kept, session->start_ns);
		return;
	}
	recording_get_status(session->recording, &status);
	progress_show(&session->progress, &status);
}

static void on_samples(struct session *session, int fd)
{
	read_timer(fd);
	samples_tick(&session->samples, session->tracer);
	if (session->recording)
		recording_take_code_maps(session->recording);
	if (session->flight)
		flight_take_code_maps(session->flight);
}

/* ---- registration ---- */

static int watch_for(struct session *session, int fd, uint32_t what, enum source source)
{
	struct epoll_event event = {.events = what, .data.u64 = (uint64_t)(unsigned int)fd << 32 | source};

	return epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int watch(struct session *session, int fd, enum source source)
{
	return watch_for(session, fd, EPOLLIN, source);
}

static int watch_keeper(struct session *session)
{
	int err = watch(session, keeper_fd(session->keeper), SOURCE_KEEPER);

	for (size_t i = 0; i < SAVE_ON_MAX && !err; i++)
		if (keeper_pressure_fd(session->keeper, i) >= 0)
			err = watch_for(session, keeper_pressure_fd(session->keeper, i), EPOLLPRI, SOURCE_PRESSURE);
	return err;
}

/* ---- control clients ---- */

static void refuse_client(int client, int err, const char *why)
{
	control_answer(client, err, why);
	close(client);
}

/*
 * Returns false if @client is not in the list: an epoll event may be older than the last actions of
 * the daemon.
 */
static bool drop_control_client(struct session *session, int client)
{
	for (size_t i = 0; i < session->nr_control_clients; i++) {
		if (session->control_clients[i] != client)
			continue;
		session->nr_control_clients--;
		memmove(&session->control_clients[i], &session->control_clients[i + 1],
			(session->nr_control_clients - i) * sizeof(session->control_clients[0]));
		return true;
	}
	return false;
}

static void on_client(struct session *session, int fd)
{
	if (!drop_control_client(session, fd))
		return;
	epoll_ctl(session->epoll_fd, EPOLL_CTL_DEL, fd, NULL); /* one request for each connection */
	control_commands_answer(session, fd);
}

/* Answers the oldest client if its request has arrived; otherwise closes it with @why. */
static void finish_oldest_client(struct session *session, int err, const char *why)
{
	struct pollfd client = {.fd = session->control_clients[0], .events = POLLIN};

	if (poll(&client, 1, 0) == 1) {
		on_client(session, client.fd);
		return;
	}
	drop_control_client(session, client.fd);
	refuse_client(client.fd, err, why);
}

/* A silent client does not lock others out: the oldest one goes if all slots are in use. */
static void on_control(struct session *session, int fd)
{
	int client = control_accept(session->control), err;

	if (client < 0)
		return;
	err = watch(session, client, SOURCE_CLIENT);
	if (err) {
		refuse_client(client, err, "the daemon has no memory for the connection; try again");
		return;
	}
	if (session->nr_control_clients == SESSION_MAX_CLIENTS)
		finish_oldest_client(session, -ETIMEDOUT,
				     "the client sent no request, and too many other clients are connected");
	session->control_clients[session->nr_control_clients++] = client;
}

/*
 * After the recording the command may run for hours, and the daemon waits for it. Clients must not
 * wait so long: answer the requests that have arrived, and refuse the others.
 */
static void answer_last_requests(struct session *session)
{
	for (int i = 0; session->control && i < LOOP_LAST_CLIENTS; i++) /* some may be refused */
		on_control(session, control_fd(session->control));
	while (session->nr_control_clients)
		finish_oldest_client(session, -ESHUTDOWN, "the recording is ending and takes no more requests");
}

static void on_keeper(struct session *session, int fd)
{
	keeper_dispatch(session->keeper);
}

static void on_pressure(struct session *session, int fd)
{
	keeper_pressure(session->keeper, fd);
}

static void (*const handlers[])(struct session *, int) = {
	[SOURCE_RINGS] = on_rings,	 [SOURCE_PROGRAMS] = on_programs, [SOURCE_WRITER] = on_writer,
	[SOURCE_SIGNAL] = on_signal,	 [SOURCE_END] = on_end,		  [SOURCE_FLUSH] = on_flush,
	[SOURCE_PROGRESS] = on_progress, [SOURCE_CONTROL] = on_control,	  [SOURCE_CLIENT] = on_client,
	[SOURCE_KEEPER] = on_keeper,	 [SOURCE_PRESSURE] = on_pressure, [SOURCE_SAMPLES] = on_samples,
};

/* Creates a timer that exists until the process ends. */
static int watch_timer(struct session *session, enum source source, uint64_t after_ns, uint64_t every_ns, int *ret_fd)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = set_timer(fd, after_ns, every_ns); /* a failure here would mean that the recording never ends */
	if (ret_fd)
		*ret_fd = fd;
	return err ? err : watch(session, fd, source);
}

/* A command writes to the same terminal: the line would be in the middle of its output. */
static bool wants_progress(const struct session *session)
{
	const struct session_options *options = &session->options->session;

	bool is_shown = !session->keeper || session->options->saves.prints;

	return session->recording && is_shown && !options->quiet && !options->background && !options->command &&
	       progress_line_is_possible();
}

static int watch_all(struct session *session)
{
	uint64_t now_ns = clock_now(),
		 flush_ns = session->flush.period_ns == FLUSH_NEVER ? 0 : session->flush.period_ns;
	int err = session->tracer ? watch(session, tracer_poll_fd(session->tracer), SOURCE_RINGS) : 0;

	begin_flush_period(session);
	if (!err && session->clients)
		err = watch(session, clients_fd(session->clients), SOURCE_PROGRAMS);
	if (!err)
		err = watch(session, session->signal_fd, SOURCE_SIGNAL);
	if (!err && session->recording)
		err = watch(session, recording_wake_fd(session->recording), SOURCE_WRITER);
	if (!err && session->keeper)
		err = watch_keeper(session);
	if (!err && session->control)
		err = watch(session, control_fd(session->control), SOURCE_CONTROL);
	if (!err)
		err = watch_timer(session, SOURCE_FLUSH, flush_ns, 0, &session->flush_timer_fd);
	if (!err && session->end_ns)
		err = watch_timer(session, SOURCE_END, session->end_ns > now_ns ? session->end_ns - now_ns : 1, 0,
				  NULL);
	if (!err && session->samples.period)
		err = watch_timer(session, SOURCE_SAMPLES, SAMPLES_TICK_NS, SAMPLES_TICK_NS, NULL);
	if (!err && wants_progress(session))
		err = watch_timer(session, SOURCE_PROGRESS, LOOP_PROGRESS_NS, LOOP_PROGRESS_NS, NULL);
	return err;
}

int loop_init(struct session *session, struct trace_error *ret_error)
{
	int err;

	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = session->epoll_fd < 0 ? -errno : watch_all(session);
	return err ? error_set(ret_error, err, "cannot wait for events: %s", strerror(-err)) : 0;
}

void loop_run(struct session *session)
{
	struct epoll_event events[LOOP_EVENTS];
	int nr;

	while (!session->stopping) {
		nr = epoll_wait(session->epoll_fd, events, LOOP_EVENTS, -1);
		for (int i = 0; i < nr; i++)
			handlers[(uint32_t)events[i].data.u64](session, (int)(events[i].data.u64 >> 32));
	}
	answer_last_requests(session);
	progress_line_erase();
}

bool loop_interrupted(void *context)
{
	struct session *session = context;
	unsigned int before = session->interrupts;

	on_signal(session, session->signal_fd);
	return session->interrupts > before;
}

void loop_free(struct session *session)
{
	if (session->flush_timer_fd >= 0)
		close(session->flush_timer_fd);
	if (session->epoll_fd >= 0)
		close(session->epoll_fd);
}
