package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.Membership;
import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.Verification;
import dev.tollgate.sql.Procedure;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.schema.LockArguments;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * The procedures that administer a cluster. Thread-safe; nothing here waits.
 *
 * <p>The addresses for clients are part of the replicated state and follow the members of the Raft
 * group. A new leader forgets the addresses of nodes that its predecessor had removed.
 */
public final class Administration implements Replica.Listener {
  private final ReplicatedLog log;
  private final CommandPipeline pipeline;
  private final Verification verification;
  private final Replica replica;
  private final ClusterUpgrade upgrade;

  /**
   * @param replica of this node
   */
  public Administration(
      ReplicatedLog log, CommandPipeline pipeline, Verification verification, Replica replica) {
    this.log = requireNonNull(log, "log");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.verification = requireNonNull(verification, "verification");
    this.replica = requireNonNull(replica, "replica");
    this.upgrade = new ClusterUpgrade(log, replica);
  }

  /**
   * Runs a procedure.
   *
   * @param caller the session that calls the procedure
   * @return completes when the procedure is done; exceptionally with a {@link NotLeadingException}
   *     if another node has to do it, or a {@link MembershipException} if it cannot be done
   * @throws SQLException if an argument is wrong
   */
  CompletableFuture<Void> run(Procedure procedure, List<SqlValue> arguments, SessionId caller)
      throws SQLException {
    Membership membership = log.membership();
    return switch (procedure) {
      case ADD_NODE -> {
        String node = text("node", arguments.get(0));
        String clientAddress = text("client_address", arguments.get(2));
        String raftAddress = text("raft_address", arguments.get(1));
        yield upgrade
            .joining(() -> membership.add(node, raftAddress))
            .thenCompose(added -> submit(new Command.AnnounceNode(node, clientAddress)));
      }
      case REMOVE_NODE -> {
        String node = text("node", arguments.get(0));
        yield membership.remove(node).thenCompose(removed -> submit(new Command.ForgetNode(node)));
      }
      case TRANSFER_LEADERSHIP -> membership.transferLeadership(text("node", arguments.get(0)));
      case RESIGN_LEADERSHIP -> membership.replaceLeader(text("node", arguments.get(0)));
      case VERIFY_REPLICAS -> verification.verify();
      case BEGIN_RUNTIME_CHANGE -> submit(new Command.PauseStatements());
      case END_RUNTIME_CHANGE -> submit(new Command.AdoptEnvironment(replica.environment()));
      case SET_TRANSACTION_LIMITS -> submit(new Command.LimitTransactions(limits(arguments)));
      case END_SESSION -> submit(new Command.CloseSession(other(arguments.get(0), caller)));
      case RESET_LOG_TIME -> resetLogTime();
      case UPGRADE_CLUSTER -> upgrade.raise(this::submit);
      case TAKE_SNAPSHOT -> log.snapshots().take().thenAccept(taken -> {});
    };
  }

  /** Only to a time on which a majority agrees: otherwise the log would have to be set again. */
  private CompletableFuture<Void> resetLogTime() {
    LogClock.Look look = pipeline.clock().look();
    if (!look.agreed()) {
      return CompletableFuture.failedFuture(
          new MembershipException(
              "the clocks of no majority agree, so there is no time to which the log could be set"
                  + " back: "
                  + look.describe()
                  + ". Set the clocks of the nodes right first"));
    }
    return submit(new Command.ResetLogTime());
  }

  private static SessionId other(SqlValue argument, SessionId caller) throws SQLException {
    SessionId session = LockArguments.sessionId(argument);
    if (session.equals(caller)) {
      throw SqlErrors.invalid(
          "session "
              + session
              + " is the one that calls end_session: close its connection instead");
    }
    return session;
  }

  private static TransactionLimits limits(List<SqlValue> arguments) throws SQLException {
    long age = LockArguments.millis("age", arguments.get(0));
    long idle = LockArguments.millis("idle", arguments.get(1));
    try {
      return new TransactionLimits(age, idle);
    } catch (IllegalArgumentException e) {
      throw SqlErrors.invalid("the limits of transactions cannot be set: " + e.getMessage());
    }
  }

  private static String text(String parameter, SqlValue value) throws SQLException {
    String text = value.textOrNull();
    if (text == null || text.isEmpty()) {
      throw SqlErrors.invalid(parameter + " has to be a character string");
    }
    return text;
  }

  private CompletableFuture<Void> submit(Command command) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    pipeline.submit(
        command,
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            done.complete(null);
          }

          @Override
          public void unknown() {
            done.completeExceptionally(new NotLeadingException());
          }

          @Override
          public void notYet(String why) {
            done.completeExceptionally(new MembershipException(why));
          }
        });
    return done;
  }

  @Override
  public void startedLeading(ClusterState state) {
    Set<String> members =
        log.status().members().stream()
            .map(LogStatus.Member::nodeId)
            .collect(Collectors.toUnmodifiableSet());
    List<String> gone = new ArrayList<>(state.nodes().keySet());
    gone.removeAll(members);
    gone.forEach(node -> pipeline.submit(new Command.ForgetNode(node), Proposal.Listener.NOBODY));
  }

  @Override
  public void stoppedLeading() {}

  @Override
  public void noticed(Notice notice) {}

  @Override
  public void failed(Throwable cause) {}
}
