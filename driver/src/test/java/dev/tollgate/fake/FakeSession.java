package dev.tollgate.fake;

import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.h2.command.CommandInterface;
import org.h2.engine.Session;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.h2.jdbc.JdbcException;
import org.h2.jdbc.meta.DatabaseMetaServer;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.result.ResultWithGeneratedKeys;
import org.h2.value.Value;

/** A session of a {@link FakeCluster}: its H2 session, and the outcome of its last statement. */
final class FakeSession {
  private static final int PAGE_BYTES = 64 << 10;

  final long id;
  final long secret;
  final Request.OpenSession opening;
  private final Connection connection;

  /** A result with more rows, and the connection to which it belongs. */
  private record Cursor(Object connection, ResultInterface rows) {}

  private final Map<Long, Cursor> cursors = new ConcurrentHashMap<>();
  private volatile Object attachedTo = this;
  private long lastSequence;
  private Reply lastReply;
  private long lastCursor;
  private volatile CommandInterface running;
  private volatile CountDownLatch held;
  private volatile long cancelled;

  FakeSession(long id, long secret, Request.OpenSession opening, String databaseUrl)
      throws SQLException {
    this.id = id;
    this.secret = secret;
    this.opening = opening;
    this.connection = DriverManager.getConnection(databaseUrl);
  }

  private Session h2() {
    return ((JdbcConnection) connection).getSession();
  }

  /** Runs a statement, or repeats what it gave if it has this sequence number. */
  synchronized Reply execute(Request.Execute request, Runnable onRun) {
    return once(request.sequence(), onRun, () -> run(request));
  }

  /** The same for a series. */
  synchronized Reply execute(Request.ExecuteSeries request, Runnable onRun) {
    return once(request.sequence(), onRun, () -> run(request));
  }

  private Reply once(long sequence, Runnable onRun, Supplier<Reply> run) {
    if (sequence < lastSequence) {
      return new Reply.Failure(
          SqlState.INTERNAL, "sequence " + sequence + " after " + lastSequence);
    }
    if (sequence == lastSequence && lastCursor == 0) {
      return lastReply;
    }
    onRun.run();
    lastSequence = sequence;
    lastCursor = 0;
    lastReply = run.get();
    return lastReply;
  }

  private Reply run(Request.ExecuteSeries request) {
    List<Reply> results = new ArrayList<>();
    boolean failed = false;
    for (Request.SeriesStatement statement : request.statements()) {
      Reply result = runOnce(alone(request, statement.sql()), statement.parameterSet());
      results.add(result);
      failed |= result instanceof Reply.Failure;
      if (failed && request.ending() != SeriesEnding.RUN_ALL) {
        return new Reply.BatchResult(results);
      }
    }
    if (request.ending() == SeriesEnding.COMMIT) {
      results.add(runOnce(alone(request, "COMMIT"), Parameter.encodeValues(List.of())));
    }
    return new Reply.BatchResult(results);
  }

  private static Request.Execute alone(Request.ExecuteSeries series, String sql) {
    return new Request.Execute(
        series.sequence(),
        series.ownLeaseTrusted(),
        series.mode(),
        false,
        sql,
        new KeyRequest.None(),
        0,
        0,
        List.of(new byte[0]));
  }

  private Reply run(Request.Execute request) {
    if (!request.batch()) {
      return runOnce(request, request.parameterSets().get(0));
    }
    List<Reply> results = new ArrayList<>();
    for (byte[] set : request.parameterSets()) {
      results.add(runOnce(request, set));
    }
    return new Reply.BatchResult(results);
  }

  private Reply runOnce(Request.Execute request, byte[] parameterSet) {
    Session h2 = h2();
    // a question of the driver is no part of an open transaction, and does not end it
    h2.setAutoCommit(request.mode() == TransactionMode.AUTOCOMMIT && !h2.hasPendingTransaction());
    try (CommandInterface command = h2.prepareCommand(request.sql())) {
      List<Value> values = Parameter.decodeValues(parameterSet, h2);
      for (int i = 0; i < values.size(); i++) {
        command.getParameters().get(i).setValue(values.get(i), false);
      }
      running = command;
      WireWriter out = new WireWriter();
      if (command.isQuery()) {
        ResultInterface result = command.executeQuery(request.maxRows(), 0, false);
        long cursorId = lastCursor + 1;
        boolean more =
            RowSet.write(
                StatementResult.beginRows(out), result, request.pageRows(), PAGE_BYTES, cursorId);
        if (more) {
          lastCursor = cursorId;
          cursors.put(cursorId, new Cursor(attachedTo, result));
        }
      } else {
        ResultWithGeneratedKeys result = command.executeUpdate(keys(request.keys()));
        if (result.getGeneratedKeys() == null) {
          StatementResult.writeCount(out, result.getUpdateCount());
        } else {
          StatementResult.writeCountAndKeys(
              out, result.getUpdateCount(), result.getGeneratedKeys());
        }
      }
      return new Reply.Result(out.toByteArray());
    } catch (DbException e) {
      return failure(e);
    } finally {
      running = null;
    }
  }

  private static Object keys(KeyRequest keys) {
    if (keys instanceof KeyRequest.Positions positions) {
      return positions.positions().stream().mapToInt(Integer::intValue).toArray();
    }
    if (keys instanceof KeyRequest.Names names) {
      return names.names().toArray(String[]::new);
    }
    return keys instanceof KeyRequest.Generated;
  }

  static Reply.Failure failure(DbException e) {
    SQLException cause = e.getSQLException();
    String message =
        cause instanceof JdbcException h2 ? h2.getOriginalMessage() : cause.getMessage();
    return new Reply.Failure(cause.getSQLState(), cause.getErrorCode(), message);
  }

  Reply prepare(String sql) {
    try (CommandInterface command = h2().prepareCommand(sql)) {
      List<Parameter> parameters =
          command.getParameters().stream()
              .map(p -> new Parameter(p.getType(), p.getNullable()))
              .toList();
      WireWriter columns = new WireWriter();
      ResultInterface meta = command.getMetaData();
      if (meta != null) {
        RowSet.writeColumns(columns, meta);
      }
      return new Reply.Prepared(
          command.isQuery(),
          command.getCommandType(),
          Parameter.encode(parameters),
          columns.toByteArray());
    } catch (DbException e) {
      return failure(e);
    }
  }

  Reply metadata(Request.Metadata request) {
    SessionLocal h2 = (SessionLocal) h2();
    Value[] arguments = Parameter.decodeValues(request.arguments(), h2).toArray(Value[]::new);
    WireWriter out = new WireWriter();
    RowSet.write(
        StatementResult.beginRows(out),
        DatabaseMetaServer.process(h2, request.code(), arguments),
        0,
        Integer.MAX_VALUE,
        0);
    return new Reply.Result(out.toByteArray());
  }

  Reply fetch(Request.Fetch request, Object asked) {
    Cursor cursor = cursors.get(request.cursorId());
    if (cursor == null || cursor.connection() != asked) {
      return new Reply.Failure(SqlState.CONFLICT, "no cursor " + request.cursorId());
    }
    WireWriter out = StatementResult.beginPage(new WireWriter());
    if (!RowSet.Page.write(
        out, cursor.rows(), request.pageRows(), PAGE_BYTES, request.cursorId())) {
      cursors.remove(request.cursorId());
    }
    return new Reply.Result(out.toByteArray());
  }

  void closeCursor(long cursorId) {
    cursors.remove(cursorId);
  }

  int openCursors() {
    return cursors.size();
  }

  /** From now on it is this connection to which new cursors belong. */
  void attach(Object newConnection) {
    attachedTo = newConnection;
  }

  /** A connection has ended, and its cursors with it. */
  void ended(Object gone) {
    cursors.values().removeIf(cursor -> cursor.connection() == gone);
  }

  /** Waits like a statement that waits for a lock; false if it was cancelled meanwhile. */
  boolean hold(CountDownLatch release, long sequence) throws InterruptedException {
    held = release;
    try {
      release.await();
      return cancelled != sequence;
    } finally {
      held = null;
    }
  }

  void cancel(long sequence) {
    cancelled = sequence;
    CommandInterface command = running;
    if (command != null) {
      command.cancel();
    }
    CountDownLatch latch = held;
    if (latch != null) {
      latch.countDown();
    }
  }

  void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
