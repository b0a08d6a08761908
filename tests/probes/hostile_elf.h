/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_HOSTILE_ELF_H
#define TESTS_HOSTILE_ELF_H
/*
 * hostile_elf.h - small programs with one function f() and debug information that no compiler
 * writes.
 *
 * A test fills he_info with entries of these abbreviations, in DWARF 4, and he_write() adds a unit
 * around them.
 */
#include <stddef.h>
#include <stdint.h>

#define HE_ADDRESS 0x401000 /* address of f() */
#define HE_BYTES   16

enum he_abbreviation {
	HE_UNIT = 1,
	HE_NAMESPACE, /* has children */
	HE_FUNCTION,  /* has children; name, then he_address() twice */
	HE_PARAMETER, /* name, type, location */
	HE_STRUCT,    /* has children; name, size (1 byte) */
	HE_MEMBER,    /* name, type, offset (1 byte) */
	HE_NAMELESS,  /* a member without a name: type, offset (1 byte) */
	HE_TYPEDEF,   /* type */
	HE_BLOCK,     /* has children; the addresses of f(), written by he_entry() */
};

struct he {
	unsigned char *info; /* owned */
	size_t used;
	size_t room;
	const char *debuglink; /* or NULL */
	uint32_t checksum;     /* beside @debuglink */
	const char *altlink;   /* or NULL */
	size_t cut;	       /* bytes that are missing at the end of the unit */
};

void he_begin(struct he *he);
void he_entry(struct he *he, enum he_abbreviation abbreviation);
void he_end(struct he *he); /* ends a list of children */
void he_text(struct he *he, const char *text);
void he_byte(struct he *he, unsigned int byte);
void he_type(struct he *he, uint32_t offset); /* @offset: from he_here() */
uint32_t he_here(const struct he *he);
/**
 * he_function() - add f() with one parameter x of @type, in memory at %rdi; its list of children
 * stays open
 */
void he_function(struct he *he, uint32_t type);
/** he_write() - close the unit, write the program to @path, and free @he */
void he_write(struct he *he, const char *path);

#endif
