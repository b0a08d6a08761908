/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_TRACEPOINT_H
#define TRACE_TRACEPOINT_H
/*
 * tracepoint.h - events of your own program, next to the kernel's, in one line. C11 and C++17; gcc
 * and clang; link with -ltracer.
 *
 *     #include <trace/tracepoint.h>
 *
 *     tracepoint(shop, order_paid, order->id, price, customer);
 *
 * records shop:order_paid with three fields, order_id, price and customer, whenever a recording
 * selects it. There is nothing to declare, generate or register. While no recording selects it, the
 * line costs a load and a predicted branch, and its field expressions are not evaluated; otherwise
 * each expression is evaluated exactly once. It never blocks, locks, allocates, changes errno or
 * fails. Once a process has recorded its first event and a thread its first, it makes no system
 * call. When the buffers are full the event is dropped and counted. It may be used anywhere: in
 * threads, signal handlers, constructors, exit handlers, forked children, shared libraries that are
 * loaded and unloaded, inline functions and templates (in C: in a static inline function).
 *
 * docs/TRACEPOINTS.md is the guide. If TRACEPOINT_DISABLE is defined before this file, all of it
 * compiles to nothing. The field expressions must still compile, and -ltracer is not needed.
 *
 * Fields: at most 16 expressions of these types
 *   integers of 1 to 8 bytes, bool, char, enumerations, float, double (long
 *       double is stored as double)
 *   pointers: their value. Bit-fields: write +order->flags
 *   char *, const char *, arrays of char: a text, up to its NUL or the end of the array; NULL is
 *       the empty text. In C++ also types with data() and size() of char, such as std::string. At
 *       most TRACE_TEXT_MAX bytes; a longer text is cut and ends in "...". To record its address:
 *       (const void *)text
 *   trace_bytes(pointer, length): that memory; at most TRACE_TEXT_MAX bytes are kept
 *   trace_field(name, expression): any of these under a name of your choice
 * A field's name is its expression, with each run of characters other than letters and digits
 * replaced by one underscore: order->id is order_id. Names that occur twice get a number. All texts
 * of an event together have room for about 1900 bytes; the rest is cut.
 */
#if defined(__cplusplus) && __cplusplus < 201703L && !defined(TRACEPOINT_DISABLE)
#error "<trace/tracepoint.h> needs C++17: compile with -std=c++17 or later (or with -DTRACEPOINT_DISABLE)"
#define TRACEPOINT_DISABLE /* no other errors */
#endif
#include <stddef.h>
#include <stdint.h>
#include <trace/tracepoint_inline.h>

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

#define TRACE_TEXT_MAX 1024

/**
 * struct trace_bytes_value - the result of trace_bytes(): the field is a copy of that memory; NULL
 * or length 0 is an empty field
 */
struct trace_bytes_value {
	const void *pointer;
	size_t length;
};

/** trace_bytes() - a field of bytes: the current content of memory at @pointer */
static inline struct trace_bytes_value trace_bytes(const void *pointer, size_t length)
{
	struct trace_bytes_value value = { pointer, length };

	return value;
}

/* ---- interface between this header and libtracer: not for direct use ---- */

/* One field: enum user_field_type of <trace/user_memory.h>, its offset in the payload, its size. */
struct trace_tracepoint_field {
	uint16_t type;
	uint16_t offset;
	uint16_t bytes;
	uint16_t pad;
};

/*
 * One tracepoint in the source. @flag: points to the byte that says whether to record; to @off
 * until the tracepoint is registered (1: call libtracer). @word: its records' header without lap
 * and time, if all records have the same size; 0 until the tracepoint is registered.
 */
struct trace_tracepoint {
	const volatile unsigned char *flag;
	uint64_t word;
	const char *provider;
	const char *name;
	const char *field_names; /* the macro's arguments as written in the source */
	const char *file;
	const char *function;
	const struct trace_tracepoint_field *fields;
	uint32_t line;
	uint16_t id;
	uint16_t payload_bytes;
	uint8_t nr_fields;
	uint8_t nr_texts;
	uint8_t role; /* enum user_event_role */
	uint8_t version;
	unsigned char off;
	unsigned char pad[51];
} __attribute__((aligned(64)));

#define TRACE_TRACEPOINT_VERSION 4

/* Size limit, with the thread's number, of records that the program writes
 * itself: they stay in registers. */
#if defined(__x86_64__) && !defined(TRACEPOINT_DISABLE)
#define TRACE_RECORD_INLINE_BYTES 24
#endif
#ifndef TRACE_RECORD_INLINE_BYTES
#define TRACE_RECORD_INLINE_BYTES 0
#endif

#ifndef TRACEPOINT_DISABLE
/* Register the tracepoints from @begin to before @end. May be called any number of times. */
void trace_tracepoint_register(struct trace_tracepoint *begin, struct trace_tracepoint *end);
/* Record an event: @image is tracepoint->payload_bytes of fields, aligned to 4, with 4 bytes of
 * room for the thread's number first. */
void trace_tracepoint_record(struct trace_tracepoint *tracepoint, const void *image);
/* The same for an event that the inlined code could not record. */
__attribute__((cold)) void trace_tracepoint_record_again(struct trace_tracepoint *tracepoint, const void *image);
/* The same for events with texts: @texts has an entry for each field in order; entries of other
 * types are ignored. A text's length is at most @length. */
void trace_tracepoint_record_texts(struct trace_tracepoint *tracepoint, const void *image,
	const struct trace_bytes_value *texts);
/* The time, in ns, for records not timed by the time stamp counter. */
uint64_t trace_tracepoint_clock(void);
extern __thread struct trace_tp_thread trace_tp_thread __attribute__((tls_model("initial-exec")));

/* The whole cost of a line while no recording selects it: load the flag's address, compare, branch.
 * Compilers make two instructions of the plain volatile access. */
static inline __attribute__((always_inline, unused)) bool trace_is_on_(const volatile unsigned char *flag)
{
#ifdef __x86_64__
	bool on;

	__asm__ volatile("cmpb $0, %1" : "=@ccne"(on) : "m"(*flag));
	return on;
#else
	return *flag;
#endif
}
#define TRACE_IS_ON_(flag) __builtin_expect(trace_is_on_(flag), 0)

#if TRACE_RECORD_INLINE_BYTES
/* The time in two halves: compilers would combine the counter's halves and separate them again. */
static inline __attribute__((always_inline, unused)) void trace_now_(uint32_t *ret_low, uint32_t *ret_high)
{
	uint64_t now;

	if (__builtin_expect(trace_tp_thread.clock == TRACE_CLOCK_TSC, 1)) {
		__asm__ volatile("rdtsc" : "=a"(*ret_low), "=d"(*ret_high));
	} else {
		now = trace_tracepoint_clock();
		*ret_low = (uint32_t)now;
		*ret_high = (uint32_t)(now >> 32);
	}
}

/*
 * Record an event with an image of these words; the lower half of the first is for the thread's
 * number. Returns false if trace_tracepoint_record_again() is to be called, with a copy of the
 * words: a variable with an address that another function knows does not stay in registers.
 */
static inline __attribute__((always_inline, unused)) bool trace_record_words_(const struct trace_tracepoint *tracepoint,
	size_t image_bytes, const uint64_t *words)
{
	/* Load @cpu once, and first: a signal handler may set up what the
	 * thread does not have yet. */
	const volatile uint32_t *where = __atomic_load_n(&trace_tp_thread.cpu, __ATOMIC_RELAXED);
	const struct trace_window *window = &__atomic_load_n(&trace_tp_thread.windows, __ATOMIC_RELAXED)[where[0]];
	uint32_t low, high;

	trace_now_(&low, &high);
	if (__builtin_expect(!tracepoint->word, 0))
		return false;
	return trace_append(window, where, low, high, tracepoint->word, (image_bytes + 7) / 8,
			    words[0] | trace_tp_thread.tid, words[1], words[2]);
}
#endif
#endif

#define TRACE_PASTE_(a, b) a##b
#define TRACE_PASTE(a, b) TRACE_PASTE_(a, b)

/* The types in an image, as numbers of enum user_field_type. */
#define TRACE_FIELD_SIGNED 1
#define TRACE_FIELD_UNSIGNED 2
#define TRACE_FIELD_FLOAT 3
#define TRACE_FIELD_BOOL 4
#define TRACE_FIELD_POINTER 5
#define TRACE_FIELD_CHAR 6
#define TRACE_FIELD_STRING 7
#define TRACE_FIELD_BYTES 8

#ifdef __cplusplus
} /* extern "C" */
#endif

/**
 * trace_field() - a field of a tracepoint() with a name of its own: trace_field(total, price + tax)
 * In a macro that wraps tracepoint(), fields are expanded before tracepoint() can read their source
 * text. So the expansion of trace_field() contains the name, as text, and registry.c finds it
 * there. The expansion is the value itself, also for arrays.
 */
#if defined(TRACEPOINT_DISABLE)
#define trace_field(name, value) (value)
#elif defined(__cplusplus)
#define trace_field(name, value) ::trace_detail::named(#name, (value))
#else
#define trace_field(name, value) _Generic(#name, default : (value))
#endif

#if defined(TRACEPOINT_DISABLE)

#ifdef __cplusplus
template <class... T> static inline void trace_ignore_(const T &...) {}
#else
static inline void trace_ignore_(int unused, ...) { (void)unused; }
#endif
#define TRACE_POINT_(role_, provider_, name_, names_, ...) \
	do {                                               \
		if (0)                                     \
			trace_ignore_(0, ##__VA_ARGS__);   \
	} while (0)
#define TRACE_SCOPE_(number, provider_, name_) \
	do {                                   \
	} while (0)

#elif defined(__cplusplus)


namespace trace_detail __attribute__((visibility("hidden"))) {

template <class T> constexpr inline __attribute__((always_inline)) const T &named(const char *, const T &value)
{
	return value;
}

/* How a T is stored: its type number and its size in the image. References
 * (texts) take 4 bytes there. */
template <class T, class = void> struct is_text_object : std::false_type {};
template <class T>
struct is_text_object<T, std::enable_if_t<std::is_class_v<T> &&
	std::is_convertible_v<decltype(std::declval<const T &>().data()), const char *> &&
	std::is_integral_v<decltype(std::declval<const T &>().size())>>> : std::true_type {};

template <class T> constexpr bool is_char_pointer =
	std::is_same_v<std::decay_t<T>, char *> || std::is_same_v<std::decay_t<T>, const char *>;

template <class T> constexpr unsigned type_of()
{
	using D = std::decay_t<T>;

	if constexpr (std::is_same_v<D, trace_bytes_value>)
		return TRACE_FIELD_BYTES;
	else if constexpr (is_char_pointer<T> || is_text_object<D>::value)
		return TRACE_FIELD_STRING;
	else if constexpr (std::is_same_v<D, bool>)
		return TRACE_FIELD_BOOL;
	else if constexpr (std::is_same_v<D, char>)
		return TRACE_FIELD_CHAR;
	else if constexpr (std::is_enum_v<D>)
		return std::is_signed_v<std::underlying_type_t<D>> ? TRACE_FIELD_SIGNED : TRACE_FIELD_UNSIGNED;
	else if constexpr (std::is_integral_v<D>)
		return std::is_signed_v<D> ? TRACE_FIELD_SIGNED : TRACE_FIELD_UNSIGNED;
	else if constexpr (std::is_floating_point_v<D>)
		return TRACE_FIELD_FLOAT;
	else {
		static_assert(std::is_pointer_v<D> || std::is_null_pointer_v<D>,
			      "a tracepoint's field is a number, an enumeration, a pointer, a text or trace_bytes()");
		return TRACE_FIELD_POINTER;
	}
}

template <class T> constexpr bool is_reference =
	type_of<T>() == TRACE_FIELD_STRING || type_of<T>() == TRACE_FIELD_BYTES;

template <class T> constexpr unsigned bytes_of()
{
	using D = std::decay_t<T>;

	if constexpr (is_reference<T>)
		return 4;
	else if constexpr (std::is_same_v<D, long double>)
		return sizeof(double);
	else
		return sizeof(D);
}

template <class... T> struct layout {
	static_assert(sizeof...(T) <= 16, "a tracepoint has at most 16 fields");
	static constexpr unsigned nr = sizeof...(T);
	static constexpr unsigned nr_texts = (0 + ... + (is_reference<T> ? 1 : 0));
	struct table {
		trace_tracepoint_field field[nr ? nr : 1];
		unsigned payload_bytes;
	};
	static constexpr table make()
	{
		const unsigned types[nr + 1] = { type_of<T>()..., 0 }, bytes[nr + 1] = { bytes_of<T>()..., 0 };
		table made = {};
		unsigned offset = 4;

		for (unsigned i = 0; i < nr; i++) {
			unsigned align = bytes[i] < 4 ? bytes[i] : 4;

			offset = (offset + align - 1) / align * align;
			made.field[i] = { static_cast<uint16_t>(types[i]), static_cast<uint16_t>(offset),
				static_cast<uint16_t>(bytes[i]), 0 };
			offset += bytes[i];
		}
		made.payload_bytes = (offset + 3) / 4 * 4;
		return made;
	}
	static constexpr table fields = make();
};

template <class... T> layout<T...> describe(const T &...);

struct registrar {
	explicit registrar(trace_tracepoint *tracepoint) { trace_tracepoint_register(tracepoint, tracepoint + 1); }
};

/* The static data of one tracepoint. C++ cannot put the data of templates into a section of ours,
 * so each tracepoint registers itself. */
template <class Place, class Layout> struct point {
	static trace_tracepoint tracepoint;
	static registrar registered;
};
template <class Place, class Layout>
trace_tracepoint point<Place, Layout>::tracepoint = {
	&point<Place, Layout>::tracepoint.off, 0, Place::provider(), Place::name(), Place::field_names(), Place::file(),
		Place::function(),
	Layout::fields.field, Place::line(), 0, static_cast<uint16_t>(Layout::fields.payload_bytes),
		static_cast<uint8_t>(Layout::nr),
	static_cast<uint8_t>(Layout::nr_texts), Place::role(), TRACE_TRACEPOINT_VERSION, 1, {}
};
template <class Place, class Layout> registrar point<Place, Layout>::registered{ &point<Place, Layout>::tracepoint };

template <class T> inline __attribute__((always_inline)) void store(unsigned char *image, trace_bytes_value *text,
	const trace_tracepoint_field &field, const T &value)
{
	using D = std::decay_t<T>;

	if constexpr (std::is_same_v<D, trace_bytes_value>) {
		*text = value;
	} else if constexpr (is_text_object<D>::value) {
		*text = { value.data(), static_cast<size_t>(value.size()) };
	} else if constexpr (is_char_pointer<T>) {
		const char *pointer = value;

		*text = { pointer, std::is_array_v<T> ? sizeof(T) : ~static_cast<size_t>(0) };
	} else if constexpr (std::is_same_v<D, long double>) {
		double rounded = static_cast<double>(value);

		__builtin_memcpy(image + field.offset, &rounded, sizeof(rounded));
	} else {
		D copy = value;

		__builtin_memcpy(image + field.offset, &copy, sizeof(copy));
	}
}

template <class T> inline __attribute__((always_inline)) void put(uint64_t *words, const trace_tracepoint_field &field,
	const T &value)
{
	using D = std::conditional_t<std::is_same_v<std::decay_t<T>, long double>, double, std::decay_t<T>>;
	D copy = static_cast<D>(value);
	uint64_t bits = 0;

	__builtin_memcpy(&bits, &copy, sizeof(copy));
	trace_put(words, field.offset, sizeof(copy), bits);
}

/* The values are arguments, so that temporaries that they refer to live
 * until the event is written. */
template <class... T> inline __attribute__((always_inline)) void record(trace_tracepoint *tracepoint,
	const T &...values)
{
	using L = layout<T...>;
	unsigned i = 0;

	if constexpr (L::nr_texts != 0) {
		alignas(8) unsigned char image[L::fields.payload_bytes] = {};
		trace_bytes_value texts[L::nr];

		((store(image, texts + i, L::fields.field[i], values), i++), ...);
		trace_tracepoint_record_texts(tracepoint, image, texts);
	} else {
#if TRACE_RECORD_INLINE_BYTES
		if constexpr (L::fields.payload_bytes <= TRACE_RECORD_INLINE_BYTES) {
			uint64_t words[TRACE_RECORD_INLINE_BYTES / 8] = {};

			((put(words, L::fields.field[i], values), i++), ...);
			if (__builtin_expect(!trace_record_words_(tracepoint, L::fields.payload_bytes, words), 0)) {
				const uint64_t copy[] = { words[0], words[1], words[2] };

				trace_tracepoint_record_again(tracepoint, copy);
			}
			return;
		}
#endif
		alignas(8) unsigned char image[L::fields.payload_bytes] = {};
		((store(image, nullptr, L::fields.field[i], values), i++), ...);
		trace_tracepoint_record(tracepoint, image);
	}
	(void)i;
}

struct scope {
	trace_tracepoint *end;
	scope(trace_tracepoint *begin, trace_tracepoint *end_) : end(end_)
	{
		if (TRACE_IS_ON_(begin->flag))
			record(begin);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
	~scope()
	{
		if (TRACE_IS_ON_(end->flag))
			record(end);
	}
};

} // namespace trace_detail

#define TRACE_PLACE_(place_, role_, provider_, name_, names_)                 \
	struct place_ {                                                       \
		static constexpr const char *provider() { return provider_; } \
		static constexpr const char *name() { return name_; }         \
		static constexpr const char *field_names() { return names_; } \
		static constexpr const char *file() { return __FILE__; }      \
		static constexpr const char *function() { return ""; }        \
		static constexpr uint32_t line() { return __LINE__; }         \
		static constexpr uint8_t role() { return role_; }             \
	}

#define TRACE_POINT_(role_, provider_, name_, names_, ...) \
	do { \
		TRACE_PLACE_(trace_place_, role_, provider_, name_, names_); \
		using trace_point_ = ::trace_detail::point<trace_place_, \
			decltype(::trace_detail::describe(__VA_ARGS__))>; \
		static_cast<void>(&trace_point_::registered); \
		if (TRACE_IS_ON_(trace_point_::tracepoint.flag))                                                   \
			::trace_detail::record(&trace_point_::tracepoint, ##__VA_ARGS__); \
	} while (0)

#define TRACE_SCOPE_(number, provider_, name_) \
	TRACE_PLACE_(TRACE_PASTE(trace_begin_place_, number), 1, provider_, name_, ""); \
	TRACE_PLACE_(TRACE_PASTE(trace_end_place_, number), 2, provider_, name_, ""); \
	using TRACE_PASTE(trace_begin_, number) = ::trace_detail::point<TRACE_PASTE(trace_begin_place_, number), \
		::trace_detail::layout<>>; \
	using TRACE_PASTE(trace_end_, number) = ::trace_detail::point<TRACE_PASTE(trace_end_place_, number), \
		::trace_detail::layout<>>; \
	static_cast<void>(&TRACE_PASTE(trace_begin_, number)::registered); \
	static_cast<void>(&TRACE_PASTE(trace_end_, number)::registered); \
	const ::trace_detail::scope TRACE_PASTE(trace_scope_, number) \
	{ \
		&TRACE_PASTE(trace_begin_, number)::tracepoint, &TRACE_PASTE(trace_end_, number)::tracepoint \
	}

#else /* C */

extern struct trace_tracepoint trace_begin_of_section_[] __asm__("__start_trace_points")
	__attribute__((weak, visibility("hidden")));
extern struct trace_tracepoint trace_end_of_section_[] __asm__("__stop_trace_points")
	__attribute__((weak, visibility("hidden")));

static __attribute__((constructor(101), used)) void trace_register_section_(void)
{
	trace_tracepoint_register(trace_begin_of_section_, trace_end_of_section_);
}

#define TRACE_TYPE_(x) \
	_Generic((x), _Bool: TRACE_FIELD_BOOL, char: TRACE_FIELD_CHAR, signed char: TRACE_FIELD_SIGNED, \
		short: TRACE_FIELD_SIGNED, int: TRACE_FIELD_SIGNED, long: TRACE_FIELD_SIGNED, \
		long long: TRACE_FIELD_SIGNED, unsigned char: TRACE_FIELD_UNSIGNED, \
		unsigned short: TRACE_FIELD_UNSIGNED, unsigned int: TRACE_FIELD_UNSIGNED, \
		unsigned long: TRACE_FIELD_UNSIGNED, unsigned long long: TRACE_FIELD_UNSIGNED, \
		float: TRACE_FIELD_FLOAT, double: TRACE_FIELD_FLOAT, \
		long double: TRACE_FIELD_FLOAT, char *: TRACE_FIELD_STRING, const char *: TRACE_FIELD_STRING, \
		struct trace_bytes_value: TRACE_FIELD_BYTES, default: TRACE_FIELD_POINTER)

/* A value of the type in which x is stored. References take 4 bytes. */
#define TRACE_STORED_(x) \
	_Generic((x), _Bool: (unsigned char)0, char: (char)0, signed char: (signed char)0, short: (short)0, \
		int: 0, long: 0L, long long: 0LL, unsigned char: (unsigned char)0, \
		unsigned short: (unsigned short)0, unsigned int: 0U, \
		unsigned long: 0UL, unsigned long long: 0ULL, float: 0.0F, double: 0.0, long double: 0.0, char *: 0U, \
		const char *: 0U, struct trace_bytes_value: 0U, default: (const volatile void *)0)

#define TRACE_VALUE_(i, x) _Generic((x), char *: 0, const char *: 0, struct trace_bytes_value: 0, default: (x)),
#define TRACE_IS_TEXT_(i, x) +(TRACE_TYPE_(x) == TRACE_FIELD_STRING || TRACE_TYPE_(x) == TRACE_FIELD_BYTES)
#define TRACE_LIMIT_(x) \
	(__builtin_types_compatible_p(__typeof__(x), char[]) || \
			 __builtin_types_compatible_p(__typeof__(x), const char[]) \
		 ? sizeof(x) \
		 : ~(size_t)0)
#define TRACE_TEXT_(i, x)                                      \
	_Generic((x), struct trace_bytes_value: (x),           \
		default: trace_bytes(_Generic((x), char *: (x), const char *: (x), default: (const char *)0), \
			TRACE_LIMIT_(x))),
#define TRACE_MEMBER_(i, x) \
	__typeof__(TRACE_STORED_(x)) field##i \
		__attribute__((aligned(sizeof(TRACE_STORED_(x)) < 4 ? sizeof(TRACE_STORED_(x)) : 4)));
#define TRACE_FIELD_(i, x) \
	{ TRACE_TYPE_(x), offsetof(struct trace_image_, field##i), sizeof(TRACE_STORED_(x)), 0 },

#define TRACE_EACH_0(f)
#define TRACE_EACH_1(f, a) f(1, a)
#define TRACE_EACH_2(f, a, ...) f(2, a) TRACE_EACH_1(f, __VA_ARGS__)
#define TRACE_EACH_3(f, a, ...) f(3, a) TRACE_EACH_2(f, __VA_ARGS__)
#define TRACE_EACH_4(f, a, ...) f(4, a) TRACE_EACH_3(f, __VA_ARGS__)
#define TRACE_EACH_5(f, a, ...) f(5, a) TRACE_EACH_4(f, __VA_ARGS__)
#define TRACE_EACH_6(f, a, ...) f(6, a) TRACE_EACH_5(f, __VA_ARGS__)
#define TRACE_EACH_7(f, a, ...) f(7, a) TRACE_EACH_6(f, __VA_ARGS__)
#define TRACE_EACH_8(f, a, ...) f(8, a) TRACE_EACH_7(f, __VA_ARGS__)
#define TRACE_EACH_9(f, a, ...) f(9, a) TRACE_EACH_8(f, __VA_ARGS__)
#define TRACE_EACH_10(f, a, ...) f(10, a) TRACE_EACH_9(f, __VA_ARGS__)
#define TRACE_EACH_11(f, a, ...) f(11, a) TRACE_EACH_10(f, __VA_ARGS__)
#define TRACE_EACH_12(f, a, ...) f(12, a) TRACE_EACH_11(f, __VA_ARGS__)
#define TRACE_EACH_13(f, a, ...) f(13, a) TRACE_EACH_12(f, __VA_ARGS__)
#define TRACE_EACH_14(f, a, ...) f(14, a) TRACE_EACH_13(f, __VA_ARGS__)
#define TRACE_EACH_15(f, a, ...) f(15, a) TRACE_EACH_14(f, __VA_ARGS__)
#define TRACE_EACH_16(f, a, ...) f(16, a) TRACE_EACH_15(f, __VA_ARGS__)
#define TRACE_COUNT_(none, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) count
#define TRACE_COUNT(place_, ...) \
	TRACE_COUNT_(place_, ##__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TRACE_EACH(f, ...) TRACE_PASTE(TRACE_EACH_, TRACE_COUNT(~, ##__VA_ARGS__))(f, ##__VA_ARGS__)

#define TRACE_DEFINE_(variable, role_, provider_, name_, names_, fields_, nr_fields_, nr_texts_, payload_bytes_)       \
	static struct trace_tracepoint variable __attribute__((section("trace_points"), used)) = {                     \
		.flag = &variable.off, .provider = provider_, .name = name_, .field_names = names_, .file = __FILE__,  \
		.function = __func__, .fields = fields_, .line = __LINE__, .payload_bytes = payload_bytes_,            \
		.nr_fields = nr_fields_, .nr_texts = nr_texts_, .role = role_, .version = TRACE_TRACEPOINT_VERSION, \
			.off = 1 \
	}

/* Store field by field, each with one store of its size; the gaps between
 * and after fields are zero. */
#define TRACE_STORE_(i, x) \
	if (sizeof(TRACE_STORED_(x)) < 4) \
		__builtin_memset(trace_payload_ + (offsetof(struct trace_image_, field##i) & ~3U), 0, \
				 offsetof(struct trace_image_, field##i) & 3U ? 0 : 4); \
	__builtin_memcpy(trace_payload_ + offsetof(struct trace_image_, field##i), &trace_image_.field##i, \
		sizeof(TRACE_STORED_(x)));
/* An image with an address. The code never takes the struct's own address, so its
 * fields stay in registers. */
#define TRACE_IMAGE_(copy_, image_, ...)                                                       \
	unsigned char copy_[sizeof(image_)] __attribute__((aligned(4))) = { 0 };               \
	unsigned char *const trace_payload_ __attribute__((unused)) = copy_;                   \
	TRACE_EACH(TRACE_STORE_, ##__VA_ARGS__)
#define TRACE_PUT_(i, x) \
	{ \
		uint64_t trace_bits_ = 0; \
		__builtin_memcpy(&trace_bits_, &trace_image_.field##i, sizeof(TRACE_STORED_(x))); \
		trace_put(trace_words_, offsetof(struct trace_image_, field##i), sizeof(TRACE_STORED_(x)), \
			trace_bits_); \
	}
#if TRACE_RECORD_INLINE_BYTES
/* For an image that is too large for @trace_words_ the compiler drops the second branch. */
#define TRACE_RECORD_(point_, image_, ...) \
	if (sizeof(image_) > TRACE_RECORD_INLINE_BYTES) { \
		TRACE_IMAGE_(trace_copy_, image_, ##__VA_ARGS__) \
		trace_tracepoint_record(&point_, trace_copy_); \
	} else { \
		uint64_t trace_words_[sizeof(image_) > TRACE_RECORD_INLINE_BYTES ? \
			sizeof(image_) / 8 + 1 : TRACE_RECORD_INLINE_BYTES / 8] = { 0 }; \
		TRACE_EACH(TRACE_PUT_, ##__VA_ARGS__) \
		if (__builtin_expect(!trace_record_words_(&point_, sizeof(image_), trace_words_), 0)) { \
			const uint64_t trace_copy_[] = { trace_words_[0], trace_words_[1], trace_words_[2] }; \
			trace_tracepoint_record_again(&point_, trace_copy_); \
		} \
	}
#else
#define TRACE_RECORD_(point_, image_, ...) \
	TRACE_IMAGE_(trace_copy_, image_, ##__VA_ARGS__) \
	trace_tracepoint_record(&point_, trace_copy_);
#endif

#define TRACE_POINT_(role_, provider_, name_, names_, ...) \
	do { \
		struct trace_image_ { \
			uint32_t tid; \
			TRACE_EACH(TRACE_MEMBER_, ##__VA_ARGS__) \
		} __attribute__((packed, aligned(4)));\
		static const struct trace_tracepoint_field trace_fields_[] = { TRACE_EACH(TRACE_FIELD_, \
			##__VA_ARGS__){ 0, 0, 0, 0 } }; \
		TRACE_DEFINE_(trace_point_, role_, provider_, name_, names_, trace_fields_, TRACE_COUNT(~, \
			##__VA_ARGS__), \
			      0 TRACE_EACH(TRACE_IS_TEXT_, ##__VA_ARGS__), sizeof(struct trace_image_)); \
		if (TRACE_IS_ON_(trace_point_.flag)) { \
			const struct trace_image_ trace_image_ = { 0, TRACE_EACH(TRACE_VALUE_, ##__VA_ARGS__) }; \
			if (0 TRACE_EACH(TRACE_IS_TEXT_, ##__VA_ARGS__)) { \
				const struct trace_bytes_value trace_texts_[] = { TRACE_EACH(TRACE_TEXT_, \
					##__VA_ARGS__){ 0, 0 } }; \
				TRACE_IMAGE_(trace_copy_, trace_image_, ##__VA_ARGS__) \
				trace_tracepoint_record_texts(&trace_point_, trace_copy_, trace_texts_); \
			} else { \
				TRACE_RECORD_(trace_point_, trace_image_, ##__VA_ARGS__) \
			} \
		} \
	} while (0)

static inline void trace_record_bare_(struct trace_tracepoint *tracepoint)
{
	struct trace_image_ {
		uint32_t tid;
	} trace_image_ = { 0 };

	if (TRACE_IS_ON_(tracepoint->flag)) {
		TRACE_RECORD_((*tracepoint), trace_image_)
	}
}

static inline __attribute__((unused)) void trace_scope_end_(struct trace_tracepoint **end)
{
	trace_record_bare_(*end);
}

#define TRACE_SCOPE_(number, provider_, name_)                                                                         \
	TRACE_DEFINE_(TRACE_PASTE(trace_begin_, number), 1, provider_, name_, "", 0, 0, 0, 4);                         \
	TRACE_DEFINE_(TRACE_PASTE(trace_end_, number), 2, provider_, name_, "", 0, 0, 0, 4);                           \
	struct trace_tracepoint *TRACE_PASTE(trace_scope_, number) __attribute__((cleanup(trace_scope_end_), \
		unused)) = \
		(trace_record_bare_(&TRACE_PASTE(trace_begin_, number)), &TRACE_PASTE(trace_end_, number))

#endif

/*
 * A name in quotes is an error whose message has the names of these structs. The macros that
 * programs use paste them, because a name may be that of a macro: errno.
 */
#define TRACE_NAMED_(provider_is_named, event_is_named, ...) \
	do {                                                 \
		provider_is_named;                           \
		event_is_named;                              \
		TRACE_POINT_(__VA_ARGS__);                   \
	} while (0)
#ifdef __cplusplus /* in a struct, so that those of inner blocks shadow nothing */
#define TRACE_SCOPE_NAMES_(provider_is_named, event_is_named)           \
	struct TRACE_PASTE(trace_names_, TRACE_PASTE(__COUNTER__, _)) { \
		provider_is_named;                                      \
		event_is_named;                                         \
		int has_a_size; /* clang warns of empty ones */         \
	};
#else
#define TRACE_SCOPE_NAMES_(provider_is_named, event_is_named) \
	provider_is_named;                                    \
	event_is_named;
#endif

/* ---- macros for programs ---- */

/**
 * tracepoint() - record an event
 * @provider, @event: identifiers of at most 63 letters, without quotes; the event is provider:event
 * A statement. Any two lines may use the same names; if their fields are the
 * same they are one event type.
 */
#define tracepoint(provider, event, ...) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##event, \
		     0, #provider, #event, #__VA_ARGS__, ##__VA_ARGS__)

/**
 * trace_scope() - a scope from here to the end of the block, however control leaves it (return,
 * break, goto; in C++ exceptions)
 * A declaration. It records provider:name as a pair of events, and analyses show where
 * the time between them went.
 */
#define trace_scope(provider, name) \
	TRACE_SCOPE_NAMES_(struct trace_provider_is_written_without_quotes_##provider, \
			   struct trace_event_is_written_without_quotes_##name) \
	TRACE_SCOPE_(TRACE_PASTE(__COUNTER__, _), #provider, #name)

/**
 * trace_begin(), trace_end() - the same pair by hand, with fields; both in one thread, and
 * properly nested with other pairs
 */
#define trace_begin(provider, name, ...) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##name, \
		     1, #provider, #name, #__VA_ARGS__, ##__VA_ARGS__)
#define trace_end(provider, name, ...) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##name, \
		     2, #provider, #name, #__VA_ARGS__, ##__VA_ARGS__)

/** trace_counter() - a value over time: a queue's length, bytes in use. Any number type */
#define trace_counter(provider, name, value) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##name, \
		     3, #provider, #name, "value", value)

/**
 * trace_request_begin(), trace_request_end(), trace_request_handoff() - the request
 * that the thread works for
 * @id: a number or text that names the request, in any thread and process
 * From begin to end the thread's time belongs to request @id. handoff: the thread passes the
 * request on, to the thread that begins it next.
 */
#define trace_request_begin(provider, name, id) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##name, \
		     4, #provider, #name, "id", id)
#define trace_request_end(provider, name, id) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##name, \
		     5, #provider, #name, "id", id)
#define trace_request_handoff(provider, name, id) \
	TRACE_NAMED_(struct trace_provider_is_written_without_quotes_##provider, \
		     struct trace_event_is_written_without_quotes_##name, \
		     6, #provider, #name, "id", id)

#endif
