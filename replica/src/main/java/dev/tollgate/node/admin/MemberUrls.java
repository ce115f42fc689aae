package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.ReplicatedLog;
import java.net.InetAddress;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the other members serve their admin addresses, and which clients reach them there.
 *
 * @param status says on which hosts the members run
 * @param byMember URLs without a path, by node id, as {@link ReplicatedLog#adminUrls} has them
 */
public record MemberUrls(LogStatus status, Map<String, String> byMember) {
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127\\.[0-9.]+|\\[?(?:0*:)*:?0*1]?");

  public MemberUrls {
    requireNonNull(status, "status");
    byMember = Map.copyOf(byMember);
  }

  /** What a node knows at the moment. */
  public static MemberUrls of(ReplicatedLog log) {
    return new MemberUrls(log.status(), log.adminUrls());
  }

  /** The URL of a member; null if it is not known, or if the client cannot reach it. */
  public @Nullable String forClient(String member, InetAddress client) {
    String url = byMember.get(member);
    return url != null && isReachable(url, member, client) ? url : null;
  }

  /** An address on loopback is one of this host if the member runs here, and the client too. */
  private boolean isReachable(String url, String member, InetAddress client) {
    if (!isLoopback(hostOf(url))) {
      return true;
    }
    String own = raftHost(status.nodeId());
    return client.isLoopbackAddress() && own != null && own.equals(raftHost(member));
  }

  private static boolean isLoopback(String host) {
    return LOOPBACK.matcher(host).matches();
  }

  /** The host of a scheme, a host and a port. */
  private static String hostOf(String url) {
    return url.substring(url.indexOf("://") + "://".length(), url.lastIndexOf(':'));
  }

  private @Nullable String raftHost(String member) {
    for (LogStatus.Member each : status.members()) {
      if (each.nodeId().equals(member)) {
        int port = each.raftAddress().lastIndexOf(':');
        return port < 0 ? each.raftAddress() : each.raftAddress().substring(0, port);
      }
    }
    return null;
  }
}
