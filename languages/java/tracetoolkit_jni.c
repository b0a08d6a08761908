/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracetoolkit_jni.c - the native methods of the class tracetoolkit.Event
 *
 *     cc -O2 -shared -fPIC -I$JAVA_HOME/include -I$JAVA_HOME/include/linux tracetoolkit_jni.c \
 *         -ltracer -o libtracetoolkit.so
 *
 * A handle is the address of a struct trace_dynamic. The values of an event are in a direct buffer
 * of the thread, at an address that Java has asked for once: so a record passes numbers only.
 */
#include <jni.h>
#include <stdint.h>
#include <trace/dynamic.h>

#define METHOD(type, name) JNIEXPORT type JNICALL Java_tracetoolkit_Event_##name

/* Returns the handle, or 0 for a declaration against the rules. */
METHOD(jlong, declare)
(JNIEnv *env, jclass class, jstring provider, jstring name, jint role, jstring fields, jstring file, jint line)
{
	const jstring from[] = {provider, name, fields, file};
	const char *texts[4] = {NULL, NULL, NULL, NULL};
	struct trace_dynamic *event = NULL;
	int nr = 0;

	while (nr < 4 && (texts[nr] = (*env)->GetStringUTFChars(env, from[nr], NULL)) != NULL)
		nr++;
	if (nr == 4 &&
	    trace_dynamic_declare(texts[0], texts[1], (uint32_t)role, texts[2], texts[3], (uint32_t)line, &event) != 0)
		event = NULL;
	while (nr-- > 0)
		(*env)->ReleaseStringUTFChars(env, from[nr], texts[nr]);
	return (jlong)(uintptr_t)event;
}

METHOD(jstring, rules)(JNIEnv *env, jclass class)
{
	return (*env)->NewStringUTF(env, trace_dynamic_rules());
}

/* The 8 aligned bytes around the event's flag; Java reads whole words without a tear. */
METHOD(jobject, flagWord)(JNIEnv *env, jclass class, jlong handle)
{
	uintptr_t flag = (uintptr_t)trace_dynamic_flag((struct trace_dynamic *)(uintptr_t)handle);

	return (*env)->NewDirectByteBuffer(env, (void *)(flag & ~(uintptr_t)7), 8);
}

METHOD(jint, flagShift)(JNIEnv *env, jclass class, jlong handle)
{
	uintptr_t flag = (uintptr_t)trace_dynamic_flag((struct trace_dynamic *)(uintptr_t)handle);

	return (jint)(flag & 7) * 8;
}

METHOD(jlong, address)(JNIEnv *env, jclass class, jobject buffer)
{
	return (jlong)(uintptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

METHOD(void, record)(JNIEnv *env, jclass class, jlong handle, jlong values, jint bytes)
{
	trace_dynamic_record((struct trace_dynamic *)(uintptr_t)handle, (const void *)(uintptr_t)values, (size_t)bytes);
}
