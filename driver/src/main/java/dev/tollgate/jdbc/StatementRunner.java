package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.Execution;
import dev.tollgate.transport.TransportException;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.h2.api.ErrorCode;
import org.h2.engine.CastDataProvider;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Runs the statements of one connection on its session with the cluster. Turns replies into the
 * results and exceptions that H2's classes expect. Thread-safe.
 */
final class StatementRunner {
  /** H2's codes for statements that name what is not there: prepared statements may be stale. */
  private static final int FIRST_SCHEMA_ERROR = 42_101;

  private static final int LAST_SCHEMA_ERROR = 42_199;

  /** How often a query runs at most, the first run included, if rows of later pages are lost. */
  private static final int MAX_RUNS = 10;

  /** Learns what statements do to the session. */
  interface Listener {
    /** Called after a statement that may have changed the current schema. */
    void schemaInDoubt();

    /** Called when a statement has set the time zone of the session. */
    void timeZoneSet(String name);
  }

  private final ClusterSession cluster;
  private final CastDataProvider provider;
  private final Listener listener;
  private final TransactionState transaction;
  private volatile boolean fenced;
  private final SeriesRunner series;
  private final PreparedInfo.Cache prepared = new PreparedInfo.Cache();

  /**
   * @param provider the context that conversions of values need
   * @param transaction learns of every statement
   * @param listener learns what statements do to the session
   * @param timeout time limit of a series of statements, read when it runs
   */
  StatementRunner(
      ClusterSession cluster,
      CastDataProvider provider,
      Listener listener,
      TransactionState transaction,
      Supplier<Duration> timeout) {
    this.transaction = transaction;
    this.cluster = cluster;
    this.provider = provider;
    this.listener = listener;
    this.series = new SeriesRunner(this, cluster, transaction, timeout);
  }

  /** Runs several statements as one. */
  SeriesRunner series() {
    return series;
  }

  /** The changes that wait to be sent. */
  Pipeline pipeline() {
    return series.pipeline();
  }

  /** The transaction mode of the next statement. */
  TransactionMode mode() {
    return transaction.mode();
  }

  /** The cached description of a statement with this text; null if there is none. */
  @Nullable PreparedInfo prepared(String sql) {
    return prepared.get(sql);
  }

  /** Asks the node what a statement takes and returns; keeps the answer, but not an error. */
  PreparedInfo prepare(String sql) {
    Reply reply = ask(new Request.Prepare(sql), sql);
    if (!(reply instanceof Reply.Prepared answer)) {
      throw outOfPlace(reply);
    }
    PreparedInfo info = PreparedInfo.of(answer);
    prepared.put(sql, info);
    return info;
  }

  /** Runs, once, a statement that does not return rows in pages. */
  Reply run(ClusterSession.Statement statement, StatementKind kind) {
    pipeline().flush();
    return runNow(statement, kind);
  }

  /** True if a {@code SET FENCED} may be in force. */
  boolean isFenced() {
    return fenced;
  }

  /** Runs a statement before those that the pipeline has gathered. */
  Reply runNow(ClusterSession.Statement statement, StatementKind kind) {
    boolean before = transaction.starts();
    boolean mayFence = kind == StatementKind.DEFINITION;
    boolean fencedBefore = fenced;
    // before it is sent: if its answer is lost, the fence may be in force
    fenced |= mayFence && StatementKind.setsFence(statement.sql());
    try {
      Execution execution = cluster.run(statement);
      Reply reply = execution.reply();
      transaction.answered(reply, before);
      if (reply instanceof Reply.Failure) {
        fenced = fencedBefore;
      }
      String zone = reply instanceof Reply.Result result ? timeZoneOf(result.body()) : null;
      if (zone != null) {
        cluster.requireApplied(execution);
        listener.timeZoneSet(zone);
        return unchanged();
      }
      if (reply instanceof Reply.Failure failure) {
        throw failed(failure, statement.sql());
      }
      fenced &= !(mayFence && StatementKind.endsFence(statement.sql()));
      return reply;
    } catch (TransportException e) {
      throw JdbcErrors.forH2(e, statement.sql());
    } finally {
      ran(kind);
    }
  }

  /**
   * Asks a question of the driver itself about the session. The question is no part of the
   * transaction of the session, and begins none.
   *
   * @param call a CALL that gives a text
   */
  String answer(String call, Duration timeout) {
    ClusterSession.Statement question =
        new ClusterSession.Statement(
            call,
            TransactionMode.AUTOCOMMIT,
            /* batch= */ false,
            new KeyRequest.None(),
            /* maxRows= */ 0,
            /* pageRows= */ 0,
            List.of(SeriesRunner.NO_PARAMETERS),
            timeout);
    try {
      RowSet rows = rows(cluster.run(question).reply(), call);
      return rows.page().rows().get(0)[0].getString();
    } catch (TransportException e) {
      throw JdbcErrors.forH2(e, call);
    }
  }

  /**
   * Runs a query.
   *
   * @param eager true to fetch all rows before this method returns: if a node is lost meanwhile,
   *     the query runs again
   */
  ResultInterface query(ClusterSession.Statement statement, StatementKind kind, boolean eager) {
    pipeline().flush();
    boolean before = transaction.starts();
    try {
      Execution execution = cluster.run(statement);
      transaction.answered(execution.reply(), before);
      for (int run = 1; ; run++) {
        RowSet rows = rows(execution.reply(), statement.sql());
        if (rows.page().cursorId() == 0) {
          return PagedResult.complete(rows.columns(), rows.page().rows());
        }
        Pages pages = new Pages(execution, rows, statement);
        if (!eager) {
          return PagedResult.firstPage(rows, pages);
        }
        try {
          return PagedResult.complete(rows.columns(), pages.all());
        } catch (TransportException e) {
          if (run == MAX_RUNS || !e.failure().sqlState().equals(SqlState.CONFLICT.state())) {
            throw e;
          }
        }
        cluster.repeat(execution);
      }
    } catch (TransportException e) {
      throw JdbcErrors.forH2(e, statement.sql());
    } finally {
      ran(kind);
    }
  }

  private RowSet rows(Reply reply, String sql) {
    if (reply instanceof Reply.Failure failure) {
      throw failed(failure, sql);
    }
    if (!(reply instanceof Reply.Result result)) {
      throw outOfPlace(reply);
    }
    if (!(read(result.body()) instanceof StatementResult.Rows rows)) {
      throw DbException.get(ErrorCode.METHOD_ONLY_ALLOWED_FOR_QUERY);
    }
    return rows.rows();
  }

  /** The rows of a query after the first page. */
  private final class Pages implements PagedResult.MoreRows {
    private final Execution execution;
    private final RowSet first;
    private final ClusterSession.Statement statement;
    private long cursorId;

    Pages(Execution execution, RowSet first, ClusterSession.Statement statement) {
      this.execution = execution;
      this.first = first;
      this.statement = statement;
      this.cursorId = first.page().cursorId();
      cluster.hasRows(execution, true);
    }

    List<Value[]> all() throws TransportException {
      List<Value[]> all = new ArrayList<>(first.page().rows());
      while (cursorId != 0) {
        all.addAll(fetch().rows());
      }
      return all;
    }

    @Override
    public RowSet.Page next() {
      try {
        return fetch();
      } catch (TransportException e) {
        throw JdbcErrors.forH2(e, statement.sql());
      }
    }

    private RowSet.Page fetch() throws TransportException {
      Reply reply = cluster.fetch(execution, cursorId, statement.pageRows());
      if (reply instanceof Reply.Failure failure) {
        throw failed(failure, statement.sql());
      }
      if (!(reply instanceof Reply.Result result)) {
        throw outOfPlace(reply);
      }
      RowSet.Page page = page(result.body());
      cursorId = page.cursorId();
      if (cursorId == 0) {
        cluster.hasRows(execution, false);
      }
      return page;
    }

    private RowSet.Page page(byte[] body) {
      try {
        return StatementResult.readPage(body, first.columns(), provider);
      } catch (WireFormatException e) {
        throw malformed(e);
      }
    }

    @Override
    public void giveUp() {
      cluster.closeCursor(execution, cursorId);
    }
  }

  /** Asks for metadata, which comes as rows. */
  ResultInterface metadata(int code, byte[] arguments) {
    String what = "metadata " + code;
    RowSet rows = rows(ask(new Request.Metadata(code, arguments), what), what);
    if (rows.page().cursorId() != 0) {
      throw outOfPlace(new Reply.Ok());
    }
    return PagedResult.complete(rows.columns(), rows.page().rows());
  }

  private Reply ask(Request request, String sql) {
    try {
      Reply reply = cluster.ask(request);
      if (reply instanceof Reply.Failure failure) {
        throw failed(failure, sql);
      }
      return reply;
    } catch (TransportException e) {
      throw JdbcErrors.forH2(e, sql);
    }
  }

  StatementResult read(byte[] body) {
    try {
      return StatementResult.read(body, provider);
    } catch (WireFormatException e) {
      throw malformed(e);
    }
  }

  private static @Nullable String timeZoneOf(byte[] body) {
    try {
      return StatementResult.timeZoneOf(body);
    } catch (WireFormatException e) {
      throw malformed(e);
    }
  }

  /** The result of a statement that has changed no rows. */
  private static Reply.Result unchanged() {
    WireWriter out = new WireWriter();
    StatementResult.writeCount(out, 0);
    return new Reply.Result(out.toByteArray());
  }

  private static DbException malformed(WireFormatException e) {
    return DbException.convert(
        JdbcErrors.exception(
            new Reply.Failure(SqlState.INTERNAL, "The node's answer: " + e.getMessage()), null, e));
  }

  static DbException outOfPlace(Reply reply) {
    return DbException.convert(
        JdbcErrors.exception(
            SqlState.INTERNAL,
            "The node's answer is out of place: " + reply.getClass().getSimpleName()));
  }

  /** The exception of a failed statement, which may show that prepared statements are stale. */
  DbException failed(Reply.Failure failure, @Nullable String sql) {
    if (failure.vendorCode() >= FIRST_SCHEMA_ERROR && failure.vendorCode() <= LAST_SCHEMA_ERROR) {
      prepared.clear();
    }
    return JdbcErrors.forH2(failure, sql);
  }

  /**
   * Runs a definition with the change of rows that waits for it.
   *
   * @return the update count of the definition; null if no change waits
   */
  @Nullable Long defineMarked(String sql, byte[] parameterSet) {
    Request.SeriesStatement mark = series.takeMark(sql);
    if (mark == null) {
      return null;
    }
    try {
      return series.defineMarked(mark, sql, parameterSet);
    } finally {
      ran(StatementKind.DEFINITION);
    }
  }

  /** Forgets what a statement of this kind may have changed. */
  private void ran(StatementKind kind) {
    if (kind == StatementKind.DEFINITION || kind == StatementKind.UNKNOWN) {
      prepared.clear();
      listener.schemaInDoubt();
    }
  }

  /** Cancels the statement under way. */
  void cancel() {
    cluster.cancel();
  }
}
