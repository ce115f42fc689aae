package dev.tollgate.sql;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The cost of a statement before it is proposed: with a plan that is kept, and with a plan that has
 * to be made.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class GateBenchmark {
  /** The statements to plan. */
  public enum Text {
    LOCK("SELECT acquire_lock(?)"),
    FENCED_UPDATE("UPDATE account SET balance = balance - ? WHERE id = ? FENCED BY LOCK ? TOKEN ?"),
    JOIN(
        "SELECT a.id, SUM(b.amount) FROM account a JOIN booking b ON b.account = a.id"
            + " WHERE a.id < ? GROUP BY a.id ORDER BY 2 DESC");

    private final String sql;

    Text(String sql) {
      this.sql = sql;
    }
  }

  /** The statement. */
  @Param public Text text = Text.LOCK;

  private final SqlFrontend keeping = new SqlFrontend(100);
  private final SqlFrontend forgetting = new SqlFrontend(0);

  /** Makes the plan that is kept. */
  @Setup
  public void plan() {
    keeping.plan(text.sql);
  }

  /** Plans a statement that was planned recently. */
  @Benchmark
  public Plan kept() {
    return keeping.plan(text.sql);
  }

  /** Plans a statement that no client has sent before. */
  @Benchmark
  public Plan unseen() {
    return forgetting.plan(text.sql);
  }
}
