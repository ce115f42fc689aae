package dev.tollgate.fake;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The network between clients and a {@link FakeNode}, and what may be wrong with it. */
public final class FaultyLink implements AutoCloseable {
  /**
   * What becomes of bytes from now on, on connections that there are and on new ones. Where bytes
   * got lost, nothing passes in that direction any more: TCP loses no bytes in the middle.
   */
  public enum Fault {
    NONE(false),
    /** Connections are reset when the client says something. */
    RESET(false),
    /** Connections are closed in order when the client says something. */
    CLOSED(false),
    /** What the client says gets lost, and nobody tells it: the cable is cut. */
    SILENT(false),
    /** Answers get lost. */
    ANSWERS_LOST(true),
    /** Half of an answer arrives, then the connection is reset. */
    ANSWERS_CUT(true),
    /** Half of an answer arrives, and nothing after it. */
    ANSWERS_STUCK(true),
    /** Something else arrives in place of an answer. */
    ANSWERS_GARBLED(true),
    /** In place of an answer the connection ends, in one direction. */
    HALF_CLOSED(true);

    private final boolean reachesNode;

    Fault(boolean reachesNode) {
      this.reachesNode = reachesNode;
    }

    /** Whether requests get through. */
    public boolean reachesNode() {
      return reachesNode;
    }
  }

  private static final byte[] GARBAGE =
      "HTTP/1.1 511 Network Authentication Required\r\n\r\n".getBytes(US_ASCII);

  private final FakeNode node;
  private final ServerSocket server;
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private volatile Fault fault = Fault.NONE;
  private volatile int pieceBytes = 8192;
  private volatile Duration pause = Duration.ZERO;
  private final AtomicLong passedBytes = new AtomicLong();

  /** The cluster will say that the node is reached over this link. */
  public FaultyLink(FakeNode node) throws IOException {
    this.node = node;
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    node.reachedAt("127.0.0.1:" + server.getLocalPort());
    start(this::accept);
  }

  public void suffer(Fault next) {
    fault = next;
  }

  /** Lets at most so many bytes pass at a time in each direction, and then pauses. */
  public void slowDown(int bytes, Duration between) {
    pieceBytes = bytes;
    pause = between;
  }

  /** How many connections were not closed by their clients, nor reset. */
  public int openConnections() {
    return clients.size();
  }

  /** How many bytes of answers have passed. */
  public long passedBytes() {
    return passedBytes.get();
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "faulty-link");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (true) {
      try {
        Socket client = server.accept();
        client.setTcpNoDelay(true);
        clients.add(client);
        Socket onward = node.dial();
        start(() -> carryRequests(client, onward));
        start(() -> carryAnswers(onward, client));
      } catch (IOException e) {
        // the test is over
        return;
      }
    }
  }

  private void carryRequests(Socket client, Socket onward) {
    try (client;
        onward) {
      byte[] bytes = new byte[8192];
      boolean stuck = false;
      int count = read(client, bytes);
      while (count >= 0) {
        stuck |= fault == Fault.SILENT;
        if (fault == Fault.RESET) {
          reset(client);
        } else if (fault == Fault.CLOSED) {
          client.shutdownOutput();
        } else if (!stuck) {
          onward.getOutputStream().write(bytes, 0, count);
        }
        count = read(client, bytes);
      }
    } catch (IOException e) {
      // one of them has left
    } finally {
      clients.remove(client);
    }
  }

  private void carryAnswers(Socket onward, Socket client) {
    try {
      byte[] bytes = new byte[8192];
      boolean stuck = false;
      int count = read(onward, bytes);
      while (count >= 0) {
        if (!stuck) {
          stuck = !answer(client, bytes, count);
        }
        count = read(onward, bytes);
      }
      client.shutdownOutput();
    } catch (IOException e) {
      // one of them has left
    }
  }

  /** Passes an answer on; false if the client gets nothing after it. */
  private boolean answer(Socket client, byte[] bytes, int count) throws IOException {
    OutputStream out = client.getOutputStream();
    switch (fault) {
      case ANSWERS_LOST, SILENT -> {
        return false;
      }
      case ANSWERS_CUT -> {
        out.write(bytes, 0, count / 2);
        reset(client);
      }
      case ANSWERS_STUCK -> {
        out.write(bytes, 0, count / 2);
        return false;
      }
      case ANSWERS_GARBLED -> {
        out.write(GARBAGE);
        return false;
      }
      case HALF_CLOSED -> {
        client.shutdownOutput();
        return false;
      }
      case NONE, RESET, CLOSED -> {
        out.write(bytes, 0, count);
        passedBytes.addAndGet(count);
      }
    }
    return true;
  }

  private int read(Socket socket, byte[] bytes) throws IOException {
    LockSupport.parkNanos(pause.toNanos());
    return socket.getInputStream().read(bytes, 0, Math.min(bytes.length, pieceBytes));
  }

  private static void reset(Socket socket) throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket client : clients) {
      client.close();
    }
  }
}
