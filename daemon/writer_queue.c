/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer_queue.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * liburcu is built without ThreadSanitizer, which therefore does not see that a push happens before
 * the take of the same item.
 */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define HAVE_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(HAVE_TSAN)
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_release(item) ((void)(item))
#define __tsan_acquire(item) ((void)(item))
#endif

static void futex(uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void writer_queue_init(struct writer_queue *queue)
{
	cds_wfcq_init(&queue->head, &queue->tail);
	queue->stopping = false;
	queue->is_asleep = 0;
}

void writer_queue_destroy(struct writer_queue *queue)
{
	cds_wfcq_destroy(&queue->head, &queue->tail);
}

static void wake_taker(struct writer_queue *queue)
{
	if (!__atomic_load_n(&queue->is_asleep, __ATOMIC_SEQ_CST)) /* [Q2] pairs with Q3 */
		return;
	__atomic_store_n(&queue->is_asleep, 0, __ATOMIC_SEQ_CST);
	futex(&queue->is_asleep, FUTEX_WAKE, 1);
}

void writer_queue_push(struct writer_queue *queue, struct cds_wfcq_node *node)
{
	cds_wfcq_node_init(node);
	__tsan_release(node);
	cds_wfcq_enqueue(&queue->head, &queue->tail, node); /* [Q1] its exchange is a full barrier */
	wake_taker(queue);
}

void writer_queue_stop(struct writer_queue *queue)
{
	__atomic_store_n(&queue->stopping, true, __ATOMIC_SEQ_CST); /* [Q1] */
	wake_taker(queue);
}

struct cds_wfcq_node *writer_queue_drop(struct writer_queue *queue)
{
	struct cds_wfcq_node *node = cds_wfcq_dequeue_blocking(&queue->head, &queue->tail);

	if (node)
		__tsan_acquire(node);
	return node;
}

static bool is_stopping(const struct writer_queue *queue)
{
	return __atomic_load_n(&queue->stopping, __ATOMIC_SEQ_CST);
}

struct cds_wfcq_node *writer_queue_take(struct writer_queue *queue)
{
	struct cds_wfcq_node *node;
	bool stopping;

	for (;;) {
		stopping = is_stopping(queue); /* before the queue is read: all items precede it */
		node = writer_queue_drop(queue);
		if (node || stopping)
			return node;
		__atomic_store_n(&queue->is_asleep, 1, __ATOMIC_SEQ_CST); /* [Q3] pairs with Q2 */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);		  /* before the loads in cds_wfcq_empty() */
		if (cds_wfcq_empty(&queue->head, &queue->tail) && !is_stopping(queue)) /* [Q4] pairs with Q1 */
			futex(&queue->is_asleep, FUTEX_WAIT, 1); /* also returns after a signal: the loop looks again */
		__atomic_store_n(&queue->is_asleep, 0, __ATOMIC_SEQ_CST);
	}
}
