package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.sql.SizeRanges;
import dev.tollgate.sql.StatementShape;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The shapes of writes that were tried last, each with the sizes of values that were tried. A shape
 * is forgotten some time after its first try, because its tables may have grown. Thread-safe.
 */
final class TriedShapes {
  /** Bytes that a shape without values takes, about. */
  private static final int SHAPE_BYTES = 200;

  private static final long VALID_NANOS = TimeUnit.MILLISECONDS.toNanos(Limits.REHEARSED_MILLIS);

  /** Nobody changes the ranges of an instance. */
  private record Tried(SizeRanges ranges, long nanos) {
    int bytes() {
      return SHAPE_BYTES + ranges.bytes();
    }
  }

  private final LongSupplier nanos;
  private final Map<Long, Tried> shapes = new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true);
  private final long mostBytes;
  private long bytes;

  /**
   * @param nanos a clock that never goes back
   * @param mostBytes memory of all shapes
   */
  TriedShapes(LongSupplier nanos, long mostBytes) {
    this.mostBytes = mostBytes;
    this.nanos = requireNonNull(nanos, "nanos");
  }

  /** The sizes that were tried; null if the shape has to be tried whatever the sizes are. */
  @Nullable SizeRanges ranges(StatementShape shape) {
    synchronized (this) {
      Tried tried = valid(shape);
      return tried == null ? null : tried.ranges;
    }
  }

  private @Nullable Tried valid(StatementShape shape) {
    Tried tried = shapes.get(shape.text());
    boolean valid =
        tried != null
            && tried.ranges.positions() == shape.positions()
            && nanos.getAsLong() - tried.nanos <= VALID_NANOS;
    return valid ? tried : null;
  }

  /** Records a try with a parameter set. */
  void add(StatementShape shape, byte[] set) {
    synchronized (this) {
      Tried before = valid(shape);
      SizeRanges ranges = before == null ? new SizeRanges(shape.positions()) : before.ranges.copy();
      ranges.cover(shape.literals());
      new ParameterSizes(shape, ranges).cover(set);
      Tried tried = new Tried(ranges, before == null ? nanos.getAsLong() : before.nanos);
      Tried replaced = shapes.put(shape.text(), tried);
      bytes += tried.bytes() - (replaced == null ? 0 : replaced.bytes());
      Iterator<Tried> eldest = shapes.values().iterator();
      while (shapes.size() > Limits.REHEARSED_SHAPES || bytes > mostBytes) {
        bytes -= eldest.next().bytes();
        eldest.remove();
      }
    }
  }
}
