package dev.tollgate.store;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.sql.Target;
import dev.tollgate.sql.WriteKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

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
    if (plan instanceof Plan.Write write) {
      return stateOf(replica.perform(session, operation(write, parameters)));
    }
    return SKIPPED + ": " + plan.getClass().getSimpleName();
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

  private static Operation.ExecuteSql operation(Plan.Write plan, Object... parameters) {
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
              new TableName(target.name().schema(), target.name().name())));
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
        null,
        true,
        TransactionScope.AUTOCOMMIT);
  }
}
