package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Scripts are cut where the server of MariaDB cuts them. Skipped where it is not installed. */
class SplitOnMariadbTest {
  @RegisterExtension static final MariadbServer mariadb = new MariadbServer();

  private static final List<String> TEXTS =
      List.of(
          "SELECT 1; SELECT 2",
          "SELECT 'a;b'; SELECT 2",
          "SELECT 'it''s;'; SELECT 2",
          "SELECT 'it\\'s; x'; SELECT 2",
          "SELECT 'x\\\\'; SELECT 2",
          "SELECT \"a;b\"; SELECT 2",
          "SELECT \"a\\\";b\"; SELECT 2",
          "SELECT \"a\"\";b\"; SELECT 2",
          "SELECT 1 AS `a;b`; SELECT 2",
          "SELECT 1 AS `a\\`; SELECT 2",
          "SELECT 1 AS `a``;b`; SELECT 2",
          "SELECT 5--3; SELECT 2",
          "SELECT 5--3 -- ; SELECT 2\n; SELECT 3",
          "SELECT 5 --\t; SELECT 2\n; SELECT 3",
          "SELECT 5 --\n; SELECT 2",
          "SELECT 5 # ; SELECT 2\n; SELECT 3",
          "SELECT 5 #; SELECT 2",
          "SELECT '#'; SELECT 2",
          "SELECT /* ; */ 1; SELECT 2",
          "SELECT /*! 1 */; SELECT 2",
          "SELECT /*!50001 1 */; SELECT 2",
          "SELECT /*M!100100 ';*/' */; SELECT 2",
          "SELECT 1 /*!99999 + 1 */; SELECT 2",
          "/*!50001 SELECT 1 */; SELECT 2",
          "SELECT /*+ x */ 1; SELECT 2",
          "SELECT 1 / 1; SELECT 4 / 2",
          "SELECT N'a;b'; SELECT 2",
          "SELECT _utf8'a;b'; SELECT 2",
          "SELECT X'3B'; SELECT 2",
          "SELECT 'a' ';b'; SELECT 2");

  @Test
  void serverCutsWhereTheRunnerDoes() throws Exception {
    String url = mariadb.url() + "&allowMultiQueries=true";
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (String text : TEXTS) {
        List<String> pieces = new ArrayList<>();
        for (SqlStatement piece : SqlText.split("s", text, Dialect.MARIADB)) {
          List<String> one = results(statement, piece.sql());
          assertEquals(1, one.size(), text);
          pieces.addAll(one);
        }
        assertEquals(results(statement, text), pieces, text);
      }
    }
  }

  private static List<String> results(Statement statement, String sql) throws SQLException {
    List<String> results = new ArrayList<>();
    boolean more = statement.execute(sql);
    while (more) {
      try (ResultSet row = statement.getResultSet()) {
        row.next();
        results.add(row.getString(1));
      }
      more = statement.getMoreResults();
    }
    return results;
  }
}
