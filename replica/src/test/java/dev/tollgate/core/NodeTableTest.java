package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.UniqueId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeTableTest {
  private static final UniqueId FIRST = new UniqueId(1, 1);
  private static final UniqueId SECOND = new UniqueId(2, 2);

  private static final ClusterKey KEY = new ClusterKey(filled(7));
  private static final ClusterKey OTHER_KEY = new ClusterKey(filled(8));

  private final NodeTable nodes = new NodeTable();

  private static byte[] filled(int value) {
    byte[] bytes = new byte[ClusterKey.BYTES];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  @Test
  void firstNameOfAClusterStays() {
    assertNull(nodes.identity().clusterId());
    assertTrue(nodes.name(FIRST, KEY));
    assertFalse(nodes.name(SECOND, OTHER_KEY));
    assertTrue(nodes.name(FIRST, KEY));
    assertEquals(FIRST, nodes.identity().clusterId());
    assertEquals(KEY, nodes.identity().key());
    assertFalse(nodes.identity().toString().contains("7, 7"), nodes.identity().toString());
  }

  @Test
  void anotherIncarnationUnderANodesNameChangesNothing() {
    assertEquals(NodeTable.Announced.MOVED, nodes.announce("n1", "a:1", FIRST));
    assertEquals(NodeTable.Announced.REFUSED, nodes.announce("n1", "evil:1", SECOND));
    assertEquals(NodeTable.Announced.REFUSED, nodes.announce("n1", "evil:1", null));
    assertEquals(Map.of("n1", "a:1"), nodes.addresses());
    assertEquals(Map.of("n1", FIRST), nodes.identity().incarnations());
    assertEquals(NodeTable.Announced.MOVED, nodes.announce("n1", "b:1", FIRST));
    assertEquals(NodeTable.Announced.UNCHANGED, nodes.announce("n1", "b:1", FIRST));
  }

  /** A cluster of an older version, whose nodes are upgraded one by one. */
  @Test
  void nodeWithoutIncarnationGetsOneWhenItTells() {
    nodes.announce("n1", "a:1", null);
    assertEquals(Map.of(), nodes.identity().incarnations());
    nodes.announce("n1", "a:1", FIRST);
    assertEquals(Map.of("n1", FIRST), nodes.identity().incarnations());
  }

  @Test
  void removedNodeDoesNotComeBackUnlessItIsAdded() {
    nodes.announce("n1", "a:1", FIRST);
    assertTrue(nodes.forget("n1"));
    assertFalse(nodes.forget("n1"));
    assertEquals(List.of("n1"), nodes.identity().removed());
    assertEquals(NodeTable.Announced.REFUSED, nodes.announce("n1", "a:1", FIRST));
    assertEquals(Map.of(), nodes.addresses());
    nodes.announce("n1", "a:1", null);
    assertEquals(List.of(), nodes.identity().removed());
  }

  @Test
  void oldestRemovedNamesAreForgotten() {
    for (int i = 0; i <= Limits.REMOVED_NODES; i++) {
      nodes.forget("n" + i);
    }
    assertEquals(Limits.REMOVED_NODES, nodes.identity().removed().size());
    assertEquals("n1", nodes.identity().removed().get(0));
  }
}
