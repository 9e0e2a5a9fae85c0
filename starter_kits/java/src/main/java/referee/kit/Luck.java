package referee.kit;

import java.util.Collections;
import java.util.List;

/**
 * The luck of one step of the rules: the same luck gives the same draws. A game without luck ignores it. SplitMix64, as
 * in the other kits and in the referee's own games.
 */
public final class Luck {
    /** The 64 bits from which all draws follow. */
    public final long seed;

    private long state;

    public Luck(long seed) {
        this.seed = seed;
        this.state = seed;
    }

    /** Draws 64 random bits. */
    public long bits() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Draws a whole number from 0 up to {@code n}, which is not among them. */
    public int below(int n) {
        long spare = Long.remainderUnsigned(-(long) n, n); // 2^64 % n: the last numbers would favour small results
        for (; ; ) {
            long value = bits();
            if (Long.compareUnsigned(value, ~spare) <= 0) {
                return (int) Long.remainderUnsigned(value, n);
            }
        }
    }

    /** Draws one of the items. */
    public <T> T choice(List<T> items) {
        return items.get(below(items.size()));
    }

    /** Shuffles the items in place. */
    public void shuffle(List<?> items) {
        for (int i = items.size() - 1; i > 0; i--) {
            Collections.swap(items, i, below(i + 1));
        }
    }
}
