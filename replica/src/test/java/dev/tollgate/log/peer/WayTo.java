package dev.tollgate.log.peer;

import static org.awaitility.Awaitility.await;

import dev.tollgate.wire.WireReader;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.ratis.util.NetUtils;

/**
 * The way of all other nodes to one node. It knows which node a connection is of, so each node can
 * have a way of its own: late, or silent. The node may also be dead, or its machine. Thread-safe.
 */
public final class WayTo implements AutoCloseable {
  private final InetSocketAddress address;
  private final InetSocketAddress target;
  private final Map<String, Long> lateMillis = new ConcurrentHashMap<>();
  private final List<Carried> connections = new CopyOnWriteArrayList<>();
  private final Set<String> ended = ConcurrentHashMap.newKeySet();
  private final Set<String> mute = ConcurrentHashMap.newKeySet();
  private volatile ServerSocket listener;
  private volatile boolean silent;

  /** A connection, and the node that has made it once that is known. */
  private static final class Carried {
    final Socket near;
    final Socket far = new Socket();
    volatile String from = "";
    volatile boolean silent;

    Carried(Socket near) {
      this.near = near;
    }

    void close() throws IOException {
      near.close();
      far.close();
    }
  }

  /**
   * @param address host:port at which others find the node
   * @param target host:port at which the node listens
   */
  public WayTo(String address, String target) throws IOException {
    this.address = NetUtils.createSocketAddr(address);
    this.target = NetUtils.createSocketAddr(target);
    open();
  }

  /** The node is there. */
  public void open() throws IOException {
    // the thread that accepted before may still have the port for a moment
    ServerSocket listening =
        await()
            .pollDelay(Duration.ZERO)
            .ignoreExceptionsInstanceOf(BindException.class)
            .until(() -> PeerSockets.listen(address), bound -> true);
    silent = false;
    listener = listening;
    start(
        () -> {
          while (true) {
            Carried connection = new Carried(listening.accept());
            connections.add(connection);
            start(() -> carry(connection));
          }
        });
  }

  /** The process of the node at the end of this way has ended. */
  public void endProcess() throws IOException {
    listener.close();
    breakOff(any -> true);
  }

  /** The process of a node that comes this way has ended. */
  public void endProcess(String from) throws IOException {
    ended.add(from);
    breakOff(from);
  }

  /** The machine of the node is gone: it answers nothing, and no connection ends. */
  public void endMachine() {
    silent = true;
  }

  /** The machine of a node that comes this way is gone. */
  public void endMachine(String from) {
    mute.add(from);
  }

  /** A node comes this way again. */
  public void open(String from) throws IOException {
    breakOff(from);
    ended.remove(from);
    mute.remove(from);
  }

  /** Connections of a node are made late from now on; 0 for at once. */
  public void delay(String from, long millis) {
    lateMillis.put(from, millis);
  }

  /** The connection of a node ends. */
  public void breakOff(String from) throws IOException {
    breakOff(from::equals);
  }

  private void breakOff(Predicate<String> from) throws IOException {
    for (Carried connection : List.copyOf(connections)) {
      if (from.test(connection.from)) {
        connection.close();
        connections.remove(connection);
      }
    }
  }

  /** The connection that a node has now carries nothing any more, and does not end. */
  public void silence(String from) {
    connections.stream()
        .filter(connection -> connection.from.equals(from))
        .forEach(connection -> connection.silent = true);
  }

  private void carry(Carried connection) throws IOException {
    try {
      connection.far.connect(target);
    } catch (IOException e) {
      connection.close();
      return;
    }
    connection.near.setTcpNoDelay(true);
    connection.far.setTcpNoDelay(true);
    start(() -> pump(connection, connection.far, connection.near));
    DataInputStream in = new DataInputStream(connection.near.getInputStream());
    byte[] preface = in.readNBytes(Frame.PREFACE.length);
    byte[] hello = FaultyWay.frame(in);
    connection.from = sender(hello);
    sleep(lateMillis.getOrDefault(connection.from, 0L));
    if (ended.contains(connection.from)) {
      connection.close();
      return;
    }
    if (!isSilent(connection)) {
      connection.far.getOutputStream().write(preface);
      connection.far.getOutputStream().write(hello);
    }
    pump(connection, connection.near, connection.far);
  }

  private static String sender(byte[] hello) throws IOException {
    WireReader body =
        Frame.read(new DataInputStream(new ByteArrayInputStream(hello)), Frame.MAX_HELLO_BYTES)
            .body();
    body.flag();
    return PeerCredentials.read(body.bytes()).from();
  }

  private boolean isSilent(Carried connection) {
    return silent || connection.silent || mute.contains(connection.from);
  }

  private void pump(Carried connection, Socket from, Socket to) throws IOException {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] chunk = new byte[64 << 10];
      for (int length = in.read(chunk); length > 0; length = in.read(chunk)) {
        if (!isSilent(connection)) {
          out.write(chunk, 0, length);
        }
      }
    } finally {
      // a machine that is gone ends nothing
      if (!isSilent(connection)) {
        connection.close();
      }
    }
  }

  private static void sleep(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void start(FaultyWay.Work work) {
    FaultyWay.start("way-to-" + target, work);
  }

  @Override
  public void close() throws IOException {
    endProcess();
  }
}
