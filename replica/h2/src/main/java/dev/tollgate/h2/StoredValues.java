package dev.tollgate.h2;

import org.h2.engine.CastDataProvider;
import org.h2.value.CompareMode;
import org.h2.value.Value;
import org.h2.value.ValueGeometry;

/**
 * What H2's storage does with values. None of it counts: which keys are compared in a search
 * depends on the shape of the tree, which is another one on a replica that was restored.
 */
public final class StoredValues {
  private static final int SHORT_TEXT = 64;

  private StoredValues() {}

  /** As in {@link Value#compareTo(Value, CastDataProvider, CompareMode)}. */
  @Replaces(of = "org.h2.value.Value")
  public static int compareTo(
      Value value, Value other, CastDataProvider provider, CompareMode mode) {
    if (isPlain(value) && isPlain(other)) {
      return value.compareTo(other, provider, mode);
    }
    Meter.pause();
    try {
      return value.compareTo(other, provider, mode);
    } finally {
      Meter.resume();
    }
  }

  /** True for values that are compared without a step. */
  private static boolean isPlain(Value value) {
    return switch (value.getValueType()) {
      case Value.BOOLEAN,
          Value.TINYINT,
          Value.SMALLINT,
          Value.INTEGER,
          Value.BIGINT,
          Value.DATE,
          Value.TIME,
          Value.TIME_TZ,
          Value.TIMESTAMP,
          Value.TIMESTAMP_TZ,
          Value.UUID ->
          true;
      case Value.VARCHAR -> value.getString().length() <= SHORT_TEXT;
      default -> false;
    };
  }

  /** As in {@link ValueGeometry#getEnvelopeNoCopy}. */
  @Replaces(of = "org.h2.value.ValueGeometry")
  public static double[] getEnvelopeNoCopy(ValueGeometry value) {
    return Meter.uncounted(value::getEnvelopeNoCopy);
  }
}
