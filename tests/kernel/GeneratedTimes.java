// SPDX-License-Identifier: LGPL-2.1-or-later
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/** Two functions that measure their own CPU time, for test_e2e_generated.c; the argument is the file of the truth. */
public final class GeneratedTimes {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static long light, heavy, sink;

    static long own_light(int n) {
        long s = 0;
        for (int i = 0; i < n; i++)
            s = (s * 31 + i) % 1000003;
        return s;
    }

    static long own_heavy(int n) {
        long s = 0;
        for (int i = 0; i < 2 * n; i++)
            s = (s * 37 + i) % 1000003;
        return s;
    }

    static void outer(int n) {
        long begin = CLOCK.getCurrentThreadCpuTime();
        sink += own_light(n);
        long middle = CLOCK.getCurrentThreadCpuTime();
        sink += own_heavy(n);
        light += middle - begin;
        heavy += CLOCK.getCurrentThreadCpuTime() - middle;
    }

    public static void main(String[] arguments) throws IOException {
        for (int i = 0; i < 3000; i++) // until the functions are compiled
            outer(2000);
        light = heavy = 0;
        while (light + heavy < 1_000_000_000L)
            outer(200_000);
        Files.writeString(Path.of(arguments[0]),
                String.format("pid %d\nlight %d\nheavy %d\n", ProcessHandle.current().pid(), light, heavy));
    }
}
