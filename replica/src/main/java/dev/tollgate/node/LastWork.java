package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.node.client.ClientServer;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.TimeKeeper;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node does for its cluster and its clients before it stops. Each step has a longest time,
 * and the node stops even if a step fails. Used by the thread that closes the node.
 */
final class LastWork {
  private static final Logger LOG = LoggerFactory.getLogger(LastWork.class);

  /** How long a leader that stops waits for its successor. */
  private static final Duration RESIGN = Duration.ofSeconds(3);

  /** How long a node that is alone and stops waits until its leases are recorded. */
  private static final Duration RECORD = Duration.ofSeconds(3);

  /** How long a node that is alone and stops waits for its snapshot. */
  private static final Duration SNAPSHOT = Duration.ofSeconds(10);

  /**
   * How long a node that stops waits for requests under way and for open results. With the wait for
   * a successor before, that is less than the ten seconds that containers are given.
   */
  private static final Duration DRAIN = Duration.ofSeconds(5);

  private final String nodeId;
  private final Replica replica;
  private final ReplicatedLog log;
  private final CommandPipeline pipeline;
  private final TimeKeeper timeKeeper;

  LastWork(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      CommandPipeline pipeline,
      TimeKeeper timeKeeper) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.replica = requireNonNull(replica, "replica");
    this.log = requireNonNull(log, "log");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
  }

  /** Hands leadership over, so that clients do not wait for an election. */
  void resign() {
    if (replica.failure() != null || !replica.isLeading()) {
      return;
    }
    await(log.membership().resign(), RESIGN, "before another node leads");
  }

  /** Lets clients finish what they have under way here; they find the other nodes by themselves. */
  void drain(ClientService service, ClientServer server) {
    if (replica.failure() != null) {
      return;
    }
    service.stops();
    int left = server.drain(DRAIN);
    if (left > 0) {
      LOG.info(
          "{}: closes {} connections on which requests are under way, or results are open: they"
              + " had {} ms to end",
          nodeId,
          left,
          DRAIN.toMillis());
    }
  }

  /** Records what leases have left, so that a node that is alone goes on from there. */
  void recordLeases() {
    if (replica.failure() != null || !replica.isLeading() || !log.isAlone()) {
      return;
    }
    Map<LeaseId, Long> renewals = new LinkedHashMap<>();
    replica
        .state()
        .look(
            state -> {
              state.leases().forEach(lease -> renewals.put(lease.id(), lease.recordedRenewals()));
              return null;
            });
    timeKeeper.recordAll(renewals);
    CompletableFuture<@Nullable Void> recorded = new CompletableFuture<>();
    pipeline.entry(
        new CommandPipeline.Barrier() {
          @Override
          public void passed() {
            recorded.complete(null);
          }

          @Override
          public void failed() {
            recorded.complete(null);
          }
        });
    await(recorded, RECORD, "before it has recorded what leases have left");
  }

  /**
   * Takes a snapshot if this node is alone. It may start again on another Java runtime, which must
   * not compute again what clients have seen.
   */
  void keepStatements() {
    boolean keeps =
        replica.isLeading()
            && log.isAlone()
            && replica.hasUncopiedStatements()
            && replica.state().look(state -> state.transactions().isEmpty());
    if (!keeps) {
      return;
    }
    await(log.snapshots().take(), SNAPSHOT, "without a snapshot");
  }

  private void await(CompletableFuture<?> work, Duration patience, String otherwise) {
    try {
      work.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.info("{}: stops {}: {}", nodeId, otherwise, e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
