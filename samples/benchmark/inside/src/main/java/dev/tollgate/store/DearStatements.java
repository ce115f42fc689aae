package dev.tollgate.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Prints for how long statements that are as dear as a client can make them keep the thread that
 * applies. Every other client waits for that thread. The statements are in {@code
 * dear-statements.sql}.
 */
public final class DearStatements {
  /** A count, a text in which # is a number from 0 on, and what is between such texts. */
  private static final Pattern REPEATED = Pattern.compile("\\{(\\d+)\\|([^|{}]*)\\|([^|{}]*)\\}");

  private static final int ROUNDS = 2;
  private static final int SHOWN = 160;

  private record Line(String text, boolean once) {
    static Line of(String line) {
      if (line.startsWith("!")) {
        return new Line(line.substring(1), /* once= */ true);
      }
      return new Line(
          line.startsWith("=")
              ? line.substring(1)
              : "INSERT INTO SINK SELECT 1 FROM SYSTEM_RANGE(1, 100000) WHERE ("
                  + line
                  + ") IS NULL",
          /* once= */ false);
    }

    String sql() {
      return REPEATED.matcher(text).replaceAll(DearStatements::repeated);
    }
  }

  private record Cost(long applyMillis, Line line, String end) {}

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

  private DearStatements() {}

  /** Runs the statements, each twice, on a node in this process. */
  public static void main(String[] arguments) throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:tollgate:mem:dear")) {
      new DearStatements().run(connection);
    }
  }

  private void run(Connection connection) throws IOException, SQLException {
    List<Cost> costs = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      for (Line line : lines()) {
        if (line.once()) {
          statement.execute(line.sql());
        } else {
          for (int i = 0; i < ROUNDS; i++) {
            costs.add(cost(statement, line));
          }
        }
      }
    }
    costs.sort(Comparator.comparingLong(Cost::applyMillis).reversed());
    for (Cost cost : costs) {
      System.out.println(cost.applyMillis() + " ms: " + cost.line().text() + ": " + cost.end());
    }
  }

  private static List<Line> lines() throws IOException {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    DearStatements.class.getResourceAsStream("dear-statements.sql")),
                StandardCharsets.UTF_8))) {
      return reader.lines().filter(line -> !line.isBlank()).map(Line::of).toList();
    }
  }

  private static String repeated(MatchResult part) {
    return IntStream.range(0, Integer.parseInt(part.group(1)))
        .mapToObj(number -> part.group(2).replace("#", Integer.toString(number)))
        .collect(Collectors.joining(part.group(3)));
  }

  private Cost cost(Statement statement, Line line) {
    long before = applyNanos();
    String end = "done";
    try {
      statement.execute(line.sql());
    } catch (SQLException e) {
      String message = Objects.requireNonNullElse(e.getMessage(), "");
      end = e.getSQLState() + " " + message.substring(0, Math.min(SHOWN, message.length()));
    }
    return new Cost(TimeUnit.NANOSECONDS.toMillis(applyNanos() - before), line, end);
  }

  private long applyNanos() {
    long nanos = 0;
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadName().startsWith("tollgate-apply")) {
        nanos += threads.getThreadCpuTime(thread.getThreadId());
      }
    }
    return nanos;
  }
}
