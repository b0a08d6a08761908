// SPDX-License-Identifier: LGPL-2.1-or-later
import java.util.Arrays;
import tracetoolkit.Event;
import tracetoolkit.Scope;

/** Values and declarations that a program should not use; prints what each event is to be. */
public final class Odd {
    static final Event VALUES = Event.of("odd", "values", "small:i8 big:u64 number:f64 text:text blob:bytes flag:bool");
    static final Scope RAISES = Scope.of("odd", "raises");

    static final class Hostile {
        @Override
        public String toString() {
            throw new IllegalStateException("no text");
        }
    }

    static void expect(String description, Object... values) {
        VALUES.record(values);
        System.out.println("expect " + description);
    }

    static void expectRefusal(String fields) {
        try {
            Event.of("odd", "wrong", fields);
            System.out.println("no error for " + fields);
        } catch (IllegalArgumentException error) {
            if (!error.getMessage().contains("names are letters"))
                throw error;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Object[] hostile = new Object[6];
        Arrays.fill(hostile, new Hostile());
        expect("small=44 big=18446744073709551615 number=1 text=\"7\" blob=7879 flag=1", 300, -1L, 1, 7, "xy".getBytes(), 2);
        expect("small=0 big=0 number=0 text=\"\" blob= flag=0");
        expect("small=0 big=0 number=0 text=\"\" blob= flag=0", hostile);
        expect("small=0 big=0 number=2.5 text=\"a\" blob=62 flag=0", null, "x", 2.5, "a", new byte[] {98}, false, "too", "many");
        expect("small=1 big=2 number=3 text=\"" + "x".repeat(1021) + "...\" blob= flag=1", 1, 2, 3f, "x".repeat(5000), "", true);
        Thread thread = new Thread(() -> expect("small=2 big=0 number=0 text=\"thread\" blob= flag=0", 2, 0, 0, "thread"));
        thread.start();
        thread.join();
        VALUES.record(5); // one number for six fields
        System.out.println("expect small=5 big=0 number=0 text=\"\" blob= flag=0");
        expectRefusal("a-b:i32");
        expectRefusal("a:int");
        expectRefusal("a");
        expectRefusal("a:u8 ".repeat(2));
        try (Scope scope = RAISES.begin()) {
            throw new IllegalStateException("left by an exception");
        } catch (IllegalStateException error) {
            // as expected
        }
    }
}
