/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_COMMAND_WORD_H
#define BASE_COMMAND_WORD_H
#include <stdbool.h>

/**
 * command_word() - true if the user probably meant a command by @word, and not the name of a file
 * The word has no '.' and no '/', no file in the current folder has this name, and a folder of
 * $PATH has a program of this name.
 */
bool command_word(const char *word);
#endif
