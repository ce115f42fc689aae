package dev.tollgate.store;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Clock;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.h2.TimeZones;
import dev.tollgate.store.limits.ScanMeters;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.ReaderGate;
import dev.tollgate.store.statement.StoreCommand;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.h2.command.CommandInterface;
import org.h2.command.Prepared;
import org.h2.command.dml.Explain;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.expression.ParameterInterface;
import org.h2.jdbc.meta.DatabaseMetaServer;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Runs queries outside the log, each on its own session, at most {@value #MAX_QUERIES} at a time.
 * They change nothing: the SQL front-end passes only pure queries on to the reader. Thread-safe.
 */
public final class SqlReader {
  /** H2 keeps at most 255 transactions, including those of queries. */
  static final int MAX_QUERIES = 48;

  /** How often a query that waits to be parsed looks whether it has been canceled. */
  private static final long CANCEL_CHECK_MILLIS = 20;

  private static final long ENDED_QUERY_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Limits.ENDED_QUERY_MILLIS);

  private static final Pattern EXPLAIN_ANALYZE =
      Pattern.compile("\\s*EXPLAIN\\s+ANALYZE\\b", Pattern.CASE_INSENSITIVE);

  private static final Pattern SCRIPT = Pattern.compile("\\s*SCRIPT\\b", Pattern.CASE_INSENSITIVE);

  private static final Pattern LOCK_TIMEOUT =
      Pattern.compile("LOCK_TIMEOUT", Pattern.CASE_INSENSITIVE);

  private final ReaderGate gate;

  /** Written while the gate is closed, and read by threads that have entered the gate. */
  private volatile @Nullable Source source;

  private final QueryMemory memory;
  private final Semaphore permits = new Semaphore(MAX_QUERIES, true);
  private final Semaphore longTexts = new Semaphore(1, true);
  private final ConcurrentLinkedDeque<SessionLocal> idle = new ConcurrentLinkedDeque<>();

  SqlReader(ReaderGate gate, MemoryWatch memory) {
    this.gate = gate;
    this.memory = new QueryMemory(memory);
  }

  /** Sets the database to query from now on. Called while no query runs. */
  void use(H2Database queried, TransactionSessions open, OwnerRights owners) {
    source = new Source(queried, open, owners);
  }

  /** Lets another thread end a query. */
  public static final class Canceller implements ReaderGate.Query {
    private final int losses;
    private @Nullable CommandInterface command;
    private volatile @Nullable SqlState reason;

    /** When a definition ended the query for the first time; 0 if none has. */
    private volatile long firstEndedNanos;

    /** True if the query has waited for an entry that is being applied. */
    private volatile boolean waitedForEntry;

    /** Of a query that its client sends for the first time. */
    public Canceller() {
      this(0);
    }

    /**
     * @param losses connections that were lost while the reply to the query was due on them
     */
    public Canceller(int losses) {
      this.losses = losses;
    }

    /** Ends the query that runs or is about to run. */
    public synchronized void cancel() {
      stop(SqlState.CANCELLED);
    }

    @Override
    public synchronized void cancelForDefinition() {
      stop(SqlState.CONFLICT);
    }

    /** A definition must not wait long for a query that waits for the definition's entry. */
    @Override
    public boolean runsAgain() {
      return firstEndedNanos != 0 && !waitedForEntry;
    }

    /** True if a query that waits for an entry that is being applied is to end. */
    private boolean endsWait() {
      waitedForEntry = true;
      return isCancelled();
    }

    /**
     * Lets a query begin again that a definition has ended.
     *
     * @return false if something else has ended the query, or definitions do so for too long
     */
    private synchronized boolean begunAgain() {
      long now = System.nanoTime();
      long first = firstEndedNanos == 0 ? now : firstEndedNanos;
      boolean again = reason == SqlState.CONFLICT && now - first < ENDED_QUERY_NANOS;
      if (again) {
        firstEndedNanos = first == 0 ? 1 : first;
        reason = null;
      }
      return again;
    }

    private void stop(SqlState why) {
      if (reason != SqlState.CANCELLED) {
        reason = why;
      }
      if (command != null) {
        command.cancel();
      }
    }

    private synchronized void running(@Nullable CommandInterface now) throws SQLException {
      command = now;
      if (now != null) {
        throwIfCancelled();
      }
    }

    /** True if the query has been canceled. */
    boolean isCancelled() {
      return reason != null;
    }

    private synchronized void throwIfCancelled() throws SQLException {
      if (reason == SqlState.CONFLICT) {
        throw SqlErrors.exception(
            SqlState.CONFLICT,
            "the query was ended because a definition waited for it, and so was each repetition for"
                + " "
                + Limits.ENDED_QUERY_MILLIS
                + " ms: run it again");
      }
      if (reason != null) {
        throw SqlErrors.exception(reason, "the statement was cancelled");
      }
    }
  }

  /**
   * A result that did not fit into its first page. Thread-safe: another query may drop its rows.
   */
  public static final class Cursor implements AutoCloseable {
    private final QueryMemory.Use use;
    private @Nullable ResultInterface result;

    private Cursor(ResultInterface result, QueryMemory.Use use) {
      this.result = result;
      this.use = use;
      use.keep(this::drop);
    }

    /**
     * The next rows, as the body of a reply.
     *
     * @param cursorId the id with which the client asks for more rows
     * @return a page whose {@link Page#cursor} is null if these are the last rows
     * @throws SQLException with SQLState 53200 if the rows were dropped to make room
     */
    public synchronized Page fetch(int pageRows, long cursorId) throws SQLException {
      if (result == null) {
        use.release();
        throw Exhausted.memory(
            "the rest of the rows was dropped, because the node needed the memory: fetch large"
                + " results sooner, let the query return fewer rows, or give the nodes more heap");
      }
      WireWriter out = StatementResult.beginPage(new WireWriter());
      boolean more = RowSet.Page.write(out, result, pageRows, Protocol.PAGE_BYTES, cursorId);
      if (!more) {
        close();
      }
      return new Page(Payload.of(out.toByteArray()), more ? this : null, /* tookTime= */ false);
    }

    @Override
    public synchronized void close() {
      drop();
      use.release();
    }

    private synchronized void drop() {
      if (result != null) {
        result.close();
        result = null;
      }
    }
  }

  /**
   * Rows of a result as the body of a reply.
   *
   * @param cursor gives the remaining rows, and must be closed; null if there are none
   * @param tookTime whether the query asked for the time, and got that of the node's clock
   */
  public record Page(Payload body, @Nullable Cursor cursor, boolean tookTime) {
    public Page {
      requireNonNull(body, "body");
    }

    /** Drops the remaining rows. */
    public void close() {
      if (cursor != null) {
        cursor.close();
      }
    }
  }

  /**
   * The settings of a session that its queries show.
   *
   * @param schema where unqualified names are looked up
   * @param timeZone in which its queries run
   * @param lockTimeoutMillis what LOCK_TIMEOUT() returns
   * @param user whose rights its queries need
   * @param begunMicros the time that they see, when the open transaction began, microseconds since
   *     1970; null if none is open: then it is that of the node's clock
   */
  public record Settings(
      String schema,
      TimeZoneName timeZone,
      long lockTimeoutMillis,
      UserName user,
      @Nullable Long begunMicros) {
    public Settings {
      requireNonNull(schema, "schema");
      requireNonNull(timeZone, "timeZone");
      requireNonNull(user, "user");
    }

    /** Those of a session in UTC without a transaction. */
    public Settings(String schema, long lockTimeoutMillis, UserName user) {
      this(schema, TimeZoneName.UTC, lockTimeoutMillis, user, /* begunMicros= */ null);
    }
  }

  /** The database that is queried, its open transactions, and what its views may read. */
  private record Source(
      H2Database database, TransactionSessions transactions, OwnerRights owners) {}

  /**
   * The rows of a query.
   *
   * @param sawTime whether the query asked for the time, or its time was pinned
   */
  private record Ran(ResultInterface rows, boolean sawTime) {}

  private interface InSession<T> {
    T on(SessionLocal session) throws SQLException;
  }

  private interface Work<T> {
    T on(SessionLocal session, QueryMemory.Use use) throws SQLException;
  }

  /**
   * Runs a query.
   *
   * @param transaction the session in whose open transaction it runs, or null to see only what is
   *     committed
   * @param settings the settings of the client's session
   * @param parameterSet the values of its parameters
   * @param maxRows maximum number of rows in the result, 0 for all
   * @param pageRows maximum number of rows in the first page, 0 for as many as fit
   * @param cursorId the id with which the client will ask for more rows
   */
  public Page query(
      @Nullable SessionId transaction,
      Settings settings,
      String sql,
      byte[] parameterSet,
      long maxRows,
      int pageRows,
      long cursorId,
      LockAccess locks,
      Canceller canceller)
      throws SQLException {
    return on(
        transaction,
        settings,
        canceller,
        (session, use) -> {
          Ran ran =
              SCRIPT.matcher(sql).lookingAt()
                  ? script(session, transaction, settings.schema(), sql, maxRows, locks, canceller)
                  : run(session, settings, sql, parameterSet, maxRows, locks, canceller);
          ResultInterface result = ran.rows();
          WireWriter out = begin(settings);
          boolean more = RowSet.write(out, result, pageRows, Protocol.PAGE_BYTES, cursorId);
          if (!more) {
            result.close();
          }
          return new Page(
              Payload.of(out.toByteArray()),
              more ? new Cursor(result, use) : null,
              ran.sawTime() && settings.begunMicros() == null);
        });
  }

  /** A result that says whether the client has a transaction to end. */
  private static WireWriter begin(Settings settings) {
    WireWriter out = new WireWriter();
    return settings.begunMicros() == null
        ? StatementResult.beginRows(out)
        : StatementResult.beginChangedRows(out);
  }

  /** Evaluates a query that returns one row. */
  public List<SqlValue> evaluate(
      @Nullable SessionId transaction,
      Settings settings,
      String sql,
      byte[] parameterSet,
      LockAccess locks,
      Canceller canceller)
      throws SQLException {
    return on(
        transaction,
        settings,
        canceller,
        (session, use) -> {
          try (ResultInterface row =
              run(session, settings, sql, parameterSet, 1, locks, canceller).rows()) {
            List<SqlValue> values = new ArrayList<>();
            row.next();
            for (int i = 0; i < row.getVisibleColumnCount(); i++) {
              values.add(SqlValue.of(row.currentRow()[i]));
            }
            return values;
          }
        });
  }

  /** Describes what a statement takes and returns, without running it. */
  public Reply.Prepared describe(Settings settings, String sql, Canceller canceller)
      throws SQLException {
    return on(
        /* owner= */ null,
        settings,
        canceller,
        // nobody cancels this
        QueryWatch.Bound.steps(Limits.STATEMENT_STEPS_BASE),
        (session, use) -> {
          CommandInterface command = command(session, sql, canceller);
          List<Parameter> parameters = new ArrayList<>();
          for (ParameterInterface parameter : command.getParameters()) {
            parameters.add(new Parameter(parameter.getType(), parameter.getNullable()));
          }
          WireWriter columns = new WireWriter();
          if (command.isQuery()) {
            try (ResultInterface shape = command.getMetaData()) {
              RowSet.writeColumns(columns, shape);
            }
          }
          return new Reply.Prepared(
              command.isQuery(),
              command.getCommandType(),
              Parameter.encode(parameters),
              columns.toByteArray());
        });
  }

  /**
   * Runs a query and forgets the result, to see whether that takes more time, stack or memory than
   * there is. Ends the query after as many steps as a write may take, because the write ends there
   * as well.
   *
   * @param processorMillis how much time of the processor there is
   * @throws SQLException with 54001 or 53200 if it does, and with another SQLState if the query
   *     fails
   */
  public void rehearse(
      Settings settings,
      String sql,
      byte[] parameterSet,
      LockAccess locks,
      long processorMillis,
      Canceller canceller)
      throws SQLException {
    QueryWatch.Bound bound = QueryWatch.Bound.rehearsal(processorMillis);
    on(
        /* owner= */ null,
        settings,
        canceller,
        bound,
        (session, use) -> {
          run(session, settings, sql, parameterSet, 0, locks, canceller).rows().close();
          // what counts no steps took time all the same
          bound.check(0);
          return true;
        });
  }

  /** Runs a method of {@code DatabaseMetaData}, identified by the number that H2 gives it. */
  public byte[] metadata(Settings settings, int code, byte[] arguments, Canceller canceller)
      throws SQLException {
    return on(
        /* owner= */ null,
        settings,
        canceller,
        (session, use) -> {
          Value[] values = Parameter.decodeValues(arguments, session).toArray(new Value[0]);
          MetadataArguments.check(code, values);
          try (ResultInterface result =
              MetadataRows.shown(
                  code, DatabaseMetaServer.process(session, code, values), session)) {
            WireWriter out = StatementResult.beginRows(new WireWriter());
            RowSet.write(out, result, 0, Integer.MAX_VALUE, 0);
            return out.toByteArray();
          }
        });
  }

  private Ran run(
      SessionLocal session,
      Settings settings,
      String sql,
      byte[] parameterSet,
      long maxRows,
      LockAccess locks,
      Canceller canceller)
      throws SQLException {
    if (!LOCK_TIMEOUT.matcher(sql).find()) {
      return run(session, sql, parameterSet, maxRows, locks, settings.user(), canceller);
    }
    // the session may belong to a transaction, whose statements must not wait for locks
    int own = H2Sessions.showLockTimeout(session, settings.lockTimeoutMillis());
    try {
      return run(session, sql, parameterSet, maxRows, locks, settings.user(), canceller);
    } finally {
      H2Sessions.showLockTimeout(session, own);
    }
  }

  private Ran run(
      SessionLocal session,
      String sql,
      byte[] parameterSet,
      long maxRows,
      LockAccess locks,
      UserName user,
      Canceller canceller)
      throws SQLException {
    H2Sessions.forgetDerivedTables(session);
    Prepared prepared = prepare(session, sql, canceller);
    OwnerRights owners = requireNonNull(source, "source").owners();
    if (!(prepared instanceof Explain) || EXPLAIN_ANALYZE.matcher(sql).lookingAt()) {
      owners.requireViews(ScanMeters.attach(session, prepared).views());
    } else {
      // meters would show in the explained plan
      owners.requireViews(H2Statements.viewsIn(prepared));
      ReturnedColumns.requireSelect(session.getUser(), H2Statements.returnedBy(prepared));
    }
    StoreCommand command =
        new StoreCommand(
            session, sql, prepared, locks.seenBy(user).until(canceller::endsWait), QueryWatch.ROWS);
    command.setParameters(parameterSet);
    canceller.running(command);
    try {
      ResultInterface result = command.executeQuery(maxRows, 0, false);
      QueryWatch.requireSendable(result);
      return new Ran(result, command.sawTime());
    } catch (RuntimeException e) {
      throw SqlErrors.ofStatement(e);
    } finally {
      canceller.running(null);
    }
  }

  private Ran script(
      SessionLocal session,
      @Nullable SessionId transaction,
      String schema,
      String sql,
      long maxRows,
      LockAccess locks,
      Canceller canceller)
      throws SQLException {
    if (transaction != null) {
      throw SqlErrors.exception(
          SqlState.ACTIVE_TRANSACTION,
          "SCRIPT shows what is committed, and a transaction is open: COMMIT or ROLLBACK first");
    }
    // it shows the rows of all tables
    session.getUser().checkSchemaAdmin();
    H2Database database = requireNonNull(source, "source").database();
    LockAccess until = locks.until(canceller::endsWait);
    try (DatabaseScript script =
        new DatabaseScript(database, schema, sql, until, QueryWatch.ROWS)) {
      canceller.running(script.command());
      return new Ran(script.rows(maxRows), /* sawTime= */ false);
    } catch (CancellationException e) {
      canceller.throwIfCancelled();
      throw e;
    } catch (DbException e) {
      throw SqlErrors.ofStatement(e);
    } finally {
      canceller.running(null);
    }
  }

  private CommandInterface command(SessionLocal session, String sql, Canceller canceller)
      throws SQLException {
    return prepare(session, sql, canceller, session::prepareCommand);
  }

  private Prepared prepare(SessionLocal session, String sql, Canceller canceller)
      throws SQLException {
    return prepare(session, sql, canceller, session::prepare);
  }

  /** Has H2 parse a text. Long texts are parsed one at a time, because each takes much memory. */
  private <T> T prepare(
      SessionLocal session, String sql, Canceller canceller, Function<String, T> parser)
      throws SQLException {
    boolean isLong = sql.length() > Limits.LONG_STATEMENT_CHARS;
    if (isLong) {
      awaitLongText(canceller);
    }
    try {
      return parser.apply(sql);
    } catch (RuntimeException e) {
      throw SqlErrors.ofPreparation(session, e);
    } finally {
      if (isLong) {
        longTexts.release();
      }
    }
  }

  private void awaitLongText(Canceller canceller) throws SQLException {
    try {
      while (!longTexts.tryAcquire(CANCEL_CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
        canceller.throwIfCancelled();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw SqlErrors.exception(SqlState.CANCELLED, "the node stops");
    }
  }

  /**
   * Runs work in the owner's open transaction, or on an idle session without an owner. Work that a
   * definition has ended runs again: it has no effect, and nothing of its result was sent.
   */
  private <T> T on(@Nullable SessionId owner, Settings settings, Canceller canceller, Work<T> work)
      throws SQLException {
    return on(owner, settings, canceller, QueryWatch.Bound.NONE, work);
  }

  private <T> T on(
      @Nullable SessionId owner,
      Settings settings,
      Canceller canceller,
      QueryWatch.Bound bound,
      Work<T> work)
      throws SQLException {
    while (true) {
      try {
        return once(owner, settings, canceller, bound, work);
      } catch (SQLException e) {
        if (!SqlState.CONFLICT.state().equals(e.getSQLState()) || !canceller.begunAgain()) {
          throw e;
        }
      }
    }
  }

  private <T> T once(
      @Nullable SessionId owner,
      Settings settings,
      Canceller canceller,
      QueryWatch.Bound bound,
      Work<T> work)
      throws SQLException {
    permits.acquireUninterruptibly();
    gate.enter(canceller);
    try (QueryMemory.Use use = memory.begin(canceller.losses)) {
      Source entered = requireNonNull(source, "source");
      return Meter.watched(
          new QueryWatch(memory, use, canceller, bound),
          () ->
              owner == null
                  ? onIdleSession(entered.database(), settings, session -> work.on(session, use))
                  : inTransaction(
                      entered, owner, settings, canceller, session -> work.on(session, use)));
    } catch (DbException e) {
      canceller.throwIfCancelled();
      throw SqlErrors.isOverflow(e) ? Exhausted.recursion() : e.getSQLException();
    } catch (StackOverflowError e) {
      throw Exhausted.recursion();
    } finally {
      gate.leave(canceller);
      permits.release();
    }
  }

  private static <T> T inTransaction(
      Source entered, SessionId owner, Settings settings, Canceller canceller, InSession<T> work)
      throws SQLException {
    TransactionSessions transactions = entered.transactions();
    TransactionSessions.OpenTransaction transaction = transactions.find(owner);
    if (transaction == null) {
      throw ended();
    }
    transaction.enter(canceller);
    try {
      if (transactions.find(owner) != transaction) {
        throw ended();
      }
      return on(entered.database(), transaction.session(), settings, work);
    } finally {
      transaction.leave();
    }
  }

  private static <T> T on(
      H2Database database, SessionLocal session, Settings settings, InSession<T> work)
      throws SQLException {
    User user = database.user(settings.user());
    if (user == null) {
      throw SqlErrors.exception(SqlState.LOGIN_REFUSED, "user " + settings.user() + " was dropped");
    }
    User before = H2Sessions.become(session, user);
    try {
      TimeZones.enter(session, settings.timeZone());
      Long begunMicros = settings.begunMicros();
      if (begunMicros != null) {
        H2Clock.pinTime(session, begunMicros);
      }
      return onSession(session, settings.schema(), work);
    } finally {
      H2Clock.unpinTime(session);
      TimeZones.leave(session);
      H2Sessions.become(session, before);
    }
  }

  private static <T> T onSession(SessionLocal session, String schema, InSession<T> work)
      throws SQLException {
    // a session keeps plans of views, even when another session has dropped what they show
    session.clearViewIndexCache();
    H2Database.enterSchema(session, schema);
    return work.on(session);
  }

  private static SQLException ended() {
    return SqlErrors.exception(
        SqlState.CONFLICT,
        "the transaction was rolled back before the query could run in it: run it again");
  }

  private <T> T onIdleSession(H2Database database, Settings settings, InSession<T> work)
      throws SQLException {
    SessionLocal pooled = idle.pollFirst();
    SessionLocal session = pooled == null ? database.openSession() : pooled;
    boolean usable = true;
    try {
      return on(database, session, settings, work);
    } catch (DbException e) {
      usable = !SqlErrors.isOverflow(e);
      throw e;
    } catch (StackOverflowError e) {
      usable = false;
      throw e;
    } finally {
      if (usable) {
        idle.addFirst(session);
      } else {
        // the error stopped H2 at a place where H2 does not expect one
        session.close();
      }
    }
  }

  void close() {
    for (SessionLocal session = idle.poll(); session != null; session = idle.poll()) {
      session.close();
    }
  }
}
