package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DescriptorsTest {
  @Test
  void theNodeComesFirst() {
    assertEquals(20_000, Descriptors.connections(1_048_576, 20_000));
    assertEquals(20_000, Descriptors.connections(Long.MAX_VALUE, 20_000));
    assertEquals(768, Descriptors.connections(1_024, 20_000));
    assertEquals(100, Descriptors.connections(1_024, 100));
    assertEquals(0, Descriptors.connections(256, 100));
    assertTrue(Descriptors.connections(100, 100) < 0);
  }

  @Test
  void thisProcessHasALimit() {
    assertTrue(Descriptors.limit() > Descriptors.OF_A_NODE, "limit: " + Descriptors.limit());
  }
}
