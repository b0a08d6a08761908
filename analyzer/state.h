/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_H
#define ANALYZER_STATE_H
/*
 * state.h - what the analysis knows of threads, CPUs and files at the moment, and the books that grow from it.
 *
 * An event goes through analysis.c to the handler of its kernel domain (state_<domain>.c). A handler changes the state only
 * through books.c, which closes the interval that ends: that is the only place where time is added anywhere, and it adds
 * each nanosecond to one state of one thread and one column of one CPU. So the books cannot help but balance.
 *
 * Time on a CPU is closed by the CPU (books_cpu()), whoever runs there and whatever interrupts nest on it; time off the CPUs
 * by the thread (books_off_cpu()).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>
#include "arena.h"
#include "table.h"

#define MAX_TID (1u << 22) /* PID_MAX_LIMIT of Linux */
#define TID_PAGE 1024u
#define MAX_FRAMES 3
#define MAX_PENDING 2
#define MAX_NESTED 16
#define NR_SOFTIRQS 10 /* include/linux/interrupt.h */
#define NR_CALLS 1024u
#define CPU_LOG 256u
#define TASK_STATE_NEW 0x800 /* TASK_NEW of Linux: forked, not woken yet */
#define TASK_STATE_QUOTA (1u << 31) /* none of Linux: it could run, but for its quota */

/* ---- system calls by number ---- */

enum call_class {
	CALL_OTHER = 0,
	CALL_ACCEPT, CALL_AIO, CALL_BIND, CALL_BRK, CALL_CLOSE, CALL_CLOSE_RANGE, CALL_CONNECT, CALL_DUP, CALL_DUP2, CALL_EPOLL_CTL,
	CALL_EPOLL_WAIT, CALL_EXEC, CALL_EXIT, CALL_FCNTL, CALL_FD_META, CALL_FD_NEW, CALL_FORK, CALL_FUTEX, CALL_GETDENTS,
	CALL_IOCTL, CALL_IPC, CALL_KILL, CALL_MEMORY, CALL_MMAP, CALL_MREMAP, CALL_MSYNC, CALL_MUNMAP, CALL_OPEN, CALL_PATH,
	CALL_PAUSE, CALL_PIPE, CALL_POLL, CALL_PTRACE, CALL_READ, CALL_RECV, CALL_SEEK, CALL_SELECT, CALL_SEND, CALL_SENDFILE,
	CALL_SHMAT, CALL_SLEEP, CALL_SOCKET, CALL_SOCKETCALL, CALL_SOCKETPAIR, CALL_SPLICE, CALL_SYNC, CALL_SYNC_ALL, CALL_UNSHARE, CALL_URING_ENTER, CALL_WAIT,
	CALL_WRITE, CALL_YIELD,
	NR_CALL_CLASSES,
};

enum call_flag {
	CALL_HAS_FD = 1,     /* the first argument is a descriptor */
	CALL_HAS_EFFECT = 2, /* its return changes files or memory: see syscall_effect() */
	CALL_COUNTS_READ = 4,
	CALL_COUNTS_WRITTEN = 8,
	CALL_IS_LOCK = 16, /* flock: waits for its holder, not for a disk */
	CALL_MESSAGES = 32, /* returns messages, not bytes */
};

struct call {
	string_id name;
	uint8_t class;
	uint8_t flags;
	uint8_t nr_args; /* that the kernel defines; more are recorded, of no meaning */
	uint8_t addresses; /* a bit for each argument of which is kept only whether it is one */
};
#define CALL_UNKNOWN (2 * NR_CALLS) /* a call whose entry was not seen */

/* ---- files, memory, sockets ---- */

typedef uint32_t file_idx; /* 0: not known */
typedef uint32_t sock_idx;

#define FILE_WRITE_END 0x80000000u /* in the mode of a pipe: this is the end to write to, another file than the end to read from */
#define FILE_FREE UINT32_MAX
struct file {
	union { /* with what says which, in one line of the cache */
		char *text; /* !path: owned; its path, as long as no report needs it: file_path() */
		struct file_use *use; /* path: borrowed; of who added to one last, see file_use_find(); NULL: nobody yet */
	};
	string_id path;	 /* 0: it has none, or it is text; FREE: the next that is free */
	uint32_t sweeps; /* before it was last asked for: state_forget.c; or FREE */
	uint64_t ino;
	uint32_t dev;
	uint32_t mode;
};

#define FD_CLOEXEC_BIT 0x80000000u
#define MAX_FD (1 << 20)
struct fd_table { /* shared by CLONE_FILES */
	uint32_t *files; /* owned: file_idx | FD_CLOEXEC_BIT */
	uint32_t nr;
	uint32_t refs;
	uint32_t nr_listening; /* sockets that were told to listen; never counted down */
	uint32_t sweeps;       /* it was looked through in this one: state_forget.c */
};

struct mapping {
	uint64_t start;
	uint64_t end;
	file_idx file;
};
struct memory { /* shared by CLONE_VM */
	struct mapping *maps; /* owned; by start, without overlap */
	uint32_t nr;
	uint32_t capacity;
	uint32_t refs;
	uint32_t sweeps;  /* it was looked through in this one: state_forget.c */
	bool has_foreign; /* memory of System V, of which no more is known */
};

/* What a thread waited for when the recording ended, as the recorder read it: state_end.c. */
struct end_wait {
	uint64_t key; /* tid + 1 */
	uint64_t ns;  /* when it was read */
	uint64_t args[4];
	uint32_t call;
	uint32_t holder;   /* pid of who had the lock; 0 */
	uint32_t first_fd; /* into analysis.end_fds */
	uint32_t nr_fds;
	uint64_t counts_fds; /* the call waits for descriptors, and these are all of them */
};

struct sock {
	uint64_t ino;
	uint64_t peer_ino;
	uint64_t local[2];
	uint64_t remote[2];
	uint16_t local_port;
	uint16_t remote_port;
	uint16_t family;
	uint16_t type;
	uint16_t protocol;
	uint16_t state;
	uint64_t asked[2]; /* whom it asked for a connection; remote is who gave it one */
	uint16_t asked_port;
	uint32_t owner;	 /* process that used it last */
	uint32_t sweeps; /* before it was last asked for: state_forget.c; or FILE_FREE */
	uint32_t next;	 /* that is free */
};

/* ---- threads ---- */

enum place { /* of a thread; on a CPU its time is the CPU's to close */
	PLACE_ON_CPU,
	PLACE_QUEUED,	    /* waits for a CPU */
	PLACE_BLOCKED,
	PLACE_NEW,	    /* forked, not woken yet */
	PLACE_OFF_AT_START, /* blocked or queued since the start: its first event will tell */
	PLACE_LOST,	    /* last seen before a gap or a contradiction */
	PLACE_DEAD,
};

enum thread_flag {
	THREAD_KERNEL = 1,
	THREAD_SOFTIRQ_DAEMON = 2, /* ksoftirqd: softirqs are its own work */
	THREAD_EXITING = 4,
	THREAD_MODE_UNKNOWN = 8, /* user or system call? frames[0] is ready for the second */
	THREAD_RECLAIM = 16,	 /* between reclaim_begin and _end */
	THREAD_FROM_START = 32,	 /* made by the start state, and not touched by an event yet */
	THREAD_THROTTLED = 64,	 /* fs_throttle in this system call */
	THREAD_VFORK = 128,
	THREAD_RAN_AT_START = 256, /* the start state saw it on its CPU */
	THREAD_VISIBLE = 512,	   /* its events are recorded: see state_hidden.c */
	THREAD_IO_WORKER = 1024,   /* of io_uring: makes no system calls of its own */
	THREAD_HIDDEN = 2048,	   /* the start state says that its events are not recorded: see state_hidden.c */
	THREAD_RETURNS = 8192,	   /* its system call ends at this very event, with ret */
	THREAD_FILTERED = 16384,   /* its events are not recorded: see state_filtered.c */
	THREAD_FAULT_OVER = 32768, /* its last event of a fault was the end of one, not known to be major */
	THREAD_ASLEEP = 4096,	   /* HIDDEN, and the kernel's counters say that it never ran */
};

/* Totals of a thread at some moment; the difference of two is what happened between. */
struct snapshot {
	uint64_t ns;
	uint64_t cpu;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t wait;
};

enum frame_kind { FRAME_SYSCALL, FRAME_TRAP };
struct frame {
	struct snapshot begin;
	uint32_t call; /* into analysis.calls */
	file_idx file; /* it acts on; for a trap: whose page is missing */
	uint8_t kind;
	bool has_path; /* trace_thread.path is the one that this call was given */
	uint8_t nr_args;
	bool fd_seen; /* an fs_open told the result */
	bool major;
	uint64_t args[6]; /* the first one is in the same line of the cache as all before */
	uint32_t dev;  /* of a trap: where a file is whose page is missing, if it has no name */
};

/* What a wakeup's waker, or the interrupt that made it, was doing. */
enum cause { CAUSE_NONE, CAUSE_BLOCK, CAUSE_NETWORK, CAUSE_TIMER, CAUSE_SOCKET, CAUSE_DEVICE, CAUSE_KERNEL, CAUSE_RCU };
struct waker {
	uint64_t ns; /* 0: no waker seen */
	struct trace_thread *thread; /* TASK context only */
	struct trace_thread *worker; /* the kernel's thread that did it for @thread; NULL: itself */
	uint64_t detail;	     /* SOCKET: inode; BLOCK: device; DEVICE, KERNEL: string_id */
	uint32_t call;		     /* the thread's system call, CALL_UNKNOWN if none */
	file_idx file;		     /* and the file it acts on */
	uint8_t context;
	uint8_t cause;
	uint8_t via; /* enum via, where it tells how; else NONE */
	bool by_signal;
};

/* A closed blocked interval whose kind is decided when its frame ends: wait.c. */
struct pending {
	uint64_t from;
	uint64_t to;
	uint64_t known_ns; /* to - from, less what lay in gaps */
	struct waker waker;
	uint32_t task_state;
	uint16_t flags; /* of the thread when it blocked */
	uint8_t depth;	/* frames when it blocked */
	bool cut;	/* by a gap or the end of the trace: nobody knows what ended it */
};

struct cpu_share {
	uint32_t cpu;
	uint64_t ns;
};

struct call_row {
	uint64_t key; /* call + 1; of traps 1 */
	uint64_t calls;
	uint64_t errors;
	uint64_t elapsed;
	uint64_t cpu;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t wait;
	/* Merged by the greater one, not added. */
	uint64_t longest;
	uint64_t shortest; /* ~ the shortest: 0 is none */
};
struct wait_row {
	uint64_t key; /* wait_key() */
	uint64_t ns;
	uint64_t count;
};
struct who_row {
	uint64_t key; /* process + 1 */
	uint64_t ns;
};
struct interrupt_row {
	uint64_t key; /* nest_key() */
	uint64_t ns;
	uint64_t count;
};
struct file_row {
	uint64_t key; /* path + 1 */
	uint64_t wait_ns;
	uint64_t read_bytes;
	uint64_t reads;
	uint64_t written_bytes;
	uint64_t writes;
};

struct file_use { /* a thread's row of a file: in a line of the cache of its own, and where it is until the thread is dead */
	struct file_row row;
	struct trace_thread *thread; /* NULL: free */
	struct file_use *next; /* that is free */
};
struct use_row { /* of struct trace_thread's uses */
	uint64_t key; /* path + 1 */
	struct file_use *use;
};

struct lock_row { /* see locks.c */
	uint64_t key;
	uint64_t subject; /* address of a futex, string_id of a file's path */
	uint32_t waiter, holder; /* processes */
	uint64_t via;
	uint64_t ns;
	uint64_t count;
};

struct books {
	uint64_t user;
	uint64_t syscall;
	uint64_t trap;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t blocked;
	struct table calls; /* the end of a line of the cache */
	struct table waits, who, files, call_times; /* _times: latency.h */
	struct table traps, interrupts, trap_times;
	uint64_t stolen; /* of user, syscall, trap and interrupted together */
};

struct spell { /* a thread that never sleeps waits for a CPU by turns: books_turns.c */
	uint64_t first;	 /* the first turn of the CPU that began in it */
	uint64_t own;	 /* the turn that ended its last wait: the thread's own */
	uint64_t left_ns; /* of its waits, to be charged to the turns */
	uint64_t irq_ns; /* of its waits: interrupts of the CPU */
	uint64_t own_ns; /* the thread's own turns in it, without interrupts */
	uint64_t last_own_ns; /* the last of them, if another wait follows */
	uint64_t names;	 /* so many may be named */
	uint32_t nr_waits;
	uint32_t cpu;
	uint32_t at; /* in the CPU's list of them */
	bool is_long; /* one of the waits was too long for all to be named */
};

/*
 * What a thread makes its first rows in, and where its calls' times are noted until some have come: made with its first turn on a CPU, and
 * somebody else's when it is dead.
 */
#define FIRST_ROWS 4u
#define FIRST_CALLS 8u
#define NR_LATENCIES 64u /* a histogram is large, and of thousands of threads none is in a cache: so latencies are noted, and counted when there are some */
struct desk {
	struct who_row who[FIRST_ROWS];
	struct wait_row waits[FIRST_ROWS];
	struct desk *next; /* that is free */
	uint64_t unused[3];
	uint32_t latencies[NR_LATENCIES]; /* latency_key() << 1, and 1 if of a trap, of those that are not in the books yet */
	struct call_row calls[FIRST_CALLS];
};
_Static_assert(FIRST_CALLS * sizeof(struct call_row) < ARENA_ROWS_LEAST, "as books_give_rows() has it");
_Static_assert(offsetof(struct desk, waits) % CACHE_LINE == 0 && offsetof(struct desk, latencies) % CACHE_LINE == 0 &&
		       offsetof(struct desk, calls) % CACHE_LINE == 0,
	       "each on lines of its own");

struct trace_thread { /* in the order of how often it is needed; threads begin on a line of the cache */
	uint32_t idx; /* trace_thread_index() */
	uint32_t process_idx;
	uint32_t tid;
	uint16_t flags;
	uint8_t place;
	uint8_t depth; /* frames in use */
	uint8_t nr_pending;
	uint8_t nr_latencies;
	bool in_spell;	     /* spell is what it was charged for last, and is not in its books yet */
	bool has_early;	     /* a wakeup came while it was still on the CPU */
	uint32_t cpu;	     /* it runs on, is queued for, or ran on last */
	uint64_t since;	     /* off the CPUs: in this place since */
	uint64_t queued_ns;  /* when it was QUEUED last; what follows is of that moment, if since is that, too */
	uint64_t queued_irq; /* interrupt time of the CPU */
	uint64_t queued_turn; /* the CPU's next one */
	uint32_t task_state; /* BLOCKED */
	uint32_t nr_shares;
	struct desk *desk; /* NULL: none so far, or dead */
	struct trace_process *process;
	struct fd_table *fds;	   /* a reference */
	struct memory *memory;	   /* a reference */
	int64_t ret;		   /* RETURNS */
	uint64_t last_wait;	   /* wait_key() of the wait that was decided last, 0 none */
	uint64_t last_wait_ns;	   /* and its end */
	uint64_t read_ns;	   /* of the start state, and its call not seen to end yet: when it was read; else 0 */
	struct books books;
	struct cpu_share *shares; /* owned; MODE_UNKNOWN: CPU time to be booked when it is known */
	struct frame frames[MAX_FRAMES];
	struct pending pending[MAX_PENDING];
	struct spell spell;
	struct waker early; /* if has_early */
	struct table uses; /* use_row: what belongs into books.files, until it is asked for or the thread is dead */
	struct trace_thread *next; /* of the process */
	struct trace_thread *work_for; /* kworker: who queued the work that it does; NULL: nobody known */
	char *path;	    /* owned: what the last call that was given a path was given */
	uint32_t path_room;
	uint32_t packed_bytes; /* DEAD: of its books; 0: they are as they were */
	uint8_t *packed;       /* owned: books_packed.c */
	uint64_t start_ns;
	uint64_t end_ns;
	char comm[16];
	int8_t unfreed; /* how many threads had its number before, of which no sched_free has come; -1: its own has */
};
_Static_assert(offsetof(struct trace_thread, desk) == CACHE_LINE && offsetof(struct trace_thread, books) == 2 * CACHE_LINE &&
		       offsetof(struct trace_thread, frames) % CACHE_LINE == 0,
	       "what one event needs is in few lines of the cache");

struct trace_process {
	uint32_t idx;
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	string_id exe;
	bool kernel;
	uint32_t ns_pid;  /* its number in its own pid namespace */
	uint64_t cgroup;  /* number */
	string_id cgroup_path;
	file_idx uring_file; /* of the io_uring request that was completed last */
	uint64_t uring_ns;   /* when */
	char comm[16];
	struct strings *strings; /* borrowed */
	struct trace_thread *first, *last;
	size_t nr_threads;
};
/* Processes that stand for nobody in particular; real ones follow. */
enum { PROCESS_IDLE = 0, PROCESS_INTERRUPTS, PROCESS_SEVERAL, PROCESS_UNKNOWN, NR_PSEUDO_PROCESSES };

/* ---- CPUs ---- */

enum nest_type { NEST_IRQ = 1, NEST_SOFTIRQ = 2, NEST_VECTOR = 3, NEST_TASKLET = 4 };
struct nest {
	uint64_t number;
	uint8_t type;
};

#define HIDDEN_LOG 64u
struct hidden_turn { /* a CPU was, or may have been, a hidden thread's */
	uint64_t from;
	uint64_t to;
};

struct cpu_log_entry { /* from then on, who had the CPU */
	uint64_t ns;
	uint64_t irq_ns; /* interrupt time of the CPU until then */
	uint32_t process;
	uint32_t holder; /* if the CPU has turns */
};

struct turn { /* of a thread on a CPU, from switch to switch */
	uint32_t tid; /* 0 = nobody, or not known */
	uint64_t ns;
	uint64_t stolen;
};

struct cpu {
	uint32_t cpu;
	uint64_t mark; /* booked until then */
	struct trace_thread *current; /* NULL: not known. The idle thread is &cpu->idle. */
	uint32_t quota_tid; /* of this thread, which is about to leave, the quota is used up; 0: of none */
	struct trace_thread idle;
	uint8_t nested;
	uint8_t cause; /* what the current context did last */
	uint64_t cause_detail;
	uint32_t signalled; /* tid of the last signal_generate in this context, 0 none */
	struct trace_thread *woken; /* last in this context, NULL none */
	bool loopback;	    /* the packet in progress came from this machine */
	uint64_t gap_until; /* events before are not to be trusted */
	bool touched;	    /* since the start or the last gap */
	bool switched;	    /* there was a switch, at first_switch_ns: from then on who has the CPU is known */
	uint64_t first_switch_ns;
	uint64_t last_switch_ns;
	uint32_t nr_switches; /* at that time: a clock may stand still for some */
	struct turn before;	 /* and now, since, with so much of it stolen: */
	uint64_t turn_since, turn_stolen;
	uint64_t turn_woken; /* so long before it somebody set out to wake who has it, and the CPU was idle; else 0 */
	bool hidden;	    /* current may be gone already, unseen; then successor came: state_hidden.c */
	uint32_t successor;
	struct trace_cursor *ahead; /* owned: the switches of this CPU to come */
	uint64_t ahead_ns;
	uint32_t ahead_nr; /* of the switches at that time */
	uint32_t ahead_prev;
	bool ahead_lost; /* a loss comes first */
	struct nest nest[MAX_NESTED];
	uint64_t irq_ns; /* irq + softirq, for the waiters */
	uint64_t softirq_ns[NR_SOFTIRQS]; /* each, also when ksoftirqd does them */
	struct trace_cpu_figures figures;
	uint64_t log_pos; /* entries ever */
	uint32_t log_mask; /* entries that are kept, less one; CPU_LOG or more, a power of two */
	struct cpu_log_entry *log; /* owned */
	struct turns *turns; /* owned; what more is known of them; NULL: nobody waited for many: books_turns.c */
};

/* ---- the whole ---- */

struct hook {
	uint64_t mask[TRACE_MASK_WORDS];
	trace_event_fn event;
	trace_interval_fn interval;
	trace_gone_fn gone;
	trace_damage_fn damage;
	uint32_t states; /* of the intervals that it wants */
	void *data;
};

struct event_hook { /* the same, by event */
	trace_event_fn event;
	void *data;
};

/* Of so many threads the state does not stay in the cache until they come to a CPU again. */
#define THREADS_COLD 256u

/*
 * What is to be added to a sum in a row that nobody reads before the end. Of thousands of threads or files the rows are in no cache: so each is asked for
 * at once, and added to when NR_LATER others have come, by when it is there. Of one table they are added to in their order.
 */
#define NR_LATER 32u
#define ROWS_COLD 64u /* the room of a table; smaller ones are added to at once */
struct sum { /* which number of a row; @counted: 1 is added to the number behind it */
	uint16_t row_bytes;
	uint8_t at;
	bool counted;
};
#define SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), false})
#define COUNTED_SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), true})
struct later {
	struct table *table; /* NULL: none */
	uint64_t key;
	uint64_t amount;
	struct sum sum;
};
/* The same for what was read or written, or waited for: by then the file's path has a number, and its thread's row is there. */
struct later_use {
	struct trace_thread *thread; /* NULL: none */
	uint64_t amount;
	file_idx file; /* 0: path is known */
	string_id path;
	uint8_t at; /* which number of a file_row; 1 is added to the number behind it, but for a wait */
};
#define FILES_COLD 1024u /* so many files do not stay in the cache until they are used again; of fewer it is added to at once */
_Static_assert(offsetof(struct wait_row, count) == offsetof(struct wait_row, ns) + sizeof(uint64_t) &&
		       offsetof(struct file_row, reads) == offsetof(struct file_row, read_bytes) + sizeof(uint64_t) &&
		       offsetof(struct file_row, writes) == offsetof(struct file_row, written_bytes) + sizeof(uint64_t),
	       "sums that are counted");

struct gap { /* of at least one CPU's main stream; joined, by start */
	uint64_t start;
	uint64_t end;
	uint64_t before; /* ns of gaps before this one */
};
struct cpu_gap {
	uint64_t start;
	uint64_t end;
	uint32_t cpu;
};

/* What is known of who could end a wait: wait_enders.c. */
enum ender_kind { ENDER_CHILDREN, ENDER_OTHER_ENDS, ENDER_SHARERS, ENDER_REQUESTS, NR_ENDER_KINDS };
struct ender;
struct enders {
	struct ender *list; /* owned; sorted, no two alike */
	size_t nr, room;
	bool whole; /* all there are; else what was asked for last: */
	uint64_t asked_what, asked_more;
};

typedef void (*handler_fn)(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

struct trace_analysis {
	const struct trace *trace; /* borrowed */
	const struct trace_cursor *cursor; /* borrowed; of the pass, at the event that is being handled */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t now;
	int failed;
	bool began, done;
	bool closing; /* the end of the trace is reached: what is left for later waits until somebody asks (books_of()) */
	bool no_fault_exit; /* the recorder could not see the end of faults */
	uint32_t nr_cpus;
	struct cpu *cpus;			/* owned */
	struct trace_thread **pages[MAX_TID / TID_PAGE]; /* owned: living threads by id */
	struct trace_process **processes;	/* owned, and each with its threads */
	uint32_t nr_processes, max_processes;
	uint32_t nr_threads;
	struct arena arena; /* of threads, desks and processes */
	struct desk *free_desks; /* in it */
	struct file_use *free_uses; /* the same */
	struct table process_by_pid;		/* pid + 1 -> idx of the latest */
	struct call calls[CALL_UNKNOWN + 1];
	struct table locks;	 /* lock_row */
	struct table interrupts; /* interrupt_row: of all CPUs, whoever was interrupted, idle CPUs too */
	struct strings strings;
	struct file *files; /* owned, and their texts; [0] unused */
	uint32_t nr_files, max_files, free_file; /* 0: none is free */
	struct table file_by_identity;
	struct table file_by_inode;
	struct sock *socks; /* owned; [0] unused */
	uint32_t nr_socks, max_socks, free_sock;
	uint32_t until_sweep; /* so many more files and sockets: state_forget.c */
	uint32_t sweeps;
	struct table sock_by_inode, sock_by_tuple;
	struct table works;	/* queued work -> who queued it: state_work.c */
	struct table requests;	/* of io_uring -> whose, and on which file: state_uring.c */
	struct table cgroups;	/* number -> path: state_container.c */
	struct table devices;	/* path -> block device: state_device.c */
	struct table end_waits;	/* end_wait */
	struct enders enders[NR_ENDER_KINDS]; /* while it is closed */
	struct table hidden_runs; /* state_hidden.c */
	bool hides;		/* there are threads that leave no events, and may wake others */
	struct hidden_turn hidden_turns[HIDDEN_LOG]; /* in the order of their ends */
	uint64_t hidden_pos;	/* turns ever */
	int32_t *end_fds;	/* owned */
	uint32_t nr_end_fds, max_end_fds;
	struct table streams;	/* of programs' events -> pid: state_user.c */
	struct table programs;	/* pid of such a stream -> what it runs */
	uint64_t nr_anonymous;	/* shared mappings without a file: state_syscall.c */
	uint32_t loopback;	/* interface number + 1; 0: not looked for yet, 1: none */
	struct hook *hooks; /* owned */
	size_t nr_hooks;
	struct event_hook *event_hooks; /* owned; those of event id n (or bit TRACE_EV_USER) from hooks_of[n] to hooks_of[n + 1] */
	uint32_t hooks_of[TRACE_EV_MAX + 1];
	uint32_t watched; /* states that an interval hook wants: bit 1 << enum trace_state */
	struct gap *gaps; /* owned; of those that have begun */
	size_t nr_gaps;
	uint64_t *doubts, *late_doubts; /* owned: times of losses too small to spoil what is consistent, ascending; of damages that are met in the pass */
	size_t nr_doubts, nr_late_doubts;
	struct trace_gap *damages; /* owned; met in the pass, not in the trace's list; by start_ns */
	size_t nr_damages, room_for_damages;
	struct cpu_gap *cpu_gaps; /* owned; by start */
	size_t nr_cpu_gaps, next_cpu_gap;
	uint64_t next_gap_ns; /* UINT64_MAX: none */
	uint64_t halted_ns;   /* scheduling changes were not recorded, by the masks in the trace */
	bool no_wakings;      /* now wakeups are not */
	bool no_entries;      /* nor entries of system calls */
	bool no_exits;	      /* nor their exits */
	bool has_mask;	      /* the trace tells what was recorded */
	bool sees_opens;      /* what opens and closes is recorded: as the last mask tells */
	uint64_t recorded[TRACE_MASK_WORDS];   /* at some time until now; of masks in the trace */
	uint64_t unrecorded[TRACE_MASK_WORDS]; /* for some time not, while scheduling changes were */
	bool filtered;	      /* only events of some processes were recorded: state_filtered.c */
	struct table passing; /* if @filtered: pid + 1 of these */
	uint64_t contradictions; /* events that cannot follow from the state: others are missing */
	uint64_t counts[TRACE_EV_MAX];
	handler_fn handlers[TRACE_EV_MAX];
	struct later later[NR_LATER];
	uint32_t later_pos;
	struct later_use later_uses[NR_LATER];
	uint32_t later_uses_pos;
	uint64_t sink[16]; /* rows that found no memory */
};

/* ---- books.c: the only place where time is added ---- */

/** books_cpu() - close the time of @cpu until @ns: its own column, and the books of the thread on it */
void books_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** books_cpu_unknown() - the same, but what went on since the last closing is not known */
void books_cpu_unknown(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** books_queued() - close time off the CPUs that was a wait for a CPU; @onto: the one that it gets at @ns, NULL: none */
void books_queued(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, struct cpu *onto);
/** books_blocked() - close time off the CPUs that was a wait; its kind is decided later. @waker NULL: none seen */
void books_blocked(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker);
/** books_unknown() - close time off the CPUs of which nothing is known */
void books_unknown(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** books_mode() - a thread whose mode was not known turns out to have been in a system call, or in user mode */
void books_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall);
/** books_snapshot() - the totals of a thread now; on a CPU, close its time first */
void books_snapshot(const struct trace_thread *thread, uint64_t ns, struct snapshot *ret_snapshot);
/** books_decided() - a pending wait has found its kind; see wait.c */
void books_decided(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
/** books_cpu_softirq() - time of softirq @vec on @cpu until @ns */
uint64_t books_cpu_softirq(const struct cpu *cpu, unsigned int vec, uint64_t ns);
/** books_cpu_irq() - interrupt time of @cpu until @ns */
uint64_t books_cpu_irq(const struct cpu *cpu, uint64_t ns);
void *books_new_row(struct trace_analysis *a, struct table *table, size_t row_bytes, uint64_t key);
/** books_give_rows() - the rows of @table, whose rows were books_row()'s, are not needed any more; before table_clear() */
void books_give_rows(struct trace_analysis *a, const struct table *table, size_t row_bytes);
/** books_later() - add to a number of the row of @key in @table, some time before books_settle() */
void books_later(struct trace_analysis *a, struct table *table, struct sum sum, uint64_t key, uint64_t amount);
/** books_use() - the same to number @at of the thread's row of @file, not 0, and 1 to the number behind it */
void books_use(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint8_t at, uint64_t amount);
/** books_file_wait() - the same to what @thread waited for the file of @path */
void books_file_wait(struct trace_analysis *a, struct trace_thread *thread, string_id path, uint64_t ns);
/** uses_add() - the files that @thread used, added to the rows of @files; false: out of memory */
bool uses_add(const struct trace_thread *thread, struct table *files);
/** uses_give() - @thread is dead, and all that is in its books */
void uses_give(struct trace_analysis *a, struct trace_thread *thread);
/** books_latency() - count a call's elapsed time, its latency_key(): in the histograms some time before latencies_settle() of the thread */
void books_latency(struct trace_analysis *a, struct trace_thread *thread, bool trap, uint64_t key);
/** latencies_settle() - what was noted of @thread is in its histograms now */
void latencies_settle(struct trace_analysis *a, struct trace_thread *thread);
/** desk_get() - the first rows of @thread, and its notes, are in a desk from now on, if there is memory */
void desk_get(struct trace_analysis *a, struct trace_thread *thread);
/** desk_give() - @thread, whose books have no rows, needs none any more */
void desk_give(struct trace_analysis *a, struct trace_thread *thread);
/** latencies_add() - what was noted of @thread, added to the histograms of @books; false: out of memory */
bool latencies_add(const struct trace_thread *thread, struct books *books);
/** books_settle() - all that was left for later is added now */
void books_settle(struct trace_analysis *a);
/** books_row() - a row of a table, or a sink when memory ran out. Inline: @row_bytes is a constant where it is called */
static inline void *books_row(struct trace_analysis *a, struct table *table, size_t row_bytes, uint64_t key)
{
	void *row = table_find(table, row_bytes, key);

	return row ? row : books_new_row(a, table, row_bytes, key);
}

/* ---- books_packed.c ---- */

/** books_pack() - @thread is dead: its books take little room from now on. What is still added to them stands beside. */
void books_pack(struct trace_analysis *a, struct trace_thread *thread);
/**
 * books_of() - the books of @thread with all that is not in them yet, packed or not
 * @scratch: zeros; whose tables books_clear() frees. Their rows can be gone through (table_next()), but not looked up
 * Returns its own or @scratch; NULL when out of memory.
 */
const struct books *books_of(const struct trace_analysis *a, const struct trace_thread *thread, struct books *scratch);
/** books_add() - add the tables of @books to those of @sum; false: out of memory */
bool books_add(struct books *sum, const struct books *books);
void books_clear(struct books *books);

/* ---- books_turns.c: who had a CPU ---- */

static inline struct cpu_log_entry *cpu_turn(const struct cpu *cpu, uint64_t turn)
{
	return &cpu->log[turn & cpu->log_mask];
}
int turns_prepare(struct cpu *cpu);
void turns_free(struct cpu *cpu);
/** books_log() - from @ns on, @cpu belongs to its current thread */
void books_log(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** turns_leave() - @thread leaves @cpu, and waits for it from now on */
void turns_leave(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/** turns_queue() - @thread waits for @cpu from now on */
static inline void turns_queue(const struct cpu *cpu, struct trace_thread *thread, uint64_t ns, uint64_t irq_ns)
{
	thread->queued_ns = ns;
	thread->queued_irq = irq_ns;
	thread->queued_turn = cpu->log_pos;
}
/** turns_charge() - @thread waited for its CPU: charge that to those who had it. @onto: as in books_queued() */
void turns_charge(struct trace_analysis *a, struct trace_thread *thread, uint64_t from, uint64_t to, struct cpu *onto);
/** turns_settle() - what @thread was charged for is in its books now, or with books_settle(). Not at the end of the trace: books_of() does it for who asks */
void turns_settle(struct trace_analysis *a, struct trace_thread *thread);
/** turns_add() - what @thread is charged for and is not in its books, added to @who; false: out of memory */
bool turns_add(const struct trace_analysis *a, const struct trace_thread *thread, struct table *who);
typedef void (*holder_fn)(void *data, uint32_t process, uint64_t ns);
/** books_holders() - who had @cpu from @from to @to, latest first; what its log does not reach is PROCESS_SEVERAL's */
void books_holders(const struct cpu *cpu, uint64_t now, uint64_t from, uint64_t to, holder_fn fn, void *data);
/** books_irq_at() - interrupt time of @cpu until @ns, some time ago; of a turn in proportion */
uint64_t books_irq_at(const struct cpu *cpu, uint64_t now, uint64_t ns);

/* ---- state_forget.c ---- */

/** forget_unused() - files and sockets that nobody has and that nobody asked for lately */
void forget_unused(struct trace_analysis *a);
/** forget_opened() - which files the descriptors and the mappings of all threads are of: they may have been closed unseen, and opened again */
void forget_opened(struct trace_analysis *a);

/* ---- state_lost.c ---- */

int lost_prepare(struct trace_analysis *a);
void lost_begin(struct trace_analysis *a, uint64_t ns); /* gaps that begin until @ns */
void lost_found(void *analysis, const struct trace_gap *gap); /* of the pass's cursor: a chunk turns out to be damaged */
/** is_loss_of_cpu() - is @event a trace_lost of events that tell who runs on its CPU? */
bool is_loss_of_cpu(const struct trace_analysis *a, const struct trace_event *event);
/** is_left_out() - did the recorder leave @what, a TRACE_LEFT_OUT_..., out? */
bool is_left_out(const struct trace_analysis *a, const char *what);
/** lost_from() - the number of the first joined gap that may reach beyond @ns */
size_t lost_from(const struct trace_analysis *a, uint64_t ns);
/** lost_overlap() - how much of an interval lies in gaps, ns */
uint64_t lost_overlap(const struct trace_analysis *a, uint64_t from, uint64_t to);
/** lost_first() - the first loss, of whatever size, after @from and before @to; UINT64_MAX if none */
uint64_t lost_first(const struct trace_analysis *a, uint64_t from, uint64_t to);
void on_trace_mask(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_filtered.c ---- */

/** filtered_prepare() - before the pass: are there processes whose events were not recorded? */
int filtered_prepare(struct trace_analysis *a);
/** filtered_hides() - is @process one of those? */
bool filtered_hides(const struct trace_analysis *a, const struct trace_process *process);

/* ---- state_sched.c: threads ---- */

struct trace_thread *thread_find(const struct trace_analysis *a, uint32_t tid);
/** thread_get() - the thread of this id; one that was never seen is made, alive since the start. NULL: id 0 or nonsense */
struct trace_thread *thread_get(struct trace_analysis *a, uint32_t tid);
struct trace_thread *thread_new(struct trace_analysis *a, uint32_t tid, struct trace_process *process, uint64_t start_ns);
/** thread_living() - as thread_get(), but a dead one's number was given again, unseen */
struct trace_thread *thread_living(struct trace_analysis *a, uint32_t tid);
/** thread_evict() - a thread that is believed on a CPU is elsewhere: its time there is unknown since the last closing */
void thread_evict(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
void thread_end(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** thread_close() - at the end of the trace: close the last interval */
void thread_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
void thread_mode_unknown(struct trace_thread *thread, uint64_t ns);
/** frame_forget() - it is not known of which call it is */
void frame_forget(struct frame *frame);
struct trace_process *process_new(struct trace_analysis *a, uint32_t pid);
struct trace_process *process_find(const struct trace_analysis *a, uint32_t pid);
struct trace_process *process_get(struct trace_analysis *a, uint32_t pid);
void process_set_comm(struct trace_thread *thread, const char *comm);
void on_sched_switch(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_waking(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_wakeup_new(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_cpu_stolen(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_quota(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_cpu_hotplug(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_migrate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_fork(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_exec(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_free(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_comm(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/** memory_prefetch() - of these @bytes, if there are any */
static inline void memory_prefetch(const void *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CACHE_LINE)
		line_prefetch((const char *)memory + at);
}

/** thread_prefetch() - this thread comes to a CPU soon: what every event of it needs will be wanted */
static inline void thread_prefetch(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(a, tid);

	if (thread) {
		memory_prefetch(thread, offsetof(struct trace_thread, books.traps));
		memory_prefetch(thread->frames, sizeof(thread->frames[0]));
		memory_prefetch(thread->pending, sizeof(thread->pending[0]));
	}
}

/** thread_prefetch_rows() - and, when that is there, the tables that are small */
static inline void thread_prefetch_rows(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(a, tid);

	if (!thread)
		return;
	if (thread->books.calls.capacity <= 8)
		memory_prefetch(thread->books.calls.rows, thread->books.calls.capacity * sizeof(struct call_row));
	if (thread->books.waits.capacity <= 8)
		memory_prefetch(thread->books.waits.rows, thread->books.waits.capacity * sizeof(struct wait_row));
	if (thread->books.who.capacity <= 8)
		memory_prefetch(thread->books.who.rows, thread->books.who.capacity * sizeof(struct who_row));
	if (thread->desk)
		line_prefetch(&thread->desk->latencies[thread->nr_latencies]);
	line_prefetch(thread->process);
}

/* ---- state_hidden.c ---- */

/** hidden_load() - a thread_runs of the start state */
void hidden_load(struct trace_analysis *a, const struct trace_event *event);
/** hidden_settle() - all of the start state is loaded: where its hidden threads are is not known */
void hidden_settle(struct trace_analysis *a);
/** hidden_close() - at the end of the trace: if the kernel's counters say that @thread slept since it was read first, book that */
void hidden_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** hidden_end() - the recording ends: close what a hidden thread on @cpu may have left long before */
void hidden_end(struct trace_analysis *a, struct cpu *cpu);
/** hidden_enter() - @thread was switched in: is it one that leaves no events? */
void hidden_enter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/**
 * hidden_turns() - hidden threads had CPUs between @from and now: from when, until when
 * Returns false if none had, so that nothing can have happened unseen.
 */
bool hidden_turns(const struct trace_analysis *a, uint64_t from, uint64_t now, struct hidden_turn *ret_turn);
/** hidden_leave() - an event of @cpu: the hidden thread is gone */
void hidden_leave(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);

/* ---- state_syscall.c ---- */

void calls_prepare(struct trace_analysis *a);
uint32_t call_idx(uint32_t nr, uint32_t abi);
/** call_file() - the file that a system call acts on, from its first argument; 0 if none */
file_idx call_file(struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);
/** call_descriptor() - what @thread has at the descriptor that a call is about, from its sys_enter3 or 6; NULL: none, or no @enter */
static inline const uint32_t *call_descriptor(const struct trace_analysis *a, const struct trace_thread *thread, const struct trace_sys_enter3 *enter)
{
	if (!enter || !thread->fds || !(a->calls[call_idx(enter->nr, enter->abi)].flags & CALL_HAS_FD) || enter->arg0 >= thread->fds->nr)
		return NULL;
	return &thread->fds->files[enter->arg0];
}
/** frames_pop() - leave frames down to @depth: their rows are written, their waits decided */
void frames_pop(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, unsigned int depth, int64_t ret);
static inline struct frame *frame_top(struct trace_thread *thread)
{
	return thread->depth ? &thread->frames[thread->depth - 1] : NULL;
}
/** frame_syscall() - the system call that the thread is in, under its traps; NULL if none */
static inline struct frame *frame_syscall(struct trace_thread *thread)
{
	return thread->depth && thread->frames[0].kind == FRAME_SYSCALL ? &thread->frames[0] : NULL;
}
static inline enum call_class frame_class(const struct trace_analysis *a, const struct frame *frame)
{
	return (enum call_class)a->calls[frame->call].class;
}
/** call_accepts() - accept(), also as 32-bit programs spell it: SYS_ACCEPT and SYS_ACCEPT4 of <linux/net.h> */
static inline bool call_accepts(const struct trace_analysis *a, const struct frame *frame)
{
	enum call_class class = frame_class(a, frame);

	return class == CALL_ACCEPT || (class == CALL_SOCKETCALL && frame->nr_args && (frame->args[0] == 5 || frame->args[0] == 18));
}
/** frame_path() - the path that the system call of @thread was given, for what a report will name; 0: none */
string_id frame_path(struct trace_analysis *a, struct trace_thread *thread);
void on_sys_enter(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sys_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
/** file_count_read() - a call of @thread read from @file; 0: not known */
void file_count_read(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes);
void file_count_written(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes);
void on_sys_path(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_trap.c, state_irq.c ---- */

void on_fault_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fault_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

static inline uint64_t nest_key(const struct nest *nest)
{
	return (uint64_t)nest->type << 56 | ((nest->number + 1) & ((1ull << 56) - 1));
}
/** irq_flush() - forget the interrupts in progress: a scheduling change cannot happen in one */
void irq_flush(struct cpu *cpu);
/** irq_waker() - what the interrupt in progress on @cpu did last, and whose fault a wakeup by it is */
void irq_waker(struct trace_analysis *a, const struct cpu *cpu, uint32_t context, struct waker *waker);
string_id nest_name(struct trace_analysis *a, uint64_t key, const char **ret_type);
void on_irq_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_irq_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_softirq_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_softirq_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_vector_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_vector_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_device.c: what an interrupt did, for the wakeups it makes ---- */

void on_block_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
/** device_learn() - @dev has the file of @path; @served: it was seen to */
void device_learn(struct trace_analysis *a, string_id path, uint32_t dev, bool served);
/** device_name() - of a block device; "disk" if it has no name */
string_id device_name(struct trace_analysis *a, uint64_t dev);
void on_timer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_net_rx(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sock_ready(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_signal_generate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_file.c ---- */

file_idx file_get(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode);
/** file_text() - its path, borrowed until the next event; "" of 0 */
const char *file_text(const struct trace_analysis *a, file_idx file);
/** file_path() - the same for good, for what a report will name */
#define file_has_text(file) (!(file)->path && (file)->text)
string_id file_path(struct trace_analysis *a, file_idx file);
/** file_forget() - nobody has it, and nobody will ask for it by its number */
void file_forget(struct trace_analysis *a, file_idx file);
/** file_has_other_end() - is the other end of this pipe known, too? */
bool file_has_other_end(const struct trace_analysis *a, file_idx file);
file_idx file_of_inode(const struct trace_analysis *a, uint32_t dev, uint64_t ino);
/** file_connects() - are these the two ends of one pipe or of two connected sockets? */
bool file_connects(const struct trace_analysis *a, file_idx one, file_idx other);
/** file_opened() - the file behind a descriptor, as the kernel tells of it; @flags as in open(2) */
file_idx file_opened(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode, uint32_t flags);
/** file_mode() - the mode of an open file, from that of its inode and the flags of open(2) */
uint32_t file_mode(uint32_t mode, uint32_t flags);
file_idx fd_file(const struct trace_thread *thread, int64_t fd);
void fd_put(struct trace_analysis *a, struct trace_thread *thread, int64_t fd, file_idx file, bool cloexec);
void fd_set_cloexec(struct trace_thread *thread, int64_t fd, bool cloexec);
void fd_close_range(struct trace_thread *thread, uint64_t first, uint64_t last);
struct fd_table *fds_ref(struct fd_table *fds);
struct fd_table *fds_unref(struct fd_table *fds);
struct fd_table *fds_copy(struct trace_analysis *a, const struct fd_table *fds);
void fds_own(struct trace_analysis *a, struct trace_thread *thread); /* a table of its own from now on */
void fds_exec(struct trace_analysis *a, struct trace_thread *thread);
void on_fs_open(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fs_fault(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fs_writeback_wait(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fs_throttle(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_memory.c ---- */

struct memory *memory_new(struct trace_analysis *a);
struct memory *memory_ref(struct memory *memory);
struct memory *memory_unref(struct memory *memory);
struct memory *memory_copy(struct trace_analysis *a, const struct memory *memory);
void memory_map(struct trace_analysis *a, struct memory *memory, uint64_t start, uint64_t end, file_idx file);
file_idx memory_find(const struct memory *memory, uint64_t address);
void on_reclaim_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_reclaim_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_socket.c ---- */

struct sock *sock_of_inode(const struct trace_analysis *a, uint64_t ino);
struct sock *sock_of_file(const struct trace_analysis *a, file_idx file);
struct sock *sock_peer(const struct trace_analysis *a, const struct sock *sock);
/** sock_address() - "10.0.0.1:443", "[::1]:80": the remote end */
string_id sock_address(struct trace_analysis *a, const struct sock *sock);
void on_sock_endpoints(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sock_asks(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sock_transfer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void sock_forget(struct trace_analysis *a, sock_idx sock);
/** sock_mark() - set the bits of the socket of @ino and of its other end */
void sock_mark(const struct trace_analysis *a, uint64_t ino, uint64_t *marks);
void sock_start(struct trace_analysis *a, const struct trace_start_socket *start, uint32_t owner);

/* ---- state_work.c, state_uring.c, state_container.c ---- */

void on_work_queue(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_work_start(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_work_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_submit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
/** uring_next() - the requests in progress whose file is known; @at NULL: the first; NULL past the last */
const void *uring_next(const struct trace_analysis *a, const void *at, const struct trace_process **ret_process, file_idx *ret_file);
/** uring_mark() - set the bits of the files of all requests in progress */
void uring_mark(const struct trace_analysis *a, uint64_t *marks);
void on_uring_open(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_close(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_file(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
/** cgroup_learn() - the path of a control group */
void cgroup_learn(struct trace_analysis *a, uint64_t cgroup, const char *path);
/** cgroup_put() - @process is in this control group from now on */
void cgroup_put(struct trace_analysis *a, struct trace_process *process, uint64_t cgroup);
void on_cgroup_attach(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_user.c ---- */

void on_user_stream(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_end.c ---- */

void end_load(struct trace_analysis *a, const struct trace_event *event);
/** end_wait_of() - what was read at the end of @thread, if it was in the call of @frame then; else NULL */
const struct end_wait *end_wait_of(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);
/** end_learn_call() - a system call whose entry was not seen: it may have been read at the end */
void end_learn_call(struct trace_analysis *a, struct trace_thread *thread);

/* ---- state_start.c ---- */

int start_load(struct trace_analysis *a, struct trace_error *ret_error);
/** start_outlived() - a system call of @thread begins or ends: the one that the start state told of may have been a later one */
void start_outlived(struct trace_thread *thread, uint64_t ns);

/* ---- wait.c ---- */

enum via {
	VIA_NONE = 0, VIA_WAITPID, VIA_PIPE, VIA_UNIX, VIA_TCP, VIA_UDP, VIA_FUTEX, VIA_SIGNAL, VIA_EVENTFD, VIA_PTRACE, VIA_VFORK,
	VIA_FORK, VIA_LOCK, VIA_SEMAPHORE, VIA_MQUEUE, VIA_PIDFD, VIA_EXEC, VIA_MEMORY, VIA_SOCKET, VIA_POLL, VIA_TTY, VIA_URING,
	VIA_INOTIFY, VIA_THROTTLE, VIA_EXIT,
	NR_VIAS,
};
struct verdict {
	uint8_t kind;
	uint8_t via;
	bool idle;
	uint32_t target; /* PROCESS: index of the process; else a string_id */
};
/** hidden_wait() - what is known of a wait of a hidden thread: state_hidden.c */
struct verdict hidden_wait(struct trace_analysis *a, const struct trace_thread *thread);
/** wait_decide() - what did @thread wait for? */
struct verdict wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
const char *via_name(enum via via);
/** file_via() - how one waits for this file, if it is of a kind that tells: eventfd, pipe ...; else NONE */
enum via file_via(const struct trace_analysis *a, file_idx file);
static inline uint64_t wait_key(const struct verdict *v)
{
	return 1ull << 63 | (uint64_t)v->kind << 48 | (uint64_t)v->via << 40 | (uint64_t)v->idle << 39 | v->target;
}
/* ---- wait_enders.c: each a process other than @self; PROCESS_SEVERAL; PROCESS_UNKNOWN: none known ---- */

/** ender_child() - the living child of @self with the number @named, in its own namespace or ours; 0: with any */
uint32_t ender_child(struct trace_analysis *a, const struct trace_process *self, uint32_t named);
/** ender_holder() - who has the other end of @file open now */
uint32_t ender_holder(struct trace_analysis *a, const struct trace_process *self, file_idx file);
/** ender_sharer() - who has @file mapped */
uint32_t ender_sharer(struct trace_analysis *a, const struct trace_process *self, file_idx file);
/** ender_request() - the @nr-th file on which @process has requests of io_uring in progress; 0: there are not so many */
file_idx ender_request(struct trace_analysis *a, const struct trace_process *process, size_t nr);
void enders_free(struct trace_analysis *a);

/* ---- locks.c ---- */

/** lock_waited() - @thread waited for a lock; its system call is still its frame */
void lock_waited(struct trace_analysis *a, const struct trace_thread *thread, const struct verdict *v, uint64_t ns);

/** interval_emit() - to the interval hooks */
void interval_emit(struct trace_analysis *a, const struct trace_interval *interval);
#endif
