package dev.tollgate.h2;

import java.util.Objects;
import org.h2.engine.CastDataProvider;
import org.h2.util.json.JSONValue;
import org.h2.value.CompareMode;
import org.h2.value.Value;
import org.h2.value.ValueCollectionBase;
import org.h2.value.ValueGeometry;
import org.h2.value.ValueJson;
import org.h2.value.ValueLob;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * What H2 does sooner with values that are one object, or that it has taken apart before. The steps
 * are those of values that are equal and that nobody has read yet: a replica that was restored has
 * a copy of each value.
 */
@SuppressWarnings("ReferenceEquality") // that a value is one object is the subject
public final class ComparedValues {
  /** Bytes of a large object that are compared in the time of one step. */
  private static final int BYTES_PER_STEP = 16;

  private ComparedValues() {}

  /** As in {@link Value#compareTo(Value, CastDataProvider, CompareMode)}. */
  @Replaces(of = "org.h2.value.Value")
  public static int compareTo(
      Value value, Value other, CastDataProvider provider, CompareMode mode) {
    return value == other && value != ValueNull.INSTANCE
        ? compareTypeSafe(value, other, mode, provider)
        : value.compareTo(other, provider, mode);
  }

  /** As in {@link Value#compareTypeSafe(Value, CompareMode, CastDataProvider)}. */
  @Replaces(of = "org.h2.value.Value")
  public static int compareTypeSafe(
      Value value, Value other, CompareMode mode, CastDataProvider provider) {
    if (value instanceof ValueLob one && other instanceof ValueLob two) {
      Meter.steps(Math.min(one.octetLength(), two.octetLength()) / BYTES_PER_STEP);
      return Meter.uncounted(() -> value.compareTypeSafe(other, mode, provider));
    }
    if (value instanceof ValueCollectionBase one
        && other instanceof ValueCollectionBase two
        && one.getList() == two.getList()) {
      for (Value element : one.getList()) {
        Meter.step();
        compareTo(element, element, provider, mode);
      }
      return 0;
    }
    return value.compareTypeSafe(other, mode, provider);
  }

  /** As in {@link Value#equals(Object)}. */
  @Replaces(of = "org.h2.value.Value")
  public static boolean equals(Value value, Object other) {
    if (value instanceof ValueLob || value instanceof ValueCollectionBase) {
      return Meter.uncounted(() -> value.equals(other));
    }
    return value.equals(other);
  }

  /** Whether a row keeps its place in an index. */
  @Replaces(of = "java.util.Objects", isStatic = true, in = "org.h2.index.Index")
  public static boolean equals(@Nullable Object value, @Nullable Object other) {
    return value == other || Meter.uncounted(() -> Objects.equals(value, other));
  }

  /** A value keeps its parsed form for as long as there is memory. */
  @Replaces(of = "org.h2.value.ValueJson")
  public static JSONValue getDecomposition(ValueJson value) {
    Meter.steps(value.getBytesNoCopy().length);
    return Meter.uncounted(value::getDecomposition);
  }

  /** A value keeps its envelope. */
  @Replaces(of = "org.h2.value.ValueGeometry")
  public static double[] getEnvelopeNoCopy(ValueGeometry value) {
    Meter.steps(value.getBytesNoCopy().length / BYTES_PER_STEP);
    return Meter.uncounted(value::getEnvelopeNoCopy);
  }
}
