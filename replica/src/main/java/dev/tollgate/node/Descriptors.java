package dev.tollgate.node;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * How many files and sockets this process may have open at a time, according to the operating
 * system ({@code ulimit -n}).
 */
public final class Descriptors {
  /**
   * What a node needs besides a socket for each client: jars, the log, snapshots, its selectors,
   * connections to and from some other nodes, and connections that are refused.
   */
  public static final int OF_A_NODE = 256;

  private Descriptors() {}

  /** Returns the limit of this process, or {@link Long#MAX_VALUE} if none can be read. */
  public static long limit() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
            && unix.getMaxFileDescriptorCount() > 0
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  /** Returns how many of the wanted connections fit beside the node; 0 or less if none fits. */
  public static int connections(long limit, int wanted) {
    return (int) Math.min(wanted, limit - OF_A_NODE);
  }
}
