// SPDX-License-Identifier: LGPL-2.1-or-later
import java.util.function.IntConsumer;
import tracetoolkit.Event;
import tracetoolkit.Scope;

public final class Cost {
    static final Event NONE = Event.of("cost", "none", "");
    static final Event ONE = Event.of("cost", "one", "value:i64");
    static final Event THREE = Event.of("cost", "three", "id:i64 price:f64 customer:text");
    static final Scope SCOPE = Scope.of("cost", "scope");
    static final int EVENTS = 10000, ROUNDS = 60;

    static void none(int n) {
        for (int i = 0; i < n; i++)
            NONE.record();
    }

    static void one(int n) {
        for (int i = 0; i < n; i++)
            ONE.record(i);
    }

    static void three(int n) {
        for (int i = 0; i < n; i++)
            THREE.record(i, 9.5, "alice");
    }

    static void scope(int n) {
        for (int i = 0; i < n; i++) {
            try (Scope scope = SCOPE.begin()) {
            }
        }
    }

    static String nsPerTurn(IntConsumer run) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            long begin = System.nanoTime();
            run.accept(EVENTS);
            best = Math.min(best, (double) (System.nanoTime() - begin) / EVENTS);
        }
        return String.format("%.1f", best);
    }

    public static void main(String[] arguments) {
        System.out.println(String.join(" ", nsPerTurn(Cost::none), nsPerTurn(Cost::one), nsPerTurn(Cost::three), nsPerTurn(Cost::scope)));
    }
}
