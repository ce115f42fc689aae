package dev.tollgate.node.admin;

import dev.tollgate.log.LogStatus;
import java.net.InetAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the console shows of the nodes of the cluster. A node that this one does not hear has no lag
 * and no role: what it said last is no fact.
 */
final class ConsoleMembers {
  /** Whether this node hears another one. Followers hear their leader only. */
  private enum Reach {
    REACHABLE,
    UNREACHABLE,
    UNKNOWN;

    static Reach of(LogStatus.Member member) {
      Long silent = member.silentMillis();
      if (silent == null) {
        return UNKNOWN;
      }
      return silent < ConsoleLimits.SILENCE.toMillis() ? REACHABLE : UNREACHABLE;
    }
  }

  private ConsoleMembers() {}

  /**
   * Writes the member "members".
   *
   * @param client where the page is shown: that decides which consoles it can link to
   * @param addresses where clients reach each node
   */
  static void write(
      ConsoleJson json, MemberUrls urls, InetAddress client, Map<String, String> addresses) {
    LogStatus status = urls.status();
    long committed = status.knownCommitIndex();
    json.open("members", '[');
    for (LogStatus.Member member : status.members()) {
      boolean isSelf = member.nodeId().equals(status.nodeId());
      Reach reach = isSelf ? Reach.REACHABLE : Reach.of(member);
      long index = reach == Reach.REACHABLE ? member.appliedIndex() : -1;
      json.open('{')
          .member("id", member.nodeId())
          .member("self", isSelf)
          .member("role", role(member, isSelf, reach, status))
          .member("clientAddress", addresses.get(member.nodeId()))
          .member("raftAddress", member.raftAddress())
          .member("consoleUrl", isSelf ? null : consoleUrl(urls.forClient(member.nodeId(), client)))
          .member("appliedIndex", index < 0 ? null : (Long) index)
          .member("entriesBehind", index < 0 ? null : (Long) (committed - index))
          .member("silentMillis", member.silentMillis())
          .member("lostEntries", member.lostEntries())
          .member("reach", reach.name())
          .close('}');
    }
    json.close(']');
  }

  private static @Nullable String consoleUrl(@Nullable String adminUrl) {
    return adminUrl == null ? null : adminUrl + ConsolePage.PATH;
  }

  /** The role of a node, or null if this node does not know it. */
  private static @Nullable String role(
      LogStatus.Member member, boolean isSelf, Reach reach, LogStatus status) {
    if (isSelf) {
      return status.role().name();
    }
    if (member.nodeId().equals(status.leaderId())) {
      return LogStatus.Role.LEADER.name();
    }
    return reach == Reach.REACHABLE ? LogStatus.Role.FOLLOWER.name() : null;
  }
}
