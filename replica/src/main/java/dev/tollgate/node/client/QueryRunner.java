package dev.tollgate.node.client;

import dev.tollgate.core.Session;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Limits;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.store.SqlReader;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the statements of one connection, and keeps the results that are not fully fetched. */
final class QueryRunner {
  private static final Logger LOG = LoggerFactory.getLogger(QueryRunner.class);

  /** Results that a connection may have open. */
  private static final int MAX_CURSORS = 100;

  private final ClientService service;
  private final Map<Long, SqlReader.Cursor> cursors = new ConcurrentHashMap<>();
  private final Set<SqlReader.Canceller> running = ConcurrentHashMap.newKeySet();
  private final AtomicLong cursorIds = new AtomicLong();
  private volatile boolean closed;

  QueryRunner(ClientService service) {
    this.service = service;
  }

  void execute(
      ClientConnection.Attached session,
      ClientInfo client,
      Request.Execute request,
      Consumer<Reply> answer) {
    StatementExecution execution =
        new StatementExecution(
            new ReceivedStatement(service, this, session, client, request, answer));
    withPlan(request.sql(), answer, execution::run);
  }

  void prepare(ClientConnection.Attached session, Request.Prepare request, Consumer<Reply> answer) {
    withPlan(request.sql(), answer, plan -> describe(session, plan, answer));
  }

  /** A node that lags behind must not report a table missing that the statement will find. */
  private void describe(ClientConnection.Attached session, Plan plan, Consumer<Reply> answer) {
    Runnable work =
        () ->
            onWorker(
                plan instanceof Plan.LockCall ? Workers.Kind.CALLS : Workers.Kind.QUERIES,
                answer,
                () -> answer.accept(Descriptions.of(plan, schemaOf(session), service.reader())));
    if (plan instanceof Plan.Read) {
      withState(session.options().readConsistency(), answer, work);
    } else if (plan instanceof Plan.Write) {
      withState(ReadConsistency.LINEARIZABLE, answer, work);
    } else {
      work.run();
    }
  }

  /** Runs the work if this node's state is new enough; else sends the client to the leader. */
  void withState(ReadConsistency consistency, Consumer<Reply> answer, Runnable work) {
    switch (consistency) {
      case ANY -> work.run();
      case LEADER -> runIf(service.replica().isLeading(), answer, work);
      case LINEARIZABLE -> service.awaitState(leads -> runIf(leads, answer, work));
    }
  }

  private void runIf(boolean allowed, Consumer<Reply> answer, Runnable work) {
    if (allowed) {
      work.run();
    } else {
      answer.accept(new Reply.NotLeader(service.clusterView()));
    }
  }

  void metadata(
      ClientConnection.Attached session, Request.Metadata request, Consumer<Reply> answer) {
    withState(
        session.options().readConsistency(),
        answer,
        () ->
            onWorker(
                answer,
                () ->
                    answer.accept(
                        new Reply.Result(
                            service
                                .reader()
                                .metadata(
                                    schemaOf(session), request.code(), request.arguments())))));
  }

  void fetch(Request.Fetch request, Consumer<Reply> answer) {
    onWorker(
        answer,
        () -> {
          SqlReader.Cursor cursor = cursors.remove(request.cursorId());
          if (cursor == null) {
            answer.accept(
                new Reply.Failure(
                    SqlState.CONFLICT,
                    "the rest of the result is not on this node: run the query again"));
          } else {
            SqlReader.Page page = cursor.fetch(request.pageRows(), request.cursorId());
            keep(request.cursorId(), page);
            answer.accept(new Reply.Result(page.body().bytes()));
          }
        });
  }

  void closeCursor(long cursorId) {
    SqlReader.Cursor cursor = cursors.remove(cursorId);
    if (cursor != null) {
      cursor.close();
    }
  }

  /** Registers a query that ends with the connection, if not before. */
  void queryStarts(SqlReader.Canceller query) {
    running.add(query);
    if (closed) {
      query.cancel();
    }
  }

  void queryEnds(SqlReader.Canceller query) {
    running.remove(query);
  }

  /** Releases what the connection has open, and cancels its queries. */
  void close() {
    closed = true;
    running.forEach(SqlReader.Canceller::cancel);
    cursors.keySet().forEach(this::closeCursor);
  }

  boolean mayOpenCursor() {
    return cursors.size() < MAX_CURSORS;
  }

  static int maxCursors() {
    return MAX_CURSORS;
  }

  long nextCursorId() {
    return cursorIds.incrementAndGet();
  }

  /** Keeps the rest of a result, if there is one. */
  void keep(long cursorId, SqlReader.Page page) {
    SqlReader.Cursor cursor = page.cursor();
    if (cursor != null) {
      cursors.put(cursorId, cursor);
      if (closed) {
        closeCursor(cursorId);
      }
    }
  }

  private String schemaOf(ClientConnection.Attached session) {
    return settingsOf(session).schema();
  }

  SqlReader.Settings settingsOf(ClientConnection.Attached session) {
    Facts.SessionFacts found = service.replica().facts().session(session.id());
    return found == null
        ? new SqlReader.Settings(Session.INITIAL_SCHEMA, Limits.LOCK_TIMEOUT_MILLIS)
        : new SqlReader.Settings(found.schema(), found.lockTimeoutMillis());
  }

  /** Plans a statement: at once if it was seen lately, else on a worker. */
  private void withPlan(String sql, Consumer<Reply> answer, Consumer<Plan> work) {
    Plan known = service.frontend().cached(sql);
    if (known != null) {
      try {
        work.accept(known);
      } catch (RuntimeException | Error e) {
        answer.accept(unexpected(e));
      }
    } else {
      onWorker(
          sql.length() <= ClientLimits.SHORT_STATEMENT_CHARS
              ? Workers.Kind.PLANS
              : Workers.Kind.QUERIES,
          answer,
          () -> {
            try {
              work.accept(service.frontend().plan(sql));
            } catch (SqlRefused e) {
              answer.accept(Replies.of(e));
            }
          });
    }
  }

  /** Work that may fail with an error for the client. */
  interface Work {
    void run() throws SQLException;
  }

  /** Runs a query on another thread. Whatever happens, the client gets a reply. */
  void onWorker(Consumer<Reply> answer, Work work) {
    onWorker(Workers.Kind.QUERIES, answer, work);
  }

  /** Runs work on another thread. Whatever happens, the client gets a reply. */
  void onWorker(Workers.Kind kind, Consumer<Reply> answer, Work work) {
    service
        .workers()
        .run(
            kind,
            () -> {
              try {
                work.run();
              } catch (SQLException e) {
                service.replica().stopIfClassesAreLost(e);
                answer.accept(Replies.of(e));
              } catch (WireFormatException e) {
                answer.accept(Replies.of(e));
              } catch (RuntimeException | Error e) {
                answer.accept(unexpected(e));
              }
            },
            refused -> answer.accept(new Reply.Failure(SqlState.BUSY, refused)));
  }

  /** Returns the reply after a bug: the client waits for a reply all the same. */
  Reply unexpected(Throwable bug) {
    if (!service.replica().stopIfClassesAreLost(bug)) {
      LOG.error("{}: a statement failed in an unexpected way", service.nodeId(), bug);
    }
    return new Reply.Failure(
        SqlState.INTERNAL,
        "an error in Tollgate, which the log of node "
            + service.nodeId()
            + " describes: "
            + bug.getClass().getSimpleName());
  }
}
