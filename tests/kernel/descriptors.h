/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.h - shared by workload_descriptors.c and test_e2e_descriptors.c. With SCENE(name,
 * claim) defined it is the list of the scenes.
 */
#ifndef SCENE
#define NR_FDS	     128 /* the descriptors that are checked */
#define MARK_WHENCE  77	 /* the lseek() with this whence marks a point in the trace */
#define EARLY_PREFIX "early-"
#else
SCENE(opened, open_makes_a_descriptor)
SCENE(opened_at, openat_makes_a_descriptor)
SCENE(opened_at_2, openat2_makes_a_descriptor)
SCENE(created, creat_makes_a_descriptor_and_its_number_is_used_again)
SCENE(nameless, a_file_without_a_name_has_a_descriptor)
SCENE(by_symbolic_link, a_file_is_called_what_its_link_leads_to)
SCENE(opened_by_ring, a_ring_opens_and_closes)
SCENE(duplicated, a_copy_stays_and_stays_across_exec)
SCENE(duplicated_over, dup2_replaces_what_had_the_number)
SCENE(duplicated_for_this_program, dup3_may_close_on_exec)
SCENE(duplicated_by_fcntl, fcntl_makes_copies_that_exec_closes_or_not)
SCENE(piped, both_ends_of_a_pipe_have_descriptors)
SCENE(paired, both_sockets_of_a_pair_have_descriptors)
SCENE(accepted, a_connection_that_is_accepted_has_a_descriptor)
SCENE(in_memory, memory_has_a_descriptor)
SCENE(counted, eventfd_makes_a_descriptor)
SCENE(polled, epoll_has_a_descriptor_and_its_number_is_used_again)
SCENE(timed, timerfd_makes_a_descriptor)
SCENE(of_a_terminal, the_other_end_of_a_terminal_has_a_descriptor)
SCENE(by_message, descriptors_come_by_a_message)
SCENE(by_messages, descriptors_come_by_several_messages_at_once)
SCENE(taken_from_another, pidfd_getfd_makes_a_descriptor)
SCENE(closed_by_range, close_range_closes)
SCENE(marked_by_range, close_range_leaves_it_to_exec)
SCENE(marked_to_the_last, close_range_leaves_the_rest_to_exec)
SCENE(marked_by_ioctl, an_ioctl_says_what_exec_closes)
SCENE(marked_by_fcntl, fcntl_says_what_exec_closes)
SCENE(duplicated_onto_itself, a_copy_onto_itself_changes_nothing)
SCENE(kept_across_exec, exec_closes_what_it_should)
SCENE(of_a_child, a_child_has_descriptors_of_its_own)
SCENE(of_a_child_that_borrows, a_child_of_vfork_has_descriptors_of_its_own)
SCENE(shared, processes_share_descriptors_until_exec)
SCENE(no_longer_shared, a_thread_may_stop_sharing)
SCENE(of_a_thread, threads_share_descriptors)
SCENE(older_than_the_recording, descriptors_are_known_that_are_older_than_the_recording)
#endif
