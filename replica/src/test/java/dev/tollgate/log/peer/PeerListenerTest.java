package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.core.command.ClusterIdentity;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.util.NetUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerListenerTest {
  private static final int ATTEMPTS = 60;
  private static final int DEADLINE_MILLIS = 30_000;

  @TempDir Path directory;

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

  /** More addresses than there are places, each with one connection: none has more than another. */
  @Test
  void silentConnectionsOfManyAddressesKeepNoMemberOut() throws Exception {
    try (TestNode n1 = new TestNode("n1", directory, 50);
        TestNode n2 = new TestNode("n2", directory, 50);
        PeerLink back = n2.linkTo(n1)) {
      // from here on n2 knows where n1 is
      back.connect();
      PeerCredentials n1s =
          new PeerCredentials(
              "n1", null, n1.identity.incarnation(), "n2", n2.identity.incarnation());
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MILLIS);
      boolean tooSlow;
      do {
        List<Socket> silent = new ArrayList<>();
        long began = System.nanoTime();
        try (RawPeer member = new RawPeer(n2.address)) {
          for (int i = 0; i < 2 * PeerListener.MAX_STRANGERS; i++) {
            Socket socket = new Socket();
            silent.add(socket);
            socket.bind(new InetSocketAddress("127.0.1." + (i + 1), 0));
            socket.connect(NetUtils.createSocketAddr(n2.address));
          }
          Socket last = silent.get(silent.size() - 1);
          last.setSoTimeout(DEADLINE_MILLIS);
          assertEquals(Frame.PREFACE.length, last.getInputStream().readNBytes(8).length);
          // n2 waits no longer for a hello that has not come, from whatever address
          tooSlow =
              System.nanoTime() - began
                  > TimeUnit.MILLISECONDS.toNanos(PeerSockets.HELLO_MILLIS / 2);
          if (!tooSlow) {
            assertEquals(Frame.Kind.DONE, member.greet(n1s, ClusterIdentity.NONE).kind());
          }
        } finally {
          for (Socket socket : silent) {
            socket.close();
          }
        }
      } while (tooSlow && System.nanoTime() < deadline);
      assertFalse(tooSlow, "this machine is too busy");
    }
  }
}
