package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Environment;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LocalEnvironmentTest {
  @Test
  void aProcessHasOneAndFindsTheSameAgain() {
    Environment environment = LocalEnvironment.get();
    assertSame(environment, LocalEnvironment.get());
    assertEquals(environment, LocalEnvironment.compute());
    assertEquals(
        Set.of("characters", "numbers", "time zones"), environment.fingerprints().keySet());
    assertTrue(environment.runtime().contains(Runtime.version().toString()));
  }

  /** Replicas compute with one locale, whatever that of the process is. */
  @Test
  void localeOfTheProcessChangesNothing() {
    Locale former = Locale.getDefault();
    Environment environment = LocalEnvironment.compute();
    try {
      Locale.setDefault(new Locale("tr", "TR"));
      assertEquals(List.of(), environment.differences(LocalEnvironment.compute()));
    } finally {
      Locale.setDefault(former);
    }
  }
}
