package dev.tollgate.node;

import static org.awaitility.Awaitility.await;

import dev.tollgate.migrations.Queries;
import dev.tollgate.node.MigrationCell.End;
import dev.tollgate.node.MigrationCell.Moment;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs cells on nodes in this JVM. Cells of a batch have one end, which comes once all their runs
 * stand at their moments.
 */
final class MigrationCells implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  /** Of runs that lose their lock by time; long enough for a busy machine to reach the moments. */
  private static final Duration SHORT_LEASE = Duration.ofSeconds(6);

  private static final Duration LONG_LEASE = Duration.ofSeconds(60);

  /** How many next runs are under way at a time. */
  private static final int AT_A_TIME = 8;

  private final Path directory;
  private final MigrationTool tool;
  private final MigrationNodes nodes;
  private final Connection control;
  private final Queries queries;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CellTable table;
  private int schemas;

  /**
   * @param nodes taken over
   * @param table gets the verdicts
   */
  MigrationCells(Path directory, MigrationNodes nodes, MigrationTool tool, CellTable table)
      throws SQLException {
    this.directory = directory;
    this.tool = tool;
    this.nodes = nodes;
    this.table = table;
    this.control = nodes.connect();
    this.queries = new Queries(control);
  }

  /** Runs cells that have one end, and all or none of which are of moment RUNNING. */
  void run(List<MigrationCell> cells) throws Exception {
    List<MigrationRun> runs = new ArrayList<>();
    End end = cells.get(0).end();
    boolean byTime = end == End.KILL || end == End.PAUSE;
    try (Statement statement = control.createStatement()) {
      for (MigrationCell cell : cells) {
        String schema = "C" + ++schemas;
        runs.add(
            new MigrationRun(
                cell,
                tool,
                schema,
                directory.resolve(schema),
                byTime ? SHORT_LEASE : LONG_LEASE,
                nodes::leader));
        runs.get(runs.size() - 1).prepare(statement);
      }
    }
    runs.forEach(MigrationRun::begin);
    await().atMost(DEADLINE).until(() -> runs.stream().allMatch(MigrationRun::isStopped));
    if (cells.get(0).moment() == Moment.RUNNING) {
      whileRunning(runs, end);
    } else {
      try (MigrationWaits waits = new MigrationWaits(nodes, runs)) {
        bringAbout(end, runs, () -> {});
        waits.end();
      }
    }
    judge(runs, end);
  }

  /** One entry of the log has all the statements, and is applied after the end has begun. */
  private void whileRunning(List<MigrationRun> runs, End end) throws Exception {
    Node leading = nodes.leading();
    BusyReplica busy = new BusyReplica(leading.pipeline());
    for (MigrationRun run : runs) {
      int before = leading.pipeline().figures().queuedCommands();
      run.client().goOn();
      await().atMost(DEADLINE).until(() -> leading.pipeline().figures().queuedCommands() > before);
    }
    BusyApply applying = new BusyApply(leading.replica());
    busy.end();
    await().atMost(DEADLINE).until(() -> leading.pipeline().figures().queuedCommands() == 0);
    bringAbout(end, runs, applying::close);
  }

  private void bringAbout(End end, List<MigrationRun> runs, Runnable apply) throws Exception {
    switch (end) {
      case KILL -> {
        runs.forEach(run -> run.client().die());
        apply.run();
      }
      case PAUSE -> {
        runs.forEach(run -> run.client().pause());
        apply.run();
        awaitNoLocks(runs);
      }
      case FORCE_RELEASE -> {
        Future<Void> released = inThread(() -> forceRelease(runs));
        apply.run();
        released.get();
        runs.forEach(run -> run.client().goOn());
      }
      case LEADER_KILL -> {
        runs.forEach(run -> run.client().loseConnections());
        nodes.killLeader(apply);
      }
      case RESTART -> {
        runs.forEach(run -> run.client().loseConnections());
        nodes.restart(apply);
      }
    }
  }

  private Future<Void> inThread(Callable<Void> task) {
    return threads.submit(task);
  }

  private Void forceRelease(List<MigrationRun> runs) throws SQLException {
    for (MigrationRun run : runs) {
      queries.execute("SELECT force_release_lock('" + run.lock() + "')");
    }
    return null;
  }

  private void awaitNoLocks(List<MigrationRun> runs) {
    for (MigrationRun run : runs) {
      String locks = "SELECT COUNT(*) FROM TOLLGATE.LOCKS WHERE LOCK_NAME = '" + run.lock() + "'";
      await().atMost(DEADLINE).until(() -> ask(locks), "0"::equals);
    }
  }

  /** A definition ends queries that it waits for; then they are asked again. */
  private @Nullable String ask(String query) {
    AtomicReference<@Nullable String> answer = new AtomicReference<>();
    await()
        .atMost(DEADLINE)
        .ignoreExceptionsMatching(
            e -> e instanceof SQLException ended && "40001".equals(ended.getSQLState()))
        .until(
            () -> {
              answer.set(queries.ask(query));
              return true;
            });
    return answer.get();
  }

  private void judge(List<MigrationRun> runs, End end) throws Exception {
    if (end != End.PAUSE) {
      await().atMost(DEADLINE).until(() -> runs.stream().allMatch(MigrationRun::isOver));
    }
    for (MigrationRun run : runs) {
      defineOther(run);
    }
    runAgain(runs);
    if (end == End.PAUSE) {
      runs.forEach(run -> run.client().goOn());
      runs.forEach(run -> run.client().resume());
      await().atMost(DEADLINE).until(() -> runs.stream().allMatch(MigrationRun::isOver));
    }
    for (MigrationRun run : runs) {
      table.add(run.cell(), run.isNotKnown(), run.verdict(this::ask));
    }
  }

  /** What other clients do before the next run. */
  private void defineOther(MigrationRun run) throws SQLException {
    String schema = run.schema();
    if (run.cell().kind() == MigrationCell.Kind.TRUNCATE
        && "0".equals(ask("SELECT COUNT(*) FROM " + schema + ".t"))) {
      queries.execute("INSERT INTO " + schema + ".t VALUES (3, 3)");
      queries.execute("INSERT INTO " + schema + ".seen VALUES (3)");
    }
    if (run.cell().others()) {
      queries.execute("CREATE TABLE " + schema + ".of_another_client(id INT)");
    }
    MigrationWaits.endFence(queries, schema);
  }

  private void runAgain(List<MigrationRun> runs) throws Exception {
    ExecutorService few = Executors.newFixedThreadPool(AT_A_TIME);
    try {
      List<Future<?>> again = new ArrayList<>();
      for (MigrationRun run : runs) {
        again.add(few.submit(run::runAgain));
      }
      for (Future<?> one : again) {
        one.get();
      }
    } finally {
      few.shutdown();
    }
  }

  @Override
  public void close() throws SQLException {
    threads.shutdownNow();
    control.close();
    nodes.close();
  }
}
