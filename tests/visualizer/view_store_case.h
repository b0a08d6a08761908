/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_VIEW_STORE_CASE_H
#define TESTS_VIEW_STORE_CASE_H
/*
 * view_store_case.h - a view of a random story, its index in a folder of the test, and questions to
 * the two
 */
#include "example_traces.h"
#include "random_story.h"
#include "unit.h"
#include "view_session.h"

#define INDEX_PATH 40

/** @folder of this test, and the @path of the index in it */
extern char folder[], path[INDEX_PATH];
/** those of --view, about the whole trace */
extern const struct visualizer_options options;

struct mood mood_of(uint64_t seed);
/** story() - the random trace of @seed, to be closed */
struct trace *story(uint64_t seed);

/** struct asker - two sessions, of which @other may be NULL: then the answers are only made */
struct asker {
	struct view_session *session, *other;
	struct dice dice;
	size_t nr;
};

/** ask() - check that both sessions have the same answer to @question, byte for byte */
void ask(struct asker *asker, const char *question);
/** ask_all() - ask questions of all kinds, the same for the same @seed */
void ask_all(struct view_session *session, struct view_session *other, uint64_t seed, unsigned int nr_spans);
/** ask_beside() - ask about what an index does not have */
void ask_beside(struct view_session *session, struct view_session *other, uint64_t seed);
/** session_of_pass() - make the pass of the states and that of the bills */
void session_of_pass(struct view_session *session, const struct trace *trace);
/** write_index() - write the index of @session to @path */
void write_index(struct view_session *session);

/** view_store_main() - make the folder, run the cases, and remove it */
int view_store_main(const char *name, const struct unit_case *cases, int argc, char **argv);
#endif
