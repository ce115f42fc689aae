package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SizeRanges;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.StatementShape;
import dev.tollgate.store.MemoryWatch;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides whether the leader lets writes into the log. Refuses writes while the memory of the node
 * is nearly full. Runs what a write reads, unless the leader has tried the shape of the write with
 * values of these sizes: a read that takes more time, stack or memory than there is concerns one
 * thread of one node, and the write would take as much from every node. Thread-safe; nothing here
 * waits.
 */
final class Admission {
  /**
   * A write that wants to enter the log.
   *
   * @param sql the text that the client sent
   */
  record Write(String sql, Plan.Write plan, Operation.ExecuteSql operation) {}

  /** How the SQLState of a statement begins that names a table or column which does not exist. */
  private static final String NAME_NOT_FOUND = "42S";

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final MemoryWatch memory;
  private final SqlReader reader;
  private final LockAccess locks;
  private final Leadership leadership;
  private final Facts facts;
  private final StatementProposals proposals;
  private final RequestWork work;
  private final long processorMillis;

  private final TriedShapes tried;
  private final RehearsalTurns turns;
  private final RehearsalTurns longTurns;

  /**
   * @param locks the lock state for queries
   * @param nanos a clock that never goes back
   */
  Admission(
      MemoryWatch memory,
      SqlReader reader,
      LockAccess locks,
      Leadership leadership,
      Facts facts,
      StatementProposals proposals,
      RequestWork work,
      ClientLimits limits,
      LongSupplier nanos,
      RehearsalTurns.Timer timer) {
    this.memory = requireNonNull(memory, "memory");
    this.reader = requireNonNull(reader, "reader");
    this.locks = requireNonNull(locks, "locks");
    this.leadership = requireNonNull(leadership, "leadership");
    this.facts = requireNonNull(facts, "facts");
    this.proposals = requireNonNull(proposals, "proposals");
    this.work = requireNonNull(work, "work");
    processorMillis = limits.rehearsalMillis();
    turns = new RehearsalTurns(Workers.Kind.REHEARSALS, limits, nanos, timer);
    longTurns = new RehearsalTurns(Workers.Kind.LONG_REHEARSALS, limits, nanos, timer);
    tried = new TriedShapes(nanos, Limits.REHEARSED_SHAPES_BYTES);
  }

  /**
   * Proposes writes, or refuses them all. Proposes at once if their shapes are known.
   *
   * @param losses connections that were lost while the reply was due on them: a read that may have
   *     ended another node gets less memory
   * @param proposal proposes the writes
   */
  void admit(
      NumberedRequest request,
      AttachedSession session,
      int losses,
      OpenResults results,
      List<Write> writes,
      RequestWork.Task proposal)
      throws SQLException {
    if (!leadership.isAssumed()) {
      proposal.run();
      return;
    }
    try {
      for (Write write : writes) {
        memory.requireRoomFor(write.plan().sql());
      }
    } catch (SQLException refusal) {
      refuse(request, Replies.of(refusal), proposal);
      return;
    }
    if (writes.stream().allMatch(this::isKnown)) {
      proposal.run();
      return;
    }
    boolean isLong = writes.stream().anyMatch(Admission::isLong);
    Workers.Kind kind = isLong ? Workers.Kind.LONG_REHEARSALS : Workers.Kind.REHEARSALS;
    RequestWork.Task task =
        () -> {
          try {
            rehearse(request, session.settings(facts), writes, Math.min(losses, 1));
          } catch (SQLException refusal) {
            refuse(request, Replies.of(refusal), proposal);
            return;
          }
          proposal.run();
        };
    Runnable canceled = () -> refuse(request, Replies.canceled(), proposal);
    RehearsalTurns.Turn turn =
        new RehearsalTurns.Turn() {
          @Override
          public void begin(Runnable ended) {
            work.onWorker(
                kind,
                session.user(),
                request.cancellation(),
                request.answer(),
                task,
                canceled,
                ended);
          }

          @Override
          public void refuse(String why) {
            Admission.this.refuse(request, new Reply.Failure(SqlState.BUSY, why), proposal);
          }
        };
    RehearsalTurns queue = isLong ? longTurns : turns;
    request
        .cancellation()
        .enqueue(
            () -> queue.take(results, session.user(), turn), () -> queue.withdraw(turn), canceled);
  }

  /** How many requests wait until the leader has tried their writes. */
  int waiting(Workers.Kind kind) {
    return switch (kind) {
      case REHEARSALS -> turns.waiting();
      case LONG_REHEARSALS -> longTurns.waiting();
      default -> 0;
    };
  }

  private static boolean isLong(Write write) {
    return write.sql().length() > Limits.LONG_STATEMENT_CHARS;
  }

  private boolean isKnown(Write write) {
    return firstUnknown(write, 0) < 0;
  }

  /**
   * Returns the first parameter set from {@code start} on whose sizes were not tried; -1 if there
   * is none. A batch without sets does nothing, and no set of a very long text is tried.
   */
  private int firstUnknown(Write write, int start) {
    List<Operation.ParameterSet> sets = write.operation().parameterSets();
    if (start == sets.size() || write.sql().length() > Limits.REHEARSED_CHARS) {
      return -1;
    }
    StatementShape shape = write.plan().shape();
    SizeRanges ranges = tried.ranges(shape);
    if (ranges == null || !ranges.covers(shape.literals())) {
      return start;
    }
    if (write.plan().sqlParameterCount() == 0) {
      return -1;
    }
    ParameterSizes sizes = new ParameterSizes(shape, ranges);
    for (int i = start; i < sets.size(); i++) {
      if (!sizes.covers(sets.get(i).values().bytes())) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Runs the read parts of writes with each parameter set whose sizes were not tried. The sizes are
   * few, and all runs have one bound of time, so a batch cannot cause many.
   *
   * @throws SQLException with 54001 or 53200 only
   */
  private void rehearse(
      NumberedRequest request, SqlReader.Settings settings, List<Write> writes, int losses)
      throws SQLException {
    long end = THREADS.getCurrentThreadCpuTime() + TimeUnit.MILLISECONDS.toNanos(processorMillis);
    for (Write write : writes) {
      int first = firstUnknown(write, 0);
      Plan.Read read = first < 0 ? null : SqlFrontend.readPart(write.sql());
      for (int i = first; i >= 0; i = firstUnknown(write, i + 1)) {
        byte[] set = write.operation().parameterSets().get(i).values().bytes();
        boolean shown = read == null || rehearse(request, settings, read, set, end, losses);
        if (request.cancellation().isCanceled()) {
          return;
        }
        if (shown) {
          tried.add(write.plan().shape(), set);
        }
      }
    }
  }

  /**
   * Runs the read part of a write with one parameter set, again if a definition ended it.
   *
   * @param endNanos processor time of this thread at which the read has to end
   * @return false if the read did not begin, because it names what does not exist yet
   * @throws SQLException with 54001 or 53200 only. Whatever else fails may be due to statements
   *     that are under way, so the log decides it.
   */
  private boolean rehearse(
      NumberedRequest request,
      SqlReader.Settings settings,
      Plan.Read read,
      byte[] set,
      long endNanos,
      int losses)
      throws SQLException {
    byte[] first = Parameters.first(set, SqlValue.decode(set), read.sqlParameterCount());
    while (true) {
      long nanos = endNanos - THREADS.getCurrentThreadCpuTime();
      long millis = Math.max(0, TimeUnit.NANOSECONDS.toMillis(nanos));
      SqlReader.Canceller canceller = new SqlReader.Canceller(losses);
      request.cancellation().interruptBy(canceller::cancel);
      try {
        reader.rehearse(settings, read.sql(), first, locks, millis, canceller);
        return true;
      } catch (SQLException e) {
        String state = e.getSQLState();
        if (SqlState.TOO_MUCH_WORK.state().equals(state)
            || SqlState.NO_MEMORY.state().equals(state)) {
          throw refusal(e);
        }
        if (!SqlState.CONFLICT.state().equals(state) || request.cancellation().isCanceled()) {
          return !state.startsWith(NAME_NOT_FOUND);
        }
      } finally {
        request.cancellation().goesOn();
      }
    }
  }

  private static SQLException refusal(SQLException cause) {
    return new SQLException(
        "the statement changed nothing, because the leader tried what it reads before it"
            + " entered the log, and the leader refused it: "
            + cause.getMessage(),
        cause.getSQLState(),
        cause.getErrorCode(),
        cause);
  }

  private void refuse(NumberedRequest request, Reply.Failure refusal, RequestWork.Task proposal) {
    proposals.refuse(request, refusal, () -> work.attempt(request.answer(), proposal));
  }
}
