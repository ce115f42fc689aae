package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.transfer.DatabaseCopy;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Invariant I7: equal logs make equal replicas, whatever else one of them does: it has a longer
 * history of statements, runs queries in between, and is restored from a snapshot. Replays with
 * -Dtollgate.seed; longer with -Dtollgate.statements.
 */
class RandomStatementsTest {
  private static final int STATEMENTS = Integer.getInteger("tollgate.statements", 2_000);
  private static final int STATEMENTS_PER_COMPARISON = 1_000;

  @Test
  void replicasAgreeOnRandomStatements() throws Exception {
    requireAgreement(STATEMENTS);
  }

  @Tag("nightly")
  @Test
  void replicasAgreeOnManyRandomStatements() throws Exception {
    requireAgreement(20 * STATEMENTS);
  }

  private static void requireAgreement(int count) throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("RandomStatementsTest: -Dtollgate.seed=" + seed);
    Random random = new Random(seed);
    RandomStatements statements = new RandomStatements(random);
    RandomStatements queries = new RandomStatements(new Random(seed + 1));
    Map<String, Integer> outcomes = new TreeMap<>();
    try (StoreDriver first = new StoreDriver();
        StoreDriver second = new StoreDriver()) {
      Planned one = new Planned(first);
      Planned two = new Planned(second);
      for (String definition : RandomStatements.definitions()) {
        assertEquals(Planned.OK, one.run(definition));
        for (int i = 0; i < 5; i++) {
          second.query("SELECT " + i + ", COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS");
        }
        assertEquals(Planned.OK, two.run(definition));
      }
      for (int i = 1; i <= count; i++) {
        int number = i;
        RandomStatements.Drawn statement = statements.next();
        String outcome = one.run(statement.sql(), statement.parameters());
        if (random.nextInt(3) == 0) {
          RandomStatements.Drawn query = queries.query();
          two.run(query.sql(), query.parameters());
        }
        assertEquals(
            outcome,
            two.run(statement.sql(), statement.parameters()),
            () -> "statement " + number + ": " + statement);
        outcomes.merge(outcome.length() > 5 ? outcome.substring(0, 7) : outcome, 1, Integer::sum);
        if (i % STATEMENTS_PER_COMPARISON == 0) {
          assertEquals(first.database.script(), second.database.script(), "after statement " + i);
          assertEquals(checksums(first), checksums(second), "checksums after statement " + i);
          assertEquals(
              DatabaseCopyTest.placesIn(first.database),
              DatabaseCopyTest.placesIn(second.database),
              "places of rows after statement " + i);
          DatabaseCopyTest.replaceByItself(second.database);
          assertEquals(first.database.script(), second.database.script(), "snapshot after " + i);
        }
      }
    }
    System.out.println("RandomStatementsTest: " + count + " statements: " + outcomes);
    assertTrue(outcomes.getOrDefault(Planned.OK, 0) > count / 2, outcomes.toString());
  }

  static Map<String, String> checksums(StoreDriver replica) throws IOException {
    Map<String, String> checksums = new TreeMap<>();
    try (DatabaseCopy copy = replica.database.copy(/* insistent= */ false)) {
      copy.checksums((part, sum) -> checksums.put(part, HexFormat.of().formatHex(sum)));
    }
    return checksums;
  }

  @Test
  void differenceIsFound() throws Exception {
    try (StoreDriver first = new StoreDriver();
        StoreDriver second = new StoreDriver()) {
      Planned one = new Planned(first);
      Planned two = new Planned(second);
      one.run("CREATE TABLE T(R DOUBLE)");
      two.run("CREATE TABLE T(R DOUBLE)");
      two.run("CREATE SEQUENCE S");
      two.run("DROP SEQUENCE S");
      // the same statement, at another place in the log
      one.run("INSERT INTO T VALUES(RAND())");
      two.run("INSERT INTO T VALUES(RAND())");
      assertNotEquals(first.database.script(), second.database.script());
      assertNotEquals(
          checksums(first).get("table PUBLIC.T"), checksums(second).get("table PUBLIC.T"));
      assertEquals(checksums(first).get("definitions"), checksums(second).get("definitions"));
    }
  }
}
