package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.opentest4j.AssertionFailedError;

/**
 * Every block of SQL in docs/*.md works as it stands, from the top of its page to the end. Each
 * page has a connection and a schema of its own. A comment behind a statement that begins with a
 * SQLState, such as {@code -- 23T02: no token}, says that the statement fails with it.
 */
class SqlInPagesTest {
  private static final Path DOCS = Path.of("..", "docs");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```sql\n(.*?)^```");

  /** The comments that stand before a statement, so behind the one before it. */
  private static final Pattern COMMENTS = Pattern.compile("(?:\\s*--[^\n]*\n)*");

  private static final Pattern STATE =
      Pattern.compile("--\\s*(?:SQLSTATE\\s+)?(?=\\w*\\d)([0-9A-Z]{5})\\b");

  /** Stands behind the last statement of a block, so that its comment stands before something. */
  private static final String END = "SELECT 'end of block'";

  private static Node node;

  @BeforeAll
  static void startNode() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    try (Stream<Path> files = Files.list(DOCS)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".md")).sorted().toList()) {
        if (Files.readString(file).contains("```sql")) {
          pages.add(file);
        }
      }
    }
    return pages;
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyStatementDoesWhatItsPageSays(Path page) throws Exception {
    String name = page.getFileName().toString().replace(".md", "");
    // a page may create users, who are users of the whole cluster
    try (Node ofPage = new Node(LoopbackSettings.of("n1", null))) {
      ofPage.start();
      run(ofPage, name, Files.readString(page));
    }
  }

  /** The manual changes a cluster of several nodes: here is one, which understands the calls. */
  @Test
  void callsThatChangeMembersAreUnderstood() throws Exception {
    List<String> calls =
        Files.readAllLines(DOCS.resolve("operations.md")).stream()
            .filter(line -> line.startsWith("    CALL "))
            .map(line -> line.substring(0, line.indexOf(';')).strip())
            .toList();
    assertEquals(4, calls.size(), calls.toString());
    try (Connection connection = connect(node);
        Statement statement = connection.createStatement()) {
      for (String call : calls) {
        assertEquals(call + "\n-> 55T04", stateOf(statement, call));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | SELECT * FROM nowhere; | -> 42S02",
        "2 | SELECT ... FROM t;     | -> 42T01",
        "3 | INSERT INTO t VALUES (1); | -> 23T02",
        "4 | INSERT INTO t VALUES (1); -- 23T01: another state | -> 23T02",
        "5 | SELECT * FROM t; -- 23T02: it works | -> works",
      })
  void brokenExampleIsNoticed(int number, String sql, String end) {
    AssertionFailedError noticed =
        assertThrows(AssertionFailedError.class, () -> run("broken" + number, page(sql)));
    assertTrue(noticed.getActual().getStringRepresentation().endsWith(end), noticed.getMessage());
  }

  @Test
  void blockWithoutAnEndIsNoticed() {
    assertThrows(AssertionFailedError.class, () -> run("endless", "```sql\nSELECT 1;\n"));
  }

  @Test
  void stateIsTakenFromTheCommentBehindAStatement() throws SQLException {
    run("right1", page("INSERT INTO t VALUES (1); -- 23T02: no token"));
    run("right2", page("INSERT INTO t VALUES (1);\n-- SQLSTATE 23T02: no token"));
    run("right3", page("-- 5 rows, 23T02 in passing\nSELECT * FROM t;   -- 42: a token"));
  }

  private static String page(String sql) {
    return "# A page\n```sql\nCREATE TABLE t(id INT PRIMARY KEY) FENCED BY LOCK 'broken';\n```\n"
        + "Then\n```sql\n"
        + sql
        + "\n```\n";
  }

  private static void run(String schema, String page) throws SQLException {
    run(node, schema, page);
  }

  private static void run(Node node, String schema, String page) throws SQLException {
    try (Connection connection = connect(node);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA IF NOT EXISTS \"" + schema + "\"");
      statement.execute("SET SCHEMA \"" + schema + "\"");
      Matcher block = BLOCK.matcher(page);
      int blocks = 0;
      while (block.find()) {
        runBlock(statement, block.group(1));
        blocks++;
      }
      assertEquals(page.split("```sql", -1).length - 1, blocks, "a block does not end");
    }
  }

  private static Connection connect(Node node) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/");
  }

  private static void runBlock(Statement statement, String block) {
    List<String> statements = SqlCommand.split(block + END);
    for (int i = 0; i + 1 < statements.size(); i++) {
      assertEquals(stateBehind(statements, i), stateOf(statement, statements.get(i)), block);
    }
    assertTrue(statements.get(statements.size() - 1).endsWith(END), block);
  }

  private static String stateBehind(List<String> statements, int i) {
    Matcher comments = COMMENTS.matcher(statements.get(i + 1));
    Matcher state = STATE.matcher(comments.lookingAt() ? comments.group() : "");
    return statements.get(i).strip() + "\n-> " + (state.find() ? state.group(1) : "works");
  }

  private static String stateOf(Statement statement, String sql) {
    String end;
    try {
      statement.execute(sql);
      end = "works";
    } catch (SQLException e) {
      end = e.getSQLState();
    }
    return sql.strip() + "\n-> " + end;
  }
}
