package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.Touched;
import dev.tollgate.store.limits.ActionDepth;
import dev.tollgate.store.limits.RowBytes;
import dev.tollgate.store.schema.SystemSchema;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.h2.command.Prepared;
import org.h2.engine.SessionLocal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What is counted of each kind of statement, as it was when scan-meters.txt was written. The meters
 * find their places through private fields of H2; one that they no longer find is a line that
 * differs.
 */
class ScanMetersTest {
  private static final String FILE = "/scan-meters.txt";

  private final H2Database database = SystemSchema.newDatabase();
  private final SessionLocal session = database.openSession();

  @BeforeEach
  void makeTables() {
    session.setAutoCommit(false);
    for (String sql :
        List.of(
            "CREATE TABLE A(ID INT PRIMARY KEY, V INT, T VARCHAR)",
            "CREATE INDEX AV ON A(V)",
            "CREATE TABLE B(ID INT PRIMARY KEY, A INT REFERENCES A(ID) ON DELETE CASCADE)",
            "CREATE VIEW W AS SELECT V, COUNT(*) AS N FROM A GROUP BY V",
            "INSERT INTO A SELECT X, MOD(X, 3), REPEAT('ab', 400) || X FROM SYSTEM_RANGE(1, 10)",
            "INSERT INTO B SELECT X, X FROM SYSTEM_RANGE(1, 5)")) {
      session.prepareCommand(sql).executeUpdate(null);
    }
    session.commit(false);
    new ActionDepth.Counters(database).follow(Touched.everything(database).tables());
    new RowBytes.Counters(database).follow(Touched.everything(database).tables());
  }

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void everyKindOfStatementIsMetered() throws Exception {
    List<String> expected;
    try (InputStream in = ScanMetersTest.class.getResourceAsStream(FILE)) {
      expected = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
    List<String> found = new ArrayList<>();
    for (String line : expected) {
      found.add(line.startsWith("--") ? line : measured(line.substring(line.indexOf("| ") + 2)));
    }
    assertEquals(String.join("\n", expected), String.join("\n", found));
  }

  private String measured(String sql) {
    Counter counter = new Counter();
    Prepared prepared = LogStatements.prepare(session, sql).prepared();
    StoreCommand command = new StoreCommand(session, sql, prepared, LockAccess.NONE, counter);
    if (command.isQuery()) {
      command.executeQuery(0, 0, false).close();
    } else {
      command.executeUpdate(null);
    }
    session.rollback();
    return "rows %4d, bytes %6d | %s".formatted(counter.rows, counter.bytes, sql);
  }

  private static final class Counter implements StatementMeter {
    private long rows;
    private long bytes;

    @Override
    public void looked(int more) {
      rows += more;
    }

    @Override
    public void wrote(long more) {
      bytes += more;
    }
  }
}
