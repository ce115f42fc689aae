package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.ErrorAnswer;
import dev.tollgate.node.admin.MemberUrls;
import dev.tollgate.wire.SqlState;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a node that does not lead answers: the way to the admin address of the leader, which the
 * leader has said when it called this node. Thread-safe.
 */
final class LeaderHint {
  private static final int REDIRECT = 307;
  private static final int MISDIRECTED = 421;
  private static final int UNAVAILABLE = 503;

  private final String nodeId;
  private final ReplicatedLog log;
  private final Supplier<SortedMap<String, String>> clientAddresses;

  /**
   * @param clientAddresses of the nodes, by node id
   */
  LeaderHint(
      String nodeId, ReplicatedLog log, Supplier<SortedMap<String, String>> clientAddresses) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.log = requireNonNull(log, "log");
    this.clientAddresses = requireNonNull(clientAddresses, "clientAddresses");
  }

  /**
   * Shows the way to the leader.
   *
   * @param maybeDone whether the request may have taken effect, and is safe to send again
   */
  Answer answer(AdminRequest request, boolean maybeDone) {
    String leader = log.leaderId();
    if (leader == null || leader.equals(nodeId)) {
      return error(
              UNAVAILABLE,
              leader == null
                  ? "node " + nodeId + " knows no leader: try again"
                  : "node " + nodeId + " is about to lead: try again",
              maybeDone,
              Map.of())
          .with("Retry-After", "1");
    }
    Map<String, @Nullable Object> where = new LinkedHashMap<>();
    where.put("node", leader);
    where.put("client_address", clientAddresses.get().get(leader));
    MemberUrls urls = MemberUrls.of(log);
    String url = urls.forClient(leader, request.from());
    if (url == null) {
      return error(
          MISDIRECTED,
          "node "
              + nodeId
              + " does not lead, and node "
              + leader
              + " does: send the request to its admin address, which "
              + (urls.byMember().containsKey(leader)
                  ? "is on the loopback of its host"
                  : "it has not told this node"),
          maybeDone,
          where);
    }
    where.put("url", url);
    String query = request.query().isEmpty() ? "" : "?" + request.query();
    return error(
            REDIRECT,
            "node " + nodeId + " does not lead, and node " + leader + " does",
            maybeDone,
            where)
        .with("Location", url + request.path() + query);
  }

  private static Answer error(
      int status, String message, boolean maybeDone, Map<String, @Nullable Object> leader) {
    SqlState state = maybeDone ? SqlState.OUTCOME_UNKNOWN : SqlState.NO_QUORUM;
    String outcome =
        maybeDone
            ? "; the request may have taken effect, and it is safe to send it again"
            : "; nothing was done";
    String more = leader.isEmpty() ? "" : ",\"leader\":" + new JsonWriter().append(leader);
    return ErrorAnswer.of(status, state.state(), state.vendorCode(), message + outcome, more);
  }
}
