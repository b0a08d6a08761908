/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_profile_wakers.c - which waker a wait has, of those that are noted for its thread. */
#include "profile_wakers.h"
#include "unit.h"

/* Threads are compared, and never looked at. */
static const struct trace_thread *thread(uintptr_t number)
{
	return (const struct trace_thread *)(number << 6);
}

static uint32_t added(struct wakers *wakers, const struct profile_waker *waker)
{
	uint64_t ns;

	wakers_add(wakers, thread(1), 100, waker);
	return wakers_take(wakers, thread(1), 50, &ns);
}

static void a_wait_has_the_last_waker_since_it_began(void)
{
	struct wakers wakers = {0};
	const struct profile_waker first = {.thread = thread(2), .kind = TRACE_PROFILE_WAKER_THREAD, .frame = 7},
				   last = {.thread = thread(3), .kind = TRACE_PROFILE_WAKER_THREAD, .frame = 7};
	uint64_t ns = 1;

	CU_ASSERT_EQUAL(wakers_take(&wakers, thread(1), 0, &ns), 0);
	CU_ASSERT_EQUAL(ns, 0);
	wakers_add(&wakers, thread(1), 100, &first);
	wakers_add(&wakers, thread(1), 200, &last);
	wakers_add(&wakers, thread(4), 300, &first);
	CU_ASSERT_EQUAL(wakers.list[wakers_take(&wakers, thread(1), 150, &ns) - 1].thread, thread(3));
	CU_ASSERT_EQUAL(ns, 200);
	CU_ASSERT_EQUAL(wakers.list[wakers_take(&wakers, thread(4), 300, &ns) - 1].thread, thread(2));
	CU_ASSERT_EQUAL(ns, 300);
	wakers_clear(&wakers);
}

static void the_waker_of_an_earlier_wait_is_that_of_no_later_one(void)
{
	struct wakers wakers = {0};
	const struct profile_waker waker = {.kind = TRACE_PROFILE_WAKER_TIMER, .frame = 7};
	uint64_t ns = 1;

	wakers_add(&wakers, thread(1), 100, &waker);
	CU_ASSERT_EQUAL(wakers_take(&wakers, thread(1), 101, &ns), 0); /* its wait had no stack */
	CU_ASSERT_EQUAL(ns, 0);
	wakers_add(&wakers, thread(1), 200, &waker);
	CU_ASSERT_EQUAL(wakers_take(&wakers, thread(1), 150, &ns), 1);
	CU_ASSERT_EQUAL(wakers_take(&wakers, thread(1), 150, &ns), 0); /* it has been taken */
	CU_ASSERT_EQUAL(ns, 0);
	wakers_clear(&wakers);
}

static void wakers_are_equal_if_all_of_them_is(void)
{
	const struct profile_waker waker = {.thread = thread(2), .kind = TRACE_PROFILE_WAKER_THREAD, .frame = 7};
	struct profile_waker other_thread = waker, other_kind = waker, other_frame = waker;
	struct wakers wakers = {0};

	other_thread.thread = thread(3);
	other_kind.kind = TRACE_PROFILE_WAKER_SOFTIRQ;
	other_frame.frame = 8;
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(added(&wakers, &waker), 1);
		CU_ASSERT_EQUAL(added(&wakers, &other_thread), 2);
		CU_ASSERT_EQUAL(added(&wakers, &other_kind), 3);
		CU_ASSERT_EQUAL(added(&wakers, &other_frame), 4);
	}
	CU_ASSERT_EQUAL(wakers.nr, 4);
	CU_ASSERT_EQUAL(wakers.failed, 0);
	wakers_clear(&wakers);
}

/* The inverse of hash_u64(): its shift undoes itself, and the factor has an inverse. */
static uint64_t unhash(uint64_t hash)
{
	uint64_t inverse = hash_factor; /* in 3 bits; each step doubles them */

	for (int i = 0; i < 5; i++)
		inverse *= 2 - hash_factor * inverse;
	return (hash ^ hash >> 32) * inverse;
}

/* A waker at the place @key: its thread is at the address that gives it. */
static struct profile_waker waker_at(uint64_t key, enum trace_profile_waker kind, uint32_t frame)
{
	uint64_t address = unhash(key) ^ hash_u64((uint64_t)kind << 32 | frame);

	CU_ASSERT_EQUAL(hash_u64(unhash(key)), key);
	return (struct profile_waker){.thread = (const struct trace_thread *)(uintptr_t)address,
				      .kind = kind,
				      .frame = frame};
}

/* The second one has the place behind the first, which is that of the third. 0 is no place. */
static void wakers_with_the_same_place_stay_apart(void)
{
	const struct profile_waker list[] = {
		waker_at(40, TRACE_PROFILE_WAKER_THREAD, 7), waker_at(40, TRACE_PROFILE_WAKER_THREAD, 8),
		waker_at(41, TRACE_PROFILE_WAKER_THREAD, 8), waker_at(41, TRACE_PROFILE_WAKER_TIMER, 8),
		waker_at(0, TRACE_PROFILE_WAKER_THREAD, 7),  waker_at(1, TRACE_PROFILE_WAKER_THREAD, 7)};
	struct wakers wakers = {0};

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
			CU_ASSERT_EQUAL(added(&wakers, &list[i]), i + 1);
	wakers_clear(&wakers);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_has_the_last_waker_since_it_began),
		CASE(the_waker_of_an_earlier_wait_is_that_of_no_later_one),
		CASE(wakers_are_equal_if_all_of_them_is),
		CASE(wakers_with_the_same_place_stay_apart),
		{NULL, NULL},
	};

	return unit_main("profile_wakers", cases, argc, argv);
}
