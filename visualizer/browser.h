/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_BROWSER_H
#define VISUALIZER_BROWSER_H
/* browser.h - open an address in the user's browser, without telling it to other users. */

/**
 * browser_can_open() - is there a display, and a program that opens pages on it?
 * $BROWSER names one; otherwise it is xdg-open, but not for root, whose display it mostly is not.
 */
int browser_can_open(void);
/**
 * browser_open() - open @address, if there is a display
 * Every user can read a command line, so the browser gets the name of a file that only this user
 * can read, and which leads to the address.
 */
void browser_open(const char *address);
/** browser_end() - remove that file */
void browser_end(void);
#endif
