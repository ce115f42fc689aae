package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The cost of one more lock while many locks are held. */
final class HeldLocks {
  private static final int[] HELD = {1_000, 100_000, 1_000_000};
  private static final int BATCH = 5_000;

  private HeldLocks() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    try (Connection connection = DriverManager.getConnection(stage.tollgateUrl());
        Statement statement = connection.createStatement()) {
      long lease = SqlWorker.number(statement, "SELECT create_lease(INTERVAL '1' DAY, 'held')");
      int held = 0;
      for (int wanted : HELD) {
        stage.say("taking " + (wanted - held) + " locks");
        take(statement, lease, held, wanted);
        held = wanted;
        stage.burst(
            scenario,
            held + " locks are held",
            List.of(
                new Entrant(
                    "tollgate",
                    () ->
                        Crew.of(
                            1,
                            number ->
                                new LockCycles.Apart(
                                    stage.tollgate().connect(Stage.LEASE), scenario.word())))));
      }
      SqlWorker.number(statement, "SELECT revoke_lease(" + lease + ")");
    }
  }

  /** Takes the locks with the numbers after {@code from} up to {@code to}. */
  static void take(Statement statement, long lease, int from, int to) throws SQLException {
    for (int first = from + 1; first <= to; first += BATCH) {
      int last = Math.min(to, first + BATCH - 1);
      long taken =
          SqlWorker.number(
              statement,
              "SELECT COUNT(try_acquire_lock('held-' || x, "
                  + lease
                  + ")) FROM SYSTEM_RANGE("
                  + first
                  + ", "
                  + last
                  + ")");
      if (taken != last - first + 1) {
        throw new SQLException("took " + taken + " locks of " + (last - first + 1));
      }
    }
  }
}
