package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.MemoryWatch;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides whether the leader lets writes into the log. Refuses writes while the memory of the node
 * is nearly full. Runs what a write reads, if the leader does not know the shape of the write: a
 * read that takes more time, stack or memory than there is concerns one thread of one node, and the
 * write would take as much from every node. Thread-safe; nothing here waits.
 */
final class Admission {
  /**
   * A write that wants to enter the log.
   *
   * @param sql the text that the client sent
   */
  record Write(String sql, Plan.Write plan, Operation.ExecuteSql operation) {}

  private final MemoryWatch memory;
  private final SqlReader reader;
  private final LockAccess locks;
  private final Leadership leadership;
  private final Facts facts;
  private final StatementProposals proposals;
  private final RequestWork work;
  private final long processorMillis;

  /** The shapes that were tried last. */
  private final Map<Long, Boolean> known = new KnownShapes();

  /**
   * @param locks the lock state for queries
   * @param processorMillis processor time that the read of a write may take
   */
  Admission(
      MemoryWatch memory,
      SqlReader reader,
      LockAccess locks,
      Leadership leadership,
      Facts facts,
      StatementProposals proposals,
      RequestWork work,
      long processorMillis) {
    this.memory = requireNonNull(memory, "memory");
    this.reader = requireNonNull(reader, "reader");
    this.locks = requireNonNull(locks, "locks");
    this.leadership = requireNonNull(leadership, "leadership");
    this.facts = requireNonNull(facts, "facts");
    this.proposals = requireNonNull(proposals, "proposals");
    this.work = requireNonNull(work, "work");
    this.processorMillis = processorMillis;
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
      refuse(request, refusal, proposal);
      return;
    }
    if (writes.stream().allMatch(this::isKnown)) {
      proposal.run();
      return;
    }
    work.inTurn(
        results,
        writes.stream().anyMatch(Admission::isLong)
            ? Workers.Kind.LONG_REHEARSALS
            : Workers.Kind.REHEARSALS,
        request.answer(),
        () -> {
          try {
            SqlReader.Settings settings = session.settings(facts);
            for (Write write : writes) {
              if (!isKnown(write)) {
                rehearse(request, settings, write, Math.min(losses, 1));
              }
            }
          } catch (SQLException refusal) {
            refuse(request, refusal, proposal);
            return;
          }
          proposal.run();
        });
  }

  private static boolean isLong(Write write) {
    return write.sql().length() > Limits.LONG_STATEMENT_CHARS;
  }

  private boolean isKnown(Write write) {
    if (write.sql().length() > Limits.REHEARSED_CHARS) {
      return true;
    }
    synchronized (known) {
      return known.get(write.plan().shape()) != null;
    }
  }

  /**
   * Runs the read part of a write with its first parameters.
   *
   * @throws SQLException with 54001 or 53200 only. Whatever else fails may be due to statements
   *     that are under way, so the log decides it.
   */
  private void rehearse(
      NumberedRequest request, SqlReader.Settings settings, Write write, int losses)
      throws SQLException {
    Plan.Read read = SqlFrontend.readPart(write.sql());
    if (read != null && !write.operation().parameterSets().isEmpty()) {
      byte[] set = write.operation().parameterSets().get(0).values().bytes();
      SqlReader.Canceller canceller = new SqlReader.Canceller(losses);
      request.cancellation().interruptBy(canceller::cancel);
      try {
        byte[] first = Parameters.first(set, SqlValue.decode(set), read.sqlParameterCount());
        reader.rehearse(settings, read.sql(), first, locks, processorMillis, canceller);
      } catch (SQLException e) {
        String state = e.getSQLState();
        if (SqlState.TOO_MUCH_WORK.state().equals(state)
            || SqlState.NO_MEMORY.state().equals(state)) {
          throw new SQLException(
              "the statement changed nothing, because the leader tried what it reads before it"
                  + " entered the log, and the leader refused it: "
                  + e.getMessage(),
              state,
              e.getErrorCode(),
              e);
        }
        if (request.cancellation().isCanceled()) {
          return;
        }
      } finally {
        request.cancellation().goesOn();
      }
    }
    synchronized (known) {
      known.put(write.plan().shape(), true);
    }
  }

  private void refuse(NumberedRequest request, SQLException refusal, RequestWork.Task proposal) {
    proposals.refuse(request, Replies.of(refusal), () -> work.attempt(request.answer(), proposal));
  }

  private static final class KnownShapes extends LinkedHashMap<Long, Boolean> {
    private static final long serialVersionUID = 1L;

    KnownShapes() {
      super(16, 0.75f, /* accessOrder= */ true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
      return size() > Limits.REHEARSED_SHAPES;
    }
  }
}
