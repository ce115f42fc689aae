package dev.tollgate.store;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.SqlStore;
import dev.tollgate.core.StateMachine;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.SystemTable;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.h2.value.ValueInteger;
import org.h2.value.ValueNull;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/** A replica without a log: applies operations of sessions one after the other. */
final class StoreDriver implements AutoCloseable {
  static final LockName JOB = new LockName("job");

  final SqlDatabase database;
  final StateMachine machine;

  /** How many executions of statements of the log were tried. */
  int executions;

  /** How often a query has asked for the rows of a view of schema TOLLGATE. */
  int viewsRead;

  private long logIndex;
  private long sequence;
  private List<Notice> notices = List.of();

  StoreDriver() {
    this(new SqlDatabase());
  }

  StoreDriver(SqlDatabase database) {
    this.database = database;
    machine = new StateMachine(counted(database));
  }

  private SqlStore counted(SqlStore store) {
    return (SqlStore)
        Proxy.newProxyInstance(
            SqlStore.class.getClassLoader(),
            new Class<?>[] {SqlStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("execute")) {
                executions++;
              }
              try {
                return method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  SessionId open() {
    return ((Outcome.SessionOpened)
            apply(new Command.OpenSession(new ClientInfo("app", "host", "1"), 1, 60_000, 15_000)))
        .session();
  }

  SessionId open(UserName user) {
    return ((Outcome.SessionOpened)
            apply(
                new Command.OpenSession(
                    new ClientInfo("app", "host", "1"), 1, 60_000, 15_000, user)))
        .session();
  }

  Outcome apply(Command command) {
    logIndex++;
    StateMachine.Applied applied =
        machine.apply(
            new LogPosition(logIndex, 0, 1_000_000_000_000_000L + logIndex * 1_000),
            EntryBytes.read(command));
    machine.checkInvariants();
    notices = applied.notices();
    return applied.outcome();
  }

  /** How long those that began to wait with the last command are ready to wait. */
  List<Long> waitsStarted() {
    List<Long> millis = new ArrayList<>();
    for (Notice notice : notices) {
      if (notice instanceof Notice.WaitStarted wait) {
        millis.add(wait.waitMillis());
      }
    }
    return millis;
  }

  Outcome perform(SessionId session, Operation operation) {
    return apply(new Command.Perform(session, ++sequence, operation));
  }

  long take(SessionId session, String lock) {
    Outcome outcome =
        perform(
            session, new Operation.AcquireLock(new LockName(lock), null, LockMode.EXCLUSIVE, 0));
    return ((Outcome.Granted) outcome).token().value();
  }

  /** Runs a statement that changes rows or definitions. */
  Outcome run(SessionId session, String sql, Object... parameters) {
    return perform(session, statement(sql, null, List.<Object[]>of(parameters)));
  }

  /** Runs a statement in the session's transaction, and begins one if there is none. */
  Outcome in(SessionId session, String sql, Object... parameters) {
    return perform(session, inTransaction(sql, TransactionScope.READ_COMMITTED, parameters));
  }

  static Operation.ExecuteSql inTransaction(
      String sql, TransactionScope mode, Object... parameters) {
    Operation.ExecuteSql plain = statement(sql, null, List.<Object[]>of(parameters));
    return new Operation.ExecuteSql(
        plain.sql(),
        plain.definition(),
        plain.targets(),
        plain.parameterSets(),
        plain.batch(),
        plain.returnsRows(),
        plain.keys(),
        plain.maxRows(),
        plain.binding(),
        plain.ownLeaseTrusted(),
        mode);
  }

  Outcome commit(SessionId session) {
    return perform(session, new Operation.EndTransaction(true));
  }

  Outcome rollback(SessionId session) {
    return perform(session, new Operation.EndTransaction(false));
  }

  /** The outcome of the session's last operation, which had to wait. */
  Outcome last(SessionId session) {
    return apply(new Command.Perform(session, sequenceOf(session), NEVER_RUN));
  }

  private long sequenceOf(SessionId session) {
    return machine.state().session(session).lastSequence();
  }

  private static final Operation NEVER_RUN = new Operation.SetLockTimeout(1);

  Outcome runFenced(SessionId session, String sql, long token) {
    return perform(session, statement(sql, clause(token), List.<Object[]>of(new Object[0])));
  }

  /** Runs a statement that has to succeed. */
  StatementResult ok(SessionId session, String sql, Object... parameters) {
    return result(run(session, sql, parameters));
  }

  static StatementResult result(Outcome outcome) {
    if (!(outcome instanceof Outcome.Executed executed)) {
      throw new AssertionError(outcome.toString());
    }
    return StatementResult.read(executed.result().bytes(), null);
  }

  static Operation.StatementFence clause(long token) {
    return new Operation.StatementFence(new PresentedToken(JOB, token), false);
  }

  Outcome fence(SessionId session, String table, FenceReading reading) {
    return perform(
        session,
        new Operation.FenceTable(
            new TableName(null, table), new Operation.TableFence(JOB, reading), null, true));
  }

  static Operation.ExecuteSql statement(
      String sql, Operation.@Nullable StatementFence clause, List<Object[]> sets) {
    return statement(sql, clause, sets, new Operation.WantedKeys.None(), null);
  }

  static Operation.ExecuteSql statement(
      String sql,
      Operation.@Nullable StatementFence clause,
      List<Object[]> sets,
      Operation.WantedKeys keys,
      Operation.@Nullable FenceTerms binding) {
    String[] words = sql.trim().split("[\\s(]+");
    boolean definition =
        List.of("CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT").contains(words[0]);
    List<Operation.ParameterSet> parameterSets = new ArrayList<>();
    for (Object[] set : sets) {
      parameterSets.add(new Operation.ParameterSet(encode(set), clause));
    }
    return new Operation.ExecuteSql(
        sql,
        definition,
        definition ? List.of(target(words)) : List.of(),
        parameterSets,
        sets.size() > 1,
        words[0].equals("SELECT"),
        keys,
        0,
        binding,
        true,
        TransactionScope.AUTOCOMMIT);
  }

  /**
   * What the front-end would say that a definition names; enough for the statements of the tests.
   */
  private static Operation.DefinitionTarget target(String[] words) {
    int name = words[0].equals("COMMENT") ? 3 : 2;
    String kind = words[name - 1];
    if (words[name].equals("IF")) {
      name += words[name + 1].equals("NOT") ? 3 : 2;
    }
    if (words[0].equals("CREATE") && kind.equals("INDEX")) {
      return target(Operation.DefinitionTarget.Kind.TABLE, words[name + 2]);
    }
    return switch (kind) {
      case "TABLE" -> target(Operation.DefinitionTarget.Kind.TABLE, words[name]);
      case "INDEX" -> target(Operation.DefinitionTarget.Kind.INDEX, words[name]);
      case "CONSTRAINT" -> target(Operation.DefinitionTarget.Kind.CONSTRAINT, words[name]);
      case "SCHEMA" -> target(Operation.DefinitionTarget.Kind.SCHEMA, words[name]);
      default -> target(Operation.DefinitionTarget.Kind.OTHER, words[name]);
    };
  }

  private static Operation.DefinitionTarget target(
      Operation.DefinitionTarget.Kind kind, String name) {
    int dot = name.indexOf('.');
    return new Operation.DefinitionTarget(
        kind, new TableName(dot < 0 ? null : name.substring(0, dot), name.substring(dot + 1)));
  }

  static Payload encode(Object... parameters) {
    List<Value> values = new ArrayList<>();
    for (Object parameter : parameters) {
      values.add(
          parameter == null
              ? ValueNull.INSTANCE
              : parameter instanceof Integer number
                  ? ValueInteger.get(number)
                  : parameter instanceof Long number
                      ? ValueBigint.get(number)
                      : parameter instanceof Value value
                          ? value
                          : ValueVarchar.get(parameter.toString()));
    }
    return Payload.of(Parameter.encodeValues(values));
  }

  /** All rows of a query, as text. */
  List<String> query(String sql, Object... parameters) throws SQLException {
    return query(sql, encode(parameters), views(() -> {}), new SqlReader.Canceller());
  }

  /** Runs a query and signals when it asks for lock 'signal'. */
  List<String> query(String sql, Runnable signal) throws SQLException {
    return query(sql, signal, new SqlReader.Canceller());
  }

  List<String> query(String sql, Runnable signal, SqlReader.Canceller canceller)
      throws SQLException {
    return query(sql, encode(), views(signal), canceller);
  }

  List<String> query(
      String sql, Payload parameters, LockAccess locks, SqlReader.Canceller canceller)
      throws SQLException {
    return query(null, sql, parameters, locks, canceller);
  }

  /** All rows of a query in the open transaction of a session. */
  List<String> queryIn(SessionId owner, String sql) throws SQLException {
    return query(owner, sql, encode(), views(() -> {}), new SqlReader.Canceller());
  }

  private List<String> query(
      @Nullable SessionId owner,
      String sql,
      Payload parameters,
      LockAccess locks,
      SqlReader.Canceller canceller)
      throws SQLException {
    SqlReader.Page page =
        database
            .reader()
            .query(
                owner,
                new SqlReader.Settings("PUBLIC", 0, UserName.ANONYMOUS),
                sql,
                parameters.bytes(),
                0,
                0,
                1,
                locks,
                canceller);
    StatementResult.Rows rows =
        (StatementResult.Rows) StatementResult.read(page.body().bytes(), null);
    return text(rows.rows());
  }

  static List<String> text(RowSet rows) {
    List<String> text = new ArrayList<>();
    for (Value[] row : rows.page().rows()) {
      List<String> cells = new ArrayList<>();
      for (Value value : row) {
        cells.add(value.getString());
      }
      text.add(String.join(",", cells.stream().map(String::valueOf).toList()));
    }
    return text;
  }

  /** Everything that a replica holds, as SQL. */
  String script() throws SQLException {
    List<String> tables =
        query(
            "SELECT TABLE_SCHEMA || '.' || TABLE_NAME FROM INFORMATION_SCHEMA.TABLES"
                + " WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN"
                + " ('INFORMATION_SCHEMA', 'TOLLGATE') ORDER BY 1");
    StringBuilder script = new StringBuilder();
    for (String table : tables) {
      script.append(table).append('\n');
      query("SELECT * FROM " + table + " ORDER BY 1").forEach(r -> script.append(r).append('\n'));
    }
    query("SELECT SEQUENCE_NAME, BASE_VALUE FROM INFORMATION_SCHEMA.SEQUENCES ORDER BY 1")
        .forEach(r -> script.append(r).append('\n'));
    query(
            "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_DEFAULT FROM"
                + " INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'PUBLIC' ORDER BY 1,"
                + " ORDINAL_POSITION")
        .forEach(r -> script.append(r).append('\n'));
    return script.toString();
  }

  LockAccess views(Runnable signal) {
    ClusterState state = machine.state();
    return new LockAccess() {
      @Override
      public Outcome holdsLock(LockName lock, long token) {
        if (lock.value().equals("signal")) {
          signal.run();
        }
        return state.holdsLock(UserName.ANONYMOUS, lock, token);
      }

      @Override
      public Outcome lockToken(LockName lock) {
        return state.lockToken(UserName.ANONYMOUS, lock);
      }

      @Override
      public Outcome perform(Operation operation) {
        throw new AssertionError("a query may not perform " + operation);
      }

      @Override
      public Iterable<@Nullable Object[]> rows(SystemTable table) {
        viewsRead++;
        if (table == SystemTable.FENCES) {
          List<@Nullable Object[]> rows = new ArrayList<>();
          state
              .fences()
              .forEach(
                  f ->
                      rows.add(
                          new Object[] {
                            f.table().schema(),
                            f.table().name(),
                            f.lock() == null ? null : f.lock().value(),
                            f.reading().name(),
                            f.highestToken(),
                            f.terms() instanceof Operation.RowFence fence ? fence.lockSql() : null
                          }));
          return rows;
        }
        return List.of();
      }
    };
  }

  @Override
  public void close() {
    database.close();
  }
}
