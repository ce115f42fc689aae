package dev.tollgate.node.audit;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import org.jspecify.annotations.Nullable;

/**
 * Tells which commands of the log administer the cluster. No session is behind them: who called the
 * procedure is in the line of the node that carried it out.
 */
final class CommandEvents {
  private CommandEvents() {}

  /** Returns the event of a command, or null if there is none. */
  static @Nullable AuditEvent of(Command command, Outcome outcome) {
    if (outcome instanceof Outcome.Refused refused && refused.code() == RefusalCode.SKIPPED) {
      return event("skip_command", command.getClass().getSimpleName(), outcome);
    }
    if (command instanceof Command.CreateFirstUser first) {
      return event("create_user", first.account().name() + " admin, the first user", outcome);
    }
    if (command instanceof Command.AnnounceNode node) {
      return event("announce_node", node.nodeId() + " at " + node.clientAddress(), outcome);
    }
    if (command instanceof Command.ForgetNode node) {
      return event("forget_node", node.nodeId(), outcome);
    }
    if (command instanceof Command.NameCluster cluster) {
      return event("name_cluster", cluster.clusterId().toString(), outcome);
    }
    if (command instanceof Command.LimitTransactions limits) {
      return event("set_transaction_limits", limits(limits), outcome);
    }
    if (command instanceof Command.RaiseFeatureLevel raise) {
      return event("upgrade_cluster", "feature level " + raise.level(), outcome);
    }
    if (command instanceof Command.ResetLogTime) {
      return event("reset_log_time", "", outcome);
    }
    if (command instanceof Command.VerifyReplicas) {
      return event("verify_replicas", "", outcome);
    }
    if (command instanceof Command.PauseStatements) {
      return event("begin_runtime_change", "", outcome);
    }
    if (command instanceof Command.AdoptEnvironment adopt) {
      return event("adopt_runtime", adopt.environment().runtime(), outcome);
    }
    return null;
  }

  private static String limits(Command.LimitTransactions limits) {
    return "age "
        + limits.limits().ageMillis()
        + " ms, idle "
        + limits.limits().idleMillis()
        + " ms";
  }

  private static AuditEvent event(String action, String object, Outcome outcome) {
    return new AuditEvent.Administered(
        AuditEvent.Party.NOBODY, action, object, AuditEvent.Result.of(outcome));
  }
}
