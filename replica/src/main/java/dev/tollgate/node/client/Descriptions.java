package dev.tollgate.node.client;

import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.wire.Reply;
import java.sql.SQLException;

/** What a statement takes and returns, for a client that prepares it. */
final class Descriptions {
  private Descriptions() {}

  /**
   * @param schema where unqualified names are looked up
   * @throws SQLException if the database does not know what the statement names
   */
  static Reply.Prepared of(Plan plan, String schema, SqlReader reader) throws SQLException {
    if (plan instanceof Plan.Read read) {
      return withFence(reader.describe(schema, read.sql()), read.parameterCount());
    }
    if (plan instanceof Plan.Write write) {
      return withFence(reader.describe(schema, write.sql()), write.parameterCount());
    }
    if (plan instanceof Plan.LockCall call) {
      return LockAnswers.describe(
          call.columnLabel(), isAnsweredYesOrNo(call.function()), call.parameterCount());
    }
    if (plan instanceof Plan.Administer call) {
      return withFence(
          reader.describe(schema, call.procedure().resultSql()), call.parameterCount());
    }
    return LockAnswers.describeCommand(plan.parameterCount());
  }

  /** Adds the parameters of a fence after those that the database knows. */
  private static Reply.Prepared withFence(Reply.Prepared described, int parameterCount) {
    return new Reply.Prepared(
        described.query(),
        described.commandType(),
        LockAnswers.withMoreParameters(described.parameters(), parameterCount),
        described.columns());
  }

  private static boolean isAnsweredYesOrNo(LockFunction function) {
    return switch (function) {
      case HOLDS_LOCK, RELEASE_LOCK, FORCE_RELEASE_LOCK, REVOKE_LEASE -> true;
      case CREATE_LEASE,
          RENEW_LEASE,
          ACQUIRE_LOCK,
          TRY_ACQUIRE_LOCK,
          ACQUIRE_SHARED_LOCK,
          TRY_ACQUIRE_SHARED_LOCK,
          LOCK_TOKEN ->
          false;
    };
  }
}
