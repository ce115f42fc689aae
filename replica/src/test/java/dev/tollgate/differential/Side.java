package dev.tollgate.differential;

import dev.tollgate.jdbc.DefinitionMarks;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One of the two databases that are compared: a writer, and a reader beside it. */
final class Side implements AutoCloseable {
  private final String url;
  private Connection writer;
  private Connection reader;
  private @Nullable Savepoint savepoint;
  private int statements;

  Side(String url) throws SQLException {
    this.url = url;
    writer = DriverManager.getConnection(url);
    reader = DriverManager.getConnection(url);
  }

  /** Closes all connections and opens them again. */
  void reopen() throws SQLException {
    close();
    writer = DriverManager.getConnection(url);
    reader = DriverManager.getConnection(url);
  }

  boolean inTransaction() throws SQLException {
    return !writer.getAutoCommit();
  }

  /**
   * What became of a statement: its state, its count of rows, or its rows in order of their text.
   */
  List<String> run(String sql) {
    return sorted(run(writer, sql));
  }

  /** The same of a definition, with a row in table MARKED that says that it was carried out. */
  List<String> runMarked(String sql, int number) throws SQLException {
    boolean atOnce = writer.isWrapperFor(DefinitionMarks.class);
    if (atOnce) {
      writer
          .unwrap(DefinitionMarks.class)
          .markDefinition(sql, "INSERT INTO PUBLIC.MARKED VALUES(?)", number);
    }
    List<String> answer = run(sql);
    boolean sent = atOnce && !writer.unwrap(DefinitionMarks.class).dropMark();
    if (!sent && !answer.get(0).startsWith("state")) {
      run("INSERT INTO PUBLIC.MARKED VALUES(" + number + ")");
    }
    return answer;
  }

  /** The same with its rows in the order in which they came. */
  List<String> runInOrder(String sql) {
    return run(writer, sql);
  }

  /** The same by a session that sees what is committed. */
  List<String> read(String sql) {
    return sorted(run(reader, sql));
  }

  private static List<String> sorted(List<String> answer) {
    if (answer.get(0).startsWith("columns")) {
      Collections.sort(answer.subList(1, answer.size()));
    }
    return answer;
  }

  /** Every other statement is prepared first. */
  private List<String> run(Connection connection, String sql) {
    try {
      if (statements++ % 2 == 0) {
        try (Statement statement = connection.createStatement()) {
          return outcome(statement, statement.execute(sql));
        }
      }
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        return outcome(statement, statement.execute());
      }
    } catch (SQLException e) {
      return List.of("state " + e.getSQLState(), String.valueOf(e.getMessage()));
    }
  }

  private static List<String> outcome(Statement statement, boolean query) throws SQLException {
    if (!query) {
      return List.of("count " + statement.getLargeUpdateCount());
    }
    try (ResultSet rows = statement.getResultSet()) {
      return textOf(rows);
    }
  }

  private static List<String> textOf(ResultSet rows) throws SQLException {
    ResultSetMetaData columns = rows.getMetaData();
    StringBuilder header = new StringBuilder("columns");
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      header.append('\t').append(columns.getColumnTypeName(i));
    }
    List<String> lines = new ArrayList<>(List.of(header.toString()));
    while (rows.next()) {
      StringBuilder line = new StringBuilder();
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        line.append(rows.getString(i)).append('|');
      }
      lines.add(line.toString());
    }
    return lines;
  }

  void begin() throws SQLException {
    writer.setAutoCommit(false);
  }

  void end(boolean commit) throws SQLException {
    savepoint = null;
    if (commit) {
      writer.commit();
    } else {
      writer.rollback();
    }
    writer.setAutoCommit(true);
  }

  void mark() throws SQLException {
    savepoint = writer.setSavepoint("MARK");
  }

  /** Goes back to the savepoint, if there is one. */
  List<String> backToMark() {
    Savepoint mark = savepoint;
    savepoint = null;
    if (mark == null) {
      return List.of();
    }
    try {
      writer.rollback(mark);
      return List.of("back");
    } catch (SQLException e) {
      return List.of("state " + e.getSQLState());
    }
  }

  @Override
  public void close() throws SQLException {
    savepoint = null;
    reader.close();
    writer.close();
  }
}
