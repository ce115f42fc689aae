package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.util.NetUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NewPeersTest {
  private static final int ATTEMPTS = 60;
  private static final int DEADLINE_MILLIS = 30_000;

  @TempDir Path directory;

  private final NewPeers<String> peers = new NewPeers<>(4);

  private static InetAddress address(int last) throws IOException {
    return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) last});
  }

  private String add(String peer, int address) throws IOException {
    return peers.add(peer, address(address), new CompletableFuture<>());
  }

  @Test
  void oldestOfTheAddressWithTheMostGoes() throws Exception {
    assertNull(add("member", 1));
    assertNull(add("a", 2));
    assertNull(add("b", 2));
    assertNull(add("c", 2));
    assertEquals("a", add("d", 2));
    assertEquals("b", add("other", 3));
    assertEquals("c", add("e", 2));
    peers.remove("member");
    assertNull(add("f", 2));
    assertEquals("d", add("g", 2));
  }

  @Test
  void oldestGoesIfNoAddressHasMore() throws Exception {
    for (int i = 0; i < 4; i++) {
      assertNull(add("p" + i, i));
    }
    assertEquals("p0", add("p4", 4));
    assertEquals("p1", add("p5", 5));
  }

  /** The deadline of a connection ends with it. */
  @Test
  void whoIsDroppedOrRemovedHasSaidEnough() throws Exception {
    List<CompletableFuture<Void>> said = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      said.add(new CompletableFuture<>());
      peers.add("p" + i, address(1), said.get(i));
    }
    assertTrue(said.get(0).isDone());
    peers.remove("p1");
    assertTrue(said.get(1).isDone());
    assertFalse(said.get(2).isDone());
  }

  /** All come from one address, as on a machine with several nodes. */
  @Test
  void silentConnectionsKeepNoNodeOut() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (TestNode n1 = new TestNode("n1", directory, 50);
        TestNode n2 = new TestNode("n2", directory, 50)) {
      for (int i = 0; i < ATTEMPTS; i++) {
        while (silent.size() < 2 * PeerListener.MAX_STRANGERS) {
          Socket socket = new Socket();
          socket.connect(NetUtils.createSocketAddr(n2.address));
          silent.add(socket);
        }
        try (PeerLink link = n1.linkTo(n2)) {
          link.connect();
        }
        silent.remove(0).close();
      }
      Socket last = silent.get(silent.size() - 1);
      last.setSoTimeout(DEADLINE_MILLIS);
      assertEquals(Frame.PREFACE.length, last.getInputStream().readAllBytes().length);
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }
}
