package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the work of requests, and turns what the work throws into replies. Knows the threads for
 * such work, and stops the replica if an error says that this process is broken. Thread-safe.
 */
final class RequestWork {
  private static final Logger LOG = LoggerFactory.getLogger(RequestWork.class);

  /** Work that may fail with an error for the client. */
  interface Task {
    void run() throws SQLException;
  }

  private final String nodeId;
  private final Workers workers;
  private final Replica replica;

  RequestWork(String nodeId, Workers workers, Replica replica) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.workers = requireNonNull(workers, "workers");
    this.replica = requireNonNull(replica, "replica");
  }

  /**
   * Runs a task of a statement, as {@link #inTurn(OpenResults, UserName, Workers.Kind, Consumer,
   * Task)} does.
   */
  void inTurn(ReceivedStatement statement, Workers.Kind kind, Task task) {
    inTurn(statement.results(), statement.session().user(), kind, statement.answer(), task);
  }

  /**
   * Runs a task of a statement in the same way, unless the statement is canceled before.
   *
   * @param canceled replies in place of the task; must not wait
   */
  void inTurn(ReceivedStatement statement, Workers.Kind kind, Task task, Runnable canceled) {
    inTurn(
        statement.results(),
        statement.session().user(),
        kind,
        statement.cancellation(),
        statement.answer(),
        task,
        canceled);
  }

  /**
   * Runs a task on another thread, once it is the task's turn among those of its connection and of
   * its user.
   */
  void inTurn(
      OpenResults connection, UserName user, Workers.Kind kind, Consumer<Reply> answer, Task task) {
    QueryTurns turns = connection.turns(kind);
    turns.take(
        new QueryTurns.Query() {
          @Override
          public void begin() {
            onWorker(kind, user, answer, task, turns::ended);
          }

          @Override
          public void drop() {
            answer.accept(closed());
          }
        });
  }

  /**
   * Runs a task of a statement on another thread, once it is the task's turn among those of its
   * connection and of its user, unless the statement is canceled before.
   *
   * @param canceled replies in place of the task; must not wait
   */
  void inTurn(
      OpenResults connection,
      UserName user,
      Workers.Kind kind,
      Cancellations.Statement cancellation,
      Consumer<Reply> answer,
      Task task,
      Runnable canceled) {
    QueryTurns turns = connection.turns(kind);
    QueryTurns.Query query =
        new QueryTurns.Query() {
          @Override
          public void begin() {
            onWorker(kind, user, cancellation, answer, task, canceled, turns::ended);
          }

          @Override
          public void drop() {
            answer.accept(closed());
          }
        };
    cancellation.enqueue(() -> turns.take(query), () -> turns.withdraw(query), canceled);
  }

  private static Reply closed() {
    return new Reply.Failure(SqlState.CONNECTION_REFUSED, "the connection is closed");
  }

  /**
   * Runs a task of a statement on another thread, unless the statement is canceled before.
   *
   * @param canceled replies in place of the task; must not wait
   * @param ended run after the task, or in place of it if it is not run; must not wait
   */
  void onWorker(
      Workers.Kind kind,
      UserName user,
      Cancellations.Statement cancellation,
      Consumer<Reply> answer,
      Task task,
      Runnable canceled,
      Runnable ended) {
    Runnable work = work(answer, task, ended);
    cancellation.enqueue(
        () -> run(kind, user, work, answer, ended),
        () -> workers.withdraw(kind, work),
        () -> {
          canceled.run();
          ended.run();
        });
  }

  /** Runs a task on another thread. Whatever happens, the client gets a reply. */
  void onWorker(Workers.Kind kind, UserName user, Consumer<Reply> answer, Task task) {
    onWorker(kind, user, answer, task, () -> {});
  }

  /**
   * Runs a task on another thread. Whatever happens, the client gets a reply.
   *
   * @param ended run after the task, or in place of it if it cannot be run; must not wait
   */
  private void onWorker(
      Workers.Kind kind, UserName user, Consumer<Reply> answer, Task task, Runnable ended) {
    run(kind, user, work(answer, task, ended), answer, ended);
  }

  private Runnable work(Consumer<Reply> answer, Task task, Runnable ended) {
    return () -> {
      try {
        attempt(answer, task);
      } catch (RuntimeException | Error e) {
        answer.accept(unexpected(e));
      } finally {
        ended.run();
      }
    };
  }

  private void run(
      Workers.Kind kind, UserName user, Runnable work, Consumer<Reply> answer, Runnable ended) {
    workers.run(
        kind,
        user,
        work,
        refused -> {
          answer.accept(new Reply.Failure(SqlState.BUSY, refused));
          ended.run();
        });
  }

  /** Runs a task on this thread, and replies to input that the client got wrong. */
  void attempt(Consumer<Reply> answer, Task task) {
    try {
      task.run();
    } catch (SQLException e) {
      replica.stopIfClassesAreLost(e);
      answer.accept(Replies.of(e));
    } catch (WireFormatException e) {
      answer.accept(Replies.of(e));
    }
  }

  /** Returns the reply after a bug: the client waits for a reply all the same. */
  Reply unexpected(Throwable bug) {
    if (!replica.stopIfClassesAreLost(bug)) {
      LOG.error("{}: a statement failed in an unexpected way", nodeId, LoggedError.of(bug));
    }
    return new Reply.Failure(
        SqlState.INTERNAL,
        "an error in Tollgate, which the log of node "
            + nodeId
            + " describes: "
            + bug.getClass().getSimpleName());
  }
}
