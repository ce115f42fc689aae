package dev.tollgate.node;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * How many files and sockets this process may have open at a time, which the operating system says
 * ({@code ulimit -n}).
 */
public final class Descriptors {
  /**
   * What a node needs besides a socket for each client: jars, the log, snapshots, its selectors,
   * connections to and from some other nodes, and connections that are refused.
   */
  public static final int OF_A_NODE = 256;

  private Descriptors() {}

  /** The limit of this process, or {@link Long#MAX_VALUE} if it has none that can be asked for. */
  public static long limit() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
            && unix.getMaxFileDescriptorCount() > 0
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  /** How many of the connections that are wanted fit beside the node; 0 or less if none does. */
  public static int connections(long limit, int wanted) {
    return (int) Math.min(wanted, limit - OF_A_NODE);
  }
}
