// SPDX-License-Identifier: LGPL-2.1-or-later
package tracetoolkit;

/**
 * The requests that threads work for, each with a number.
 *
 * From begin(id) to end(id) the thread's time belongs to the request. handoff(id) ends this thread's part: the request waits
 * until a thread begins it again.
 */
public final class Request {
    private final Event begin;
    private final Event end;
    private final Event handoff;

    private Request(String provider, String name) {
        begin = new Event(provider, name, Event.REQUEST_BEGIN, "id:i64");
        end = new Event(provider, name, Event.REQUEST_END, "id:i64");
        handoff = new Event(provider, name, Event.REQUEST_HANDOFF, "id:i64");
    }

    public static Request of(String provider, String name) {
        return new Request(provider, name);
    }

    public void begin(long id) {
        begin.record(id);
    }

    public void end(long id) {
        end.record(id);
    }

    public void handoff(long id) {
        handoff.record(id);
    }
}
