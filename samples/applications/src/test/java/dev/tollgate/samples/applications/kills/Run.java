package dev.tollgate.samples.applications.kills;

import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import dev.tollgate.samples.applications.kills.Result.Delay;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionFactory;

/** A run of one framework: three nodes, clients in processes of their own, and a schedule. */
final class Run implements AutoCloseable {
  static final int CLIENTS = 3;

  /** For whatever must come about before the run can go on. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private static final int MOST_ATTEMPTS = 100;

  private final Class<? extends Framework> type;
  private final Framework framework;
  private final ClusterProcesses cluster;
  private final HikariDataSource pool;
  private final ExecutorService submitting = Executors.newSingleThreadExecutor();
  private final List<Client> clients = new ArrayList<>();
  private final List<Delay> delays = new ArrayList<>();
  private int submitted;
  private int started;

  /** Starts the nodes. */
  Run(Class<? extends Framework> type, Path directory) throws Exception {
    this.type = type;
    framework = type.getDeclaredConstructor().newInstance();
    cluster = new ClusterProcesses(type.getSimpleName(), directory, 3);
    pool = Client.pool(cluster.url(""));
  }

  /** Creates all tables, starts the clients, and waits until they work. */
  private void startClients() throws Exception {
    try (Connection connection = pool.getConnection()) {
      Ledger.create(connection, framework.promise());
    }
    framework.prepare(pool);
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(startClient(i));
    }
    for (Client client : clients) {
      soon().until(client::isReady);
    }
  }

  private static ConditionFactory soon() {
    return await().atMost(DEADLINE).pollInterval(Duration.ofMillis(20));
  }

  private Client startClient(int index) throws Exception {
    return Client.start(type, cluster.url(""), "c" + index + "-" + started++);
  }

  /** Kills by the schedule while jobs are submitted and done; what has become of all jobs. */
  Result of(Schedule schedule) throws Exception {
    startClients();
    try (Framework.Submitter submitter = framework.submitter(pool)) {
      follow(schedule, submitter);
      awaitAllEffects();
    }
    return new Result(
        submitted,
        soon().ignoreExceptions().until(() -> framework.effects(pool), jobs -> true),
        number("SELECT SUM(EFFECTS) FROM COUNTERS"),
        number("SELECT COUNT(*) FROM RUNS"),
        number(framework.remainder()),
        delays);
  }

  private void follow(Schedule schedule, Framework.Submitter submitter) throws Exception {
    for (Schedule.Kill kill : schedule.kills()) {
      int before = number("SELECT COUNT(*) FROM EFFECTS");
      CompletableFuture<Void> batch = submitBatch(submitter);
      soon().until(() -> number("SELECT COUNT(*) FROM EFFECTS") >= before + kill.afterEffects());
      if (kill.isOfLeader()) {
        killLeader();
      } else {
        killClient(kill);
      }
      batch.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private CompletableFuture<Void> submitBatch(Framework.Submitter submitter) {
    int first = submitted;
    submitted += Schedule.JOBS_PER_KILL;
    int end = submitted;
    return CompletableFuture.runAsync(
        () -> {
          for (int job = first; job < end; job++) {
            submit(submitter, job);
          }
        },
        submitting);
  }

  /** As an application does whose request must not be lost: again, until it has succeeded. */
  private void submit(Framework.Submitter submitter, int job) {
    Exception last = null;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      try {
        submitter.submit(job);
        return;
      } catch (Exception e) {
        last = e;
      }
    }
    throw new IllegalStateException("job " + job + " was not submitted", last);
  }

  private void killClient(Schedule.Kill kill) throws Exception {
    int index = awaitWork(kill.victim());
    Client victim = clients.get(index);
    NodeProcess leader = kill.withLeader() ? cluster.leader() : null;
    long since = System.nanoTime();
    victim.kill();
    if (leader != null) {
      leader.kill();
    }
    int lastRun = lastRun();
    List<Integer> stranded = numbers(begunBy(victim));
    Duration others = awaitNextWork(lastRun, victim.name(), since);
    clients.set(index, startClient(index));
    stranded.forEach(this::awaitEffect);
    Duration resumed =
        stranded.isEmpty() ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
    note(new Delay(/* ofLeader= */ false, others, stranded.size(), resumed));
    if (leader != null) {
      leader.startAndAwait();
    }
    soon().until(clients.get(index)::isReady);
  }

  /** The jobs that a client is in the middle of. */
  private static String begunBy(Client client) {
    return "SELECT DISTINCT JOB FROM RUNS WHERE CLIENT = '"
        + client.name()
        + "' AND JOB NOT IN (SELECT JOB FROM EFFECTS)";
  }

  /**
   * Waits until a client is in the middle of a job: the scheduled one, or the next one if a
   * framework gives that one nothing to do. With no work left it is the scheduled one.
   */
  private int awaitWork(int scheduled) {
    return soon()
        .pollInterval(Duration.ofMillis(2))
        .until(
            () -> {
              for (int i = 0; i < CLIENTS; i++) {
                int index = (scheduled + i) % CLIENTS;
                if (!numbers(begunBy(clients.get(index))).isEmpty()) {
                  return OptionalInt.of(index);
                }
              }
              return number("SELECT COUNT(*) FROM EFFECTS") >= submitted - CLIENTS
                  ? OptionalInt.of(scheduled)
                  : OptionalInt.empty();
            },
            OptionalInt::isPresent)
        .getAsInt();
  }

  private int lastRun() {
    return number("SELECT COALESCE(MAX(ID), 0) FROM RUNS");
  }

  /** Waits for the effect of a job that another client has begun after the kill. */
  private Duration awaitNextWork(int lastRun, String victim, long since) {
    String next =
        "SELECT COUNT(*) FROM RUNS R JOIN EFFECTS E ON E.JOB = R.JOB AND E.CLIENT = R.CLIENT"
            + " WHERE R.ID > "
            + lastRun
            + " AND R.CLIENT <> '"
            + victim
            + "'";
    soon().until(() -> number(next) > 0 || number("SELECT COUNT(*) FROM EFFECTS") >= submitted);
    return Duration.ofNanos(System.nanoTime() - since);
  }

  /** The result says that an effect has not come; this waits no longer than it can matter. */
  private void awaitEffect(int job) {
    long end = System.nanoTime() + DEADLINE.toNanos();
    soon()
        .atMost(DEADLINE.plusSeconds(5))
        .until(
            () ->
                number("SELECT COUNT(*) FROM EFFECTS WHERE JOB = " + job) > 0
                    || System.nanoTime() > end);
  }

  private void killLeader() throws Exception {
    NodeProcess leader = cluster.leader();
    long since = System.nanoTime();
    leader.kill();
    Duration others = awaitNextWork(lastRun(), "", since);
    note(new Delay(/* ofLeader= */ true, others, /* stranded= */ 0, Duration.ZERO));
    leader.startAndAwait();
  }

  private void note(Delay delay) {
    delays.add(delay);
    System.out.println(type.getSimpleName() + ": " + delay);
  }

  private void awaitAllEffects() {
    long end = System.nanoTime() + DEADLINE.toNanos();
    soon()
        .atMost(DEADLINE.plusSeconds(5))
        .until(
            () ->
                System.nanoTime() > end
                    || (number("SELECT COUNT(DISTINCT JOB) FROM EFFECTS") >= submitted
                        && number(framework.remainder()) == 0));
  }

  private int number(String sql) {
    return numbers(sql).get(0);
  }

  /** A query changes nothing, so it may be asked again if its answer has died with a node. */
  private List<Integer> numbers(String sql) {
    return soon().ignoreExceptions().until(() -> ask(sql), answer -> true);
  }

  private List<Integer> ask(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<Integer> numbers = new ArrayList<>();
      while (rows.next()) {
        numbers.add(rows.getInt(1));
      }
      return numbers;
    }
  }

  Duration detection() {
    return framework.detection();
  }

  @Override
  public void close() {
    submitting.shutdownNow();
    clients.forEach(Client::kill);
    pool.close();
    cluster.close();
  }
}
