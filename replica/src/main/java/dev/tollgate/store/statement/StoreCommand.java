package dev.tollgate.store.statement;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Clock;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.value.Parameter;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.h2.api.ErrorCode;
import org.h2.command.CommandContainer;
import org.h2.command.Prepared;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.expression.ParameterInterface;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.result.ResultWithGeneratedKeys;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * An H2 statement that never runs twice, with the lock state that its functions work on.
 *
 * <p>H2 runs a statement again after a conflict without undoing the first attempt, and then reports
 * a duplicate key for the statement's own row. Here a conflict is an error.
 */
public final class StoreCommand extends CommandContainer {
  /** Number of rows after which H2 checks whether the statement was canceled. */
  private static final int ROWS_PER_CHECK = 128;

  /** The meter of a session while it runs no {@code StoreCommand}. */
  private record Watch(SessionLocal session, StatementMeter meter) {}

  private static final ThreadLocal<Watch> WATCH = new ThreadLocal<>();

  private final Prepared prepared;
  private final LockAccess locks;
  private final StatementMeter meter;
  private final Map<SystemTable, Iterable<@Nullable Object[]>> systemRows =
      new EnumMap<>(SystemTable.class);

  private @Nullable Query before;
  private @Nullable Runnable after;
  private Outcome.@Nullable Refused refusal;
  private int actionDepth;
  private boolean sawTime;

  public StoreCommand(
      SessionLocal session, String sql, Prepared prepared, LockAccess locks, StatementMeter meter) {
    super(session, sql, prepared);
    this.prepared = prepared;
    this.locks = locks;
    this.meter = meter;
  }

  /**
   * Sets the values of all parameters.
   *
   * @param encoded the values, as the driver sends them
   * @throws DbException if the statement has another number of parameters
   */
  public void setParameters(byte[] encoded) {
    List<Value> values = Parameter.decodeValues(encoded, null);
    List<? extends ParameterInterface> places = getParameters();
    if (values.size() != places.size()) {
      throw DbException.get(
          ErrorCode.INVALID_PARAMETER_COUNT_2,
          "the statement (" + places.size() + " given " + values.size() + ")",
          Integer.toString(places.size()));
    }
    for (int i = 0; i < values.size(); i++) {
      places.get(i).setValue(values.get(i), false);
    }
  }

  /**
   * Sets a query to run before the statement. The rows of the query are discarded.
   *
   * @param query a query with meters; null for none
   */
  public void runBefore(@Nullable Query query) {
    before = query;
  }

  /** Sets an action to run as the last part of the statement. */
  public void runAfter(Runnable part) {
    after = part;
  }

  /** The statement as H2 has prepared it. */
  public Prepared prepared() {
    return prepared;
  }

  /** The lock state that the lock functions in this statement work on. */
  public LockAccess locks() {
    return locks;
  }

  /** The rows of a system table as it is when the statement first reads it. */
  public Iterable<@Nullable Object[]> rowsOf(SystemTable table) {
    return systemRows.computeIfAbsent(table, locks::rows);
  }

  /**
   * Checks whether the statement may write a row under this lock.
   *
   * @throws DbException if it may not; {@link #refusal} then gives the reason
   */
  public void admitRow(FenceId fence, LockName lock) {
    meter.looked(1);
    Outcome.Refused refused = locks.admitRow(fence, lock);
    if (refused != null) {
      refusal = refused;
      throw DbException.convert(
          SqlErrors.exception(SqlErrors.stateOf(refused.code()), refused.message()));
    }
  }

  /**
   * Records that the actions of foreign keys to a changed or deleted row begin. The actions may
   * reach rows to which other rows refer, and so on: H2 recurses at each level.
   *
   * @throws DbException if H2 has recursed as far as it may
   */
  public void enterActions() {
    actionDepth++;
    if (actionDepth > Limits.REFERENTIAL_DEPTH) {
      throw Exhausted.work(
          "the statement was ended and its changes undone, because the actions of foreign keys"
              + " (CASCADE, SET NULL, SET DEFAULT) led from row to row more than "
              + Limits.REFERENTIAL_DEPTH
              + " times: begin at the other end of the chain, and delete or change its rows in"
              + " parts");
    }
    // H2 prepares a statement for each action, and checks whether to go on only every 128 rows
    meter.looked((int) Limits.ROWS_PER_CHANGE);
    meter.changed(H2Transactions.changes(session));
  }

  /** Records that the actions of foreign keys to that row have ended. */
  public void leaveActions() {
    actionDepth--;
  }

  /**
   * The reason why the statement may not write a row that it reached; null if it reached no such
   * row.
   */
  public Outcome.@Nullable Refused refusal() {
    return refusal;
  }

  /** True if this is a query that has run and asked for the time, or whose time is pinned. */
  public boolean sawTime() {
    return sawTime;
  }

  /**
   * The meter of the statement that runs in a session; null if it is neither a logged statement nor
   * a query of a client. H2 copies an altered table by commands of its own, which count toward the
   * statement that they are part of.
   */
  public static @Nullable StatementMeter meterOf(SessionLocal session) {
    if (session.getCurrentCommand() instanceof StoreCommand statement) {
      return statement.meter;
    }
    Watch watch = WATCH.get();
    return watch == null || watch.session != session ? null : watch.meter;
  }

  /** Has a meter watch a session outside statements: a session also computes while it prepares. */
  public static <T> T watched(SessionLocal session, StatementMeter meter, Supplier<T> work) {
    Watch before = WATCH.get();
    WATCH.set(new Watch(session, meter));
    try {
      return work.get();
    } finally {
      WATCH.set(before);
    }
  }

  /** The meter of this statement. */
  public StatementMeter meter() {
    return meter;
  }

  @Override
  protected void checkCanceled() {
    super.checkCanceled();
    meter.looked(ROWS_PER_CHECK);
    meter.changed(H2Transactions.changes(session));
  }

  @Override
  public ResultWithGeneratedKeys update(@Nullable Object keys) {
    if (before != null) {
      runForNothing(before);
    }
    return watched(
        session,
        meter,
        () -> {
          ResultWithGeneratedKeys done = super.update(keys);
          if (after != null) {
            after.run();
          }
          return done;
        });
  }

  /**
   * Runs a query once without keeping its rows. Afterwards time and random numbers are pinned
   * again, and values that the query drew from sequences are drawn again.
   */
  private void runForNothing(Query query) {
    SequenceMarks drawn = SequenceMarks.of(session.getDatabase());
    try {
      query.query(0, new MeteredRows(meter));
    } finally {
      drawn.restore();
    }
  }

  /**
   * Runs a query. If memory runs out, H2 would close the database; here a query only loses its
   * rows.
   */
  @Override
  public ResultInterface query(long maxRows) {
    try {
      ResultInterface rows = super.query(maxRows);
      // before H2 commits, and forgets the time
      sawTime = H2Clock.hasTime(session);
      return rows;
    } catch (OutOfMemoryError e) {
      if (meter.mayRunOutOfMemory()) {
        throw Exhausted.memoryOfQuery();
      }
      throw e;
    }
  }

  @Override
  protected boolean isRetryable() {
    return false;
  }
}
