package dev.tollgate.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Text;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** What a cluster does now, as text: all from the nodes themselves and from schema TOLLGATE. */
final class TopView implements AutoCloseable {
  private static final int CELL_CHARS = 100;

  private static final String TOTALS =
      "SELECT (SELECT COUNT(*) FROM TOLLGATE.LOCKS) AS HOLDS,"
          + " (SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS) AS WAITS,"
          + " (SELECT COUNT(*) FROM TOLLGATE.STUCK_LOCKS) AS STUCK,"
          + " (SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS) AS TRANSACTIONS,"
          + " (SELECT COUNT(*) FROM TOLLGATE.SESSIONS) AS SESSIONS";

  private static final String LOCKS =
      "SELECT LOCK_NAME, LOCK_MODE, TOKEN, OWNER, APPLICATION, CLIENT_HOST,"
          + " CAST(HELD_SINCE AS TIMESTAMP(0) WITH TIME ZONE) AS HELD_SINCE,"
          + " DATEDIFF(SECOND, HELD_SINCE, CURRENT_TIMESTAMP) AS HELD_S, WAITERS"
          + " FROM TOLLGATE.LOCKS WHERE NOT KEPT ORDER BY WAITERS DESC, TOKEN";

  private static final String WAITS =
      "SELECT LOCK_NAME, QUEUE_POSITION AS PLACE, LOCK_MODE, OWNER, APPLICATION, CLIENT_HOST,"
          + " CAST(WAITING_SINCE AS TIMESTAMP(0) WITH TIME ZONE) AS WAITING_SINCE,"
          + " DATEDIFF(SECOND, WAITING_SINCE, CURRENT_TIMESTAMP) AS WAITS_S"
          + " FROM TOLLGATE.LOCK_WAITERS ORDER BY WAITING_SINCE, LOCK_NAME";

  private static final String SLOW =
      "SELECT CAST(ANSWERED_AT AS TIMESTAMP(0) WITH TIME ZONE) AS ANSWERED_AT, TOOK_MS, WAITED_MS,"
          + " OUTCOME, USER_NAME, APPLICATION, FORM"
          + " FROM TOLLGATE.SLOW_STATEMENTS ORDER BY ANSWERED_AT DESC";

  private record Section(String title, String sql) {}

  private static final List<Section> SECTIONS =
      List.of(
          new Section("Locks, those with most waiters first", LOCKS),
          new Section("Longest waits", WAITS),
          new Section("Latest slow statements of the leader", SLOW));

  /**
   * One screen.
   *
   * @param complete false if no node leads, or a view cannot be read
   */
  record Frame(String text, boolean complete) {}

  private final String url;
  private final Properties login;
  private final int rows;
  private @Nullable Connection connection;

  TopView(String url, Properties login, int rows) {
    this.url = requireNonNull(url, "url");
    this.login = requireNonNull(login, "login");
    this.rows = rows;
  }

  /** Asks the cluster. */
  Frame frame() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, /* autoFlush= */ false, UTF_8);
    out.println("Nodes at " + Instant.now().truncatedTo(ChronoUnit.SECONDS));
    boolean complete;
    try {
      complete = NodeList.print(url, login, out, out);
      if (complete) {
        printState(out);
      }
    } catch (SQLException e) {
      complete = false;
      out.println();
      out.println(Text.printable(SqlCommand.describe(e)));
      close();
    }
    out.flush();
    return new Frame(bytes.toString(UTF_8), complete);
  }

  private void printState(PrintStream out) throws SQLException {
    try (Statement statement = connection().createStatement()) {
      print(out, statement, "Totals", TOTALS);
      for (Section section : SECTIONS) {
        print(
            out, statement, section.title(), section.sql() + " FETCH FIRST " + rows + " ROWS ONLY");
      }
    }
  }

  private Connection connection() throws SQLException {
    Connection open = connection;
    if (open == null) {
      open = DriverManager.getConnection(url, login);
      connection = open;
    }
    return open;
  }

  private static void print(PrintStream out, Statement statement, String title, String sql)
      throws SQLException {
    out.println();
    out.println(title);
    try (ResultSet result = statement.executeQuery(sql)) {
      TextTable.of(result, TopView::cell).lines().forEach(out::println);
    }
  }

  private static String cell(@Nullable String text) {
    if (text == null) {
      return "";
    }
    return text.length() > CELL_CHARS ? text.substring(0, CELL_CHARS - 3) + "..." : text;
  }

  /** Closes the connection; the next frame opens another one. */
  @Override
  public void close() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        // it is of no use any more
      }
    }
  }
}
