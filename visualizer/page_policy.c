/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_policy.c - what a page that is one file may load and run: page_policy.h. */
#include <glib.h>
#include "page_policy.h"

void page_policy_put(FILE *out, const struct page_file *script, const char *more)
{
	GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize bytes = sizeof(digest);
	gchar *text;

	g_checksum_update(checksum, (const guchar *)script->bytes, (gssize)script->size);
	g_checksum_get_digest(checksum, digest, &bytes);
	text = g_base64_encode(digest, bytes);
	fprintf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'%s; "
		"base-uri 'none'; form-action 'none'\">\n",
		text, more);
	g_free(text);
	g_checksum_free(checksum);
}
