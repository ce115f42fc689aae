package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.SessionId;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A sequence goes on from the same place on a replica that was restored, whatever it has been. */
class SequencesTest {
  private static final String DRAW = "INSERT INTO T SELECT NEXT VALUE FOR S";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE SEQUENCE S",
        "CREATE SEQUENCE S MAXVALUE 2",
        "CREATE SEQUENCE S START WITH 2 MINVALUE 1 MAXVALUE 3",
        "CREATE SEQUENCE S START WITH 2 MINVALUE 1 MAXVALUE 3 CYCLE CACHE 2",
        "CREATE SEQUENCE S; ALTER SEQUENCE S INCREMENT BY -1",
        "CREATE SEQUENCE S; ALTER SEQUENCE S RESTART WITH 2 INCREMENT BY -1",
        "CREATE SEQUENCE S START WITH -5 INCREMENT BY -1 MINVALUE -6",
        "CREATE SEQUENCE S START WITH 9223372036854775807 INCREMENT BY -1",
        "CREATE SEQUENCE S AS SMALLINT START WITH 32767",
        "CREATE SEQUENCE S AS DECFLOAT START WITH 2 MAXVALUE 3 NO CACHE",
      })
  void goesOnAfterASnapshot(String made) throws Exception {
    for (int drawn = 0; drawn < 4; drawn++) {
      try (StoreDriver first = new StoreDriver()) {
        SessionId one = first.open();
        first.ok(one, "CREATE TABLE T(V BIGINT)");
        for (String sql : made.split("; ", -1)) {
          first.ok(one, sql);
        }
        for (int i = 0; i < drawn; i++) {
          first.run(one, DRAW);
        }
        byte[] snapshot = DatabaseCopyTest.snapshotOf(first.database);
        try (StoreDriver second = new StoreDriver(DatabaseCopyTest.restored(snapshot))) {
          SessionId two = second.open();
          assertArrayEquals(snapshot, DatabaseCopyTest.snapshotOf(second.database));
          assertEquals(
              RandomStatementsTest.checksums(first), RandomStatementsTest.checksums(second));
          for (String sql : List.of(DRAW, "ALTER SEQUENCE S CYCLE", DRAW, DRAW, DRAW)) {
            assertEquals(first.run(one, sql), second.run(two, sql), sql);
            assertEquals(
                RandomStatementsTest.checksums(first), RandomStatementsTest.checksums(second), sql);
          }
          assertEquals(first.query("SELECT V FROM T"), second.query("SELECT V FROM T"));
        }
      }
    }
  }
}
