package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.client.Workers;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.store.MemoryWatch;
import java.security.SecureRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proposes the first commands of a leader. Fails a leader that is not alone and computes statements
 * differently from its cluster. Takes a snapshot when the environment changes, and logs locks taken
 * by force. Thread-safe; nothing here waits.
 */
final class LeaderDuties implements Replica.Listener {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Logger LOG = LoggerFactory.getLogger(LeaderDuties.class);

  /** Is told what becomes of the node. */
  interface Observer {
    /** The node leads, and has proposed the first commands; by a worker's thread. */
    void leads();

    /** The replica has stopped for good. */
    void failed();
  }

  private final String nodeId;
  private final Replica replica;
  private final ReplicatedLog log;
  private final CommandPipeline pipeline;
  private final Workers workers;
  private final MemoryWatch memory;
  private final Supplier<Environment> environment;
  private final @Nullable UserAccount firstAdministrator;
  private final Observer observer;

  /**
   * @param environment of this process
   * @param firstAdministrator is created if the cluster has no users; null to create none
   */
  LeaderDuties(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      CommandPipeline pipeline,
      Workers workers,
      MemoryWatch memory,
      Supplier<Environment> environment,
      @Nullable UserAccount firstAdministrator,
      Observer observer) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.replica = requireNonNull(replica, "replica");
    this.log = requireNonNull(log, "log");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.workers = requireNonNull(workers, "workers");
    this.memory = requireNonNull(memory, "memory");
    this.environment = requireNonNull(environment, "environment");
    this.firstAdministrator = firstAdministrator;
    this.observer = requireNonNull(observer, "observer");
  }

  @Override
  public void startedLeading(ClusterState state) {
    memory.forget();
    RuntimeException difference = replica.difference(state);
    boolean unstated = state.computing().equals(Computing.ANYWHERE);
    workers.chore(
        () -> {
          if (difference != null && !log.isAlone()) {
            replica.failed(difference);
            return;
          }
          if (difference != null || unstated) {
            adoptOwnEnvironment(difference);
          }
          pipeline.submit(
              new Command.SeedRandom(new RandomSeed(RANDOM.nextLong(), RANDOM.nextLong())),
              Proposal.Listener.NOBODY);
          if (replica.identity().clusterId() == null) {
            pipeline.submit(
                new Command.NameCluster(
                    new UniqueId(RANDOM.nextLong(), RANDOM.nextLong()), drawKey()),
                Proposal.Listener.NOBODY);
          }
          if (firstAdministrator != null && !replica.facts().hasUsers()) {
            createFirstUser(firstAdministrator);
          }
          observer.leads();
        });
  }

  private static ClusterKey drawKey() {
    byte[] bytes = new byte[ClusterKey.BYTES];
    RANDOM.nextBytes(bytes);
    return new ClusterKey(bytes);
  }

  private void createFirstUser(UserAccount administrator) {
    pipeline.submit(
        new Command.CreateFirstUser(administrator),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            if (outcome instanceof Outcome.Answered answered && answered.answer()) {
              LOG.info(
                  "{}: created the first user, administrator {}", nodeId, administrator.name());
            }
          }

          @Override
          public void unknown() {
            // the next leader proposes its own
          }
        });
  }

  /** A leader states its own environment if the state names none, or if the leader is alone. */
  private void adoptOwnEnvironment(@Nullable RuntimeException difference) {
    Environment own = environment.get();
    if (difference != null) {
      LOG.info("{}: from now on statements are computed on {}", nodeId, own.runtime());
    }
    pipeline.submit(new Command.AdoptEnvironment(own), Proposal.Listener.NOBODY);
  }

  /**
   * Takes a snapshot: what precedes the pause must not be computed again in another environment.
   */
  @Override
  public void environmentChanges() {
    log.snapshots()
        .takeAfterEntry()
        .exceptionally(
            failure -> {
              LOG.warn(
                  "{}: no snapshot for another Java runtime: {}. Mend that, and take a backup from"
                      + " this node before it is started with one: `tollgate backup` at its"
                      + " address writes a snapshot first",
                  nodeId,
                  failure.toString());
              return null;
            });
  }

  @Override
  public void stoppedLeading() {}

  /** Logs what an operator does by force, because others will ask about it. */
  @Override
  public void noticed(Notice notice) {
    if (notice instanceof Notice.LockTaken taken) {
      LOG.info(
          "{}: force_release_lock took lock '{}' from lease {} with token {}{}",
          nodeId,
          taken.lock(),
          taken.lease(),
          taken.token(),
          taken.holders() == 1 ? "" : ", and from " + (taken.holders() - 1) + " others");
    }
  }

  @Override
  public void failed(Throwable cause) {
    observer.failed();
  }
}
