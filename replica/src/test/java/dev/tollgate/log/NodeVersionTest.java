package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class NodeVersionTest {
  private static final NodeVersion VERSION = new NodeVersion(3, 7, 2, 4, "1.2");

  private static byte[] bytes(NodeVersion version) {
    return version.write(new WireWriter(64)).toByteArray();
  }

  private static NodeVersion read(byte[] bytes) {
    return NodeVersion.read(new WireReader(bytes));
  }

  @Test
  void versionIsReadAsItWasWritten() {
    assertEquals(VERSION, read(bytes(VERSION)));
    NodeVersion own = NodeVersion.of(FeatureLevels.STANDARD);
    assertEquals(own, read(bytes(own)));
    assertEquals(1, own.featureLevel());
  }

  @Test
  void nodeOfAnEarlierVersionSaysNothing() {
    assertEquals(NodeVersion.NOT_SAID, read(new byte[0]));
    assertEquals(1, NodeVersion.NOT_SAID.featureLevel());
  }

  @Test
  void nodeOfALaterVersionMayAddFields() {
    byte[] bytes = bytes(VERSION);
    assertEquals(VERSION, read(Arrays.copyOf(bytes, bytes.length + 9)));
  }

  @Test
  void whatIsNoVersionIsRefused() {
    byte[] bytes = bytes(VERSION);
    for (int length = 1; length < bytes.length; length++) {
      byte[] part = Arrays.copyOf(bytes, length);
      assertThrows(WireFormatException.class, () -> read(part), length + " bytes");
    }
    assertEquals(NodeVersion.NOT_SAID, read(bytes(new NodeVersion(-1, 7, 2, 4, "1.2"))));
    String hostile = "1\n[31m" + "x".repeat(5_000);
    assertEquals(
        "1?[31m" + "x".repeat(94), read(bytes(new NodeVersion(1, 1, 1, 1, hostile))).program());
  }
}
