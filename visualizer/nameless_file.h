/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_NAMELESS_FILE_H
#define VISUALIZER_NAMELESS_FILE_H
/* nameless_file.h - a file that no other program sees, and that ends with its descriptor */

/**
 * nameless_file_open() - an empty one, in the folder of the file @beside or in that for temporary
 * files. Returns its descriptor, or -1.
 */
int nameless_file_open(const char *beside);
#endif
