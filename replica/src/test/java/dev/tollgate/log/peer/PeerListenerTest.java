package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
}
