package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.node.replica.Replica;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the leader may raise the feature level of the cluster: once every member has said
 * that it knows the level. No node joins meanwhile, because it might know less. Thread-safe.
 */
final class ClusterUpgrade {
  private static final int RAISING = -1;

  private final ReplicatedLog log;
  private final Replica replica;

  /** How many nodes this leader is adding, or {@link #RAISING}. */
  private final AtomicInteger joining = new AtomicInteger();

  ClusterUpgrade(ReplicatedLog log, Replica replica) {
    this.log = requireNonNull(log, "log");
    this.replica = requireNonNull(replica, "replica");
  }

  /** Adds a node, unless the feature level is being raised. */
  CompletableFuture<Void> joining(Supplier<CompletableFuture<Void>> addition) {
    if (joining.updateAndGet(count -> count == RAISING ? RAISING : count + 1) == RAISING) {
      return CompletableFuture.failedFuture(
          new MembershipException(
              "the feature level is being raised: try again when that is done"));
    }
    try {
      return addition.get().whenComplete((added, failure) -> joining.decrementAndGet());
    } catch (RuntimeException | Error e) {
      joining.decrementAndGet();
      throw e;
    }
  }

  /**
   * Raises the feature level to the highest that all members know; does nothing if the cluster has
   * it and no member knows a higher one.
   *
   * @param submit proposes a command; completes when it is applied
   * @return completes exceptionally with a {@link MembershipException} that names the member
   *     because of which the level cannot be raised
   */
  CompletableFuture<Void> raise(Function<Command, CompletableFuture<Void>> submit) {
    if (!joining.compareAndSet(0, RAISING)) {
      return CompletableFuture.failedFuture(
          new MembershipException(
              "a node is being added, or the feature level is being raised: try again when that is"
                  + " done"));
    }
    CompletableFuture<Void> raised;
    try {
      Command command = command();
      raised = command == null ? CompletableFuture.completedFuture(null) : submit.apply(command);
    } catch (MembershipException e) {
      raised = CompletableFuture.failedFuture(e);
    } catch (RuntimeException | Error e) {
      joining.set(0);
      throw e;
    }
    return raised.whenComplete((done, failure) -> joining.set(0));
  }

  /** Returns the command that raises the level as far as every member knows; null if it has it. */
  private @Nullable Command command() throws MembershipException {
    LogStatus status = log.status();
    SortedMap<String, NodeVersion> versions = new TreeMap<>(log.versions());
    versions.put(status.nodeId(), replica.version());
    String least = status.nodeId();
    String most = least;
    for (LogStatus.Member member : status.members()) {
      String node = member.nodeId();
      NodeVersion version = versions.get(node);
      if (version == null) {
        throw new MembershipException(
            "node "
                + node
                + " has not said what it knows: it has to run, and to be connected to the leader");
      }
      least = version.featureLevel() < level(versions, least) ? node : least;
      most = version.featureLevel() > level(versions, most) ? node : most;
    }
    int common = level(versions, least);
    if (common > replica.featureLevel()) {
      return new Command.RaiseFeatureLevel(common);
    }
    if (level(versions, most) > common) {
      throw new MembershipException(
          "the cluster has feature level "
              + replica.featureLevel()
              + ", and node "
              + least
              + " knows no higher one: it runs "
              + requireNonNull(versions.get(least)).describe()
              + ". Install the version of node "
              + most
              + " there first, which knows level "
              + level(versions, most));
    }
    return null;
  }

  private static int level(SortedMap<String, NodeVersion> versions, String node) {
    return requireNonNull(versions.get(node)).featureLevel();
  }
}
