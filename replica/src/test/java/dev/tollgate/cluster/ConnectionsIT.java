package dev.tollgate.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many clients at one node. */
class ConnectionsIT {
  private static final int CONNECTIONS = 10_000;
  private static final int READ_TIMEOUT_MILLIS = 60_000;

  @TempDir Path directory;

  @Test
  void tenThousandConnectionsAreServed() throws Exception {
    long files =
        ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getMaxFileDescriptorCount();
    assumeTrue(
        files > CONNECTIONS + 1_000,
        "this machine allows a process " + files + " open files, fewer than the test needs");
    List<Socket> sockets = new ArrayList<>();
    try (ClusterProcesses cluster = new ClusterProcesses("ConnectionsIT", directory, 1)) {
      int port = cluster.clientPort(cluster.node("n1"));
      for (int i = 0; i < CONNECTIONS; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        sockets.add(socket);
        assertTrue(
            call(socket, new Request.Hello(1, Protocol.VERSION, "app", "host", "1"))
                instanceof Reply.Welcome);
      }
      for (Socket socket : sockets) {
        assertTrue(call(socket, new Request.Ping()) instanceof Reply.Ok);
      }
      try (Connection connection = cluster.connect("");
          Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("SELECT acquire_lock('x')")) {
        assertTrue(row.next());
        assertEquals(1, row.getLong(1), "the ten-thousand-and-first is served too");
      }
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private static Reply call(Socket socket, Request request) throws IOException {
    WireWriter body = new WireWriter();
    request.write(body);
    WireWriter out = new WireWriter();
    new Frame(request.type(), 1, 0, body.toByteArray()).writeHeader(out);
    out.raw(body.array(), 0, body.size());
    socket.getOutputStream().write(out.toByteArray());
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return Reply.read(Frame.read(new WireReader(bytes)));
  }
}
