// SPDX-License-Identifier: LGPL-2.1-or-later
import tracetoolkit.Event;
import tracetoolkit.Request;
import tracetoolkit.Scope;

/** A program that records events of its own:  tracedaemon t.trace -- java -Djava.library.path=. Shop */
public final class Shop {
    static final Event WAITING = Event.counter("shop", "waiting");
    static final Request ORDER = Request.of("shop", "order");
    static final Scope CHECKOUT = Scope.of("shop", "checkout");
    static final Event PAID = Event.of("shop", "order_paid", "id:i32 price:f64 customer:text");
    static long sleptNs;

    static void sleep() throws InterruptedException {
        long begin = System.nanoTime();
        Thread.sleep(2);
        sleptNs += System.nanoTime() - begin;
    }

    static void checkOut(int id) throws InterruptedException {
        try (Scope scope = CHECKOUT.begin()) {
            sleep();
            PAID.record(id, id * 9.5, "alice");
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int id = 1; id <= 10; id++) {
            ORDER.begin(id);
            WAITING.record(10 - id);
            checkOut(id);
            ORDER.end(id);
        }
        System.out.println("10 orders, slept " + sleptNs + " ns");
    }
}
