/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_RELAY_H
#define ANALYZER_RULES_RULE_RELAY_H
/*
 * rule_relay.h - no idle wait between two parts of an answer that a thread relays
 *
 * A part: the thread received on a connection that it had made by connect(), and without a sleep in
 * between it sent on one that its process had accepted. The second part shows that the request was
 * open after the first, if no thread has read from the accepted connection meanwhile.
 *
 * The rule is silent about parts that come by a pipe or a socket pair, about an answer that ends
 * with the connection, about connections whose descriptor was duplicated or that another process
 * had accepted, and about more waits than the analysis keeps.
 */
struct rules;

void *rule_relay_begin(struct rules *rules);
void rule_relay_end(void *data);
#endif
