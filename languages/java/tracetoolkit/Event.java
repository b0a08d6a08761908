// SPDX-License-Identifier: LGPL-2.1-or-later
package tracetoolkit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * An event of a Java program, in the same trace as those of the kernel.
 *
 * <pre>
 * static final Event PAID = Event.of("shop", "order_paid", "id:i64 price:f64 customer:text");
 * static final Scope CHECKOUT = Scope.of("shop", "checkout");
 *
 * try (Scope scope = CHECKOUT.begin()) {
 *     PAID.record(7, 9.5, "alice");
 * }
 * </pre>
 *
 * An event belongs to the thread of the system that records it; for a virtual thread that is the one that carries it at the
 * moment. record() never throws: a value that the field's type cannot take is zero or the empty text.
 */
public final class Event {
    static final int EVENT = 0, BEGIN = 1, END = 2, COUNTER = 3, REQUEST_BEGIN = 4, REQUEST_END = 5, REQUEST_HANDOFF = 6;
    private static final int MAX_FIELDS = 16, MAX_TEXT_BYTES = 1025; // libtracer keeps one less, and marks what it cut
    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final StackWalker CALLERS = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final ThreadLocal<Values> VALUES = ThreadLocal.withInitial(Values::new);

    static {
        System.loadLibrary("tracetoolkit");
    }

    /** The values of an event on their way to libtracer: one buffer for each thread. */
    private static final class Values {
        final ByteBuffer buffer =
            ByteBuffer.allocateDirect(8 * MAX_FIELDS + MAX_FIELDS * MAX_TEXT_BYTES).order(ByteOrder.nativeOrder());
        final long at = address(buffer);
    }

    private final long handle;
    private final ByteBuffer flags;
    private final int shift;
    private final char[] kinds; // of each field: i integer, f floating point, s text or bytes

    private static native long declare(String provider, String name, int role, String fields, String file, int line);
    private static native String rules();
    private static native ByteBuffer flagWord(long handle);
    private static native int flagShift(long handle);
    private static native long address(ByteBuffer buffer);
    private static native void record(long handle, long values, int bytes);

    Event(String provider, String name, int role, String fields) {
        Objects.requireNonNull(provider, "provider");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(fields, "fields");
        StackWalker.StackFrame caller = CALLERS.walk(frames -> frames
            .filter(frame -> frame.getDeclaringClass().getPackage() != Event.class.getPackage()).findFirst()).orElse(null);
        String file = caller == null || caller.getFileName() == null ? "" : caller.getFileName();
        handle = declare(provider, name, role, fields, file, caller == null ? 0 : Math.max(caller.getLineNumber(), 0));
        if (handle == 0)
            throw new IllegalArgumentException(provider + ":" + name + " \"" + fields + "\": " + rules());
        flags = flagWord(handle).order(ByteOrder.nativeOrder());
        shift = flagShift(handle);
        String[] declared = fields.trim().isEmpty() ? new String[0] : fields.trim().split(" +");
        kinds = new char[declared.length];
        for (int i = 0; i < kinds.length; i++) {
            String type = declared[i].substring(declared[i].indexOf(':') + 1);
            kinds[i] = type.equals("text") || type.equals("bytes") ? 's' : type.charAt(0) == 'f' ? 'f' : 'i';
        }
    }

    /**
     * Declare an event.
     *
     * @param fields "NAME:TYPE NAME:TYPE ...", with the types i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool pointer text bytes
     */
    public static Event of(String provider, String name, String fields) {
        return new Event(provider, name, EVENT, fields);
    }

    /** Declare a value over time: record(value). */
    public static Event counter(String provider, String name) {
        return new Event(provider, name, COUNTER, "value:i64");
    }

    /** Whether a recording selects the event: ask before you compute a value that takes long. */
    public boolean isOn() {
        return (((long) WORD.getOpaque(flags, 0) >>> shift) & 0xff) != 0;
    }

    public void record() {
        if (isOn())
            record(handle, 0, 0);
    }

    /** The same as record(Object...), without an object for the value. */
    public void record(long value) {
        if (!isOn())
            return;
        if (kinds.length != 1 || kinds[0] != 'i') {
            recordAll(value);
            return;
        }
        Values values = VALUES.get();
        values.buffer.putLong(0, value);
        record(handle, values.at, 8);
    }

    public void record(Object... values) {
        if (isOn())
            recordAll(values);
    }

    private void recordAll(Object... from) {
        Values values = VALUES.get();
        int end = 8 * kinds.length;
        for (int i = 0; i < kinds.length; i++) {
            Object value = i < from.length ? from[i] : null;
            long word;
            if (kinds[i] == 's') {
                byte[] text = bytesOf(value);
                word = Math.min(text.length, MAX_TEXT_BYTES);
                values.buffer.put(end, text, 0, (int) word);
                end += (int) word;
            } else if (kinds[i] == 'f') {
                word = Double.doubleToRawLongBits(value instanceof Number ? ((Number) value).doubleValue() : 0);
            } else {
                word = value instanceof Number ? ((Number) value).longValue() : value instanceof Character ? (Character) value
                    : Boolean.TRUE.equals(value) ? 1 : 0;
            }
            values.buffer.putLong(8 * i, word);
        }
        record(handle, values.at, end);
    }

    /** An object that is no text has no bytes, because its toString() is code of the program, which may throw. */
    private static byte[] bytesOf(Object value) {
        if (value instanceof byte[])
            return (byte[]) value;
        return value instanceof CharSequence || value instanceof Number || value instanceof Boolean || value instanceof Enum
            || value instanceof Character ? value.toString().getBytes(StandardCharsets.UTF_8) : new byte[0];
    }
}
