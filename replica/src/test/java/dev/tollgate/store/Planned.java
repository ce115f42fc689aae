package dev.tollgate.store;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.sql.ObjectName;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.sql.TableFence;
import dev.tollgate.sql.Target;
import dev.tollgate.sql.WriteKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Statements as clients write them, through the SQL front-end and on to a replica. */
final class Planned {
  static final String OK = "ok";
  static final String SKIPPED = "skipped";

  private final SqlFrontend frontend = new SqlFrontend(0);
  private final StoreDriver replica;
  private final SessionId session;

  Planned(StoreDriver replica) {
    this(replica, replica.open());
  }

  Planned(StoreDriver replica, SessionId session) {
    this.replica = replica;
    this.session = session;
  }

  /** "ok", "skipped: why" for what is no statement of the store, or the SQLState of the failure. */
  String run(String sql, Object... parameters) {
    Plan plan;
    try {
      plan = frontend.plan(sql);
    } catch (SqlRefused e) {
      return "refused: " + e.getMessage();
    }
    if (plan instanceof Plan.Read read) {
      return read(read, parameters);
    }
    Operation operation = operation(plan, parameters);
    return operation == null
        ? SKIPPED + ": " + plan.getClass().getSimpleName()
        : stateOf(replica.perform(session, operation));
  }

  private String read(Plan.Read plan, Object... parameters) {
    try {
      replica.query(plan.sql(), parameters);
      return OK;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  /** The outcome of a statement that changes something, with the message of a failure. */
  Outcome outcome(String sql) throws SqlRefused {
    return replica.perform(session, operation((Plan.Write) frontend.plan(sql)));
  }

  static String stateOf(Outcome outcome) {
    if (outcome instanceof Outcome.SqlFailed failed) {
      return failed.sqlState();
    }
    return outcome instanceof Outcome.Executed ? OK : outcome.toString();
  }

  /** What goes into the log for a statement on rows, definitions and fences; null for others. */
  static @Nullable Operation operation(Plan plan, Object... parameters) {
    if (plan instanceof Plan.Write write) {
      return write(write, parameters);
    }
    if (plan instanceof Plan.FenceTable fence) {
      return new Operation.FenceTable(
          table(fence.table()), Objects.requireNonNull(binding(fence.fence())), null, true);
    }
    return plan instanceof Plan.UnfenceTable fence
        ? new Operation.UnfenceTable(table(fence.table()), null, true)
        : null;
  }

  private static TableName table(ObjectName name) {
    return new TableName(name.schema(), name.name());
  }

  private static Operation.@Nullable FenceTerms binding(@Nullable TableFence fence) {
    if (fence instanceof TableFence.LockPerRow rows) {
      return new Operation.RowFence(rows.expressionSql());
    }
    return fence instanceof TableFence.OneLock table
        ? new Operation.TableFence(
            new LockName(table.lockName()), FenceReading.valueOf(table.reading().name()))
        : null;
  }

  private static Operation.ExecuteSql write(Plan.Write plan, Object... parameters) {
    List<Operation.DefinitionTarget> targets = new ArrayList<>();
    for (Target target : plan.targets()) {
      targets.add(
          new Operation.DefinitionTarget(
              switch (target.kind()) {
                case TABLE -> Operation.DefinitionTarget.Kind.TABLE;
                case INDEX -> Operation.DefinitionTarget.Kind.INDEX;
                case SCHEMA -> Operation.DefinitionTarget.Kind.SCHEMA;
                default -> Operation.DefinitionTarget.Kind.OTHER;
              },
              table(target.name())));
    }
    Payload values = StoreDriver.encode(parameters);
    return new Operation.ExecuteSql(
        plan.sql(),
        plan.kind() == WriteKind.DDL,
        targets,
        List.of(new Operation.ParameterSet(values, null)),
        false,
        plan.returnsRows(),
        new Operation.WantedKeys.None(),
        0,
        binding(plan.tableFence()),
        true,
        TransactionScope.AUTOCOMMIT);
  }
}
