package dev.tollgate.transport.wrong;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.wire.wrong.KnowsTransport;
import org.h2.value.Value;
import org.junit.jupiter.api.Assertions;

/** Breaks the rules of ArchitectureTest, to see them fire. */
public final class SpeaksH2 {
  private SpeaksH2() {}

  public static Object value(Value value) {
    Assertions.assertNotNull(value);
    return KnowsTransport.address();
  }

  /** Depends upwards. */
  public static final class UsesJdbc {
    public TollgateDriver driver() {
      return new TollgateDriver();
    }
  }
}
