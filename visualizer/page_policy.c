/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_policy.c - what a page that is one file may load and run: page_policy.h. */
#include <glib.h>
#include "page_policy.h"

void page_policy_put(FILE *out, const struct page_file *script, const char *more)
{
	enum { digest_bytes = 32 };
	char text[(digest_bytes / 3 + 1) * 4 + 8];
	gint state = 0, save = 0;
	size_t length = g_base64_encode_step(script->sha256, digest_bytes, FALSE, text, &state, &save);

	length += g_base64_encode_close(FALSE, text + length, &state, &save);
	fprintf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
		"'sha256-%.*s'%s; "
		"base-uri 'none'; form-action 'none'\">\n",
		(int)length, text, more);
}
