/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * addon.c - <trace/dynamic.h> for Node, through Node-API
 *
 *     cc -O2 -shared -fPIC addon.c -ltracer -o tracetoolkit.node
 *
 * Node-API has a stable ABI, so one file works with every version of Node from 12.17 on. The part
 * of it that this file uses is declared here, because many installations of Node have no headers.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trace/dynamic.h>

#define MAX_TEXT_BYTES 1025 /* libtracer keeps one less, and marks what it cut */
#define NAME_BYTES     2048

/* ---- Node-API, as its header has it ---- */

typedef struct napi_env_ *napi_env;
typedef struct napi_value_ *napi_value;
typedef struct napi_callback_info_ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
enum { TYPE_BOOLEAN = 2, TYPE_NUMBER = 3, TYPE_STRING = 4, TYPE_BIGINT = 9 };

int napi_typeof(napi_env, napi_value, int *);
int napi_get_cb_info(napi_env, napi_callback_info, size_t *, napi_value *, napi_value *, void **);
int napi_get_value_bool(napi_env, napi_value, bool *);
int napi_get_value_double(napi_env, napi_value, double *);
int napi_get_value_int64(napi_env, napi_value, int64_t *);
int napi_get_value_uint32(napi_env, napi_value, uint32_t *);
int napi_get_value_bigint_uint64(napi_env, napi_value, uint64_t *, bool *);
int napi_get_value_string_utf8(napi_env, napi_value, char *, size_t, size_t *);
int napi_coerce_to_string(napi_env, napi_value, napi_value *);
int napi_is_buffer(napi_env, napi_value, bool *);
int napi_get_buffer_info(napi_env, napi_value, void **, size_t *);
int napi_get_boolean(napi_env, bool, napi_value *);
int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *);
int napi_set_named_property(napi_env, napi_value, const char *, napi_value);
int napi_throw_error(napi_env, const char *, const char *);

/* ---- an event ---- */

/* @kinds: a letter for each field: i integer, f floating point, s text or bytes. Never freed, as
 * the event */
struct binding {
	struct trace_dynamic *event;
	const volatile unsigned char *flag;
	size_t nr_fields;
	char kinds[TRACE_DYNAMIC_MAX_FIELDS];
};

static char kind_of(const char *type)
{
	return type[0] == 't' || !strncmp(type, "by", 2) ? 's' : type[0] == 'f' ? 'f' : 'i';
}

static uint64_t integer_of(napi_env env, napi_value value, int type)
{
	uint64_t word = 0;
	int64_t number = 0;
	double floating = 0;
	bool truth = false;

	if (type == TYPE_BIGINT) {
		napi_get_value_bigint_uint64(env, value, &word, &truth);
	} else if (type == TYPE_BOOLEAN) {
		napi_get_value_bool(env, value, &truth);
		word = truth;
	} else if (type == TYPE_NUMBER) {
		napi_get_value_double(env, value, &floating);
		if (floating >= 9223372036854775808.0 && floating < 18446744073709551616.0)
			return (uint64_t)floating;
		napi_get_value_int64(env, value, &number);
		word = (uint64_t)number;
	}
	return word;
}

static uint64_t floating_of(napi_env env, napi_value value, int type)
{
	double number = 0;
	uint64_t word;

	if (type == TYPE_NUMBER)
		napi_get_value_double(env, value, &number);
	else
		number = (double)(int64_t)integer_of(env, value, type);
	memcpy(&word, &number, sizeof(word));
	return word;
}

/* Copies the text to @to, which has room for MAX_TEXT_BYTES and a NUL; returns its length. An
 * object is empty, because its conversion would run code of the program. */
static size_t text_of(napi_env env, napi_value value, int type, char *to)
{
	size_t length = 0;
	void *data = NULL;
	bool is_buffer = false;

	if (type == TYPE_NUMBER || type == TYPE_BOOLEAN || type == TYPE_BIGINT) {
		if (napi_coerce_to_string(env, value, &value) != 0)
			return 0;
		type = TYPE_STRING;
	}
	if (type == TYPE_STRING)
		return napi_get_value_string_utf8(env, value, to, MAX_TEXT_BYTES + 1, &length) == 0 ? length : 0;
	if (napi_is_buffer(env, value, &is_buffer) != 0 || !is_buffer ||
	    napi_get_buffer_info(env, value, &data, &length) != 0 || !data)
		return 0;
	length = length < MAX_TEXT_BYTES ? length : MAX_TEXT_BYTES;
	memcpy(to, data, length);
	return length;
}

/* record(values...) */
static napi_value record(napi_env env, napi_callback_info info)
{
	struct {
		uint64_t words[TRACE_DYNAMIC_MAX_FIELDS];
		char texts[TRACE_DYNAMIC_MAX_FIELDS * MAX_TEXT_BYTES + 1];
	} values;
	napi_value arguments[TRACE_DYNAMIC_MAX_FIELDS];
	size_t nr_arguments = TRACE_DYNAMIC_MAX_FIELDS, used;
	const struct binding *binding;
	void *data;
	int type;
	char *text;

	if (napi_get_cb_info(env, info, &nr_arguments, arguments, NULL, &data) != 0)
		return NULL;
	binding = data;
	if (!*binding->flag)
		return NULL;
	text = (char *)&values + binding->nr_fields * sizeof(uint64_t);
	for (size_t i = 0; i < binding->nr_fields; i++) { /* missing arguments are undefined */
		if (napi_typeof(env, arguments[i], &type) != 0)
			type = 0;
		if (binding->kinds[i] == 'i') {
			values.words[i] = integer_of(env, arguments[i], type);
		} else if (binding->kinds[i] == 'f') {
			values.words[i] = floating_of(env, arguments[i], type);
		} else {
			used = text_of(env, arguments[i], type, text);
			values.words[i] = used;
			text += used;
		}
	}
	trace_dynamic_record(binding->event, &values, (size_t)(text - (char *)&values));
	return NULL;
}

/* isOn() */
static napi_value is_on(napi_env env, napi_callback_info info)
{
	napi_value result = NULL;
	void *data = NULL;

	napi_get_cb_info(env, info, NULL, NULL, NULL, &data);
	napi_get_boolean(env, data && *((const struct binding *)data)->flag, &result);
	return result;
}

static struct binding *new_binding(struct trace_dynamic *event, const char *fields)
{
	struct binding *binding = calloc(1, sizeof(*binding));

	if (!binding)
		return NULL;
	binding->event = event;
	binding->flag = trace_dynamic_flag(event);
	for (const char *at = fields; (at = strchr(at, ':')) != NULL; at++)
		binding->kinds[binding->nr_fields++] = kind_of(at + 1);
	return binding;
}

/* declare(provider, name, role, fields, file, line): the function that records the event */
static napi_value declare(napi_env env, napi_callback_info info)
{
	napi_value arguments[6], result = NULL, check = NULL;
	char provider[NAME_BYTES], name[NAME_BYTES], fields[NAME_BYTES], file[NAME_BYTES];
	size_t nr = 6, length;
	uint32_t role = 0, line = 0;
	struct trace_dynamic *event;
	struct binding *binding;

	if (napi_get_cb_info(env, info, &nr, arguments, NULL, NULL) != 0 || nr != 6 ||
	    napi_get_value_string_utf8(env, arguments[0], provider, NAME_BYTES, &length) != 0 ||
	    napi_get_value_string_utf8(env, arguments[1], name, NAME_BYTES, &length) != 0 ||
	    napi_get_value_uint32(env, arguments[2], &role) != 0 ||
	    napi_get_value_string_utf8(env, arguments[3], fields, NAME_BYTES, &length) != 0 ||
	    napi_get_value_string_utf8(env, arguments[4], file, NAME_BYTES, &length) != 0 ||
	    napi_get_value_uint32(env, arguments[5], &line) != 0 ||
	    trace_dynamic_declare(provider, name, role, fields, file, line, &event) != 0) {
		napi_throw_error(env, "EINVAL", trace_dynamic_rules());
		return NULL;
	}
	binding = new_binding(event, fields);
	if (!binding || napi_create_function(env, name, strlen(name), record, binding, &result) != 0 ||
	    napi_create_function(env, "isOn", 4, is_on, binding, &check) != 0 ||
	    napi_set_named_property(env, result, "isOn", check) != 0)
		napi_throw_error(env, "ENOMEM", "no memory for an event");
	return result;
}

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
	napi_value function = NULL;

	if (napi_create_function(env, "declare", 7, declare, NULL, &function) == 0)
		napi_set_named_property(env, exports, "declare", function);
	return exports;
}

__attribute__((visibility("default"))) int32_t node_api_module_get_api_version_v1(void)
{
	return 8;
}
