package dev.tollgate.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a person types at a terminal, here on plain H2. */
class ShellTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private Terminal terminal(String typed) throws IOException {
    return new DumbTerminal(
        "test", "dumb", new ByteArrayInputStream(typed.getBytes(UTF_8)), out, UTF_8);
  }

  private String session(String typed) throws Exception {
    try (Terminal terminal = terminal(typed);
        Shell shell =
            new Shell(
                "jdbc:h2:mem:", new Properties(), terminal, SqlCommand.reader(terminal, null))) {
      shell.run();
    }
    return out.toString(UTF_8).replace("\r", "");
  }

  /** What comes after the end is not read. */
  @ParameterizedTest
  @ValueSource(strings = {"exit", "quit", "EXIT;", "!quit", "\\q", " quit "})
  void wordsThatEndIt(String word) throws Exception {
    String text = session(word + "\nSELECT 6 * 7;\n");
    assertTrue(text.contains(Shell.HINT), text);
    assertFalse(text.contains("42"), text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"help", "HELP;", "!help", "?"})
  void wordsThatHelp(String word) throws Exception {
    String text = session(word + "\nexit\n");
    assertTrue(text.contains("cancels the statement that runs"), text);
  }

  @Test
  void statementsHaveLinesAndErrorsDoNotEndIt() throws Exception {
    String text =
        session(
            "SELECT 6\n * 7 AS ANSWER;\nSELECT nothing;\nSELECT ';' AS A; SELECT 'b;' AS B;\nexit\n");
    assertTrue(text.contains("\n    42\n"), text);
    assertTrue(text.contains("SQLSTATE 42S22 (42122)"), text);
    assertTrue(text.contains("\nb;\n"), text);
  }

  @Test
  void rowsAreNotCut() throws Exception {
    String text = session("SELECT REPEAT('x', 400) || 'end';\nexit\n");
    assertTrue(text.contains("x".repeat(400) + "end"), "cut");
  }

  @Test
  void interruptForgetsWhatWasTyped() throws Exception {
    try (Terminal terminal = terminal("");
        Shell shell =
            new Shell(
                "jdbc:h2:mem:",
                new Properties(),
                terminal,
                typing("SELECT 1 +", "^C", "SELECT 43;", "exit"))) {
      shell.run();
    }
    String text = out.toString(UTF_8);
    assertTrue(text.contains("43"), text);
    assertFalse(text.contains("SQLSTATE"), text);
  }

  /**
   * The person waits until the statement runs. H2 forgets a running statement if it is canceled in
   * the very moment in which it begins: then no cancellation reaches it any more.
   */
  @Test
  @Timeout(60)
  void interruptCancelsTheStatementThatRuns() throws Exception {
    String url = "jdbc:h2:mem:" + UUID.randomUUID();
    String endless = "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000000000) WHERE X * 2 <> 7;";
    try (Connection watching = DriverManager.getConnection(url);
        Terminal terminal = terminal("");
        Shell shell =
            new Shell(url, new Properties(), terminal, typing(endless, "SELECT 43;", "exit"))) {
      CompletableFuture<Void> hand =
          CompletableFuture.runAsync(
              () -> {
                awaitRunning(watching, "SYSTEM_RANGE(1, 1000000000000)");
                terminal.raise(Terminal.Signal.INT);
              });
      shell.run();
      hand.get();
    }
    assertTrue(out.toString(UTF_8).contains("SQLSTATE 57014"), out.toString(UTF_8));
  }

  private static void awaitRunning(Connection watching, String text) {
    try (PreparedStatement sessions =
        watching.prepareStatement(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID <> SESSION_ID()"
                + " AND LOCATE(?, EXECUTING_STATEMENT) > 0")) {
      sessions.setString(1, text);
      boolean runs = false;
      while (!runs) {
        try (ResultSet count = sessions.executeQuery()) {
          count.next();
          runs = count.getInt(1) > 0;
        }
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** A person who types these lines, and Ctrl-C. */
  private static LineReader typing(String... lines) {
    Deque<String> left = new ArrayDeque<>(List.of(lines));
    return (LineReader)
        Proxy.newProxyInstance(
            LineReader.class.getClassLoader(),
            new Class<?>[] {LineReader.class},
            (proxy, method, arguments) -> {
              String next = left.remove();
              if (next.equals("^C")) {
                throw new UserInterruptException("");
              }
              return next;
            });
  }

  @Test
  void endOfInputEndsIt() throws Exception {
    assertTrue(session("SELECT 6 * 7 AS A;\n").contains("42"));
  }

  @Test
  void statementIsCompleteAfterItsSemicolon() {
    for (String whole : new String[] {"SELECT 1;", "SELECT 1; \n", "SELECT ';' ;", "/* ; */ X;"}) {
      assertTrue(SqlCommand.isComplete(whole), whole);
    }
    for (String part : new String[] {"SELECT 1", "SELECT ';", "SELECT 1; SELECT", "X -- ;"}) {
      assertFalse(SqlCommand.isComplete(part), part);
    }
    assertEquals(2, SqlCommand.split("SELECT 1; SELECT 2;").size());
  }
}
