/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_calls.c - the same system calls in each run, for a comparison with strace: files,
 * memory, sockets, signals, processes and threads, with flags of each kind. Its working directory
 * is empty. The calls fail where they say so.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/stat.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define CALL(name, ...) syscall(SYS_##name, ##__VA_ARGS__)

static char content[4096];

static void contents_of_file(long fd)
{
	static char text[] = "hello\n\tworld\x01\x7f\"quoted\"";
	struct iovec parts[2] = {{text, 5}, {text + 5, 4}};
	long other;

	CALL(write, fd, text, sizeof(text) - 1);
	CALL(pwrite64, fd, text, 6, 100);
	CALL(writev, fd, parts, 2);
	CALL(lseek, fd, 0, SEEK_SET);
	CALL(lseek, fd, -3, SEEK_END);
	CALL(lseek, fd, -1, SEEK_SET); /* EINVAL */
	CALL(lseek, fd, 0, SEEK_HOLE);
	CALL(read, fd, content, sizeof(content));
	CALL(pread64, fd, content, 20, 2);
	CALL(readv, fd, parts, 2);
	CALL(ftruncate, fd, 50);
	CALL(truncate, "file", 40);
	CALL(fallocate, fd, FALLOC_FL_KEEP_SIZE, 0, 4096);
	CALL(fallocate, fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 10);
	CALL(fadvise64, fd, 0, 100, POSIX_FADV_WILLNEED);
	CALL(fsync, fd);
	CALL(fdatasync, fd);
	CALL(sync_file_range, fd, 0, 10, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	CALL(flock, fd, LOCK_EX | LOCK_NB);
	CALL(flock, fd, LOCK_UN);
	CALL(fcntl, fd, F_GETFD);
	CALL(fcntl, fd, F_SETFD, 0);
	CALL(fcntl, fd, F_SETFD, FD_CLOEXEC);
	CALL(fcntl, fd, F_GETFL);
	CALL(fcntl, fd, F_SETFL, O_APPEND | O_NONBLOCK);
	other = CALL(fcntl, fd, F_DUPFD_CLOEXEC, 20);
	CALL(dup, fd);
	CALL(dup2, fd, 30);
	CALL(dup3, fd, 31, O_CLOEXEC);
	CALL(dup3, fd, fd, 0); /* EINVAL */
	CALL(close_range, 30, 31, 0);
	CALL(close, other);
	CALL(close, 99); /* EBADF */
}

static void names_of_files(long fd)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000}};

	CALL(stat, "file", content);
	CALL(lstat, "missing", content);
	CALL(fstat, fd, content);
	CALL(newfstatat, AT_FDCWD, "file", content, AT_SYMLINK_NOFOLLOW);
	CALL(newfstatat, fd, "", content, AT_EMPTY_PATH);
	CALL(statx, AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_SIZE | STATX_MODE, content);
	CALL(statx, AT_FDCWD, "file", 0, STATX_BASIC_STATS | STATX_BTIME, content);
	CALL(access, "file", F_OK);
	CALL(access, "file", R_OK | W_OK);
	CALL(faccessat, AT_FDCWD, "file", R_OK | X_OK);
	CALL(faccessat2, AT_FDCWD, "file", W_OK, AT_EACCESS);
	CALL(chmod, "file", 0600);
	CALL(fchmod, fd, 0755);
	CALL(fchmodat, AT_FDCWD, "file", 0400);
	CALL(chown, "file", 0, -1);
	CALL(fchown, fd, -1, 0);
	CALL(fchownat, AT_FDCWD, "file", 0, 0, AT_SYMLINK_NOFOLLOW);
	CALL(umask, 027);
	CALL(umask, 022);
	CALL(mkdir, "folder", 0750);
	CALL(mkdirat, AT_FDCWD, "folder/inner", 0700);
	CALL(rmdir, "folder"); /* ENOTEMPTY */
	CALL(unlinkat, AT_FDCWD, "folder/inner", AT_REMOVEDIR);
	CALL(link, "file", "hard");
	CALL(linkat, AT_FDCWD, "file", AT_FDCWD, "hard2", AT_SYMLINK_FOLLOW);
	CALL(symlink, "file", "soft");
	CALL(symlinkat, "file", AT_FDCWD, "soft2");
	CALL(readlink, "soft", content, 100);
	CALL(readlinkat, AT_FDCWD, "soft2", content, 100);
	CALL(rename, "hard", "hard3");
	CALL(renameat2, AT_FDCWD, "hard3", AT_FDCWD, "hard2", RENAME_EXCHANGE);
	CALL(renameat2, AT_FDCWD, "hard3", AT_FDCWD, "hard2", RENAME_NOREPLACE); /* EEXIST */
	CALL(unlink, "hard2");
	CALL(unlinkat, AT_FDCWD, "hard3", 0);
	CALL(mknod, "pipe", S_IFIFO | 0640, 0);
	CALL(mknodat, AT_FDCWD, "device", S_IFCHR | 0600, makedev(1, 3));
	CALL(utimensat, AT_FDCWD, "file", times, AT_SYMLINK_NOFOLLOW);
	CALL(setxattr, "file", "user.note", "text", 4, XATTR_CREATE);
	CALL(getxattr, "file", "user.note", content, 100);
	CALL(removexattr, "file", "user.note");
}

static void files(void)
{
	long fd = CALL(openat, AT_FDCWD, "file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644), other;
	loff_t from = 0;

	CALL(openat, AT_FDCWD, "file", O_RDWR | O_CREAT | O_EXCL, 0600); /* EEXIST */
	CALL(open, "nowhere/file", O_WRONLY | O_APPEND | O_TRUNC | O_DSYNC);
	contents_of_file(fd);
	names_of_files(fd);
	CALL(chdir, "folder");
	CALL(chdir, "..");
	other = CALL(openat, AT_FDCWD, "folder", O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	CALL(fchdir, other);
	CALL(chdir, "..");
	CALL(openat, AT_FDCWD, ".", O_RDWR | O_TMPFILE, 0600);
	CALL(openat, AT_FDCWD, "file", O_PATH | O_CLOEXEC);
	CALL(creat, "created", 0640);
	CALL(copy_file_range, fd, &from, other, NULL, 10, 0); /* EISDIR or EBADF */
	CALL(sendfile, 1000, fd, NULL, 10);		      /* EBADF */
	CALL(ioctl, fd, TCGETS, content);		      /* ENOTTY */
	CALL(ioctl, fd, FIONREAD, content);
	CALL(syncfs, fd);
	CALL(readahead, fd, 0, 4096);
	CALL(getcwd, content, sizeof(content));
}

static void memory(void)
{
	static const unsigned char advice[] = {MADV_NORMAL,   MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
					       MADV_DONTNEED, MADV_FREE,   MADV_DONTFORK,   MADV_NOHUGEPAGE};
	void *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE, -1, 0);
	long fd = CALL(memfd_create, "shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CALL(ftruncate, fd, 8192);
	CALL(fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	CALL(fcntl, fd, F_GET_SEALS);
	CALL(mmap, NULL, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CALL(mmap, NULL, 4096, PROT_NONE, MAP_PRIVATE, fd, 4096);
	CALL(mmap, page, 4096, PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	CALL(mmap, NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* EINVAL */
	CALL(mprotect, page, 4096, PROT_READ);
	CALL(mprotect, page, 4096, PROT_NONE);
	CALL(mprotect, page, 4096, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < sizeof(advice); i++)
		CALL(madvise, page, 4096, advice[i]);
	CALL(msync, page, 4096, MS_SYNC | MS_INVALIDATE);
	CALL(mlock, page, 4096);
	CALL(mlock2, page, 4096, MLOCK_ONFAULT);
	CALL(munlock, page, 4096);
	CALL(mlockall, 99); /* EINVAL */
	CALL(mremap, page, 8192, 16384, MREMAP_MAYMOVE);
	CALL(mincore, NULL, 0, NULL);
	CALL(membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
}

/* A message with a descriptor; the other end takes it. */
static void pass_descriptor(const int pair[2])
{
	static char text[] = "message";
	struct iovec part = {text, 7};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = "";
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	*header =
		(struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(header), &pair[0], sizeof(int));
	CALL(sendmsg, pair[0], &message, MSG_NOSIGNAL);
	CALL(recvmsg, pair[1], &message, MSG_CMSG_CLOEXEC);
}

static void sockets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(47113),
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	long listener = CALL(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), client, server;
	static char buffer[128];
	static char text[] = "message";
	struct iovec part = {text, 7};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct linger linger = {1, 3};
	socklen_t bytes = sizeof(address);
	int one = 1, pair[2];

	CALL(setsockopt, listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	CALL(setsockopt, listener, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	CALL(setsockopt, listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	CALL(setsockopt, listener, IPPROTO_IP, IP_TTL, &one, sizeof(one));
	CALL(bind, listener, &address, sizeof(address));
	CALL(listen, listener, 5);
	CALL(getsockname, listener, &address, &bytes);
	client = CALL(socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CALL(connect, client, &address, sizeof(address)); /* EINPROGRESS */
	server = CALL(accept4, listener, &address, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
	CALL(sendto, client, "question", 8, MSG_NOSIGNAL, NULL, 0);
	CALL(recvfrom, server, buffer, sizeof(buffer), MSG_PEEK, NULL, NULL);
	CALL(recvfrom, server, buffer, sizeof(buffer), 0, NULL, NULL);
	CALL(recvfrom, server, buffer, sizeof(buffer), MSG_DONTWAIT, NULL, NULL); /* EAGAIN */
	CALL(sendmsg, server, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	part.iov_base = buffer;
	CALL(recvmsg, client, &message, MSG_WAITALL);
	CALL(getsockopt, client, SOL_SOCKET, SO_ERROR, &one, &bytes);
	CALL(getpeername, listener, &address, &bytes); /* ENOTCONN */
	CALL(shutdown, client, SHUT_WR);
	CALL(shutdown, client, SHUT_RDWR);
	CALL(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	pass_descriptor(pair);
	client = CALL(socket, AF_UNIX, SOCK_DGRAM, 0);
	CALL(bind, client, &name, sizeof(name));
	client = CALL(socket, AF_UNIX, SOCK_STREAM, 0);
	CALL(connect, client, &name, sizeof(name)); /* EPROTOTYPE */
	client = CALL(socket, AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
	CALL(setsockopt, client, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	CALL(bind, client, &six, sizeof(six));
	CALL(socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	CALL(socket, AF_INET, 77, 0); /* EINVAL */
}

static void waits(void)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLRDHUP, .data.u64 = 7}, events[4];
	long epoll = CALL(epoll_create1, EPOLL_CLOEXEC), fd = CALL(eventfd2, 0, EFD_NONBLOCK | EFD_CLOEXEC), timer;
	struct itimerspec once = {.it_value = {.tv_nsec = 1000}}, never = {};
	struct pollfd fds[2] = {{.fd = (int)fd, .events = POLLIN | POLLOUT}, {.fd = -1, .events = POLLIN}};
	struct timespec moment = {.tv_nsec = 1000000};
	struct timeval soon = {.tv_usec = 1};
	static unsigned int word = 1;
	uint64_t count = 1;
	fd_set set;
	int pipes[2];

	CALL(pipe2, pipes, O_CLOEXEC | O_NONBLOCK);
	CALL(pipe, pipes);
	CALL(epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event);
	CALL(epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event); /* EEXIST */
	CALL(epoll_wait, epoll, events, 4, 0);
	CALL(write, fd, &count, sizeof(count));
	CALL(epoll_pwait, epoll, events, 4, -1, NULL, 8);
	event.events = EPOLLOUT | EPOLLONESHOT;
	CALL(epoll_ctl, epoll, EPOLL_CTL_MOD, fd, &event);
	CALL(epoll_ctl, epoll, EPOLL_CTL_DEL, fd, NULL);
	CALL(poll, fds, 2, 0);
	fds[0].fd = pipes[0];
	fds[0].events = POLLIN;
	CALL(poll, fds, 1, 1);
	CALL(ppoll, fds, 1, &moment, NULL, 8);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	CALL(select, fd + 1, &set, NULL, NULL, &soon);
	timer = CALL(timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	CALL(timerfd_settime, timer, TFD_TIMER_ABSTIME, &once, NULL);
	CALL(timerfd_settime, timer, 0, &never, &once);
	CALL(timerfd_gettime, timer, &once);
	fd = CALL(inotify_init1, IN_CLOEXEC);
	CALL(inotify_add_watch, fd, ".", IN_CREATE | IN_MODIFY | IN_ONLYDIR);
	CALL(nanosleep, &moment, NULL);
	CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
	CALL(clock_gettime, CLOCK_REALTIME_COARSE, &moment);
	CALL(clock_getres, CLOCK_BOOTTIME, &moment);
	CALL(futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	CALL(futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL); /* EAGAIN */
	CALL(futex, &word, FUTEX_WAIT, 1, &moment);		      /* ETIMEDOUT */
	CALL(futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, -1);
	CALL(futex, &word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 1, 2, &word, 5); /* EAGAIN */
}

static void on_signal(int number)
{
}

static void signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval timer = {.it_value = {.tv_sec = 1000}}, none = {};
	sigset_t set;
	struct timespec zero = {};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CALL(kill, getpid(), SIGUSR1);
	CALL(tgkill, getpid(), getpid(), SIGHUP);
	CALL(tkill, getpid(), SIGUSR1);
	CALL(kill, getpid(), 0);
	CALL(kill, getpid(), 99); /* EINVAL */
	CALL(kill, getpid(), SIGUSR2);
	CALL(rt_sigtimedwait, &set, NULL, &zero, 8);
	CALL(rt_sigtimedwait, &set, NULL, &zero, 8); /* EAGAIN */
	CALL(signalfd4, -1, &set, 8, SFD_CLOEXEC | SFD_NONBLOCK);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CALL(setitimer, ITIMER_REAL, &timer, NULL);
	CALL(setitimer, ITIMER_REAL, &none, NULL);
	CALL(getitimer, ITIMER_VIRTUAL, &timer);
	CALL(alarm, 0);
	raise(SIGUSR1);
}

static void *run_thread(void *data)
{
	struct timespec moment = {.tv_nsec = 50000000};

	CALL(nanosleep, &moment, NULL); /* so that the join has to wait */
	return data;
}

static void processes(void)
{
	struct rlimit limit = {1024, 1024};
	struct sched_param param = {};
	struct rusage usage;
	static char buffer[1024];
	pthread_t thread;
	int status;
	long pid = fork();

	if (!pid) {
		CALL(prctl, PR_SET_PDEATHSIG, SIGKILL);
		_exit(3);
	}
	CALL(wait4, pid, &status, 0, &usage);
	pid = fork();
	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		CALL(kill, getpid(), SIGTERM);
	}
	CALL(waitid, P_PID, pid, buffer, WEXITED | WNOWAIT, NULL);
	CALL(wait4, -1, &status, WNOHANG | WUNTRACED, NULL);
	CALL(wait4, -1, &status, 0, NULL); /* ECHILD */
	pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", "one", (char *)NULL);
		_exit(1);
	}
	CALL(wait4, pid, &status, 0, NULL);
	pthread_create(&thread, NULL, run_thread, NULL);
	pthread_join(thread, NULL);
	CALL(prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	CALL(prlimit64, 0, RLIMIT_CORE, &limit, NULL);
	CALL(getrlimit, RLIMIT_STACK, &limit);
	CALL(getrusage, RUSAGE_CHILDREN, &usage);
	CALL(getpriority, PRIO_PROCESS, 0);
	CALL(sched_getscheduler, 0);
	CALL(sched_setscheduler, 0, SCHED_BATCH, &param);
	CALL(sched_get_priority_max, SCHED_FIFO);
	CALL(sched_yield);
	CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	CALL(prctl, PR_GET_DUMPABLE);
	CALL(getrandom, buffer, 16, GRND_NONBLOCK);
	CALL(uname, buffer);
	CALL(getgroups, 0, NULL);
	CALL(setpgid, 0, 0);
	CALL(getpgid, 0);
	CALL(setresuid, -1, 0, -1);
	CALL(unshare, CLONE_FS | CLONE_FILES);
	pid = CALL(shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	CALL(shmat, pid, NULL, SHM_RDONLY);
	CALL(shmctl, pid, IPC_RMID, NULL);
	CALL(semget, 0x31337, 1, 0600); /* ENOENT */
}

int main(void)
{
	alarm(60);
	files();
	memory();
	sockets();
	waits();
	signals();
	processes();
	CALL(close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
	return 7;
}
