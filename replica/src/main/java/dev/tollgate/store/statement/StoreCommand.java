package dev.tollgate.store.statement;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.value.Parameter;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
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
 * A statement of H2 that is never run twice, with what its functions may ask about.
 *
 * <p>H2 runs a statement again after a conflict without undoing the first attempt, and then reports
 * a duplicate key of its own row: here a conflict is an error.
 */
public final class StoreCommand extends CommandContainer {
  /** H2 asks whether the statement was cancelled after so many rows. */
  private static final int ROWS_PER_CHECK = 128;

  /** What H2 takes for a number, a truth value or a time, and something more. */
  private static final long SHORT_VALUE_BYTES = 64;

  /** What watches a session while it runs no such statement. */
  private record Watch(SessionLocal session, StatementMeter meter) {}

  private static final ThreadLocal<Watch> WATCH = new ThreadLocal<>();

  private final Prepared prepared;
  private final LockAccess locks;
  private StatementMeter meter;
  private final Map<SystemTable, Iterable<@Nullable Object[]>> systemRows =
      new EnumMap<>(SystemTable.class);

  private @Nullable Query before;
  private long granted;
  private @Nullable Runnable after;
  private Outcome.@Nullable Refused refusal;
  private int actionDepth;

  public StoreCommand(
      SessionLocal session, String sql, Prepared prepared, LockAccess locks, StatementMeter meter) {
    super(session, sql, prepared);
    this.prepared = prepared;
    this.locks = locks;
    this.meter = meter;
  }

  /**
   * Gives all parameters their values.
   *
   * @param encoded as the driver sends them
   * @param check sees each value before the statement does
   * @throws DbException if there are not as many as the statement has, or what the check throws
   */
  public void setParameters(byte[] encoded, Consumer<Value> check) {
    List<Value> values = Parameter.decodeValues(encoded, null);
    List<? extends ParameterInterface> places = getParameters();
    if (values.size() != places.size()) {
      throw DbException.get(
          ErrorCode.INVALID_PARAMETER_COUNT_2,
          "the statement (" + places.size() + " given " + values.size() + ")",
          Integer.toString(places.size()));
    }
    values.forEach(check);
    for (int i = 0; i < values.size(); i++) {
      places.get(i).setValue(values.get(i), false);
    }
  }

  /**
   * Has a query run before the statement. What it gives is thrown away.
   *
   * @param query with meters; null for none
   * @param rows that it may look at for nothing, and as many bytes for each as a short value takes
   */
  public void runBefore(@Nullable Query query, long rows) {
    before = query;
    granted = rows;
  }

  /** Has something done as the last part of the statement. */
  public void runAfter(Runnable part) {
    after = part;
  }

  /** The statement as H2 has understood it. */
  public Prepared prepared() {
    return prepared;
  }

  /** What the lock functions in this statement work on. */
  public LockAccess locks() {
    return locks;
  }

  /** The rows of a system table as it is when the statement first reads it. */
  public Iterable<@Nullable Object[]> rowsOf(SystemTable table) {
    return systemRows.computeIfAbsent(table, locks::rows);
  }

  /**
   * Asks whether it may write a row under this lock.
   *
   * @throws DbException if not; {@link #refusal} then says why
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
   * The foreign keys to a row that was changed or deleted act now. Their actions may reach rows to
   * which others refer, and so on: H2 descends for each.
   *
   * @throws DbException if it has descended as far as it may
   */
  public void enterActions() {
    actionDepth++;
    if (actionDepth > Limits.REFERENTIAL_DEPTH) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because the actions of foreign keys"
              + " (CASCADE, SET NULL, SET DEFAULT) led from row to row more than "
              + Limits.REFERENTIAL_DEPTH
              + " times: begin at the other end of the chain, and delete or change its rows in"
              + " parts");
    }
    // H2 prepares a statement for each action, and asks whether to go on only once in 128 rows
    meter.looked((int) Limits.ROWS_PER_CHANGE);
    meter.changed(H2Transactions.changes(session));
  }

  /** The foreign keys to that row have acted. */
  public void leaveActions() {
    actionDepth--;
  }

  /** Why it may not write one of the rows that it came to; null if it came to no such row. */
  public Outcome.@Nullable Refused refusal() {
    return refusal;
  }

  /**
   * What watches the statement that runs in a session; null if it is none of the log and no query
   * of a client. H2 copies a table that is altered by commands of its own: they count towards the
   * statement that they are part of.
   */
  public static @Nullable StatementMeter meterOf(SessionLocal session) {
    if (session.getCurrentCommand() instanceof StoreCommand statement) {
      return statement.meter;
    }
    Watch watch = WATCH.get();
    return watch == null || watch.session != session ? null : watch.meter;
  }

  /** Has a meter watch what a session does besides statements: it computes while it prepares. */
  public static <T> T watched(SessionLocal session, StatementMeter meter, Supplier<T> work) {
    Watch before = WATCH.get();
    WATCH.set(new Watch(session, meter));
    try {
      return work.get();
    } finally {
      WATCH.set(before);
    }
  }

  /** What watches this statement. */
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
   * Runs a query once without keeping its rows. Time and random numbers are pinned again
   * afterwards, and what it drew from sequences is drawn again.
   */
  private void runForNothing(Query query) {
    SequenceMarks drawn = SequenceMarks.of(session.getDatabase());
    StatementMeter paid = meter;
    meter = new GrantedMeter(paid, granted, granted * SHORT_VALUE_BYTES);
    try {
      query.query(0, new MeteredRows(meter));
    } finally {
      meter = paid;
      drawn.restore();
    }
  }

  /** H2 would close the database if memory runs out; a query gives up its rows, and that is all. */
  @Override
  public ResultInterface query(long maxRows) {
    try {
      return super.query(maxRows);
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
