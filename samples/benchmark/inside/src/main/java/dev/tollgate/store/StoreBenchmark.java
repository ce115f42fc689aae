package dev.tollgate.store;

import dev.tollgate.core.StateMachine;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.value.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What a replica does for a write that it finds in the log. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xmx2g"})
public class StoreBenchmark {
  private static final int ROWS = 1_000;

  private final SqlDatabase database = new SqlDatabase();
  private final StateMachine machine = new StateMachine(database);
  private SessionId session = new SessionId(1);
  private long logIndex;
  private long sequence;
  private long key = ROWS;

  /** Makes a table of some rows. */
  @Setup(Level.Trial)
  public void fill() {
    Outcome opened =
        apply(new Command.OpenSession(new ClientInfo("app", "host", "1"), 1, 60_000, 15_000));
    session = ((Outcome.SessionOpened) opened).session();
    run("CREATE TABLE account(id BIGINT PRIMARY KEY, balance BIGINT)", true);
    for (long id = 0; id < ROWS; id++) {
      run("INSERT INTO account(id, balance) VALUES(?, ?)", false, id, 0);
    }
  }

  /** Ends the database. */
  @TearDown(Level.Trial)
  public void close() {
    database.close();
  }

  /** Updates one row by its key. */
  @Benchmark
  public Outcome update() {
    return run("UPDATE account SET balance = balance + ? WHERE id = ?", false, 1, sequence % ROWS);
  }

  /** Inserts one row. */
  @Benchmark
  public Outcome insert() {
    return run("INSERT INTO account(id, balance) VALUES(?, ?)", false, key++, 0);
  }

  private Outcome run(String sql, boolean definition, long... parameters) {
    List<Value> values = new ArrayList<>();
    for (long parameter : parameters) {
      values.add(ValueBigint.get(parameter));
    }
    List<Operation.DefinitionTarget> targets =
        definition
            ? List.of(
                new Operation.DefinitionTarget(
                    Operation.DefinitionTarget.Kind.TABLE, new TableName(null, "ACCOUNT")))
            : List.of();
    Outcome outcome =
        apply(
            new Command.Perform(
                session,
                ++sequence,
                new Operation.ExecuteSql(
                    sql,
                    definition,
                    targets,
                    List.of(
                        new Operation.ParameterSet(
                            Payload.of(Parameter.encodeValues(values)), null)),
                    false,
                    false,
                    new Operation.WantedKeys.None(),
                    0,
                    null,
                    true,
                    TransactionScope.AUTOCOMMIT)));
    if (outcome instanceof Outcome.Refused refused) {
      throw new IllegalStateException(refused.toString());
    }
    return outcome;
  }

  private Outcome apply(Command command) {
    logIndex++;
    return machine
        .apply(new LogPosition(logIndex, 0, 1_000_000_000_000_000L + logIndex * 1_000), command)
        .outcome();
  }
}
