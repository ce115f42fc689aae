package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.SnapshotTrial;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.store.transfer.DatabaseDump;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.h2.engine.SessionLocal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A definition that is acknowledged leaves a database that a snapshot brings back. */
@Timeout(120)
class RestorableTest {
  /** An object is read by others; a name may be in the text of a view; a view shows itself. */
  private static final List<String> REFUSED = List.of("90107", "HYC00", "42T01");

  /** Definitions with expressions, separated by semicolons, that have to succeed and come back. */
  static List<String> restorable() {
    return List.of(
        "CREATE TABLE T(ID INT); CREATE VIEW V1 AS SELECT ID FROM T; CREATE TABLE T2(ID INT);"
            + " CREATE VIEW V2 AS SELECT ID FROM T2 WHERE ID IN (SELECT ID FROM V1);"
            + " ALTER TABLE T ADD B INT",
        "CREATE TABLE T(ID INT); CREATE VIEW V1 AS SELECT * FROM T; CREATE VIEW V2 AS SELECT * FROM"
            + " V1; CREATE VIEW V3 AS SELECT N.ID FROM V2 N JOIN V1 ON N.ID = V1.ID;"
            + " ALTER TABLE T ADD B INT",
        "CREATE TABLE A(ID INT, V INT); CREATE TABLE B(ID INT);"
            + " ALTER TABLE A ALTER COLUMN V SET DEFAULT (SELECT MAX(ID) FROM B)",
        "CREATE TABLE A(ID INT, V INT); CREATE TABLE B(ID INT); ALTER TABLE B ADD C INT;"
            + " CREATE TABLE C(ID INT, V INT DEFAULT (SELECT MAX(C) FROM B));"
            + " ALTER TABLE A ALTER COLUMN V SET ON UPDATE (SELECT MIN(ID) FROM C)",
        "CREATE TABLE A(ID INT); CREATE TABLE B(ID INT); ALTER TABLE A ADD CHECK (ID IN (TABLE B));"
            + " ALTER TABLE A ADD V INT",
        "CREATE TABLE A(ID INT, V INT); CREATE TABLE B(ID INT, V INT DEFAULT (SELECT MAX(ID) FROM"
            + " A)); ALTER TABLE A ALTER COLUMN V SET DEFAULT (SELECT MAX(ID) FROM B)",
        "CREATE DOMAIN D AS INT; CREATE TABLE B(ID D);"
            + " ALTER DOMAIN D SET DEFAULT (SELECT MAX(ID) FROM B)",
        "CREATE DOMAIN D AS INT; CREATE TABLE T(ID INT, G INT GENERATED ALWAYS AS (CAST(ID AS D)),"
            + " CHECK(CAST(ID AS D) > 0)); ALTER DOMAIN D RENAME TO E",
        "CREATE TABLE T(ID INT, B INT); CREATE TABLE U(ID INT, C INT DEFAULT (SELECT MAX(B) FROM"
            + " T)); ALTER TABLE T RENAME TO T2; ALTER TABLE T2 ALTER COLUMN B RENAME TO B2",
        "CREATE TABLE T(ID INT, I TIME WITH TIME ZONE); ALTER TABLE T ALTER COLUMN I SET DEFAULT"
            + " TIME WITH TIME ZONE '10:00:00+00' + INTERVAL '1' YEAR",
        "CREATE DOMAIN D AS INT DEFAULT 5 CHECK (VALUE > 0); CREATE TABLE T(ID D, B INT);"
            + " DROP DOMAIN D CASCADE",
        "CREATE DOMAIN D AS INT COMMENT 'of values'; CREATE TABLE T(ID D COMMENT 'of a column',"
            + " V INT DEFAULT RAND() * 10 ON UPDATE RAND() NOT NULL, H INT INVISIBLE DEFAULT RAND()"
            + " COMMENT 'hidden', I BIGINT GENERATED ALWAYS AS IDENTITY)",
        "CREATE SCHEMA S; CREATE DOMAIN S.D AS INT; CREATE SEQUENCE S.Q; COMMENT ON DOMAIN S.D IS"
            + " 'd'; COMMENT ON SEQUENCE S.Q IS 'q'; ALTER SCHEMA S RENAME TO S2",
        "CREATE TABLE T(ID INT, \"a\"\".b\" INT); CREATE VIEW \"ü\" AS SELECT \"a\"\".b\" X FROM T;"
            + " CREATE TABLE U(ID INT DEFAULT (SELECT MAX(X) FROM \"ü\"))");
  }

  /** Definitions of which the last would leave an expression that cannot be made again. */
  static List<String> refused() {
    return List.of(
        "CREATE DOMAIN D AS INT; CREATE TABLE T(ID INT, CHECK(CAST(ID AS D) > 0)); DROP DOMAIN D",
        "CREATE DOMAIN D AS INT; CREATE TABLE T(ID INT, G INT GENERATED ALWAYS AS (CAST(ID AS D)));"
            + " DROP DOMAIN D CASCADE",
        "CREATE DOMAIN D AS INT; CREATE TABLE T(ID INT, V INT DEFAULT CAST(RAND() AS D));"
            + " DROP DOMAIN D",
        "CREATE DOMAIN D AS INT; CREATE DOMAIN E AS INT CHECK (CAST(VALUE AS D) > 0);"
            + " DROP DOMAIN D",
        "CREATE DOMAIN D AS INT; CREATE TABLE T(ID INT); CREATE VIEW V AS SELECT CAST(ID AS D) X"
            + " FROM T; CREATE TABLE U(ID INT, CHECK (ID IN (SELECT X FROM V)));"
            + " ALTER DOMAIN D RENAME TO E",
        "CREATE TABLE T(ID INT, B INT); CREATE VIEW V AS SELECT ID, B FROM T; CREATE TABLE U(ID"
            + " INT, CHECK(ID IN (SELECT B FROM V))); CREATE OR REPLACE VIEW V AS SELECT ID FROM T",
        "CREATE TABLE T(ID INT, B INT); CREATE VIEW V AS SELECT ID, B FROM T; CREATE VIEW W AS"
            + " SELECT B FROM V; CREATE TABLE U(ID INT, C INT DEFAULT (SELECT MAX(B) FROM W));"
            + " CREATE OR REPLACE VIEW V AS SELECT B FROM T WHERE ID > 5",
        "CREATE TABLE T(ID INT, B INT); CREATE VIEW V AS SELECT B FROM T; CREATE TABLE U(ID INT,"
            + " CHECK (ID IN (SELECT B FROM V))); ALTER TABLE T RENAME TO T2",
        "CREATE TABLE T(ID INT, B INT); CREATE VIEW V AS SELECT B FROM T; CREATE TABLE U(ID INT,"
            + " CHECK (ID IN (SELECT B FROM V))); ALTER TABLE T ALTER COLUMN B RENAME TO C",
        "CREATE TABLE T(ID INT, B INT); CREATE VIEW V AS SELECT B FROM T; CREATE TABLE U(ID INT,"
            + " CHECK (ID IN (SELECT B FROM V))); DROP TABLE T CASCADE",
        "CREATE TABLE B(ID INT); CREATE TABLE A(ID INT, V INT DEFAULT (SELECT MAX(ID) FROM B));"
            + " ALTER TABLE B ADD C INT",
        "CREATE TABLE T(V INT); ALTER TABLE T ADD CHECK (V >= (SELECT COUNT(*) FROM T));"
            + " ALTER TABLE T ADD W INT",
        "CREATE TABLE T(ID INT, B INT);"
            + " ALTER TABLE T ADD COLUMN E INT ON UPDATE (SELECT MAX(B) FROM T)",
        "CREATE TABLE T(ID INT, B INT); CREATE VIEW V AS SELECT B FROM T;"
            + " ALTER TABLE T ADD COLUMN E INT DEFAULT (SELECT MAX(B) FROM V)",
        "CREATE TABLE B(ID INT); CREATE DOMAIN D AS INT DEFAULT (SELECT MAX(ID) FROM B);"
            + " DROP TABLE B",
        "CREATE SEQUENCE S; CREATE DOMAIN D AS INT DEFAULT NEXT VALUE FOR S; DROP SEQUENCE S",
        "CREATE SCHEMA S; CREATE DOMAIN S.D AS INT; CREATE TABLE T(ID S.D); DROP SCHEMA S CASCADE",
        "CREATE SCHEMA S; CREATE DOMAIN S.D AS INT; CREATE TABLE T(ID INT, CHECK(CAST(ID AS S.D) >"
            + " 0)); DROP SCHEMA S CASCADE",
        "CREATE SCHEMA S; CREATE TABLE S.B(ID INT); CREATE VIEW V AS SELECT ID FROM S.B; CREATE"
            + " TABLE T(ID INT DEFAULT (SELECT MAX(ID) FROM V)); ALTER SCHEMA S RENAME TO S2",
        "CREATE DOMAIN D AS INT; CREATE TABLE T(ID INT, B D); CREATE VIEW V AS SELECT * FROM T;"
            + " ALTER DOMAIN D SET DEFAULT (SELECT MAX(ID) FROM V)",
        "CREATE TABLE T(ID INT); CREATE VIEW V AS SELECT ID FROM T; CREATE VIEW W AS SELECT ID FROM"
            + " V; ALTER TABLE T ADD CHECK (NOT EXISTS (TABLE W))",
        "CREATE TABLE T(ID INT, V INT); CREATE VIEW V AS SELECT ID FROM T;"
            + " ALTER TABLE T ALTER COLUMN V SET ON UPDATE (SELECT MAX(ID) FROM V)",
        "CREATE DOMAIN D AS INT; CREATE DOMAIN E AS D;"
            + " ALTER DOMAIN D ADD CHECK (CAST(VALUE AS E) IS NOT NULL)",
        "CREATE DOMAIN D AS INT; CREATE DOMAIN E AS INT CHECK (CAST(VALUE AS D) > 0);"
            + " ALTER DOMAIN D ADD CHECK (CAST(VALUE AS E) IS NOT NULL)",
        "CREATE DOMAIN D AS INT; ALTER DOMAIN D ADD CHECK (CAST(VALUE AS D) IS NOT NULL)",
        "CREATE TABLE T(ID INT); CREATE VIEW V AS SELECT * FROM T;"
            + " CREATE OR REPLACE VIEW V AS SELECT * FROM V",
        "CREATE TABLE T(ID INT); CREATE VIEW V AS SELECT * FROM T; CREATE VIEW W AS SELECT * FROM"
            + " V; CREATE OR REPLACE VIEW V AS SELECT * FROM W",
        "CREATE TABLE T(ID INT); CREATE VIEW V AS SELECT * FROM T; CREATE VIEW W AS SELECT ID FROM"
            + " T WHERE ID IN (SELECT ID FROM V); CREATE OR REPLACE VIEW V AS SELECT ID FROM T"
            + " WHERE ID IN (SELECT ID FROM W)");
  }

  @ParameterizedTest
  @MethodSource("restorable")
  void comesBack(String definitions) throws Exception {
    try (StoreDriver original = new StoreDriver()) {
      Planned clients = new Planned(original);
      for (String sql : definitions.split("; *", -1)) {
        assertEquals(Planned.OK, clients.run(sql), sql);
      }
      requireSameAfterRestore(original);
    }
  }

  @ParameterizedTest
  @MethodSource("refused")
  void isRefusedAndChangesNothing(String definitions) throws Exception {
    try (StoreDriver original = new StoreDriver()) {
      Planned clients = new Planned(original);
      List<String> all = new ArrayList<>(List.of(definitions.split("; *", -1)));
      String last = all.remove(all.size() - 1);
      for (String sql : all) {
        assertEquals(Planned.OK, clients.run(sql), sql);
      }
      List<String> before = original.database.script();
      Outcome.SqlFailed outcome = (Outcome.SqlFailed) clients.outcome(last);
      assertTrue(REFUSED.contains(outcome.sqlState()), outcome.sqlState() + outcome.message());
      assertEquals(before, original.database.script());
      requireSameAfterRestore(original);
    }
  }

  static void requireSameAfterRestore(StoreDriver original) throws IOException {
    byte[] snapshot = DatabaseCopyTest.snapshotOf(original.database);
    trial(snapshot);
    try (SqlDatabase copy = DatabaseCopyTest.restored(snapshot)) {
      assertEquals(List.of(), differences(original.database.script(), copy.script()));
      assertArrayEquals(snapshot, DatabaseCopyTest.snapshotOf(copy));
    }
  }

  /** What only one of two scripts has. */
  static List<String> differences(List<String> first, List<String> second) {
    List<String> found = new ArrayList<>();
    first.stream()
        .filter(sql -> !second.contains(sql))
        .map(sql -> "first: " + sql)
        .forEach(found::add);
    second.stream()
        .filter(sql -> !first.contains(sql))
        .map(sql -> "second: " + sql)
        .forEach(found::add);
    if (found.isEmpty() && !first.equals(second)) {
      found.add("another order");
    }
    return found;
  }

  static long trial(byte[] snapshot) throws IOException {
    return SnapshotTrial.read(reader(snapshot));
  }

  private static SnapshotReader reader(byte[] snapshot) throws IOException {
    return new SnapshotReader(new ByteArrayInputStream(snapshot));
  }

  /** The refusal says which expression needs what. */
  @Test
  void refusalNamesTheReader() throws Exception {
    try (StoreDriver original = new StoreDriver()) {
      Planned clients = new Planned(original);
      clients.run("CREATE DOMAIN D AS INT");
      clients.run("CREATE TABLE T(ID INT, CONSTRAINT C CHECK (CAST(ID AS D) > 0))");
      Outcome.SqlFailed outcome = (Outcome.SqlFailed) clients.outcome("DROP DOMAIN D");
      assertTrue(
          outcome.message().contains("constraint C in table \"PUBLIC\".\"T\" reads domain"),
          outcome.message());
    }
  }

  @Test
  void dumpCanBeLoadedWhateverExpressionsRead() throws Exception {
    try (StoreDriver original = new StoreDriver();
        StoreDriver loaded = new StoreDriver()) {
      Planned clients = new Planned(original);
      for (String sql :
          List.of(
              "CREATE SEQUENCE Q",
              "CREATE DOMAIN D AS INT DEFAULT NEXT VALUE FOR Q",
              "CREATE TABLE A(ID D, V INT)",
              "CREATE TABLE B(ID INT, V INT DEFAULT (SELECT MAX(ID) FROM A))",
              "CREATE TABLE C(ID INT)",
              "CREATE VIEW W AS SELECT ID FROM C",
              "ALTER TABLE A ALTER COLUMN V SET DEFAULT (SELECT MAX(ID) FROM W)",
              "ALTER TABLE A ALTER COLUMN V SET ON UPDATE (SELECT MIN(ID) FROM B)",
              "INSERT INTO A VALUES(1, 2)")) {
        assertEquals(Planned.OK, clients.run(sql), sql);
      }
      StringBuilder dump = new StringBuilder();
      SnapshotReader in =
          new SnapshotReader(
              new ByteArrayInputStream(DatabaseCopyTest.snapshotOf(original.database)));
      try (DatabaseDump target = new DatabaseDump(dump, sql -> true)) {
        for (SnapshotReader.Piece piece = in.next(); piece != null; piece = in.next()) {
          target.accept(piece.kind(), piece.body());
        }
        target.finish(List.of());
      }
      Planned again = new Planned(loaded);
      for (String sql : dump.toString().split(";\n", -1)) {
        if (!sql.isEmpty()) {
          assertEquals(Planned.OK, again.run(sql), sql);
        }
      }
      assertEquals(List.of(), differences(original.database.script(), loaded.database.script()));
    }
  }

  /** H2 would go on with the plan of a subquery whose index is gone, and find no rows in it. */
  @Test
  void expressionReadsAnewWhenAnIndexHasGone() throws Exception {
    try (StoreDriver original = new StoreDriver()) {
      Planned clients = new Planned(original);
      for (String sql :
          List.of(
              "CREATE TABLE B(ID INT, V INT)",
              "CREATE INDEX BI ON B(V)",
              "CREATE TABLE A(ID INT, V INT DEFAULT (SELECT MAX(V) FROM B WHERE V > 3))",
              "ALTER TABLE A ADD CONSTRAINT C CHECK (V >= (SELECT MAX(V) FROM B WHERE V > 3))",
              "INSERT INTO B VALUES(1, 7)",
              "DROP INDEX BI",
              "INSERT INTO B VALUES(2, 99)",
              "INSERT INTO A(ID) VALUES(1)")) {
        assertEquals(Planned.OK, clients.run(sql), sql);
      }
      assertEquals(List.of("1,99"), original.query("SELECT * FROM A"));
      assertEquals("23513", clients.run("INSERT INTO A VALUES(2, 98)"));
    }
  }

  /** The trial finds what a restore would meet, and the message names the first cause. */
  /**
   * H2 would refuse to copy a table that reads one with a higher number, and numbers are reused.
   */
  @Test
  void tableThatReadsAYoungerOneCanBeAltered() {
    try (StoreDriver original = new StoreDriver()) {
      Planned clients = new Planned(original);
      for (String sql :
          List.of(
              "CREATE TABLE DROPPED(ID INT)",
              "CREATE TABLE T(ID INT)",
              "CREATE TABLE YOUNGER(ID INT)",
              "ALTER TABLE T ADD COLUMN A INT ON UPDATE (SELECT MAX(ID) FROM YOUNGER)",
              "DROP TABLE DROPPED",
              "ALTER TABLE T ADD COLUMN B INT",
              "ALTER TABLE T DROP COLUMN B",
              "ALTER TABLE T ALTER COLUMN A SET DEFAULT (SELECT MAX(ID) FROM T)",
              "INSERT INTO T(ID) VALUES(7)",
              "INSERT INTO T(ID) VALUES(8)",
              "ALTER TABLE T ADD CONSTRAINT C CHECK (ID > A)")) {
        assertEquals(Planned.OK, clients.run(sql), sql);
      }
    }
  }

  @Test
  void trialNamesTheObjectThatCannotBeMadeAgain() throws Exception {
    try (StoreDriver original = new StoreDriver()) {
      Planned clients = new Planned(original);
      clients.run("CREATE DOMAIN D AS INT");
      clients.run("CREATE TABLE T(ID INT, CONSTRAINT C CHECK (CAST(ID AS D) > 0))");
      clients.run("CREATE TABLE U(ID INT)");
      clients.run("INSERT INTO U VALUES(1), (2)");
      assertEquals(2, trial(DatabaseCopyTest.snapshotOf(original.database)));
      // as if a definition of a kind that nobody thought of had been acknowledged
      SessionLocal administrator = original.database.openAdministration();
      administrator.prepareCommand("DROP DOMAIN D").executeUpdate(null);
      administrator.close();
      byte[] snapshot = DatabaseCopyTest.snapshotOf(original.database);
      IOException found = assertThrows(IOException.class, () -> trial(snapshot));
      assertTrue(
          found.getMessage().contains("its constraint \"PUBLIC\".\"C\" cannot be made again")
              && found.getMessage().contains("Domain \"D\" not found"),
          found.getMessage());
    }
  }

  /** The log keeps no snapshot that this refuses. */
  @Test
  void replicaTriesOutWhatItHasWritten() throws Exception {
    try (StoreDriver original = new StoreDriver()) {
      Replica replica = new Replica("n1", original.database);
      Planned clients = new Planned(original);
      clients.run("CREATE DOMAIN D AS INT");
      clients.run("CREATE TABLE T(ID INT CHECK (CAST(ID AS D) > 0))");
      replica.tryOut(reader(DatabaseCopyTest.snapshotOf(original.database)));
      Damage.run(original.database, "DROP DOMAIN D");
      byte[] snapshot = DatabaseCopyTest.snapshotOf(original.database);
      assertThrows(IOException.class, () -> replica.tryOut(reader(snapshot)));
    }
  }

  @Test
  void subqueriesThatTakeLongToMakeAgainAreBounded() {
    StringBuilder joined = new StringBuilder("(SELECT MAX(X0.A) FROM SRC X0");
    for (int i = 1; i < 20; i++) {
      joined.append(" JOIN SRC X" + i + " ON X" + i + ".A = X" + (i - 1) + ".A");
    }
    joined.append(")");
    try (StoreDriver replica = new StoreDriver()) {
      SessionId session = replica.open();
      replica.ok(session, "CREATE TABLE SRC(A INT PRIMARY KEY)");
      int tables = 0;
      Outcome outcome;
      do {
        outcome =
            replica.run(
                session, "CREATE TABLE T" + tables++ + "(ID INT, C INT DEFAULT " + joined + ")");
      } while (outcome instanceof Outcome.Executed && tables < 100);
      assertEquals("54001", ((Outcome.SqlFailed) outcome).sqlState());
      assertTrue(tables > 5, "created " + tables);
      replica.ok(session, "DROP TABLE T1");
      replica.ok(session, "CREATE TABLE T1(ID INT, C INT DEFAULT " + joined + ")");
    }
  }
}
