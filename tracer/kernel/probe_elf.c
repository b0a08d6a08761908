/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe_elf.c - read an ELF file: functions, and file offsets of addresses. */
#include "probe_elf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "demangle.h"
#include "error_set.h"
#include <elfutils/libdwelf.h>
#include "probe_checksum.h"
#include "probe_files.h"
#include "probe_spec.h"

static bool lacks_memory(void)
{
	bool lacks = errno == ENOMEM;

	errno = 0;
	return lacks;
}

static void note_memory(struct probe_elf *elf)
{
	elf->no_memory |= lacks_memory();
}

/* ---- open ---- */

/*
 * SECURITY: sections are read, not mapped: if the owner truncates the file meanwhile, a mapping
 * would raise SIGBUS.
 */
static Elf *open_elf(struct probe_opener *opener, enum probe_related which, const char *name, int *ret_fd)
{
	bool is_memory;
	Elf *elf;

	*ret_fd = opener->open(opener, which, name);
	if (*ret_fd < 0)
		return NULL;
	errno = 0;
	elf = elf_begin(*ret_fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	is_memory = lacks_memory();
	elf_end(elf);
	close(*ret_fd);
	*ret_fd = is_memory ? -ENOMEM : -ENOEXEC;
	return NULL;
}

static Elf_Scn *section_of_type(Elf *elf, unsigned int type, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == type)
			return section;
	return NULL;
}

static Elf_Scn *section_of_name(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *here = gelf_getshdr(section, ret_header) ? elf_strptr(elf, names, ret_header->sh_name)
								     : NULL;

		if (here && !strcmp(here, name))
			return section;
	}
	return NULL;
}

static bool has_debug(Elf *elf)
{
	GElf_Shdr header;

	return section_of_name(elf, ".debug_info", &header) != NULL;
}

/* Write @id in hexadecimal; false: it is not valid. */
static bool write_id(const void *id, ssize_t bytes, char ret_text[129])
{
	if (bytes < 2 || bytes > 64)
		return false;
	for (ssize_t i = 0; i < bytes; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
	return true;
}

static Elf *refuse(Elf *elf, int *ret_fd)
{
	elf_end(elf);
	close(*ret_fd);
	*ret_fd = -ENOENT;
	return NULL;
}

/* A debug file without a build id is of this program if its name is this program's build id. */
static bool has_other_id(Elf *debug, const void *id, ssize_t bytes)
{
	const void *its_id = NULL;
	ssize_t its_bytes = dwelf_elf_gnu_build_id(debug, &its_id);

	return its_bytes > 0 && (its_bytes != bytes || memcmp(its_id, id, (size_t)bytes));
}

/* A file of that name may be of another build: the checksum beside the name decides. */
static Elf *open_linked(struct probe_opener *opener, Elf *elf, int *ret_fd)
{
	GElf_Word checksum;
	const char *name = dwelf_elf_gnu_debuglink(elf, &checksum);

	for (int which = PROBE_FILE_DEBUG_LINK; name && which <= PROBE_FILE_DEBUG_LINK_GLOBAL; which++) {
		Elf *found = open_elf(opener, (enum probe_related)which, name, ret_fd);

		if (found && probe_checksum_is(*ret_fd, checksum))
			return found;
		if (found)
			refuse(found, ret_fd);
	}
	return NULL;
}

/* Find the debug file by build id, as in Debian's -dbgsym packages; else by .gnu_debuglink. */
static Elf *open_debug(struct probe_opener *opener, Elf *elf, int *ret_fd)
{
	const void *id = NULL;
	char text[129];
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
	Elf *found = write_id(id, bytes, text) ? open_elf(opener, PROBE_FILE_DEBUG_ID, text, ret_fd) : NULL;

	if (found && has_other_id(found, id, bytes))
		found = refuse(found, ret_fd);
	return found ? found : open_linked(opener, elf, ret_fd);
}

static int check_machine(Elf *elf, const char *path, int *ret_machine, struct trace_error *ret_error)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return error_set(ret_error, -ENOEXEC, "%s: neither a program nor a shared library", path);
	*ret_machine = header.e_machine;
#if defined(__x86_64__)
	if (header.e_machine != EM_X86_64)
		return error_set(ret_error, -ENOTSUP, "%s: only 64-bit programs of this machine can be probed", path);
#endif
	return 0;
}

int probe_elf_open_by(struct probe_elf *ret_elf, const char *path, struct probe_opener *opener,
		      struct trace_error *ret_error)
{
	struct probe_elf elf = {.fd = -1, .debug_fd = -1, .alt_fd = -1, .opener = opener};
	struct stat status;
	int result;

	elf_version(EV_CURRENT);
	elf.elf = open_elf(opener, PROBE_FILE_SELF, "", &elf.fd);
	if (!elf.elf)
		return error_set(ret_error, elf.fd, "%s: %s", path,
				 elf.fd == -ENOEXEC  ? "not an ELF program or library"
				 : elf.fd == -ENOMEM ? "no memory to read it"
						     : strerror(-elf.fd));
	elf.file_bytes = fstat(elf.fd, &status) < 0 ? 0 : (uint64_t)status.st_size;
	result = check_machine(elf.elf, path, &elf.machine, ret_error);
	elf.path = result ? NULL : strdup(path);
	if (!result && !elf.path)
		result = error_set(ret_error, -ENOMEM, "out of memory");
	if (result) {
		probe_elf_close(&elf);
		return result;
	}
	if (!has_debug(elf.elf)) {
		note_memory(&elf);
		elf.debug = open_debug(opener, elf.elf, &elf.debug_fd);
		elf.no_memory |= elf.debug_fd == -ENOMEM;
	}
	note_memory(&elf);
	if (!elf.debug)
		elf.debug = elf.elf;
	*ret_elf = elf;
	return 0;
}

int probe_elf_end(struct probe_elf *elf, int result, struct trace_error *ret_error)
{
	note_memory(elf);
	return elf->no_memory ? error_set(ret_error, -ENOMEM,
					  "%s: no memory to read its functions and debug information", elf->path)
			      : result;
}

void probe_elf_close(struct probe_elf *elf)
{
	dwarf_end(elf->dwarf);
	dwarf_end(elf->alt_dwarf);
	elf_end(elf->alt);
	if (elf->debug != elf->elf)
		elf_end(elf->debug);
	elf_end(elf->elf);
	debug_strings_free(&elf->strings);
	debug_strings_free(&elf->alt_strings);
	if (elf->alt_fd >= 0)
		close(elf->alt_fd);
	if (elf->debug_fd >= 0)
		close(elf->debug_fd);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->path);
	*elf = (struct probe_elf){.fd = -1, .debug_fd = -1, .alt_fd = -1};
}

/* Open the supplementary file of dwz through the opener; libdw itself would open any path. */
static void open_alt(struct probe_elf *elf)
{
	const void *id, *found_id;
	const char *name;
	char text[129];
	ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(elf->dwarf, &name, &id);

	if (bytes <= 0)
		return;
	if (write_id(id, bytes, text))
		elf->alt = open_elf(elf->opener, PROBE_FILE_ALT_ID, text, &elf->alt_fd);
	elf->no_memory |= elf->alt_fd == -ENOMEM;
	if (!elf->alt)
		elf->alt = open_elf(elf->opener, PROBE_FILE_ALT_PATH, name, &elf->alt_fd);
	elf->no_memory |= elf->alt_fd == -ENOMEM;
	if (elf->alt && dwelf_elf_gnu_build_id(elf->alt, &found_id) == bytes && !memcmp(found_id, id, (size_t)bytes))
		elf->alt_dwarf = debug_strings_end(elf->alt, &elf->alt_strings)
					 ? dwarf_begin_elf(elf->alt, DWARF_C_READ, NULL)
					 : NULL;
	if (elf->alt_dwarf)
		dwarf_setalt(elf->dwarf, elf->alt_dwarf);
}

static void open_dwarf(struct probe_elf *elf)
{
	note_memory(elf);
	debug_sections_read(elf->debug);
	note_memory(elf);
	if (debug_strings_end(elf->debug, &elf->strings))
		elf->dwarf = dwarf_begin_elf(elf->debug, DWARF_C_READ, NULL);
	note_memory(elf);
	if (!elf->dwarf)
		return;
	if (elf->opener->no_memory)
		dwarf_new_oom_handler(elf->dwarf, elf->opener->no_memory);
	open_alt(elf);
	if (elf->alt_dwarf && elf->opener->no_memory)
		dwarf_new_oom_handler(elf->alt_dwarf, elf->opener->no_memory);
	note_memory(elf);
}

Dwarf *probe_elf_dwarf(struct probe_elf *elf)
{
	if (!elf->dwarf_tried)
		open_dwarf(elf);
	elf->dwarf_tried = true;
	return elf->dwarf;
}

bool probe_elf_offset(const struct probe_elf *elf, uint64_t address, bool executable, uint64_t *ret_offset)
{
	size_t nr;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    (executable && !(segment.p_flags & PF_X)))
			continue;
		if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*ret_offset = address - segment.p_vaddr + segment.p_offset;
		return *ret_offset < elf->file_bytes;
	}
	return false;
}

/* ---- names ---- */

/*
 * If @at is the name of an operator: its length with the word "operator", if it contains characters
 * that are brackets elsewhere; else 0.
 */
static size_t operator_chars(const char *name, const char *at)
{
	static const char word[] = "operator";
	static const char *const brackets[] = {"<=>", "<<", ">>", "->", "()", "<", ">"};
	const char *symbol = at + sizeof(word) - 1;

	if (strncmp(at, word, sizeof(word) - 1) || (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
		return 0;
	for (size_t i = 0; i < sizeof(brackets) / sizeof(brackets[0]); i++)
		if (!strncmp(symbol, brackets[i], strlen(brackets[i])))
			return sizeof(word) - 1 + strlen(brackets[i]);
	return 0;
}

/*
 * Cut the parameters off "shop::pay(int) const". Those of templates and of enclosing functions
 * stay: "shop::pay(int)::Local::run(char)".
 */
static void cut_parameters(char *name)
{
	char *parameters = NULL;
	size_t chars;
	int depth = 0;

	for (char *at = name; *at; at += chars) {
		chars = operator_chars(name, at);
		if (chars)
			continue;
		chars = 1;
		if (*at == '(' && depth == 0 && at != name && strncmp(at, "(anonymous namespace)", 21))
			parameters = at;
		if (strchr("<({", *at))
			depth++;
		else if (strchr(">)}", *at))
			depth--;
	}
	if (parameters)
		*parameters = '\0';
}

bool probe_symbol_matches(const struct probe_symbol *symbol, const char *pattern)
{
	if (probe_is_glob(pattern))
		return !fnmatch(pattern, symbol->name, 0) || !fnmatch(pattern, symbol->plain, 0) ||
		       !fnmatch(pattern, symbol->full, 0);
	return !strcmp(pattern, symbol->name) || !strcmp(pattern, symbol->plain) || !strcmp(pattern, symbol->full);
}

/*
 * "pay.cold", "pay.cold.1": the rarely run part of pay(), stored elsewhere. It is not called: pay()
 * jumps there with its frame on the stack. A return probe there would make the kernel overwrite the
 * top of the stack, which is not a return address.
 */
static bool is_cold_part(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.');
}

static int visit_symbol(struct probe_elf *elf, const char *name, const GElf_Sym *entry, probe_symbol_fn visit,
			void *context)
{
	unsigned int type = GELF_ST_TYPE(entry->st_info);
	struct probe_symbol symbol = {
		.name = name, .plain = name, .full = name, .address = entry->st_value, .bytes = entry->st_size};
	char *full, *plain;
	int result;

	if (entry->st_shndx == SHN_UNDEF || !entry->st_value || !*name || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    is_cold_part(name))
		return 0;
	symbol.is_ifunc = type == STT_GNU_IFUNC;
	full = demangle(name);
	plain = full ? strdup(full) : NULL;
	if (plain) {
		cut_parameters(plain);
		symbol.full = full;
		symbol.plain = plain;
	}
	note_memory(elf); /* demangle() sets errno, too */
	result = visit(context, &symbol);
	free(plain);
	free(full);
	return result;
}

static int visit_table(struct probe_elf *elf, Elf *file, unsigned int type, probe_symbol_fn visit, void *context)
{
	GElf_Shdr header;
	Elf_Scn *section = section_of_type(file, type, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	int result = 0;

	if (!data || !header.sh_entsize)
		return 0;
	for (size_t i = 0; !result && i < header.sh_size / header.sh_entsize; i++) {
		GElf_Sym entry;
		const char *name = gelf_getsym(data, (int)i, &entry) ? elf_strptr(file, header.sh_link, entry.st_name)
								     : NULL;

		if (name)
			result = visit_symbol(elf, name, &entry, visit, context);
	}
	return result;
}

int probe_elf_functions(struct probe_elf *elf, probe_symbol_fn visit, void *context)
{
	int result = visit_table(elf, elf->debug, SHT_SYMTAB, visit, context);

	return result ? result : visit_table(elf, elf->elf, SHT_DYNSYM, visit, context);
}
