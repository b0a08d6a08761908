// SPDX-License-Identifier: LGPL-2.1-or-later
package tracetoolkit;

/**
 * The time from begin() to close(), in one thread, properly nested with other scopes of that thread.
 *
 * <pre>
 * try (Scope scope = CHECKOUT.begin()) { ... }
 * </pre>
 *
 * A virtual thread may continue on another thread of the system after it waited. So a scope around a wait of a virtual thread
 * has no meaning; {@link Request} is for such work.
 */
public final class Scope implements AutoCloseable {
    private final Event begin;
    private final Event end;

    private Scope(String provider, String name, String fields) {
        begin = new Event(provider, name, Event.BEGIN, fields);
        end = new Event(provider, name, Event.END, "");
    }

    public static Scope of(String provider, String name) {
        return new Scope(provider, name, "");
    }

    /** Declare a scope with fields of its begin: begin(values...). */
    public static Scope of(String provider, String name, String fields) {
        return new Scope(provider, name, fields);
    }

    public Scope begin() {
        begin.record();
        return this;
    }

    public Scope begin(Object... values) {
        begin.record(values);
        return this;
    }

    @Override
    public void close() {
        end.record();
    }
}
