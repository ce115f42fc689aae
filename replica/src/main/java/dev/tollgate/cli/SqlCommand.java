package dev.tollgate.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs statements, or opens a shell. */
@Command(
    name = "sql",
    description = "Runs SQL statements, or opens a SQL shell.",
    mixinStandardHelpOptions = true)
final class SqlCommand implements Callable<Integer> {
  /** System property: true if standard input is a terminal, which Java cannot tell. */
  private static final String TERMINAL = "tollgate.terminal";

  private static final Path HISTORY =
      Path.of(System.getProperty("user.home", "."), ".tollgate_history");

  /** A text that cannot be a statement. */
  private static final String MARK = "\u0000";

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = {"-e", "--execute"},
      description =
          "Statements, each ended by a semicolon. Without it they are read from standard input, or a"
              + " shell opens if that is a terminal.")
  private @Nullable String statements;

  SqlCommand() {}

  @Override
  public Integer call() throws IOException {
    if (statements != null) {
      return run(statements);
    }
    return Boolean.getBoolean(TERMINAL) ? shell() : run(System.in.readAllBytes());
  }

  private int run(byte[] script) {
    try {
      return run(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(script)).toString());
    } catch (CharacterCodingException e) {
      System.err.println("standard input is not UTF-8: nothing was run");
      return Main.FAILED;
    }
  }

  private int run(String script) {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      for (String sql : split(script)) {
        run(statement, sql);
      }
      return 0;
    } catch (SQLException e) {
      System.err.println(describe(e));
      return Main.FAILED;
    }
  }

  private int shell() throws IOException {
    Properties properties = cluster.properties();
    try (Terminal terminal = TerminalBuilder.builder().name("tollgate").build();
        Shell shell = new Shell(cluster.url(), properties, terminal, reader(terminal, HISTORY))) {
      shell.run();
      return 0;
    } catch (SQLException e) {
      System.err.println(describe(e));
      return Main.FAILED;
    }
  }

  /**
   * @param history file of lines from earlier shells; null to keep none
   */
  static LineReader reader(Terminal terminal, @Nullable Path history) {
    LineReaderBuilder builder =
        LineReaderBuilder.builder()
            .terminal(terminal)
            // an exclamation mark has no special meaning
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .option(LineReader.Option.BRACKETED_PASTE, false);
    return (history == null ? builder : builder.variable(LineReader.HISTORY_FILE, history)).build();
  }

  private static void run(Statement statement, String sql) throws SQLException {
    if (statement.execute(sql)) {
      try (ResultSet rows = statement.getResultSet()) {
        TextTable.of(rows).print(System.out);
      }
    } else {
      printCount(System.out, statement.getLargeUpdateCount());
    }
  }

  static void printCount(PrintStream out, long count) {
    out.println(count == 1 ? "1 row changed" : count + " rows changed");
  }

  static String describe(SQLException e) {
    return "SQLSTATE " + e.getSQLState() + " (" + e.getErrorCode() + "): " + e.getMessage();
  }

  /** Returns true if only blanks follow the last semicolon that ends a statement. */
  static boolean isComplete(String text) {
    List<String> parts = split(text + MARK);
    return parts.get(parts.size() - 1).equals(MARK);
  }

  /** Splits at semicolons outside quotes and comments. */
  static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    int at = 0;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\'' || c == '"') {
        at = after(text, at + 1, String.valueOf(c));
      } else if (text.startsWith("--", at)) {
        at = after(text, at, "\n");
      } else if (text.startsWith("/*", at)) {
        at = after(text, at + 2, "*/");
      } else {
        if (c == ';') {
          addIfAny(parts, text.substring(start, at));
          start = at + 1;
        }
        at++;
      }
    }
    addIfAny(parts, text.substring(start));
    return parts;
  }

  private static int after(String text, int from, String end) {
    int found = text.indexOf(end, from);
    return found < 0 ? text.length() : found + end.length();
  }

  private static void addIfAny(List<String> parts, String part) {
    if (!part.isBlank()) {
      parts.add(part.strip());
    }
  }
}
