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
        Set.of("calendar", "characters", "numbers", "time zones"),
        environment.fingerprints().keySet());
    assertTrue(environment.runtime().contains(Runtime.version().toString()));
  }

  @Test
  void whatStatementsWouldDoOtherwiseIsNamed() {
    Locale former = Locale.getDefault();
    Environment environment = LocalEnvironment.compute();
    try {
      Locale.setDefault(Locale.GERMANY);
      assertEquals(
          List.of("calendar"), environment.differences(LocalEnvironment.compute()), "weeks");
      Locale.setDefault(new Locale("tr", "TR"));
      assertTrue(environment.differences(LocalEnvironment.compute()).contains("characters"));
    } finally {
      Locale.setDefault(former);
    }
  }
}
