package dev.tollgate.samples.sqlline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class ShellTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  @TempDir Path folder;
  private String printed = "";

  private boolean run(Path script) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      boolean worked = Shell.run(node.url(), script, out);
      printed = bytes.toString(StandardCharsets.UTF_8);
      return worked;
    }
  }

  private boolean run(String script) throws Exception {
    return run(Files.writeString(folder.resolve("script.sql"), script));
  }

  private void shows(String line) {
    assertTrue(printed.contains(line), line + " is not in:\n" + printed);
  }

  @Test
  void tourRunsToItsEnd() throws Exception {
    assertTrue(run(Path.of("tour.sql")), () -> printed);
    shows("'SAME_TOKEN_AGAIN'\n'TRUE'\n");
    shows("'1','Ulm'\n'2','Köln'\n2 rows selected");
    shows("'TOLLGATE','TOUR','CITY','BASE TABLE'");
    shows("'TOLLGATE','TOUR','CITY','NAME','12','CHARACTER VARYING','40'");
    shows("'TOLLGATE','TOUR','CITY','ID','1','CONSTRAINT_");
    shows("'cities','EXCLUSIVE'");
    shows("'RELEASED'\n'TRUE'");
    assertEquals("2", node.ask("SELECT COUNT(*) FROM tour.city"));
  }

  @Test
  void commandsAboutTheDatabaseAndTheDriver() throws Exception {
    assertTrue(
        run(
            """
            CREATE TABLE PARENT(ID INT PRIMARY KEY);
            CREATE TABLE CHILD(ID INT PRIMARY KEY, P INT REFERENCES PARENT(ID));
            !metadata getDatabaseProductName
            !metadata getSchemas
            !importedkeys CHILD
            !exportedkeys PARENT
            !typeinfo
            !procedures %
            !schemas
            !dbinfo
            !isolation TRANSACTION_READ_COMMITTED
            !describe CHILD
            !nativesql SELECT 1
            !list
            !batch
            INSERT INTO PARENT VALUES(1);
            INSERT INTO PARENT VALUES(2);
            !batch
            !set rowLimit 1
            SELECT ID FROM PARENT ORDER BY ID;
            """),
        () -> printed);
    assertEquals("2", node.ask("SELECT COUNT(*) FROM PARENT"));
  }

  @Test
  void refusedWriteIsShownWithItsStateAndEndsTheScript() throws Exception {
    assertFalse(
        run(
            """
            CREATE TABLE T(V INT) FENCED BY LOCK 'job';
            INSERT INTO T VALUES(1);
            INSERT INTO T VALUES(2);
            """));
    shows("(state=23T02,");
    assertFalse(printed.contains("INSERT INTO T VALUES(2)\""), printed);
  }

  @Test
  void transactionsEndWithCommitOrRollback() throws Exception {
    assertTrue(
        run(
            """
            CREATE TABLE TX(V INT);
            !autocommit off
            INSERT INTO TX VALUES(1);
            !commit
            INSERT INTO TX VALUES(2);
            !rollback
            SELECT 'sum is ' || SUM(V) FROM TX;
            """));
    shows("sum is 1");
  }
}
