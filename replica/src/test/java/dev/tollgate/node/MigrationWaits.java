package dev.tollgate.node;

import static org.awaitility.Awaitility.await;

import dev.tollgate.migrations.Queries;
import dev.tollgate.node.MigrationCell.Kind;
import dev.tollgate.node.MigrationCell.Moment;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** What other clients do so that the statements of runs have to wait, until {@link #end}. */
final class MigrationWaits implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  /** The lock of the fence that another client makes. */
  private static final String FENCE = "of-another-client";

  private final MigrationNodes nodes;
  private final Queries watcher;
  private final Queries holder;
  private final List<Connection> fencing = new ArrayList<>();
  private final List<CompletableFuture<Void>> fences = new ArrayList<>();
  private final List<String> locks = new ArrayList<>();
  private int waiting;
  private boolean ended;

  /** Returns once all statements of the runs that have to wait do so. */
  MigrationWaits(MigrationNodes nodes, List<MigrationRun> runs) throws Exception {
    this.nodes = nodes;
    this.watcher = new Queries(nodes.connect());
    this.holder = new Queries(nodes.connect());
    for (MigrationRun run : runs) {
      if (run.cell().moment() == Moment.WAITS_FOR_FENCE && run.cell().kind() == Kind.CALL) {
        String lock = "('call-" + run.schema() + "')";
        locks.add(lock);
        holder.execute("SELECT acquire_lock" + lock);
      }
    }
    holder.connection().setAutoCommit(false);
    for (MigrationRun run : runs) {
      if (waits(run) && run.cell().kind().isOfTable()) {
        holder.execute("UPDATE " + run.schema() + ".t SET n = n WHERE id = 0");
      }
    }
    for (MigrationRun run : runs) {
      if (run.cell().moment() == Moment.WAITS_FOR_FENCE && run.cell().kind().isOfTable()) {
        fence(run.schema());
        awaitWaiting(++waiting);
      }
    }
    for (MigrationRun run : runs) {
      if (waits(run)) {
        run.client().goOn();
        if (run.cell().kind() == Kind.CALL) {
          await()
              .atMost(DEADLINE)
              .ignoreExceptions()
              .until(
                  () ->
                      watcher.ask(
                          "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS WHERE LOCK_NAME = 'call-"
                              + run.schema()
                              + "'"),
                  "1"::equals);
        } else {
          awaitWaiting(++waiting);
        }
      }
    }
  }

  private static boolean waits(MigrationRun run) {
    Moment moment = run.cell().moment();
    return moment == Moment.WAITS_FOR_ROWS || moment == Moment.WAITS_FOR_FENCE;
  }

  private void fence(String schema) throws SQLException {
    Connection connection = nodes.connect();
    fencing.add(connection);
    fences.add(
        CompletableFuture.runAsync(
            () -> {
              try {
                Queries own = new Queries(connection);
                own.execute("SET LOCK_TIMEOUT 60000");
                own.execute("ALTER TABLE " + schema + ".t FENCED BY LOCK '" + FENCE + "'");
              } catch (SQLException e) {
                throw new CompletionException(e);
              }
            }));
  }

  /** A definition that waits ends queries that keep it waiting. */
  private void awaitWaiting(int count) {
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(
            () -> watcher.ask("SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS"),
            Integer.toString(count)::equals);
  }

  /** Ends what the statements wait for. */
  void end() throws SQLException {
    ended = true;
    holder.connection().commit();
    for (String lock : locks) {
      holder.execute("SELECT release_lock" + lock);
    }
    fences.forEach(CompletableFuture::join);
  }

  /** Ends the fence that another client has made in a schema. */
  static void endFence(Queries queries, String schema) throws SQLException {
    String fenced =
        queries.ask(
            "SELECT MAX(TABLE_NAME) FROM TOLLGATE.FENCES WHERE TABLE_SCHEMA = '"
                + schema
                + "' AND LOCK_NAME = '"
                + FENCE
                + "'");
    if (fenced != null) {
      queries.execute("SELECT acquire_lock('" + FENCE + "')");
      queries.execute("ALTER TABLE " + schema + "." + fenced + " NOT FENCED");
      queries.execute("SELECT release_lock('" + FENCE + "')");
    }
  }

  @Override
  public void close() throws SQLException {
    if (!ended) {
      holder.connection().rollback();
    }
    holder.connection().close();
    watcher.connection().close();
    for (Connection connection : fencing) {
      connection.close();
    }
  }
}
