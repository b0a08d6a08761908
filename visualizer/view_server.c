/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_server.c - the web server of the view.
 *
 * Threads: libmicrohttpd's threads answer questions; the thread of view_serve() makes the pass.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "browser.h"
#include "complain.h"
#include "cut_file.h"
#include "page_files.h"
#include "view_growth.h"
#include "view_question.h"
#include "view_server.h"
#include "view_shared.h"

#define TOKEN_BYTES	   16
#define TOKEN_DIGITS	   (2 * TOKEN_BYTES)
#define THREADS		   3u
#define MAX_CONNECTIONS	   32u /* a browser opens six; a second page as many */
#define CONNECTION_SECONDS 30u
#define CONNECTION_BYTES   (QUESTION_BYTES + (64u << 10))
#define GONE_SECONDS	   600 /* the page asks every minute */
#define ALIVE_SECONDS	   15  /* a visible page asks every five seconds */
#define STEPS		   500 /* of the pass */
#define MAX_ADDRESS	   128
#define PASS_BYTES	   (64 << 10) /* larger arrays grow and shrink without copies and holes */
#define ANSWER_BYTES	   (4 << 20)  /* the same while answers are made: they use smaller ones again */
#define KEPT_BYTES	   (64 << 20) /* for the next answer, without page faults */

struct server {
	struct view_shared shared;
	char token[TOKEN_DIGITS + 1];
	char hosts[2][64];    /* accepted Host headers */
	time_t asked;	      /* when a page asked last; 0: never */
	struct server *other; /* of a second trace: only its session is used; NULL: one trace */
};

static const char *const headers[][2] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	 "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-src 'self'; frame-ancestors 'self'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
};

/* ---- answers ---- */

static enum MHD_Result send_bytes(struct MHD_Connection *connection, unsigned int status, const char *type,
				  const void *bytes, size_t size, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)bytes, mode);
	enum MHD_Result result;

	if (!response) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free((void *)bytes);
		return MHD_NO;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection)
{
	return send_bytes(connection, MHD_HTTP_NOT_FOUND, NULL, "", 0, MHD_RESPMEM_PERSISTENT);
}

static bool is_same(const char *text, const char *token)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < TOKEN_DIGITS; i++) /* takes the same time wherever they differ */
		differs |= (unsigned char)(text[i] ^ token[i]);
	return !differs;
}

static enum MHD_Result answer_question(struct server *server, struct MHD_Connection *connection, const char *question)
{
	struct view_answer answer = view_shared_answer(&server->shared, question);

	return send_bytes(connection, answer.is_wrong ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_OK,
			  answer.is_binary ? "application/octet-stream" : "application/json", answer.bytes, answer.size,
			  MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result answer_path(struct server *server, struct MHD_Connection *connection, const char *path)
{
	const struct page_file *file;

	__atomic_store_n(&server->asked, time(NULL), __ATOMIC_RELAXED);
	if (server->other && (*path == 'a' || *path == 'b') && path[1] == '/') {
		server = *path == 'b' ? server->other : server;
		path += 2;
	} else if (server->other && !*path) {
		path = "pair.html";
	}
	if (strncmp(path, "ask/", 4) == 0)
		return answer_question(server, connection, path + 4);
	file = page_file(path);
	return file ? send_bytes(connection, MHD_HTTP_OK, file->type, file->bytes, file->size, MHD_RESPMEM_PERSISTENT)
		    : refuse(connection);
}

/* The uri as it came: libmicrohttpd would decode and divide it. */
static void *note_uri(void *data, const char *uri, struct MHD_Connection *connection)
{
	return strnlen(uri, QUESTION_BYTES) < QUESTION_BYTES ? strdup(uri) : NULL;
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url, const char *method,
				  const char *version, const char *upload, size_t *upload_size, void **con_cls)
{
	struct server *server = data;
	const char *uri = *con_cls, *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	bool is_ours = host && (strcmp(host, server->hosts[0]) == 0 || strcmp(host, server->hosts[1]) == 0);

	if (!uri || !is_ours || strcmp(method, "GET") != 0 || strlen(uri) < TOKEN_DIGITS + 2 || uri[0] != '/' ||
	    uri[TOKEN_DIGITS + 1] != '/' || !is_same(uri + 1, server->token))
		return refuse(connection);
	return answer_path(server, connection, uri + TOKEN_DIGITS + 2);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **con_cls,
			 enum MHD_RequestTerminationCode how)
{
	free(*con_cls);
	*con_cls = NULL;
}

/* ---- begin ---- */

static int make_token(struct server *server)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return complain(1, "the view needs random bytes, and the kernel gives none: %s", strerror(errno));
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/*
 * A socket on @port of the loopback address; 0: the kernel chooses one, and @port becomes it. -1:
 * errno says why.
 */
static int listen_on_loopback(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(*port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd < 0)
		return -1;
	/* a view that has just ended must not keep its port from the next one */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, MAX_CONNECTIONS) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

/* From here on, other threads read @server. */
static struct MHD_Daemon *start_daemon(struct server *server, int fd)
{
	return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, server,
				MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, THREADS,
				MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				CONNECTION_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				MHD_OPTION_URI_LOG_CALLBACK, note_uri, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
				NULL, MHD_OPTION_END);
}

/* ---- the pass, and the end ---- */

/* why the thread of the pass stops to wait, or to read */
enum turn { GOES_ON, AGAIN, ENDS };

static enum turn turn_after(const sigset_t *ends, int seconds)
{
	struct timespec timeout = {.tv_sec = seconds};
	int signal = sigtimedwait(ends, NULL, &timeout);

	return signal == SHARED_AGAIN ? AGAIN : signal > 0 ? ENDS : GOES_ON;
}

/* Returns 0, or -1 after a message. */
static int read_trace(struct server *server, const sigset_t *ends, enum turn *ret_turn)
{
	int result = 0;

	*ret_turn = GOES_ON;
	for (unsigned int i = 1; result == 0 && *ret_turn == GOES_ON; i++) {
		result = view_shared_step(&server->shared, i, STEPS);
		if (result == 0)
			*ret_turn = turn_after(ends, 0);
	}
	return result < 0 ? -1 : 0;
}

/* A trace that has grown is read again. */
static enum turn follow_growth_of(struct view_shared *shared, const sigset_t *ends)
{
	struct view_growth *growth = view_growth_begin(shared);
	enum turn turn = GOES_ON;
	int result = 0;

	if (!growth)
		return GOES_ON;
	for (unsigned int i = 1; result == 0 && turn == GOES_ON; i++) {
		result = view_growth_step(growth, i, STEPS);
		turn = turn_after(ends, 0);
	}
	view_growth_end(growth, result > 0);
	return turn;
}

static enum turn follow_growth(struct server *server, const sigset_t *ends)
{
	enum turn turn = follow_growth_of(&server->shared, ends);

	return turn == GOES_ON && server->other ? follow_growth_of(&server->other->shared, ends) : turn;
}

static enum turn wait_for_turn(struct server *server, const sigset_t *ends)
{
	time_t begun = time(NULL);
	enum turn turn;

	while ((turn = turn_after(ends, 1)) == GOES_ON) {
		time_t asked = __atomic_load_n(&server->asked, __ATOMIC_RELAXED), now = time(NULL);

		if (now - asked <= ALIVE_SECONDS)
			turn = follow_growth(server, ends);
		if (turn != GOES_ON)
			return turn;
		if (view_shared_has_work(&server->shared) ||
		    (server->other && view_shared_has_work(&server->other->shared)))
			return AGAIN;
		if (now - (asked ? asked : begun) <= GONE_SECONDS)
			continue;
		fprintf(stderr, "tracevisualizer: no page has asked for %d minutes: the view ends\n",
			GONE_SECONDS / 60);
		return ENDS;
	}
	return turn;
}

/* A pass makes large arrays once. Answers make and free as much memory again and again. */
static void memory_is_for_pass(bool is_pass)
{
	mallopt(M_MMAP_THRESHOLD, is_pass ? PASS_BYTES : ANSWER_BYTES);
	mallopt(M_TRIM_THRESHOLD, is_pass ? PASS_BYTES : KEPT_BYTES);
}

/* Until the end. Returns 0, or -1 after a message. */
static int read_and_wait(struct server *server, const sigset_t *ends)
{
	enum turn turn = AGAIN;

	while (turn == AGAIN) {
		memory_is_for_pass(true);
		if (read_trace(server, ends, &turn) < 0)
			return -1;
		if (turn == GOES_ON && server->other && read_trace(server->other, ends, &turn) < 0)
			return -1;
		memory_is_for_pass(false);
		if (turn == GOES_ON)
			turn = wait_for_turn(server, ends);
	}
	return 0;
}

static void print_address(const char *address, uint16_t port)
{
	const char *ssh = getenv("SSH_CONNECTION");

	printf("%s\n", address);
	if (ssh && *ssh)
		fprintf(stderr,
			"tracevisualizer: this is a remote machine; on yours: ssh -L %u:127.0.0.1:%u HOST, then open "
			"the "
			"address there\n",
			port, port);
	fprintf(stderr, "tracevisualizer: Ctrl-C ends the view\n");
	fflush(stdout);
}

static int complain_of_port(uint16_t port)
{
	return port ? complain(1,
			       "port %u of 127.0.0.1 cannot be used: %s; leave --port out, and the kernel chooses one",
			       port, strerror(errno))
		    : complain(1, "no port of 127.0.0.1 can be used: %s", strerror(errno));
}

static int serve(struct server *server, const struct visualizer_options *options, const sigset_t *ends)
{
	uint16_t port = options->port;
	char address[MAX_ADDRESS];
	struct MHD_Daemon *daemon;
	int fd, result;

	result = make_token(server);
	if (result)
		return result;
	fd = listen_on_loopback(&port);
	if (fd < 0)
		return complain_of_port(port);
	snprintf(server->hosts[0], sizeof(server->hosts[0]), "127.0.0.1:%u", port);
	snprintf(server->hosts[1], sizeof(server->hosts[1]), "localhost:%u", port);
	snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", port, server->token);
	daemon = start_daemon(server, fd);
	if (!daemon) {
		close(fd);
		return complain(1, "the web server of the view does not start: %s", strerror(errno));
	}
	print_address(address, port);
	if (!options->no_browser)
		browser_open(address);
	result = read_and_wait(server, ends);
	MHD_stop_daemon(daemon); /* closes the socket */
	browser_end();
	return result < 0;
}

int view_serve(const struct trace *trace, const struct trace *other, const struct visualizer_options *options)
{
	static struct server server, second;
	sigset_t ends;
	int result;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SHARED_AGAIN);
	pthread_sigmask(SIG_BLOCK, &ends, NULL); /* the server's threads inherit it */
	cut_file_reads_as_zeros();
	mallopt(M_ARENA_MAX, 1); /* all threads that answer use the memory that is kept */
	memory_is_for_pass(true);
	result = view_shared_begin(&server.shared, trace, options);
	if (!result && other) {
		server.other = &second;
		result = view_shared_begin(&second.shared, other, options);
	}
	if (!result)
		result = serve(&server, options, &ends);
	view_shared_end(&server.shared);
	if (server.other)
		view_shared_end(&second.shared);
	return result;
}
