package dev.tollgate.cluster;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Free ports for servers of tests. A port can be lost between this and its server, so each test
 * process that runs beside others has a range of its own. All ranges are below the ports that
 * systems give to connections (Linux from 32768, others from 49152): a connection might sit on the
 * port of a node while the node is down. Thread-safe.
 */
public final class Ports {
  /** The first port that is in no range. */
  public static final int END = 32_000;

  private static final int FIRST = 20_000;
  private static final int RANGES = 8;
  private static final int PORTS_OF_A_RANGE = (END - FIRST) / RANGES;

  private static final int RANGE =
      FIRST
          + (Integer.getInteger("tollgate.test.ports", 0)
                  + Integer.getInteger("tollgate.test.fork", 1))
              % RANGES
              * PORTS_OF_A_RANGE;

  /** No port comes twice soon: a test may leave connections that are not closed yet. */
  private static final AtomicInteger NEXT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(PORTS_OF_A_RANGE));

  private Ports() {}

  /** A port of loopback that nobody has. */
  public static int free() throws IOException {
    for (int attempt = 0; attempt < PORTS_OF_A_RANGE; attempt++) {
      int port = RANGE + NEXT.getAndIncrement() % PORTS_OF_A_RANGE;
      if (isFree(port)) {
        return port;
      }
    }
    throw new IOException("no port from " + RANGE + " is free");
  }

  /** Whether nobody has a port of loopback. */
  public static boolean isFree(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (BindException e) {
      return false;
    }
  }

  /** Addresses of n1, n2 and so on, at ports that are free. */
  public static SortedMap<String, String> peers(int count) throws IOException {
    SortedMap<String, String> addresses = new TreeMap<>();
    for (int i = 1; i <= count; i++) {
      addresses.put("n" + i, "127.0.0.1:" + free());
    }
    return addresses;
  }
}
