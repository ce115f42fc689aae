package dev.tollgate.store;

import dev.tollgate.core.Fence;
import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.store.OddStatements.Odd;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.value.StatementResult;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Three replicas that run odd statements as the log brings them, after the front-end has planned
 * them. The first does nothing else. The second also answers queries, and prepares statements for
 * clients. The third is replaced by one that has read a snapshot, in turns of the first and of
 * itself.
 *
 * <p>No replica may fail; outcomes, steps and states have to be equal after every statement; a
 * snapshot has to be readable; and what the cluster says is fenced accepts no write without a
 * token.
 */
final class OddRun implements AutoCloseable {
  /** A statement, or null for a snapshot that another replica reads. */
  record Step(@Nullable Odd odd) {
    static final Step SNAPSHOT = new Step(null);

    @Override
    public String toString() {
      return odd == null ? "-- snapshot" : odd.toString();
    }
  }

  /** What went wrong; faults with the same key count as one. */
  static final class Fault extends Exception {
    private static final long serialVersionUID = 1L;

    private final String key;

    Fault(String key, String message, @Nullable Throwable cause) {
      super(message, cause);
      this.key = key;
    }

    String key() {
      return key;
    }
  }

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  static final int REPLICAS = 3;
  private static final int KEY_FRAMES = 2;
  private static final String VIEW = "SELECT * FROM V0";

  private final SqlFrontend frontend = new SqlFrontend(0);
  private final LoggedReplica[] replicas;
  private final SessionId writer;
  private final SessionId stranger;
  private final Map<String, Integer> outcomes = new TreeMap<>();
  private final Map<String, String> otherTexts = new TreeMap<>();
  private int restores;
  private long sequence;
  private long cpuNanos;
  private String answer = "";

  /** Opens this many replicas, each with the tables of the statements. */
  OddRun(int count) throws Fault {
    replicas = new LoggedReplica[count];
    for (int i = 0; i < replicas.length; i++) {
      replicas[i] = new LoggedReplica();
    }
    writer = open();
    stranger = open();
    for (String lock : OddStatements.LOCKS) {
      perform(
          writer, new Operation.AcquireLock(new LockName(lock), null, LockMode.EXCLUSIVE, 0), lock);
    }
    for (String sql : OddStatements.TABLES) {
      String outcome = run(Odd.of(sql));
      if (!outcome.equals(Planned.OK)) {
        throw new IllegalStateException(sql + ": " + outcome);
      }
    }
    outcomes.clear();
  }

  private SessionId open() throws Fault {
    Command command =
        new Command.OpenSession(new ClientInfo("odd", "host", "p"), 1, 60_000, 15_000);
    return ((Outcome.SessionOpened) apply(command, "open")).session();
  }

  /** How often each outcome came. */
  Map<String, Integer> outcomes() {
    return outcomes;
  }

  /** Error texts that are not the same on all replicas, one for each kind of statement. */
  Map<String, String> otherTexts() {
    return otherTexts;
  }

  /** The processor time of the last statement on the replica that took least. */
  long cpuNanos() {
    return cpuNanos;
  }

  /** The steps of the last statement on the first replica. */
  long steps() {
    return replicas[0].steps;
  }

  /** What the last statement has answered, with all rows. */
  String answer() {
    return answer;
  }

  /** Everything that the first replica holds, as checksums. */
  Map<String, String> contents() throws Fault {
    return checksums(replicas[0], "contents");
  }

  void run(Step step) throws Fault {
    if (step.odd() == null) {
      restore();
    } else {
      outcomes.merge(run(step.odd()), 1, Integer::sum);
    }
  }

  private String run(Odd odd) throws Fault {
    cpuNanos = 0;
    answer = "";
    Plan plan;
    try {
      plan = frontend.plan(odd.sql());
    } catch (SqlRefused e) {
      return "refused";
    } catch (RuntimeException | StackOverflowError e) {
      throw failure("the front-end failed", odd.toString(), e);
    }
    read(plan);
    Operation operation = Planned.operation(plan, odd.parameters().toArray());
    if (operation == null) {
      return "not logged";
    }
    Outcome outcome = perform(writer, operation, odd.toString());
    answer = text(outcome);
    if (!(operation instanceof Operation.ExecuteSql statement) || statement.definition()) {
      requireFences(odd.toString());
    }
    return outcome instanceof Outcome.Executed
        ? Planned.OK
        : outcome instanceof Outcome.SqlFailed failed
            ? failed.sqlState()
            : outcome.getClass().getSimpleName();
  }

  /** What a node does beside the log, if there is more than one replica. */
  private void read(Plan plan) throws Fault {
    if (replicas.length == 1) {
      return;
    }
    SqlReader reader = replicas[1].database.reader();
    SqlReader.Settings settings = new SqlReader.Settings("PUBLIC", 0, UserName.ANONYMOUS);
    String sql =
        plan instanceof Plan.Read read
            ? read.sql()
            : plan instanceof Plan.Write write ? write.sql() : VIEW;
    for (String query : plan instanceof Plan.Read ? List.of(VIEW, sql) : List.of(VIEW)) {
      try {
        reader.describe(settings, sql, new SqlReader.Canceller());
        reader.query(
            null,
            settings,
            query,
            StoreDriver.encode().bytes(),
            0,
            0,
            1,
            LockAccess.NONE,
            new SqlReader.Canceller());
      } catch (SQLException e) {
        // nothing comes of it
      } catch (RuntimeException | OutOfMemoryError e) {
        throw failure("a reader failed", sql, e);
      }
    }
  }

  private Outcome perform(SessionId session, Operation operation, String what) throws Fault {
    return apply(new Command.Perform(session, ++sequence, operation), what);
  }

  private Outcome apply(Command command, String what) throws Fault {
    Outcome[] answers = new Outcome[replicas.length];
    Throwable[] failures = new Throwable[replicas.length];
    cpuNanos = Long.MAX_VALUE;
    for (int i = 0; i < replicas.length; i++) {
      long before = THREADS.getCurrentThreadCpuTime();
      try {
        answers[i] = replicas[i].apply(command);
      } catch (RuntimeException | OutOfMemoryError e) {
        failures[i] = e;
      } catch (StackOverflowError e) {
        throw failure("a replica failed", what, e);
      }
      cpuNanos = Math.min(cpuNanos, THREADS.getCurrentThreadCpuTime() - before);
    }
    for (Throwable failure : failures) {
      if (failure != null) {
        throw failure("a replica failed", what, failure);
      }
    }
    requireEqual(answers, what);
    requireEqualSteps(what);
    return answers[0];
  }

  /** A statement that is too much for one replica has to be too much for all. */
  private void requireEqualSteps(String what) throws Fault {
    for (int i = 1; i < replicas.length; i++) {
      if (replicas[i].steps != replicas[0].steps) {
        String side = i == replicas.length - 1 ? "a restored replica " : "a reading replica ";
        throw new Fault(
            side + "takes other steps: " + kind(what),
            side
                + "takes "
                + replicas[i].steps
                + " instead of "
                + replicas[0].steps
                + " steps: "
                + what,
            null);
      }
    }
  }

  private void requireEqual(Outcome[] answers, String what) throws Fault {
    for (int i = 1; i < answers.length; i++) {
      String side = i == answers.length - 1 ? "a restored replica " : "a replica ";
      if (!masked(answers[0]).equals(masked(answers[i]))) {
        throw new Fault(
            side + "answers otherwise: " + kind(what),
            side + "answers " + text(answers[i]) + " instead of " + text(answers[0]) + ": " + what,
            null);
      }
      if (!answers[0].equals(answers[i])) {
        otherTexts.putIfAbsent(kind(what), text(answers[0]) + " and " + text(answers[i]));
      }
      Map<String, String> expected = checksums(replicas[0], what);
      Map<String, String> actual = checksums(replicas[i], what);
      if (!expected.equals(actual)) {
        throw new Fault(
            side
                + "has other contents after "
                + kind(what)
                + ": "
                + kinds(replicas[0].database.script(), replicas[i]),
            side
                + "differs in "
                + different(expected, actual)
                + difference(replicas[0].database.script(), replicas[i])
                + " after "
                + what,
            null);
      }
      if (!state(replicas[0]).equals(state(replicas[i]))) {
        throw new Fault(
            side + "has other locks: " + kind(what),
            side
                + "has other locks: "
                + onlyIn(replicas[0], replicas[i])
                + " became "
                + onlyIn(replicas[i], replicas[0])
                + ": "
                + what,
            null);
      }
    }
  }

  /** Error texts name indexes and copies of tables, which H2 names as it likes. */
  private static Outcome masked(Outcome outcome) {
    return outcome instanceof Outcome.SqlFailed failed
        ? new Outcome.SqlFailed(failed.sqlState(), failed.vendorCode(), "")
        : outcome;
  }

  private static List<StateRecord> onlyIn(LoggedReplica one, LoggedReplica other) {
    List<StateRecord> only = new ArrayList<>(state(one));
    only.removeAll(state(other));
    return only;
  }

  private static List<StateRecord> state(LoggedReplica replica) {
    return replica.state().stream()
        .map(
            piece ->
                piece instanceof StateRecord.SessionState session && session.lastOutcome() != null
                    ? session.withLastOutcome(masked(session.lastOutcome()))
                    : piece)
        .toList();
  }

  private static Map<String, String> checksums(LoggedReplica replica, String what) throws Fault {
    try {
      return replica.checksums();
    } catch (IOException | RuntimeException e) {
      throw failure("no checksum", what, e);
    }
  }

  private static List<String> different(Map<String, String> expected, Map<String, String> actual) {
    Map<String, String> all = new TreeMap<>(expected);
    all.putAll(actual);
    return all.keySet().stream()
        .filter(part -> !Objects.equals(expected.get(part), actual.get(part)))
        .toList();
  }

  /** What kind of statement it is, so that a hundred of them count as one fault. */
  private static String kind(String sql) {
    String[] words = sql.split("[\\s(]+", 3);
    return words[0] + (words.length > 1 ? " " + words[1] : "");
  }

  private static String text(Outcome outcome) {
    if (outcome instanceof Outcome.Executed executed
        && StatementResult.read(executed.result().bytes(), null)
            instanceof StatementResult.Rows rows) {
      return rows.rows().columns() + " " + StoreDriver.text(rows.rows());
    }
    return outcome.toString();
  }

  /** A session without a token changes nothing in a table that is said to be fenced. */
  private void requireFences(String what) throws Fault {
    List<TableName> fenced = new ArrayList<>();
    replicas[0].machine.state().fences().stream().map(Fence::table).forEach(fenced::add);
    for (TableName table : fenced) {
      String sql = "DELETE FROM \"" + table.schema() + "\".\"" + table.name() + "\"";
      Outcome outcome =
          perform(
              stranger, StoreDriver.statement(sql, null, List.<Object[]>of(new Object[0])), sql);
      if (outcome instanceof Outcome.Executed executed
          && ((StatementResult.Updated) StatementResult.read(executed.result().bytes(), null))
                  .count()
              > 0) {
        throw new Fault(
            "a fence is open",
            "a session without a token deletes from " + table + " after " + what,
            null);
      }
    }
  }

  private void restore() throws Fault {
    LoggedReplica restored;
    int last = replicas.length - 1;
    restores++;
    try {
      restored = replicas[restores % 2 == 0 ? last : 0].restored();
    } catch (IOException | RuntimeException | StackOverflowError e) {
      throw failure("a snapshot is not readable", "snapshot", e);
    }
    Map<String, String> expected = checksums(replicas[0], "snapshot");
    List<StateRecord> state = state(replicas[0]);
    List<String> script = replicas[0].database.script();
    replicas[last].close();
    replicas[last] = restored;
    Map<String, String> actual = checksums(restored, "snapshot");
    if (!expected.equals(actual)) {
      List<String> parts = different(expected, actual);
      throw new Fault(
          "a restored replica differs in "
              + parts.stream().map(part -> part.split(" ", 2)[0]).distinct().toList()
              + ": "
              + kinds(script, restored),
          "a restored replica differs in " + parts + difference(script, restored),
          null);
    }
    if (!state.equals(state(restored))) {
      throw new Fault("a restored core differs", "the restored state of the core differs", null);
    }
  }

  /** The kinds of definitions of which the other replica lacks some. */
  private static List<String> kinds(List<String> expected, LoggedReplica other) {
    List<String> missing = new ArrayList<>(expected);
    missing.removeAll(other.database.script());
    return missing.stream()
        .filter(sql -> !sql.startsWith("INSERT"))
        .map(sql -> sql.replaceAll("\"[^\"]*\"\\.?", "").lines().findFirst().orElse(""))
        .map(sql -> sql.split("\\(", 2)[0].strip())
        .distinct()
        .toList();
  }

  private static String difference(List<String> expected, LoggedReplica other) {
    List<String> actual = new ArrayList<>(other.database.script());
    List<String> missing = new ArrayList<>(expected);
    missing.removeAll(actual);
    actual.removeAll(expected);
    return ": " + missing + " became " + actual;
  }

  private static Fault failure(String what, String sql, Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    if (root instanceof StackOverflowError) {
      return new Fault(what + ": StackOverflowError", what + " (" + root + "): " + sql, null);
    }
    String message = String.valueOf(root.getMessage()).replaceAll("\"[^\"]*\"|'[^']*'|\\d+", "_");
    String frames =
        Arrays.stream(root.getStackTrace())
            .filter(frame -> frame.getClassName().matches("(org\\.h2|dev\\.tollgate)\\..*"))
            .filter(frame -> !frame.getClassName().endsWith("DbException"))
            .limit(KEY_FRAMES)
            .map(frame -> frame.getFileName() + ":" + frame.getLineNumber())
            .toList()
            .toString();
    return new Fault(
        what
            + ": "
            + root.getClass().getSimpleName()
            + " "
            + message
                .lines()
                .findFirst()
                .orElse("")
                .replaceAll("; SQL statement.*|(?<=.{80}).*", "")
            + " "
            + frames,
        what + " (" + failure + ", because of " + root + " at " + frames + "): " + sql,
        failure);
  }

  @Override
  public void close() {
    for (LoggedReplica replica : replicas) {
      try {
        replica.close();
      } catch (RuntimeException e) {
        // a replica that has failed need not close
      }
    }
  }

  /**
   * Runs steps on new replicas.
   *
   * @return what went wrong, or null
   */
  static @Nullable Fault play(List<Step> steps, Consumer<Step> before) {
    try (OddRun run = new OddRun(REPLICAS)) {
      for (Step step : steps) {
        before.accept(step);
        run.run(step);
      }
      return null;
    } catch (Fault e) {
      return e;
    }
  }
}
