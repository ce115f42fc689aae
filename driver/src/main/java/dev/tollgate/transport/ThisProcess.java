package dev.tollgate.transport;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** How this process describes itself to a node, for operators. */
final class ThisProcess {
  private ThisProcess() {}

  static String host() {
    return Holder.HOST;
  }

  /** Process id and start time, which tell apart two processes with the same id. */
  static String description() {
    return Holder.DESCRIPTION;
  }

  /** Determined once, because a name server may be slow. */
  private static final class Holder {
    static final String HOST = findHost();
    static final String DESCRIPTION =
        ProcessHandle.current().pid()
            + ProcessHandle.current().info().startInstant().map(start -> " " + start).orElse("");

    private static String findHost() {
      String named = System.getenv("HOSTNAME");
      if (named != null && !named.isEmpty()) {
        return named;
      }
      try {
        return InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        return "unknown";
      }
    }
  }
}
