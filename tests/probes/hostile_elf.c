/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostile_elf.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const unsigned char abbreviations[] = {
	HE_UNIT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0, 0,
	HE_NAMESPACE, DW_TAG_namespace, 1, 0, 0,
	HE_FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	DW_FORM_data8, 0, 0,
	HE_PARAMETER, DW_TAG_formal_parameter, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_location,
	DW_FORM_exprloc, 0, 0,
	HE_STRUCT, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, 0, 0,
	HE_MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location,
	DW_FORM_data1, 0, 0,
	HE_NAMELESS, DW_TAG_member, 0, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_data1, 0, 0,
	HE_TYPEDEF, DW_TAG_typedef, 0, DW_AT_type, DW_FORM_ref4, 0, 0,
	HE_BLOCK, DW_TAG_lexical_block, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0, 0,
	0,
};
/* clang-format on */

static void put(struct he *he, const void *from, size_t bytes)
{
	while (he->room - he->used < bytes) {
		he->room = he->room ? 2 * he->room : 4096;
		he->info = realloc(he->info, he->room);
		if (!he->info)
			abort();
	}
	memcpy(he->info + he->used, from, bytes);
	he->used += bytes;
}

void he_byte(struct he *he, unsigned int byte)
{
	unsigned char value = (unsigned char)byte;

	put(he, &value, 1);
}

static void put_address(struct he *he)
{
	uint64_t values[] = {HE_ADDRESS, HE_BYTES};

	put(he, values, sizeof(values));
}

void he_entry(struct he *he, enum he_abbreviation abbreviation)
{
	he_byte(he, abbreviation);
	if (abbreviation == HE_BLOCK)
		put_address(he);
}

void he_end(struct he *he)
{
	he_byte(he, 0);
}

void he_text(struct he *he, const char *text)
{
	put(he, text, strlen(text) + 1);
}

void he_type(struct he *he, uint32_t offset)
{
	put(he, &offset, sizeof(offset));
}

uint32_t he_here(const struct he *he)
{
	return (uint32_t)he->used;
}

void he_begin(struct he *he)
{
	/* size, version, abbreviations, address size */
	static const unsigned char head[] = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8};

	*he = (struct he){0};
	put(he, head, sizeof(head));
	he_entry(he, HE_UNIT);
	put_address(he);
}

void he_function(struct he *he, uint32_t type)
{
	he_entry(he, HE_FUNCTION);
	he_text(he, "f");
	put_address(he);
	he_entry(he, HE_PARAMETER);
	he_text(he, "x");
	he_type(he, type);
	he_byte(he, 2);
	he_byte(he, DW_OP_breg5);
	he_byte(he, 0);
}

/* ---- the file ---- */

enum { NO_SECTION, TEXT, SYMBOLS, STRINGS, ABBREVIATIONS, INFO, LINK, ALT_LINK, NAMES, NR_SECTIONS };

struct image {
	unsigned char *bytes;
	size_t used;
	Elf64_Shdr sections[NR_SECTIONS];
};

static void add_section(struct image *image, int idx, uint32_t name, uint32_t type, const void *content, size_t bytes)
{
	image->used = (image->used + 15) & ~15ul;
	image->sections[idx] = (Elf64_Shdr){
		.sh_name = name, .sh_type = type, .sh_offset = image->used, .sh_size = bytes, .sh_addralign = 1};
	memcpy(image->bytes + image->used, content, bytes);
	image->used += bytes;
}

/* .gnu_debuglink: the name, padding, a checksum; .gnu_debugaltlink: the path, a build id. */
static void add_links(struct image *image, const struct he *he)
{
	unsigned char content[4096 + 32] = {0};

	if (he->debuglink) {
		strcpy((char *)content, he->debuglink);
		memcpy(content + ((strlen(he->debuglink) + 4) & ~3ul), &he->checksum, sizeof(he->checksum));
		add_section(image, LINK, 49, SHT_PROGBITS, content, ((strlen(he->debuglink) + 4) & ~3ul) + 4);
	}
	memset(content, 0, sizeof(content));
	if (he->altlink) {
		strcpy((char *)content, he->altlink);
		add_section(image, ALT_LINK, 64, SHT_PROGBITS, content, strlen(he->altlink) + 1 + 20);
	}
}

static void add_sections(struct image *image, const struct he *he)
{
	static const char names[] =
		"\0.text\0.symtab\0.strtab\0.debug_abbrev\0.debug_info\0.gnu_debuglink\0.gnu_debugaltlink\0.shstrtab";
	static const unsigned char code[HE_BYTES] = {0x55, 0x90, 0x90, 0x90, 0x5d, 0xc3};
	Elf64_Sym symbols[2] = {{0},
				{.st_name = 1,
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = TEXT,
				 .st_value = HE_ADDRESS,
				 .st_size = HE_BYTES}};

	add_section(image, TEXT, 1, SHT_PROGBITS, code, sizeof(code));
	image->sections[TEXT].sh_addr = HE_ADDRESS;
	image->sections[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	add_section(image, SYMBOLS, 7, SHT_SYMTAB, symbols, sizeof(symbols));
	image->sections[SYMBOLS].sh_link = STRINGS;
	image->sections[SYMBOLS].sh_info = 1;
	image->sections[SYMBOLS].sh_entsize = sizeof(symbols[0]);
	add_section(image, STRINGS, 15, SHT_STRTAB, "\0f", 3);
	add_links(image, he);
	if (!he->debuglink) {
		add_section(image, ABBREVIATIONS, 23, SHT_PROGBITS, abbreviations, sizeof(abbreviations));
		add_section(image, INFO, 37, SHT_PROGBITS, he->info, he->used);
	}
	add_section(image, NAMES, 82, SHT_STRTAB, names, sizeof(names));
}

void he_write(struct he *he, const char *path)
{
	struct image image = {.bytes = calloc(1, he->used + 65536), .used = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)};
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_EXEC,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(header),
			     .e_ehsize = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1,
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = NR_SECTIONS,
			     .e_shstrndx = NAMES};
	Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = HE_ADDRESS, .p_align = 1};
	uint32_t unit_bytes;
	FILE *file;

	he_end(he);
	he->used -= he->cut;
	unit_bytes = (uint32_t)he->used - 4;
	memcpy(he->info, &unit_bytes, sizeof(unit_bytes));
	add_sections(&image, he);
	segment.p_offset = image.sections[TEXT].sh_offset;
	segment.p_filesz = segment.p_memsz = HE_BYTES;
	header.e_shoff = (image.used + 15) & ~15ul;
	memcpy(image.bytes, &header, sizeof(header));
	memcpy(image.bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(image.bytes + header.e_shoff, image.sections, sizeof(image.sections));
	file = fopen(path, "we");
	if (!file ||
	    fwrite(image.bytes, 1, header.e_shoff + sizeof(image.sections), file) !=
		    header.e_shoff + sizeof(image.sections) ||
	    fclose(file))
		abort();
	free(image.bytes);
	free(he->info);
	*he = (struct he){0};
}
