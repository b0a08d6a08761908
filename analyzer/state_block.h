/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_BLOCK_H
#define ANALYZER_STATE_BLOCK_H
/* state_block.h - requests of block devices */
#include "handler.h"

event_handler on_block_insert, on_block_issue, on_block_complete, on_block_file;
#endif
