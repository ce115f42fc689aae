package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Properties;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jspecify.annotations.Nullable;

/**
 * A SQL shell for a person at a terminal. A failed statement does not end the shell; a lost
 * connection is opened again for the next statement.
 */
final class Shell implements AutoCloseable {
  static final String HINT =
      "Statements end with a semicolon. help says more, exit or Ctrl-D ends, Ctrl-C cancels.";

  private static final String HELP =
      """
      SELECT 1;                       runs a statement; it may have several lines
      SHOW TABLES;                    lists tables, SHOW COLUMNS FROM t; their columns
      SELECT * FROM TOLLGATE.NODES;   the cluster; also LOCKS, LOCK_WAITERS, LEASES, SESSIONS,
                                      LOCK_DEFINITIONS, TRANSACTIONS, FENCES, SNAPSHOTS
      Ctrl-C                          cancels the statement that runs, or forgets what was typed
      help  exit  quit                without a semicolon too
      docs/sql.md says what can be sent.""";

  private final String url;
  private final Properties properties;
  private final Terminal terminal;
  private final LineReader reader;
  private final PrintStream out;
  private @Nullable Connection connection;

  Shell(String url, Properties properties, Terminal terminal, LineReader reader) {
    this.url = requireNonNull(url, "url");
    this.properties = requireNonNull(properties, "properties");
    this.terminal = requireNonNull(terminal, "terminal");
    this.reader = requireNonNull(reader, "reader");
    this.out = PlainOutput.to(terminal.output(), terminal.encoding());
  }

  /** Reads and runs statements until the person ends the shell. */
  void run() throws SQLException {
    connection();
    out.println(HINT);
    StringBuilder typed = new StringBuilder();
    while (true) {
      try {
        String line = reader.readLine(typed.isEmpty() ? "tollgate> " : "     ...> ");
        if (typed.isEmpty() && isEnd(line)) {
          return;
        }
        if (typed.isEmpty() && isHelp(line)) {
          out.println(HELP);
          continue;
        }
        typed.append(line).append('\n');
        if (typed.toString().isBlank() || SqlCommand.isComplete(typed.toString())) {
          SqlCommand.split(typed.toString()).forEach(this::runOne);
          typed.setLength(0);
        }
      } catch (UserInterruptException e) {
        typed.setLength(0);
      } catch (EndOfFileException e) {
        return;
      }
    }
  }

  private static String word(String line) {
    return line.strip().replaceAll("^[!\\\\]|;$", "").toLowerCase(Locale.ROOT);
  }

  private static boolean isEnd(String line) {
    String word = word(line);
    return word.equals("exit") || word.equals("quit") || word.equals("q");
  }

  private static boolean isHelp(String line) {
    String word = word(line);
    return word.equals("help") || word.equals("?");
  }

  private void runOne(String sql) {
    try (Statement statement = connection().createStatement()) {
      Terminal.SignalHandler before =
          terminal.handle(Terminal.Signal.INT, signal -> cancel(statement));
      try {
        print(statement, statement.execute(sql));
      } finally {
        terminal.handle(Terminal.Signal.INT, before);
      }
    } catch (SQLException e) {
      out.println(SqlCommand.describe(e));
    }
  }

  private void print(Statement statement, boolean rows) throws SQLException {
    if (rows) {
      try (ResultSet result = statement.getResultSet()) {
        TextTable.of(result).print(out);
      }
    } else {
      SqlCommand.printCount(out, statement.getLargeUpdateCount());
    }
  }

  private void cancel(Statement statement) {
    try {
      statement.cancel();
    } catch (SQLException e) {
      out.println(SqlCommand.describe(e));
    }
  }

  private Connection connection() throws SQLException {
    Connection open = connection;
    if (open == null || open.isClosed()) {
      open = DriverManager.getConnection(url, properties);
      connection = open;
    }
    return open;
  }

  @Override
  public void close() throws SQLException {
    Connection open = connection;
    if (open != null) {
      open.close();
    }
  }
}
