/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes before they reach the kernel: the grammar, the operands of static probes, variables of the
 * source, names, lists, and refused probes. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <trace/probes.h>
#include <unistd.h>

#include "../../tracer/kernel/probe_code.h"
#include "../../tracer/kernel/probe_elf.h"
#include "../../tracer/kernel/probe_instruction.h"
#include "../../tracer/kernel/probe_sdt.h"
#include "../../tracer/kernel/probe_spec.h"
#include "probe_opener.h"

#define TARGET	   PROBE_TARGET
#define TARGET_CXX PROBE_TARGET_CXX

/* ---- help ---- */

static struct trace_probes *added(const char *format, const char *file)
{
	struct trace_probes *probes = trace_probes_new();
	struct trace_error error = {0};
	char spec[1024];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(spec, sizeof(spec), format, file);
#pragma GCC diagnostic pop
	CU_ASSERT_EQUAL(trace_probes_add(probes, spec, &error), 0);
	if (error.code)
		fprintf(stderr, "%s: %s\n", spec, error.message);
	return probes;
}

static const struct trace_field *field(const struct trace_probe *probe, const char *name)
{
	for (size_t i = 0; probe && i < probe->type->nr_fields; i++)
		if (!strcmp(probe->type->fields[i].name, name))
			return &probe->type->fields[i];
	return NULL;
}

static void expect_field(const struct trace_probe *probe, const char *name, enum trace_field_kind kind,
			 unsigned int bytes, bool is_signed)
{
	const struct trace_field *found = field(probe, name);

	CU_ASSERT_PTR_NOT_NULL(found);
	if (!found) {
		fprintf(stderr, "no field %s\n", name);
		return;
	}
	if (found->kind != kind || found->bytes != bytes || found->is_signed != is_signed)
		fprintf(stderr, "%s: kind %d, %d bytes, signed %d\n", name, found->kind, found->bytes,
			found->is_signed);
	CU_ASSERT_EQUAL(found->kind, kind);
	CU_ASSERT_EQUAL(found->bytes, bytes);
	CU_ASSERT_EQUAL(found->is_signed, is_signed);
	CU_ASSERT_EQUAL(found->offset % found->bytes, 0);
}

/* ---- the grammar ---- */

static void a_text_is_parsed(void)
{
	static const struct {
		const char *text;
		enum probe_kind kind;
		enum probe_moment moment;
		const char *event, *file, *provider, *function;
		int pid;
		unsigned int offset, nr_arguments;
	} cases[] = {
		{"libc.so.6:malloc", PROBE_FUNCTION, PROBE_ENTRY, "", "libc.so.6", "", "malloc", 0, 0, 0},
		{"  ./prog:pay   a  b ", PROBE_FUNCTION, PROBE_ENTRY, "", "./prog", "", "pay", 0, 0, 2},
		{"uprobe:/bin/x:main", PROBE_FUNCTION, PROBE_ENTRY, "", "/bin/x", "", "main", 0, 0, 0},
		{"uretprobe:/bin/x:main", PROBE_FUNCTION, PROBE_RETURN, "", "/bin/x", "", "main", 0, 0, 0},
		{"./prog:pay%return", PROBE_FUNCTION, PROBE_RETURN, "", "./prog", "", "pay", 0, 0, 0},
		{"./prog:pay%scope x", PROBE_FUNCTION, PROBE_SCOPE, "", "./prog", "", "pay", 0, 0, 1},
		{"./prog:pay+0x10", PROBE_FUNCTION, PROBE_ENTRY, "", "./prog", "", "pay", 0, 16, 0},
		{"./prog:pay+12 $arg1", PROBE_FUNCTION, PROBE_ENTRY, "", "./prog", "", "pay", 0, 12, 1},
		{"libc.so.6@123:malloc", PROBE_FUNCTION, PROBE_ENTRY, "", "libc.so.6", "", "malloc", 123, 0, 0},
		{"./a@b:f", PROBE_FUNCTION, PROBE_ENTRY, "", "./a@b", "", "f", 0, 0, 0},
		{"usdt:libc.so.6", PROBE_USDT, PROBE_ENTRY, "", "libc.so.6", "", "", 0, 0, 0},
		{"usdt:./p:shop", PROBE_USDT, PROBE_ENTRY, "", "./p", "shop", "", 0, 0, 0},
		{"usdt:./p@7:shop:pa*", PROBE_USDT, PROBE_ENTRY, "", "./p", "shop", "pa*", 7, 0, 0},
		{"kernel:do_exit", PROBE_KERNEL, PROBE_ENTRY, "", "", "", "do_exit", 0, 0, 0},
		{"kretprobe:vfs_read", PROBE_KERNEL, PROBE_RETURN, "", "", "", "vfs_read", 0, 0, 0},
		{"kprobe:vfs_read+4", PROBE_KERNEL, PROBE_ENTRY, "", "", "", "vfs_read", 0, 4, 0},
		{"paid=./prog:pay", PROBE_FUNCTION, PROBE_ENTRY, "paid", "./prog", "", "pay", 0, 0, 0},
		{"shop:paid=./prog:pay x", PROBE_FUNCTION, PROBE_ENTRY, "shop:paid", "./prog", "", "pay", 0, 0, 1},
		{"./p:a::f(int, char*) x", PROBE_FUNCTION, PROBE_ENTRY, "", "./p", "", "a::f(int, char*)", 0, 0, 1},
		{"./p:std::map<int, long>::at x", PROBE_FUNCTION, PROBE_ENTRY, "", "./p", "", "std::map<int, long>::at",
		 0, 0, 1},
		{"./p:\"operator new(unsigned long)\"%return", PROBE_FUNCTION, PROBE_RETURN, "", "./p", "",
		 "operator new(unsigned long)", 0, 0, 0},
		{"./p:operator+", PROBE_FUNCTION, PROBE_ENTRY, "", "./p", "", "operator+", 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_error error = {0};
		struct probe_spec spec;
		int err = probe_spec_parse(cases[i].text, false, &spec, &error);

		CU_ASSERT_EQUAL(err, 0);
		if (err || strcmp(spec.function, cases[i].function) || strcmp(spec.file, cases[i].file))
			fprintf(stderr, "%s: %s; file %s, function %s\n", cases[i].text, error.message, spec.file,
				spec.function);
		CU_ASSERT_EQUAL(spec.kind, cases[i].kind);
		CU_ASSERT_EQUAL(spec.moment, cases[i].moment);
		CU_ASSERT_STRING_EQUAL(spec.event, cases[i].event);
		CU_ASSERT_STRING_EQUAL(spec.file, cases[i].file);
		CU_ASSERT_STRING_EQUAL(spec.provider, cases[i].provider);
		CU_ASSERT_STRING_EQUAL(spec.function, cases[i].function);
		CU_ASSERT_EQUAL(spec.pid, cases[i].pid);
		CU_ASSERT_EQUAL(spec.offset, cases[i].offset);
		CU_ASSERT_EQUAL(spec.nr_arguments, cases[i].nr_arguments);
	}
}

static void arguments_are_parsed(void)
{
	struct trace_error error = {0};
	struct probe_spec spec;

	CU_ASSERT_EQUAL(probe_spec_parse("./p:f a size=$arg1:u32, b->c[2].d:string[10] ns::x +8(%sp):s16", false, &spec,
					 &error),
			0);
	CU_ASSERT_EQUAL_FATAL(spec.nr_arguments, 5);
	CU_ASSERT_STRING_EQUAL(spec.arguments[0].expression, "a");
	CU_ASSERT_STRING_EQUAL(spec.arguments[1].name, "size");
	CU_ASSERT_STRING_EQUAL(spec.arguments[1].expression, "$arg1");
	CU_ASSERT_STRING_EQUAL(spec.arguments[1].type, "u32");
	CU_ASSERT_STRING_EQUAL(spec.arguments[2].expression, "b->c[2].d");
	CU_ASSERT_STRING_EQUAL(spec.arguments[2].type, "string[10]");
	CU_ASSERT_STRING_EQUAL(spec.arguments[3].expression, "ns::x");
	CU_ASSERT_STRING_EQUAL(spec.arguments[4].expression, "+8(%sp)");
	CU_ASSERT_STRING_EQUAL(spec.arguments[4].type, "s16");
}

/* ---- operands of static probes, as compilers write them ---- */

static void every_operand_of_a_static_probe_is_understood(void)
{
	static const struct {
		const char *text;
		int start, base, index, scale, nr_loads, bytes, is_signed, shift_left;
		long long constant, offset;
	} cases[] = {
		/* registers: words of pt_regs */
		{"8@%rdi", TRACE_PROBE_REGISTER, 14, 0, 0, 0, 8, 0, 0, 0, 0},
		{"-4@%eax", TRACE_PROBE_REGISTER, 10, 0, 0, 0, 4, 1, 32, 0, 0},
		{"2@%r12w", TRACE_PROBE_REGISTER, 3, 0, 0, 0, 2, 0, 48, 0, 0},
		{"1@%al", TRACE_PROBE_REGISTER, 10, 0, 0, 0, 1, 0, 56, 0, 0},
		{"1@%ah", TRACE_PROBE_REGISTER, 10, 0, 0, 0, 1, 0, 48, 0, 0},
		{"-1@%sil", TRACE_PROBE_REGISTER, 13, 0, 0, 0, 1, 1, 56, 0, 0},
		{"%rsi", TRACE_PROBE_REGISTER, 13, 0, 0, 0, 8, 0, 0, 0, 0},
		/* constants */
		{"4@$5", TRACE_PROBE_CONSTANT, 0, 0, 0, 0, 4, 0, 32, 5, 0},
		{"-4@$-9", TRACE_PROBE_CONSTANT, 0, 0, 0, 0, 4, 1, 32, -9, 0},
		{"8@$0x1000", TRACE_PROBE_CONSTANT, 0, 0, 0, 0, 8, 0, 0, 4096, 0},
		/* memory */
		{"8@(%rax)", TRACE_PROBE_REGISTER, 10, 0, 0, 1, 8, 0, 0, 0, 0},
		{"8@-1208(%rbp)", TRACE_PROBE_REGISTER, 4, 0, 0, 1, 8, 0, 0, 0, -1208},
		{"-4@16(%rsp)", TRACE_PROBE_REGISTER, 19, 0, 0, 1, 4, 1, 32, 0, 16},
		{"4@(%rax,%rdx)", TRACE_PROBE_INDEXED, 10, 12, 0, 1, 4, 0, 32, 0, 0},
		{"4@8(%rax,%rdx,4)", TRACE_PROBE_INDEXED, 10, 12, 2, 1, 4, 0, 32, 0, 8},
		{"8f@-24(%rbp)", TRACE_PROBE_REGISTER, 4, 0, 0, 1, 8, 0, 0, 0, -24},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].text;
		struct trace_error error = {0};
		struct probe_field found = {0};
		const struct trace_probe_argument *a = &found.argument;
		int result = probe_sdt_argument(NULL, &at, 0x1000, &found, &error);

		CU_ASSERT_EQUAL(result, 1);
		if (result != 1 || a->start != cases[i].start || a->base != cases[i].base ||
		    a->nr_loads != cases[i].nr_loads)
			fprintf(stderr, "%s: %s; start %d base %d\n", cases[i].text, error.message, a->start, a->base);
		CU_ASSERT_EQUAL(*at, '\0');
		CU_ASSERT_EQUAL(a->start, cases[i].start);
		CU_ASSERT_EQUAL(a->base, cases[i].base);
		CU_ASSERT_EQUAL(a->index, cases[i].index);
		CU_ASSERT_EQUAL(a->scale, cases[i].scale);
		CU_ASSERT_EQUAL(a->nr_loads, cases[i].nr_loads);
		CU_ASSERT_EQUAL(found.bytes, cases[i].bytes);
		CU_ASSERT_EQUAL(a->is_signed, cases[i].is_signed);
		CU_ASSERT_EQUAL(a->shift_left, cases[i].shift_left);
		CU_ASSERT_EQUAL(a->shift_right, 64 - 8 * cases[i].bytes);
		CU_ASSERT_EQUAL(a->constant, cases[i].constant);
		CU_ASSERT_EQUAL(a->offsets[0], cases[i].offset);
	}
}

static void operands_follow_each_other(void)
{
	const char *at = "8@%rdi  -4@$-1 8@8(%rax) ";
	struct probe_field found;
	int nr = 0;

	while (probe_sdt_argument(NULL, &at, 0, &found, NULL) == 1)
		nr++;
	CU_ASSERT_EQUAL(nr, 3);
	CU_ASSERT_EQUAL(*at, '\0');
}

static void invalid_operands_are_refused(void)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"8@%xmm0", -ENOTSUP}, {"8f@%xmm1", -ENOTSUP},	     {"3@%rax", -EINVAL},
		{"8@", -EINVAL},       {"8@%foo", -EINVAL},	     {"8@(%rax", -EINVAL},
		{"8@4", -EINVAL},      {"8@(%rax,%rdx,3)", -EINVAL}, {"8@(%rax))", -EINVAL},
		{"8@$5x", -EINVAL},    {"8@(,%rdx,8)", -EINVAL},     {"16@%rax", -EINVAL},
		{"8@()", -EINVAL},     {"8@-(%rax)", -EINVAL},	     {"8@nosuch(%rip)", -ENOTSUP},
		{"4@%ah", -EINVAL},    {"260@%rax", -EINVAL},	     {"-9223372036854775808@%rax", -EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].text;
		struct trace_error error = {0};
		struct probe_field found;
		int err = probe_sdt_argument(NULL, &at, 0, &found, &error);

		CU_ASSERT_EQUAL(err, cases[i].err);
		CU_ASSERT(error.message[0]);
		if (err != cases[i].err)
			fprintf(stderr, "%s: %d\n", cases[i].text, err);
	}
}

static void a_variable_of_the_file_is_found_from_the_probe(void)
{
	const char *at = "4@counter(%rip) 8@counter+8(%rip) 4@counter";
	struct trace_error error = {0};
	struct direct_opener direct = direct_opener(TARGET);
	struct probe_elf elf;
	struct probe_field one = {0}, two = {0}, three = {0};

	CU_ASSERT_EQUAL_FATAL(probe_elf_open_by(&elf, TARGET, &direct.opener, &error), 0);
	CU_ASSERT_EQUAL(probe_sdt_argument(&elf, &at, 0x100, &one, &error), 1);
	CU_ASSERT_EQUAL(probe_sdt_argument(&elf, &at, 0x100, &two, &error), 1);
	CU_ASSERT_EQUAL(probe_sdt_argument(&elf, &at, 0x100, &three, &error), 1);
	CU_ASSERT_EQUAL(one.argument.start, TRACE_PROBE_PLACE);
	CU_ASSERT_EQUAL(one.argument.nr_loads, 1);
	CU_ASSERT_EQUAL(two.argument.offsets[0], one.argument.offsets[0] + 8);
	CU_ASSERT_EQUAL(three.argument.offsets[0], one.argument.offsets[0]);
	probe_elf_close(&elf);
}

/* ---- variables of the source ---- */

static void variables_have_the_types_of_the_source(void)
{
	struct trace_probes *probes =
		added("%s:pay order order->id price number who order->items[1].name order->items[2].id order->code "
		      "order->low order->state order->urgent order->small",
		      TARGET);
	const struct trace_probe *probe = trace_probes_get(probes, 0);

	expect_field(probe, "order", TRACE_KIND_HEX, 8, false);
	expect_field(probe, "order_id", TRACE_KIND_DEC, 8, true);
	expect_field(probe, "price", TRACE_KIND_FLOAT, 8, false);
	expect_field(probe, "number", TRACE_KIND_DEC, 4, true);
	expect_field(probe, "who", TRACE_KIND_STRING, 4, false);
	expect_field(probe, "order_items_1_name", TRACE_KIND_STRING, 4, false);
	expect_field(probe, "order_items_2_id", TRACE_KIND_DEC, 4, true);
	expect_field(probe, "order_code", TRACE_KIND_STRING, 4, false);
	expect_field(probe, "order_low", TRACE_KIND_DEC, 4, false);
	expect_field(probe, "order_state", TRACE_KIND_DEC, 4, true);
	expect_field(probe, "order_urgent", TRACE_KIND_BOOL, 1, false);
	expect_field(probe, "order_small", TRACE_KIND_DEC, 2, true);
	CU_ASSERT_EQUAL(probe->type->fixed_bytes % 8, 0);
	CU_ASSERT_TRUE(probe->type->has_string);
	CU_ASSERT_PTR_NOT_NULL(strstr(probe->type->source, "probe_target.c:"));
	trace_probes_free(probes);
}

static void types_can_be_chosen(void)
{
	struct trace_probes *probes =
		added("%s:pay n=number:x64 order->code:bytes[3] who:ptr $arg1:x32 text=$arg4:string[7]", TARGET);
	const struct trace_probe *probe = trace_probes_get(probes, 0);

	expect_field(probe, "n", TRACE_KIND_HEX, 8, false);
	expect_field(probe, "order_code", TRACE_KIND_BYTES, 4, false);
	expect_field(probe, "who", TRACE_KIND_HEX, 8, false);
	expect_field(probe, "arg1", TRACE_KIND_HEX, 4, false);
	expect_field(probe, "text", TRACE_KIND_STRING, 4, false);
	CU_ASSERT_EQUAL(probe->arguments[1].max_bytes, 3);
	CU_ASSERT_EQUAL(probe->arguments[4].max_bytes, 7);
	trace_probes_free(probes);
}

/* A value recorded as another type is the same number, without neighbouring memory or the rest of
 * the register. */
static void a_number_keeps_its_own_bits_in_a_type_of_another_width(void)
{
	static const struct {
		int load_bytes, shift_left, shift_right, is_signed;
	} expected[] = {{4, 32, 32, 1}, {2, 54, 57, 0}, {1, 61, 61, 0}, {2, 48, 48, 1}, {1, 56, 56, 0}, {1, 56, 56, 1}};
	struct trace_probes *probes = added(
		"%s:pay number:x64 order->high:x64 order->low:u8 order->small:u32 order->id:u8 order->code[1]:s32",
		TARGET);
	const struct trace_probe *probe = trace_probes_get(probes, 0);

	for (size_t i = 0; probe && i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct trace_probe_argument *a = &probe->arguments[i];

		CU_ASSERT_EQUAL(a->load_bytes, expected[i].load_bytes);
		CU_ASSERT_EQUAL(a->shift_left, expected[i].shift_left);
		CU_ASSERT_EQUAL(a->shift_right, expected[i].shift_right);
		CU_ASSERT_EQUAL(a->is_signed, expected[i].is_signed);
	}
	trace_probes_free(probes);
}

static void an_operand_keeps_its_own_bits_in_a_type_of_another_width(void)
{
	const char *at = "-4@%eax 1@%ah";
	struct probe_field four = {0}, high = {0};

	CU_ASSERT_EQUAL(probe_sdt_argument(NULL, &at, 0, &four, NULL), 1);
	CU_ASSERT_EQUAL(probe_sdt_argument(NULL, &at, 0, &high, NULL), 1);
	CU_ASSERT_EQUAL(probe_code_type("x64", &four, NULL), 0);
	CU_ASSERT_EQUAL(four.bytes, 8);
	CU_ASSERT_EQUAL(four.argument.shift_left, 32);
	CU_ASSERT_EQUAL(four.argument.shift_right, 32);
	CU_ASSERT_TRUE(four.argument.is_signed);
	CU_ASSERT_EQUAL(probe_code_type("u8", &high, NULL), 0);
	CU_ASSERT_EQUAL(high.argument.shift_left, 48);
	CU_ASSERT_EQUAL(high.argument.shift_right, 56);
}

static void all_parameters_are_found_by_name(void)
{
	struct trace_probes *probes = added("%s:pay $params", TARGET);
	const struct trace_probe *probe = trace_probes_get(probes, 0);

	CU_ASSERT_EQUAL(probe->type->nr_fields, 4);
	expect_field(probe, "who", TRACE_KIND_STRING, 4, false);
	trace_probes_free(probes);
}

/* The number of probes that @function of the C++ target becomes. */
static size_t nr_named(const char *function)
{
	char format[256];
	struct trace_probes *probes;
	size_t nr;

	snprintf(format, sizeof(format), "%%s:%s", function);
	probes = added(format, TARGET_CXX);
	nr = trace_probes_nr(probes);
	trace_probes_free(probes);
	return nr;
}

static void a_cxx_name_without_parameters_is_that_of_one_function(void)
{
	CU_ASSERT_EQUAL(nr_named("shop::the_operator"), 1);
	CU_ASSERT_EQUAL(nr_named("shop::Order::operator-"), 1);
	CU_ASSERT_EQUAL(nr_named("shop::Order::operator()"), 1);
	CU_ASSERT_EQUAL(nr_named("shop::twice"), 1); /* without the lambda inside */
}

static void a_jump_target_is_no_function(void)
{
	struct trace_probes *probes = added("%s:split*%%return", PROBE_TARGET_OPTIMISED);

	CU_ASSERT_EQUAL(trace_probes_nr(probes), 1);
	trace_probes_free(probes);
}

static void an_enumeration_has_the_sign_of_its_numbers(void)
{
	struct trace_probes *probes = added("%s:shop::Order::pay this->level", TARGET_CXX);

	expect_field(trace_probes_get(probes, 0), "this_level", TRACE_KIND_DEC, 1, false);
	trace_probes_free(probes);
}

static void cxx_names_and_strings_are_understood(void)
{
	struct trace_probes *probes = added("%s:shop::Order::pay this->number amount this->name", TARGET_CXX), *both,
			    *one;

	CU_ASSERT_EQUAL(trace_probes_nr(probes), 1);
	expect_field(trace_probes_get(probes, 0), "this_number", TRACE_KIND_DEC, 4, true); /* of the base class */
	expect_field(trace_probes_get(probes, 0), "this_name", TRACE_KIND_STRING, 4, false);
	CU_ASSERT_PTR_NOT_NULL(strstr(trace_probes_get(probes, 0)->type->name, ":shop::Order::pay"));
	both = added("%s:shop::check", TARGET_CXX);
	CU_ASSERT_EQUAL(trace_probes_nr(both), 2);
	one = added("%s:shop::check(shop::Order const&, int) order.name order.number", TARGET_CXX);
	CU_ASSERT_EQUAL(trace_probes_nr(one), 1);
	expect_field(trace_probes_get(one, 0), "order_name", TRACE_KIND_STRING, 4, false);
	trace_probes_free(probes);
	trace_probes_free(both);
	trace_probes_free(one);
}

/* ---- events ---- */

static void events_are_named_after_their_function(void)
{
	struct trace_probes *probes = added("%s:pay", TARGET);
	struct trace_error error;

	CU_ASSERT_EQUAL(trace_probes_add(probes, TARGET ":pay%return", &error), 0);
	CU_ASSERT_EQUAL(trace_probes_add(probes, TARGET ":pay%scope number $retval", &error), 0);
	CU_ASSERT_EQUAL(trace_probes_add(probes, "mine=" TARGET ":pay", &error), 0);
	CU_ASSERT_EQUAL(trace_probes_add(probes, "shop:mine=" TARGET ":pay%scope", &error), 0);
	CU_ASSERT_EQUAL(trace_probes_add(probes, "usdt:" TARGET ":shop:paid", &error), 0);
	CU_ASSERT_EQUAL_FATAL(trace_probes_nr(probes), 8);
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 0)->type->name, "probe_target:pay");
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 1)->type->name, "probe_target:pay.return");
	expect_field(trace_probes_get(probes, 1), "retval", TRACE_KIND_DEC, 8, true);
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 2)->type->name, "probe_target:pay.begin");
	CU_ASSERT_EQUAL(trace_probes_get(probes, 2)->type->role, TRACE_ROLE_BEGIN);
	CU_ASSERT_EQUAL(trace_probes_get(probes, 2)->type->nr_fields, 1);
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 3)->type->name, "probe_target:pay.end");
	CU_ASSERT_EQUAL(trace_probes_get(probes, 3)->type->role, TRACE_ROLE_END);
	CU_ASSERT_TRUE(trace_probes_get(probes, 3)->at_return);
	expect_field(trace_probes_get(probes, 3), "retval", TRACE_KIND_DEC, 8, true);
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 4)->type->name, "probe_target:mine");
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 5)->type->name, "shop:mine.begin");
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 6)->type->name, "shop:mine.end");
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 7)->type->name, "shop:paid");
	CU_ASSERT_NOT_EQUAL(trace_probes_get(probes, 7)->semaphore, 0);
	CU_ASSERT_EQUAL(trace_probes_get(probes, 7)->type->nr_fields, 4);
	trace_probes_free(probes);
}

/* Otherwise -e 'libc.so.6:mal*' would match none of the functions of 'libc.so.6:*alloc'. */
static void a_function_of_several_names_gets_the_plainest(void)
{
	struct trace_probes *probes = added("%s:*settle*", TARGET);

	CU_ASSERT_EQUAL_FATAL(trace_probes_nr(probes), 1);
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 0)->type->name, "probe_target:shop_settle");
	trace_probes_free(probes);
	probes = added("%s:_shop_settle_*", TARGET);
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 0)->type->name, "probe_target:_shop_settle_order");
	trace_probes_free(probes);
}

static void a_library_is_found_by_its_name(void)
{
	struct trace_probes *probes = added("%s:malloc $arg1", "libc.so.6"), *mine;
	char own[64];

	CU_ASSERT_EQUAL(trace_probes_nr(probes), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(trace_probes_get(probes, 0)->file, "/libc.so.6"));
	CU_ASSERT_STRING_EQUAL(trace_probes_get(probes, 0)->type->name, "libc:malloc");
	snprintf(own, sizeof(own), "libc.so.6@%d", (int)getpid());
	mine = added("%s:malloc", own);
	CU_ASSERT_EQUAL(trace_probes_get(mine, 0)->pid, getpid());
	CU_ASSERT_PTR_NOT_NULL(strstr(trace_probes_get(mine, 0)->file, "/root/"));
	CU_ASSERT_EQUAL(trace_probes_get(mine, 0)->offset, trace_probes_get(probes, 0)->offset);
	trace_probes_free(probes);
	trace_probes_free(mine);
}

/* The value of a register at the entry may be the variable, an operand, or its address. */
static void entry_values_of_registers_are_used_in_expressions(void)
{
	struct trace_probes *probes = added("%s:entered as_it_was one_more there", PROBE_TARGET_ENTRY);
	const struct trace_probe_argument *arguments;

	CU_ASSERT_EQUAL_FATAL(trace_probes_nr(probes), 1);
	arguments = trace_probes_get(probes, 0)->arguments;
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(arguments[i].start, TRACE_PROBE_REGISTER);
		CU_ASSERT_EQUAL(arguments[i].base, arguments[0].base);
		CU_ASSERT_EQUAL(arguments[i].nr_loads, i == 2);
		CU_ASSERT_EQUAL(arguments[i].offsets[0], i == 1);
	}
	trace_probes_free(probes);
}

/* ---- refused probes ---- */

static void each_mistake_gets_one_line_with_the_way_out(void)
{
	static const struct {
		const char *spec;
		int err;
		const char *words; /* that must be in the line */
	} cases[] = {
		{"", -EINVAL, "FILE:FUNCTION"},
		{":x", -EINVAL, "file is missing"},
		{"libc.so.6", -EINVAL, "function is missing"},
		{"libc.so.6:", -EINVAL, "--list"},
		{"kernel:", -EINVAL, "--list"},
		{"/no/such/file:f", -ENOENT, "/no/such/file"},
		{"nosuchlibrary.so:f", -ENOENT, "give a path"},
		{"/etc/passwd:f", -ENOEXEC, "ELF"},
		{"/etc:f", -EINVAL, "not a program"},
		{"libc.so.6@999999999:f", -ENOENT, "no such process"},
		{"libc.so.6@4294967297:f", -ENOENT, "process 4294967297: no such process"}, /* not process 1 */
		/* not all processes */
		{"libc.so.6@0:f", -ENOENT, "process 0: no such process"},
		{TARGET ":nosuch", -ENOENT, "--list"},
		{TARGET ":nosuch*", -ENOENT, "--list"},
		{TARGET ":0x1", -ENOENT, "no code at 0x1"},
		{TARGET ":0xzz", -EINVAL, "not an address"},
		{"libc.so.6:puts+1", -EINVAL, "inside an instruction"},
		{TARGET ":pay%retrun", -EINVAL, "%return"},
		{TARGET ":pay%return $arg1", -EINVAL, "%scope"},
		{TARGET ":pay%return number", -EINVAL, "$retval"},
		{TARGET ":pay $retval", -EINVAL, "%return"},
		{TARGET ":pay+4%return", -EINVAL, "offset"},
		{TARGET ":pay nosuch", -EINVAL, "parameters of pay: order, price, number, who"},
		{TARGET ":pay order->nosuch", -EINVAL, "members: id, price"},
		{TARGET ":pay order->items[1]", -EINVAL, "name a member: id, name"},
		{TARGET ":pay number->x", -EINVAL, "not a struct"},
		{TARGET ":pay number[1]", -EINVAL, "neither array nor pointer"},
		{TARGET ":pay order->items[9223372036854775807].id", -EINVAL, "too large"},
		{TARGET ":pay order->items[99999999999999999999].id", -EINVAL, "a number in brackets"},
		/* not the byte before */
		{TARGET ":pay+18446744073709551615", -ENOENT, "no function pay+18446744073709551615"},
		{TARGET ":pay *number", -EINVAL, "not a pointer"},
		{TARGET ":pay order->id:u7", -EINVAL, "s8 to s64"},
		{TARGET ":pay order->id:string[0]", -EINVAL, "not a type"},
		{TARGET ":pay who:string[5000]", -EINVAL, "not a type"},
		{TARGET ":pay $arg1:", -EINVAL, "type is missing"},
		{TARGET ":pay $arg0", -EINVAL, "$arg1"},
		{TARGET ":pay $foo", -EINVAL, "$arg1"},
		{TARGET ":pay %foo", -EINVAL, "no such register"},
		{TARGET ":pay +8", -EINVAL, "+8(%sp)"},
		{TARGET ":pay +99999999999999999999(%di)", -EINVAL, "+8(%sp)"},
		{TARGET ":pay +8(number)", -EINVAL, "register or memory"},
		{TARGET ":pay %di:f64", -ENOTSUP, "vector registers"},
		{TARGET ":pay number $arg7", -EINVAL, "after the function's prologue"},
		{TARGET ":pay number +8(%sp)", -EINVAL, "after the function's prologue"},
		{TARGET ":pay price:f32", -EINVAL, "64 bits"},
		{TARGET ":pay thread_local_number", -ENOTSUP, "thread-local"},
		{PROBE_TARGET_OPTIMISED ":difference total", -ENOTSUP, "total: it is computed from several values"},
		{PROBE_TARGET_ENTRY ":entered shifted", -ENOTSUP, "shifted: its location is too complex"},
		{PROBE_TARGET_OPTIMISED ":difference packed->across", -ENOTSUP, "packed->across: this bit field"},
		{TARGET ":pay a b c d e f g h i j k l m n o p q r s t u v w x y z aa bb cc dd ee ff gg", -EINVAL,
		 "at most 32"},
		{TARGET ":\"pay", -EINVAL, "quotation"},
		{"usdt:" TARGET ":shop:nosuch", -ENOENT, "--list usdt:"},
		{"usdt:libc.so.6:nosuch", -ENOENT, "libc"},
		{"usdt:" TARGET ":shop:paid $arg9", -EINVAL, "fewer arguments"},
		{"usdt:" TARGET ":shop:paid order", -EINVAL, "$arg1"},
		{"usdt:" TARGET ":shop:paid%return", -EINVAL, "without %return"},
		{"libc.so.6:strlen", -ENOTSUP, "an implementation"},
		{"kernel:vfs_*", -EINVAL, "one function"},
		{"kernel:vfs_read count", -ENOTSUP, "$arg1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_probes *probes = trace_probes_new();
		struct trace_error error = {0};
		int err = trace_probes_add(probes, cases[i].spec, &error);

		if (err != cases[i].err || !strstr(error.message, cases[i].words) || strchr(error.message, '\n'))
			fprintf(stderr, "%s: %d %s\n", cases[i].spec, err, error.message);
		CU_ASSERT_EQUAL(err, cases[i].err);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].words));
		CU_ASSERT_PTR_NULL(strchr(error.message, '\n'));
		CU_ASSERT_EQUAL(trace_probes_nr(probes), 0);
		trace_probes_free(probes);
	}
}

/* ---- instructions ---- */

static void instructions_end_where_the_next_begins(void)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *text;
	} cases[] = {
		{"\x55", 1, "push %rbp"},
		{"\x41\x54", 2, "push %r12"},
		{"\xf3\x0f\x1e\xfa", 4, "endbr64"},
		{"\x48\x89\xe5", 3, "mov %rsp,%rbp"},
		{"\x48\x89\x7d\xe8", 4, "mov %rdi,-0x18(%rbp)"},
		{"\x48\x8d\x14\x00", 4, "lea (%rax,%rax,1),%rdx"},
		{"\x8d\x04\x8d\x01\x00\x00\x00", 7, "lea 0x1(,%rcx,4),%eax"},
		{"\x80\x3d\x46\x1b\x14\x00\x00", 7, "cmpb $0x0,0x141b46(%rip)"},
		{"\x66\x83\xbd\x02\x02\x00\x00\x00", 8, "cmpw $0x0,0x202(%rbp)"},
		{"\x66\x81\xf9\x34\x12", 5, "cmp $0x1234,%cx"},
		{"\x48\xb8\1\2\3\4\5\6\7\x08", 10, "movabs $0x807060504030201,%rax"},
		{"\xb8\1\2\3\4", 5, "mov $0x4030201,%eax"},
		{"\xf6\xc3\x01", 3, "test $0x1,%bl"},
		{"\xf7\xd8", 2, "neg %eax"},
		{"\xf7\x45\xf8\0\0\1\0", 7, "testl $0x10000,-0x8(%rbp)"},
		{"\x0f\x84\1\2\0\0", 6, "je"},
		{"\x66\x66\x48\xe8\1\2\3\4", 8, "data16 data16 rex.W call"},
		{"\xc8\x10\0\0", 4, "enter $0x10,$0x0"},
		{"\xa1\1\2\3\4\5\6\7\x08", 9, "movabs 0x807060504030201,%eax"},
		{"\x66\x0f\x3a\x0f\xc1\x08", 6, "palignr $0x8,%xmm1,%xmm0"},
		{"\xc5\xf8\x77", 3, "vzeroupper"},
		{"\xc4\xe3\x7d\x39\xc1\x01", 6, "vextracti128 $0x1,%ymm0,%xmm1"},
		{"\x62\xf1\x7d\x48\xef\xc0", 6, "vpxord %zmm0,%zmm0,%zmm0"},
		{"\x66\x2e\x0f\x1f\x84\0\0\0\0\0", 10, "cs nopw 0x0(%rax,%rax,1)"},
		{"\x06", 0, "none in 64 bits"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[16] = {0}; /* the bytes after it do not matter */
		size_t length = cases[i].length ? cases[i].length : 1;

		memcpy(bytes, cases[i].bytes, length);
		if (probe_instruction_bytes(bytes, sizeof(bytes)) != cases[i].length)
			fprintf(stderr, "%s: %zu\n", cases[i].text, probe_instruction_bytes(bytes, sizeof(bytes)));
		CU_ASSERT_EQUAL(probe_instruction_bytes(bytes, sizeof(bytes)), cases[i].length);
		CU_ASSERT_EQUAL(probe_instruction_bytes(bytes, length - 1), 0);
	}
}

static void an_instruction_that_the_kernel_misreads_is_known(void)
{
	static const struct {
		const char *bytes;
		bool is_misread, is_plain;
		const char *text;
	} cases[] = {
		{"\xc5\xf9\x74\xc0", true, false, "vpcmpeqb %xmm0,%xmm0,%xmm0"},
		{"\x62\xe2\x7d\x28\x7a\xc6", true, false, "vpbroadcastb %esi,%ymm16"},
		{"\xc5\xf8\x77\xc3", true, false, "vzeroupper"},
		{"\xc5\xf8\xc2\xc0\x00", true, false, "vcmpeqps %xmm0,%xmm0,%xmm0"},
		{"\xc4\xe2\x71\x9d\xc1", true, false, "vfnmadd132ss %xmm1,%xmm1,%xmm0"},
		{"\xc5\xf9\xef\xc0", false, false, "vpxor %xmm0,%xmm0,%xmm0: refused"},
		{"\xc5\xf8\x58\xc1", false, false, "vaddps %xmm1,%xmm0,%xmm0"},
		{"\x74\x10", false, true, "je"},
		{"\xe8\1\2\3\4", false, true, "call"},
		{"\x55", false, true, "push %rbp"},
		{"\x48\x83\xec\x08", false, true, "sub $0x8,%rsp"},
		{"\x66\x90", false, true, "data16 nop"},
		{"\xf0\xff\x0f", false, false, "lock decl (%rdi): refused"},
		{"\xf3\x0f\x1e\xfa", false, true, "endbr64"},
		{"\x0f\x05\xc3", true, false, "syscall"},
		{"\x0f\x34\xc3", true, false, "sysenter"},
		{"\xcd\x80\xc3", true, false, "int $0x80"},
		{"\x48\x0f\x05", true, false, "rex.W syscall"},
		{"\x0f\xa2\xc3", false, true, "cpuid"},
		{"\x0f\x0b\xc3", false, false, "ud2: refused"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
		size_t size = strlen(cases[i].bytes) + 1;

		CU_ASSERT_EQUAL(probe_instruction_is_misread(bytes, size), cases[i].is_misread);
		CU_ASSERT_EQUAL(probe_instruction_is_plain(bytes, size), cases[i].is_plain);
		CU_ASSERT_FALSE(probe_instruction_is_misread(bytes, 1));
	}
}

/* Whatever the bytes are: a function that cannot be decoded to its end can be probed wherever the
 * kernel allows it. */
static void every_instruction_of_a_function_can_be_probed_and_no_other_byte(void)
{
	struct trace_probes *pay = added("%s:pay", PROBE_TARGET);
	uint8_t code[16];
	FILE *file = fopen(PROBE_TARGET, "rb");
	size_t at = 0, length, nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL_FATAL(fseek(file, (long)trace_probes_get(pay, 0)->offset, SEEK_SET), 0);
	CU_ASSERT_EQUAL_FATAL(fread(code, 1, sizeof(code), file), sizeof(code));
	fclose(file);
	trace_probes_free(pay);
	for (; at < 8; at += length) {
		length = probe_instruction_bytes(code + at, sizeof(code) - at);
		CU_ASSERT_FATAL(length > 0);
		for (size_t inside = 0; inside < length; inside++) {
			struct trace_probes *probes = trace_probes_new();
			struct trace_error error = {0};
			char spec[1024];

			snprintf(spec, sizeof(spec), "%s:pay+%zu", PROBE_TARGET, at + inside);
			CU_ASSERT_EQUAL(trace_probes_add(probes, spec, &error), inside ? -EINVAL : 0);
			CU_ASSERT_EQUAL(trace_probes_nr(probes), inside ? 0 : 1);
			trace_probes_free(probes);
			nr++;
		}
	}
	CU_ASSERT(nr >= 8);
}

/* ---- lists ---- */

static char *listed(const char *target, int *ret_result)
{
	struct trace_error error = {0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	*ret_result = trace_probes_list(target, out, &error);
	fclose(out);
	if (*ret_result < 0 && !error.message[0])
		*ret_result = 0;
	return text;
}

static void lists_are_sorted_and_say_how_to_probe(void)
{
	static const char *const targets[] = {"usdt:" TARGET, TARGET ":*", TARGET_CXX ":shop::*", "libc.so.6:mem*"};
	char *text, *line, *save, before[512];
	int nr, lines;

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		text = listed(targets[i], &nr);
		CU_ASSERT(nr > 0);
		*before = '\0';
		lines = 0;
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), lines++) {
			CU_ASSERT(strcmp(before, line) < 0);
			CU_ASSERT(line[strlen(line) - 1] != ' ');
			snprintf(before, sizeof(before), "%s", line);
		}
		CU_ASSERT_EQUAL(lines, nr);
		free(text);
	}
}

static void a_list_of_the_kernel_says_where_it_has_no_probes(void)
{
	int nr;
	char *text = listed("kernel:*sys_sync*", &nr);

	CU_ASSERT(nr > 0);
	CU_ASSERT_EQUAL(!strstr(text, "\nNone of them can be probed here: "),
			!access("/sys/bus/event_source/devices/kprobe", F_OK));
	free(text);
}

static void lists_show_arguments_and_parameters(void)
{
	int nr;
	char *text = listed("usdt:" TARGET, &nr);

	CU_ASSERT_PTR_NOT_NULL(strstr(text, "usdt:" TARGET ":shop:paid"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "semaphore"));
	free(text);
	text = listed(TARGET ":pay", &nr);
	CU_ASSERT_EQUAL(nr, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "order price number who"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "probe_target.c:"));
	free(text);
	text = listed(TARGET_CXX ":shop::check", &nr);
	CU_ASSERT_EQUAL(nr, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "shop::check(double)"));
	free(text);
}

static void everything_listed_can_be_probed(void)
{
	struct trace_probes *probes = trace_probes_new();
	struct trace_error error;
	int nr;
	char *text = listed(TARGET ":*", &nr), *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " ")] = '\0';
		CU_ASSERT_EQUAL(trace_probes_add(probes, line, &error), 0);
	}
	CU_ASSERT(trace_probes_nr(probes) >= (size_t)nr);
	free(text);
	trace_probes_free(probes);
}

/* This process has a text mapped as code, before and behind a program. */
static void files_that_cannot_be_read_are_told(void)
{
	char path[] = "/tmp/test_probes.XXXXXX", target[64], *text = NULL;
	struct trace_error error = {0};
	int fd = mkstemp(path), program = open(TARGET, O_RDONLY | O_CLOEXEC);
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	char *map = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(fd >= 0 && write(fd, "text\n", 5) == 5);
	CU_ASSERT_FATAL(map != MAP_FAILED);
	for (int i = 0; i < 3; i++)
		CU_ASSERT(mmap(map + i * 4096, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			       i == 1 ? program : fd, 0) != MAP_FAILED);
	snprintf(target, sizeof(target), "%d:strlen", getpid());
	CU_ASSERT_EQUAL(trace_probes_list(target, out, &error), -ENODATA);
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ":strlen\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "read"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(error.message, ":strlen: the list is not whole: 1 file could not be read; the first: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, path));
	free(text);
	snprintf(target, sizeof(target), "%d:no_such_function", getpid());
	CU_ASSERT_EQUAL(trace_probes_list(target, stdout, &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "nothing was found, but 1 file could not be read"));
	munmap(map, 3 * 4096);
	close(program);
	close(fd);
	unlink(path);
}

static void an_empty_list_says_so(void)
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(trace_probes_list("usdt:/bin/true", stdout, &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no static probe"));
	CU_ASSERT_EQUAL(trace_probes_list("999999999", stdout, &error), -ENOENT);
	CU_ASSERT_EQUAL(trace_probes_list("usdt:4294967297", stdout, &error), -ENOENT); /* not of process 1 */
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "process 4294967297: no such process"));
}

static const struct unit_case cases[] = {
	{"a_text_is_parsed", a_text_is_parsed},
	{"arguments_are_parsed", arguments_are_parsed},
	{"every_operand_of_a_static_probe_is_understood", every_operand_of_a_static_probe_is_understood},
	{"operands_follow_each_other", operands_follow_each_other},
	{"invalid_operands_are_refused", invalid_operands_are_refused},
	{"a_variable_of_the_file_is_found_from_the_probe", a_variable_of_the_file_is_found_from_the_probe},
	{"variables_have_the_types_of_the_source", variables_have_the_types_of_the_source},
	{"types_can_be_chosen", types_can_be_chosen},
	{"a_number_keeps_its_own_bits_in_a_type_of_another_width",
	 a_number_keeps_its_own_bits_in_a_type_of_another_width},
	{"an_operand_keeps_its_own_bits_in_a_type_of_another_width",
	 an_operand_keeps_its_own_bits_in_a_type_of_another_width},
	{"all_parameters_are_found_by_name", all_parameters_are_found_by_name},
	{"a_cxx_name_without_parameters_is_that_of_one_function",
	 a_cxx_name_without_parameters_is_that_of_one_function},
	{"a_jump_target_is_no_function", a_jump_target_is_no_function},
	{"an_enumeration_has_the_sign_of_its_numbers", an_enumeration_has_the_sign_of_its_numbers},
	{"cxx_names_and_strings_are_understood", cxx_names_and_strings_are_understood},
	{"events_are_named_after_their_function", events_are_named_after_their_function},
	{"a_function_of_several_names_gets_the_plainest", a_function_of_several_names_gets_the_plainest},
	{"a_library_is_found_by_its_name", a_library_is_found_by_its_name},
	{"entry_values_of_registers_are_used_in_expressions", entry_values_of_registers_are_used_in_expressions},
	{"each_mistake_gets_one_line_with_the_way_out", each_mistake_gets_one_line_with_the_way_out},
	{"instructions_end_where_the_next_begins", instructions_end_where_the_next_begins},
	{"an_instruction_that_the_kernel_misreads_is_known", an_instruction_that_the_kernel_misreads_is_known},
	{"every_instruction_of_a_function_can_be_probed_and_no_other_byte",
	 every_instruction_of_a_function_can_be_probed_and_no_other_byte},
	{"lists_are_sorted_and_say_how_to_probe", lists_are_sorted_and_say_how_to_probe},
	{"a_list_of_the_kernel_says_where_it_has_no_probes", a_list_of_the_kernel_says_where_it_has_no_probes},
	{"lists_show_arguments_and_parameters", lists_show_arguments_and_parameters},
	{"everything_listed_can_be_probed", everything_listed_can_be_probed},
	{"files_that_cannot_be_read_are_told", files_that_cannot_be_read_are_told},
	{"an_empty_list_says_so", an_empty_list_says_so},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("probes", cases, argc, argv);
}
