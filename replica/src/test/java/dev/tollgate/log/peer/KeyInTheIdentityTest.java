package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.WholeFile;
import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node keeps the key of its cluster in its directory, and shows it nowhere. */
class KeyInTheIdentityTest {
  private static final ClusterIdentity KNOWN = ClusterKeys.identity(0x5a, Map.of());
  private static final String HEX = HexFormat.of().formatHex(KNOWN.key().toBytes());

  @TempDir private Path directory;

  private NodeIdentity open() throws IOException {
    return NodeIdentity.open(directory, "n1", directory, DataKeys.off());
  }

  private Path file() {
    return directory.resolve(NodeIdentity.FILE);
  }

  @Test
  void keyIsInAPrivateFileAndIsReadBack() throws Exception {
    NodeIdentity identity = open();
    assertFalse(identity.named().isDone());
    identity.learn(KNOWN, 1);
    assertTrue(identity.named().isDone());
    assertTrue(Files.readString(file()).contains("cluster-key=" + HEX));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
    assertEquals(KNOWN, open().known());
    assertTrue(open().named().isDone());
  }

  /** It would be known to others, and have nothing to prove itself with when it starts again. */
  @Test
  void nodeThatCannotWriteTheKeyIsNotNamed() throws Exception {
    NodeIdentity identity = open();
    Files.createDirectories(directory.resolve(NodeIdentity.FILE + ".tmp").resolve("full"));
    assertThrows(IOException.class, () -> identity.learn(KNOWN, 1));
    assertFalse(identity.named().isDone());
  }

  @Test
  void noTextShowsTheKey() throws Exception {
    String decimal = KNOWN.key().toBytes()[0] + ", " + KNOWN.key().toBytes()[1];
    for (Object text :
        new Object[] {
          KNOWN, KNOWN.key(), new Command.NameCluster(ClusterKeys.CLUSTER, KNOWN.key()), open()
        }) {
      assertFalse(text.toString().contains(HEX), text.toString());
      assertFalse(text.toString().contains(decimal), text.toString());
    }
  }

  @Test
  void damagedKeyIsSaidAndNotShown() throws Exception {
    open().learn(KNOWN, 1);
    String text = WholeFile.read(file());
    for (String key : new String[] {HEX.substring(2), HEX.replace("5a5a", "5axy"), ""}) {
      WholeFile.write(file(), text.replace(HEX, key));
      IOException failure = assertThrows(IOException.class, this::open);
      assertTrue(failure.getMessage().contains("has no key of a cluster"), failure.getMessage());
      for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
        assertFalse(cause.toString().contains("5a5a"), cause.toString());
      }
    }
    WholeFile.write(file(), text.replaceAll("cluster-key=.*", ""));
    assertThrows(IOException.class, this::open);
    Files.delete(file());
    Files.createDirectories(directory.resolve("current"));
    assertFalse(open().named().isDone(), "an emptied directory is of no cluster");
  }
}
