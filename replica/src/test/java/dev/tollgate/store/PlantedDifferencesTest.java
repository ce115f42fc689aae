package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two replicas, one of which was changed behind its back: the digests differ after the first
 * command whose effect is another one there, and stay different.
 */
class PlantedDifferencesTest {
  private static final List<String> SETUP =
      List.of(
          "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, W BIGINT, D DECFLOAT(20))",
          "CREATE TABLE CHILD(ID INT, P INT REFERENCES T ON DELETE CASCADE)",
          "CREATE TABLE HEAP(K INT, V VARCHAR)",
          "CREATE TABLE NUMBERED(ID INT GENERATED ALWAYS AS IDENTITY, V VARCHAR UNIQUE)",
          "CREATE TABLE OTHER(X INT)",
          "CREATE TABLE OTHER_ID(X INT GENERATED ALWAYS AS IDENTITY)",
          "CREATE SEQUENCE S",
          "INSERT INTO T SELECT X, 'v' || X, 60000, X FROM SYSTEM_RANGE(1, 10)",
          "INSERT INTO CHILD SELECT X, X FROM SYSTEM_RANGE(1, 10)",
          "INSERT INTO HEAP SELECT X, 'h' FROM SYSTEM_RANGE(1, 5)",
          "INSERT INTO NUMBERED(V) VALUES('a')");

  static Stream<Arguments> differences() {
    return Stream.of(
        Arguments.of(
            "a value, where the statement counts the same rows",
            "UPDATE T SET V = 'w' WHERE ID = 5",
            "UPDATE T SET V = V || 'x' WHERE ID = 5"),
        Arguments.of(
            "a value of a row that is inserted",
            "UPDATE T SET V = 'w' WHERE ID = 5",
            "INSERT INTO HEAP SELECT ID, V FROM T WHERE ID = 5"),
        Arguments.of(
            "the definition of a table that is altered",
            "ALTER TABLE HEAP ALTER COLUMN V SET DEFAULT 'd'",
            "ALTER TABLE HEAP ADD CONSTRAINT C CHECK (K > 0)"),
        Arguments.of(
            "a value that the statement overwrites",
            "UPDATE T SET V = 'w' WHERE ID = 5",
            "UPDATE T SET V = 'new' WHERE ID = 5"),
        Arguments.of(
            "a value of a row that is deleted",
            "UPDATE T SET D = 7.0 WHERE ID = 5",
            "DELETE FROM T WHERE ID = 5"),
        Arguments.of(
            "a row that a foreign key deletes",
            "UPDATE CHILD SET ID = 99 WHERE P = 5",
            "DELETE FROM T WHERE ID = 5"),
        Arguments.of(
            "a row too many", "INSERT INTO HEAP VALUES(6, 'h')", "UPDATE HEAP SET V = 'i'"),
        Arguments.of(
            "a row in a table that is copied",
            "UPDATE HEAP SET V = 'w' WHERE K = 3",
            "ALTER TABLE HEAP ADD A INT DEFAULT 1"),
        Arguments.of(
            "a row of a new table",
            "UPDATE HEAP SET V = 'w' WHERE K = 3",
            "CREATE TABLE C AS SELECT * FROM HEAP"),
        Arguments.of(
            "the order within a result",
            "UPDATE HEAP SET K = 3 - K WHERE K IN (1, 2)",
            "SELECT K FROM HEAP FOR UPDATE"),
        Arguments.of(
            "the lock that SQL takes",
            "UPDATE T SET V = 'w' WHERE ID = 5",
            "SELECT TOLLGATE.try_acquire_lock(V) FROM T WHERE ID = 5"),
        Arguments.of(
            "the ttl of a lease",
            "UPDATE T SET W = 60001 WHERE ID = 5",
            "SELECT TOLLGATE.create_lease(W, 'o') FROM T WHERE ID = 5"),
        Arguments.of(
            "a sequence",
            "ALTER SEQUENCE S RESTART WITH 50",
            "INSERT INTO OTHER VALUES(NEXT VALUE FOR S)"),
        Arguments.of(
            "an identity that a failed statement has moved",
            "ALTER TABLE NUMBERED ALTER COLUMN ID RESTART WITH 50",
            "INSERT INTO NUMBERED(V) VALUES('a')"),
        Arguments.of(
            "a generated name",
            "ALTER TABLE OTHER ADD CONSTRAINT CONSTRAINT_2 CHECK(X > 0)",
            "ALTER TABLE HEAP ADD UNIQUE(K)"),
        Arguments.of(
            "an error of another kind",
            "INSERT INTO HEAP VALUES(NULL, 'h')",
            "ALTER TABLE HEAP ALTER COLUMN K SET NOT NULL"));
  }

  private static StoreDriver started() {
    StoreDriver replica = new StoreDriver();
    SessionId session = replica.open();
    SETUP.forEach(sql -> replica.ok(session, sql));
    return replica;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void differences(String what, String plant, String statement) throws Exception {
    List<Long> whole = new ArrayList<>();
    List<Long> damaged = new ArrayList<>();
    try (StoreDriver good = started();
        StoreDriver bad = started();
        StoreDriver same = started()) {
      assertEquals(good.machine.digest(), bad.machine.digest());
      Damage.run(bad.database, plant);
      for (String sql : List.of("INSERT INTO OTHER VALUES(1)", statement, "DELETE FROM OTHER")) {
        SessionId session = new SessionId(1);
        good.run(session, sql);
        bad.run(session, sql);
        same.run(session, sql);
        assertEquals(good.machine.digest(), same.machine.digest(), sql);
        whole.add(good.machine.digest());
        damaged.add(bad.machine.digest());
      }
      if (!plant.startsWith("ALTER TABLE OTHER")) {
        assertEquals(whole.get(0), damaged.get(0), "what it did not touch is no difference");
      }
      assertNotEquals(whole.get(1), damaged.get(1), what);
      assertNotEquals(whole.get(2), damaged.get(2), "it stays different");
    }
  }

  /** Names of indexes in messages may rightly differ. */
  @Test
  void wordingOfAnErrorIsNoDifference() {
    try (StoreDriver one = started();
        StoreDriver other = started()) {
      SessionId session = new SessionId(1);
      one.run(session, "INSERT INTO T(ID) VALUES(1)");
      other.run(session, "INSERT INTO T(ID) VALUES(2)");
      assertEquals(one.machine.digest(), other.machine.digest());
    }
  }
}
