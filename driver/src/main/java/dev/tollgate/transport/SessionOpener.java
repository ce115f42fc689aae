package dev.tollgate.transport;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.time.Duration;

/** Opens a session at the leader; if any node will do, moves it to the first node of the URL. */
final class SessionOpener {
  private final NodeFinder finder;
  private final Moves moves;
  private final Timekeeping environment;
  private final SessionSettings settings;
  private final Request.SessionOptions options;
  private final Budget budget;

  /**
   * @param limit longest time to open in all, zero for as long as any request
   */
  SessionOpener(
      NodeFinder finder,
      Moves moves,
      Timekeeping environment,
      SessionSettings settings,
      Duration limit) {
    this.finder = finder;
    this.moves = moves;
    this.environment = environment;
    this.settings = settings;
    this.options =
        new Request.SessionOptions(settings.readConsistency(), settings.lockWait().toMillis());
    this.budget = new Budget(environment, settings.failover(), limit, () -> false);
  }

  SessionLink open() throws TransportException {
    Request.OpenSession opening =
        new Request.OpenSession(
            settings.session().toMillis(),
            settings.lease().toMillis(),
            options,
            settings.timeZone());
    NodeFinder.Found found;
    try {
      found = finder.find(true, node -> ask(opening, node), budget);
    } catch (NodeFinder.UnreachableException e) {
      throw refusedOrUnreachable(e);
    }
    if (!(found.reply() instanceof Reply.SessionReady ready)) {
      found.node().close();
      throw new TransportException(
          SqlState.INTERNAL,
          found.node().address() + " gave an answer out of place: " + found.reply(),
          null);
    }
    NodeConnection node =
        settings.readConsistency() == ReadConsistency.ANY
            ? preferredNode(found.node(), ready)
            : found.node();
    return new SessionLink(finder, moves, environment, options, ready, node);
  }

  private Reply ask(Request.OpenSession opening, NodeConnection node) throws IOException {
    return node.version() < Protocol.TIME_ZONE_VERSION && !opening.timeZone().equals(Protocol.UTC)
        ? new Reply.Failure(
            SqlState.NOT_SUPPORTED,
            node.address()
                + " is of an earlier version, whose sessions are in UTC: upgrade the node, or set"
                + " timeZone=UTC")
        : node.ask(opening, budget.within(settings.failover()));
  }

  /** The failure from the node that rejected the session, or that no node was reachable. */
  private TransportException refusedOrUnreachable(NodeFinder.UnreachableException e) {
    String message =
        "No node of "
            + finder.map()
            + " took the session within "
            + settings.failover().toMillis()
            + " ms: "
            + e.getMessage();
    Reply.Failure failure =
        e.refusal()
            .map(refusal -> new Reply.Failure(refusal.sqlState(), refusal.vendorCode(), message))
            .orElseGet(() -> new Reply.Failure(SqlState.NO_QUORUM, message));
    return new TransportException(failure, e);
  }

  /**
   * Returns the first node of the URL that takes the session. A node that lags behind does not know
   * the session yet; then the session stays with the leader.
   */
  private NodeConnection preferredNode(NodeConnection leader, Reply.SessionReady ready) {
    Request.AttachSession attach =
        new Request.AttachSession(
            ready.sessionId(), ready.secret(), /* leaderOnly= */ false, options);
    try {
      NodeFinder.Found found =
          finder.find(
              false,
              candidate ->
                  candidate.address().equals(leader.address())
                      ? new Reply.Ok()
                      : candidate.ask(attach, budget.within(environment.timing().deadAfter())),
              budget);
      NodeConnection spare = found.reply() instanceof Reply.SessionReady ? leader : found.node();
      spare.close();
      return found.reply() instanceof Reply.SessionReady ? found.node() : leader;
    } catch (NodeFinder.UnreachableException | TransportException e) {
      return leader;
    }
  }
}
