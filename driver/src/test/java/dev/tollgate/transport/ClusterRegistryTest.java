package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterRegistryTest {
  @Test
  void withoutAProviderTheMissingArtifactIsNamed() {
    ClusterRegistry registry = new ClusterRegistry(Timekeeping.STANDARD, List::of);
    TransportException e =
        assertThrows(
            TransportException.class,
            () ->
                registry.open(
                    new ClusterTarget.InMemory("x"),
                    Client.settings(Duration.ofSeconds(1)),
                    Duration.ZERO));
    assertEquals(SqlState.NO_QUORUM.state(), e.failure().sqlState());
    assertTrue(e.getMessage().contains("dev.tollgate:tollgate-embedded"), e.getMessage());
    assertEquals(0, registry.size());
  }
}
