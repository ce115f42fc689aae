package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StateMachine;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.snapshot.CorruptSnapshotException;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.store.transfer.DatabaseCopy;
import dev.tollgate.store.transfer.DatabaseRestore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a copy of the database brings back, and what happens while it is written. */
@Timeout(60)
class DatabaseCopyTest {
  private static final List<String> EVERYTHING =
      List.of(
          "CREATE SCHEMA S2",
          "CREATE DOMAIN D1 AS INT CHECK (VALUE > 0)",
          "CREATE DOMAIN D0 AS D1 DEFAULT 7",
          "CREATE SEQUENCE SEQ START WITH 5 INCREMENT BY 3 NO CACHE",
          "CREATE CONSTANT ONE VALUE 1",
          "CREATE TABLE P(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, V D0, W INT UNIQUE,"
              + " G INT GENERATED ALWAYS AS (V + 1), AT TIMESTAMP(9) WITH TIME ZONE DEFAULT"
              + " CURRENT_TIMESTAMP, U UUID DEFAULT RANDOM_UUID(), HIDDEN INT INVISIBLE DEFAULT 3)",
          "COMMENT ON TABLE P IS 'parents'",
          "CREATE TABLE S2.C(A INT, B INT, P BIGINT, SELF INT, PRIMARY KEY(B, A),"
              + " CONSTRAINT LAST_OF_ALL UNIQUE(A), CONSTRAINT FK FOREIGN KEY(P) REFERENCES"
              + " PUBLIC.P(ID) ON DELETE CASCADE, FOREIGN KEY(SELF) REFERENCES S2.C(A))",
          "CREATE INDEX S2.IX ON S2.C(P DESC NULLS LAST, A)",
          "CREATE TABLE KINDS(K INT, C CHAR(3), N NUMERIC(20, 5), F DECFLOAT, D DATE, T TIME(9),"
              + " I INTERVAL DAY TO SECOND, J JSON, E ENUM('x', 'y'), R INT ARRAY, B BLOB, L CLOB,"
              + " X VARBINARY, Y DOUBLE, Z VARCHAR_IGNORECASE, RW ROW(A INT, B VARCHAR))",
          "INSERT INTO KINDS VALUES(1, 'a', 1.50, 1E30, DATE '2020-02-29', TIME"
              + " '12:00:00.123456789', INTERVAL '1 02:03:04.5' DAY TO SECOND, JSON"
              + " '{\"a\":[1,null]}', 'y', ARRAY[1, NULL], CAST(REPEAT('ab', 5000) AS BLOB),"
              + " CAST(REPEAT('long ', 5000) AS CLOB), X'00ff', CAST('-0.0' AS DOUBLE), 'MiXed',"
              + " ROW(1, 'z'))",
          "INSERT INTO KINDS(K) VALUES(2)",
          "INSERT INTO P(V, W) VALUES(1, 10), (2, 20), (3, 30)",
          "DELETE FROM P WHERE ID = 2",
          "INSERT INTO S2.C VALUES(1, 2, 1, NULL), (2, 1, 3, 1), (3, 3, 3, 3)",
          "CREATE VIEW VW AS SELECT C.A, P.V FROM S2.C JOIN P ON P.ID = C.P",
          "CREATE VIEW VV AS SELECT A FROM VW",
          "ALTER TABLE P ADD COLUMN LATE VARCHAR(10) DEFAULT 'late'",
          "ALTER TABLE P ADD CONSTRAINT CK CHECK (W < 1000)",
          "CREATE TABLE NOKEY(V INT)",
          "INSERT INTO NOKEY VALUES(1), (2), (3)",
          "DELETE FROM NOKEY WHERE V = 2",
          "CREATE TABLE LATE_KEY(ID INT, V INT)",
          "INSERT INTO LATE_KEY VALUES(3, 1), (1, 2), (2, 3)",
          "ALTER TABLE LATE_KEY ALTER COLUMN ID SET NOT NULL",
          "ALTER TABLE LATE_KEY ADD PRIMARY KEY(ID)",
          "CREATE TABLE LOST_KEY(ID INT PRIMARY KEY, V INT)",
          "INSERT INTO LOST_KEY VALUES(-1, 1), (0, 2), (1, 3), (7, 4)",
          "ALTER TABLE LOST_KEY DROP PRIMARY KEY",
          "DELETE FROM LOST_KEY WHERE ID = 7",
          "VALUES NEXT VALUE FOR SEQ");

  private static final List<String> AFTERWARDS =
      List.of(
          "INSERT INTO P(V, W, AT, U) VALUES(4, 40, NULL, NULL)",
          "INSERT INTO P(V, W) VALUES(5, 40)",
          "INSERT INTO P(V, W) VALUES(-1, 50)",
          "INSERT INTO S2.C VALUES(9, 9, 99, NULL)",
          "INSERT INTO NOKEY VALUES(4)",
          "INSERT INTO NOKEY SELECT ID FROM LATE_KEY",
          "INSERT INTO LATE_KEY VALUES(0, 4)",
          "UPDATE P SET W = 2000",
          "DELETE FROM P WHERE ID = 1",
          "CREATE TABLE NAMED(ID INT PRIMARY KEY, U INT UNIQUE, CHECK (U > 0))",
          "ALTER TABLE S2.C DROP CONSTRAINT FK",
          "VALUES NEXT VALUE FOR SEQ",
          "UPDATE P SET V = 1 WHERE (SELECT COUNT(*) FROM NOKEY, S2.C, SYSTEM_RANGE(1, 1000000) R"
              + " WHERE NOKEY.V + R.X < 0) = 1",
          "INSERT INTO KINDS SELECT 3, C, N, F, D, T, I, J, E, R, B, L, X, Y, Z, RW FROM KINDS"
              + " WHERE K = 1");

  private final StoreDriver original = new StoreDriver();
  private final SessionId session = original.open();

  @AfterEach
  void close() {
    original.close();
  }

  /** Puts a database in its own place, by way of a snapshot. */
  static void replaceByItself(SqlDatabase database) throws IOException {
    read(snapshotOf(database), database);
  }

  static byte[] snapshotOf(SqlDatabase database) throws IOException {
    try (DatabaseCopy copy = database.copy(/* insistent= */ false)) {
      return bytesOf(copy);
    }
  }

  private static byte[] bytesOf(DatabaseCopy copy) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SnapshotWriter out = new SnapshotWriter(bytes);
    copy.writeTo(out);
    out.finish();
    return bytes.toByteArray();
  }

  /**
   * Where the rows of all tables are, in hexadecimal: what a snapshot says of them, without the
   * definitions, in which H2 may name indexes of constraints otherwise.
   */
  static List<String> placesIn(SqlDatabase database) throws IOException {
    List<String> records = new ArrayList<>();
    SnapshotReader in = new SnapshotReader(new ByteArrayInputStream(snapshotOf(database)));
    for (SnapshotReader.Piece piece = in.next(); piece != null; piece = in.next()) {
      switch (piece.kind()) {
        case DatabaseCopy.ROW_NUMBERS, DatabaseCopy.OBJECT_IDS, DatabaseCopy.ROWS ->
            records.add(HexFormat.of().formatHex(piece.body().rest()));
        default -> {}
      }
    }
    return records;
  }

  static SqlDatabase restored(byte[] snapshot) throws IOException {
    SqlDatabase database = new SqlDatabase();
    read(snapshot, database);
    return database;
  }

  static void read(byte[] snapshot, SqlDatabase database) throws IOException {
    SnapshotReader in = new SnapshotReader(new ByteArrayInputStream(snapshot));
    DatabaseRestore restore = database.beginRestore();
    for (SnapshotReader.Piece piece = in.next(); piece != null; piece = in.next()) {
      restore.accept(piece.kind(), piece.body());
    }
    database.replaceWith(restore, List.of());
  }

  @Test
  void everythingComesBackAndGoesOnAlike() throws Exception {
    EVERYTHING.forEach(sql -> original.ok(session, sql));
    try (StoreDriver copy = new StoreDriver(restored(snapshotOf(original.database)))) {
      assertEquals(original.database.script(), copy.database.script());
      assertArrayEquals(snapshotOf(original.database), snapshotOf(copy.database));
      SessionId other = copy.open();
      for (String sql : AFTERWARDS) {
        Outcome expected = original.run(session, sql);
        assertEquals(expected, copy.run(other, sql), sql);
      }
      assertEquals(original.database.script(), copy.database.script());
      assertArrayEquals(snapshotOf(original.database), snapshotOf(copy.database));
    }
  }

  @Test
  void copyShowsTheMomentInWhichItWasBegun() throws Exception {
    original.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, L CLOB)");
    original.ok(
        session,
        "INSERT INTO T SELECT X, 'before', CAST(REPEAT('before', 1000) AS CLOB) FROM"
            + " SYSTEM_RANGE(1, 500)");
    List<String> before = original.database.script();
    byte[] bytes;
    try (DatabaseCopy copy = original.database.copy(/* insistent= */ false)) {
      original.ok(session, "UPDATE T SET V = 'after', L = 'after' WHERE ID < 300");
      original.ok(session, "DELETE FROM T WHERE ID > 400");
      original.ok(session, "INSERT INTO T VALUES(1000, 'after', 'after')");
      bytes = bytesOf(copy);
    }
    try (SqlDatabase database = restored(bytes)) {
      assertEquals(before, database.script());
    }
  }

  /** H2 shares such a table between sessions, and drops it when it closes the database. */
  @Test
  void globalTemporaryTableComesBack() throws Exception {
    for (String sql :
        List.of(
            "CREATE TEMP TABLE TT(ID INT)",
            "CREATE GLOBAL TEMPORARY TABLE GT(ID INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, V INT)"
                + " ON COMMIT DELETE ROWS TRANSACTIONAL",
            "CREATE INDEX GI ON GT(V)",
            "ALTER TABLE GT ADD COLUMN W INT DEFAULT 3",
            "CREATE TEMPORARY TABLE ST AS SELECT X FROM SYSTEM_RANGE(1, 3)",
            "CREATE TABLE CHILD(ID INT REFERENCES GT)",
            "CREATE VIEW GV AS SELECT V FROM GT",
            "INSERT INTO TT VALUES(1)",
            "INSERT INTO GT(V) VALUES(7), (8)",
            "INSERT INTO CHILD VALUES(2)")) {
      original.ok(session, sql);
    }
    SessionId second = original.open();
    original.ok(second, "DELETE FROM GT WHERE V = 7");
    try (StoreDriver copy = new StoreDriver(restored(snapshotOf(original.database)))) {
      assertEquals(original.database.script(), copy.database.script());
      assertEquals(checksums(), checksumsOf(copy));
      assertEquals(List.of("1"), copy.query("SELECT ID FROM TT"));
      assertEquals(List.of("2"), copy.query("SELECT G.ID FROM GT G JOIN CHILD C ON C.ID = G.ID"));
      copy.ok(copy.open(), "DROP TABLE TT");
    }
  }

  /** H2 does not see the table of a subquery among those that a view depends on. */
  @Test
  void brokenViewIsTheSameBeforeAndAfter() throws Exception {
    original.ok(session, "CREATE TABLE SHOWN(ID INT)");
    original.ok(session, "CREATE TABLE ASKED(ID INT)");
    String where = " WHERE EXISTS (SELECT 1 FROM ASKED WHERE ASKED.ID = SHOWN.ID)";
    original.ok(session, "CREATE VIEW VW AS SELECT ID FROM SHOWN" + where);
    original.ok(session, "CREATE VIEW VV AS SELECT ID FROM VW");
    original.ok(session, "CREATE TABLE R(ID INT)");
    original.ok(session, "DROP TABLE ASKED");
    try (StoreDriver copy = new StoreDriver(restored(snapshotOf(original.database)))) {
      SessionId other = copy.open();
      for (String sql :
          List.of(
              "INSERT INTO R SELECT * FROM VW",
              "INSERT INTO R SELECT * FROM VV",
              "ALTER TABLE SHOWN ADD COLUMN V INT",
              "CREATE TABLE ASKED(ID INT)",
              "INSERT INTO R SELECT * FROM VV",
              "ALTER TABLE SHOWN ADD COLUMN W INT",
              "DROP VIEW VW CASCADE")) {
        assertEquals(
            Planned.stateOf(original.run(session, sql)),
            Planned.stateOf(copy.run(other, sql)),
            sql);
        assertEquals(original.database.script(), copy.database.script(), sql);
      }
    }
  }

  private static Map<String, String> checksumsOf(StoreDriver driver) throws IOException {
    try (DatabaseCopy copy = driver.database.copy(/* insistent= */ false)) {
      return checksums(copy);
    }
  }

  private Map<String, String> checksums() throws IOException {
    try (DatabaseCopy copy = original.database.copy(/* insistent= */ false)) {
      return checksums(copy);
    }
  }

  private static Map<String, String> checksums(DatabaseCopy copy) throws IOException {
    Map<String, String> checksums = new TreeMap<>();
    copy.checksums((part, sum) -> checksums.put(part, HexFormat.of().formatHex(sum)));
    return checksums;
  }

  private static List<String> differences(Map<String, String> before, Map<String, String> after) {
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream().filter(n -> !Objects.equals(before.get(n), after.get(n))).toList();
  }

  @Test
  void checksumsTellWhichTableHasChanged() throws Exception {
    EVERYTHING.forEach(sql -> original.ok(session, sql));
    Map<String, String> before = checksums();
    assertEquals(
        Set.of(
            "definitions",
            "table PUBLIC.KINDS",
            "table PUBLIC.LATE_KEY",
            "table PUBLIC.LOST_KEY",
            "table PUBLIC.NOKEY",
            "table PUBLIC.P",
            "table S2.C"),
        before.keySet());
    original.ok(session, "UPDATE NOKEY SET V = 4 WHERE V = 3");
    assertEquals(List.of("table PUBLIC.NOKEY"), differences(before, checksums()));
    original.ok(session, "UPDATE NOKEY SET V = 3 WHERE V = 4");
    assertEquals(before, checksums());
    original.ok(session, "UPDATE KINDS SET L = L || 'x' WHERE K = 1");
    assertEquals(List.of("table PUBLIC.KINDS"), differences(before, checksums()));
    original.ok(session, "UPDATE KINDS SET L = REPEAT('long ', 5000) WHERE K = 1");
    assertEquals(before, checksums());
    original.ok(session, "VALUES NEXT VALUE FOR SEQ");
    assertEquals(List.of("definitions"), differences(before, checksums()));
    before = checksums();
    original.ok(session, "DROP INDEX S2.IX");
    assertEquals(List.of("definitions", "table S2.C"), differences(before, checksums()));
  }

  @Test
  void checksumsAreThoseOfTheMomentAndOfWhatIsCommitted() throws Exception {
    original.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
    original.ok(session, "INSERT INTO T SELECT X, 'before' FROM SYSTEM_RANGE(1, 500)");
    Map<String, String> before = checksums();
    SessionId other = original.open();
    StoreDriver.result(original.in(other, "UPDATE T SET V = 'open' WHERE ID < 100"));
    StoreDriver.result(original.in(other, "DELETE FROM T WHERE ID > 400"));
    StoreDriver.result(original.in(other, "INSERT INTO T VALUES(1000, 'open')"));
    assertEquals(before, checksums());
    try (DatabaseCopy copy = original.database.copy(/* insistent= */ false)) {
      original.commit(other);
      assertEquals(before, checksums(copy));
    }
    assertEquals(List.of("table PUBLIC.T"), differences(before, checksums()));
  }

  @Test
  void definitionEndsACopyThatDoesNotInsist() throws Exception {
    original.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY)");
    original.ok(session, "INSERT INTO T VALUES(1)");
    DatabaseCopy copy = original.database.copy(/* insistent= */ false);
    Thread definition =
        new Thread(() -> original.ok(session, "ALTER TABLE T ADD COLUMN V INT"), "definition");
    definition.start();
    assertThrows(
        InterruptedIOException.class,
        () -> {
          boolean running = true;
          while (running) {
            bytesOf(copy);
            running = definition.isAlive();
          }
        });
    copy.close();
    definition.join();
  }

  @Test
  void damageIsFoundBeforeAnythingIsUsed() throws Exception {
    original.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY)");
    byte[] good = snapshotOf(original.database);
    SnapshotReader.check(new ByteArrayInputStream(good));
    for (int at = 0; at < good.length; at++) {
      byte[] bad = good.clone();
      bad[at] ^= 0x10;
      assertThrows(
          CorruptSnapshotException.class,
          () -> SnapshotReader.check(new ByteArrayInputStream(bad)));
    }
    for (int length = 0; length < good.length; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThrows(
          CorruptSnapshotException.class,
          () -> SnapshotReader.check(new ByteArrayInputStream(cut)));
    }
  }

  @Test
  void stateCannotBeCopiedWhileATransactionIsOpen() {
    original.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY)");
    StateMachine machine = original.machine;
    assertTrue(machine.isCopyable());
    original.fence(session, "T", FenceReading.HELD);
    original.perform(session, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    assertThrows(IllegalStateException.class, machine::copy);
    original.rollback(session);
    assertTrue(machine.isCopyable());
  }
}
