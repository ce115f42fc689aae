package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PagingTest {
  /** More than fit the pages of the fake node. */
  private static final int ROWS = 20_000;

  private static final String MANY = "SELECT X FROM SYSTEM_RANGE(1, " + ROWS + ") ORDER BY X";

  private FakeCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(2);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(cluster.url(properties));
  }

  private static int count(ResultSet rows) throws SQLException {
    int count = 0;
    while (rows.next()) {
      count++;
      assertEquals(count, rows.getInt(1));
      assertEquals(count, rows.getRow());
    }
    assertTrue(rows.isAfterLast());
    assertFalse(rows.next());
    return count;
  }

  @Test
  void allPagesAreFetchedBeforeTheFirstRowIsRead() throws Exception {
    try (Connection connection = connect("");
        ResultSet rows = connection.createStatement().executeQuery(MANY)) {
      assertEquals(0, cluster.openCursors());
      cluster.node(0).stop();
      assertEquals(ROWS, count(rows));
    }
  }

  @Test
  void aQueryWhosePagesGetLostRunsAgain() throws Exception {
    try (Connection connection = connect("")) {
      cluster.node(0).dropInsteadOfFetching(2);
      try (ResultSet rows = connection.createStatement().executeQuery(MANY)) {
        assertEquals(ROWS, count(rows));
      }
      assertEquals(3, cluster.received().size());
      assertEquals(1, cluster.received().stream().mapToLong(e -> e.sequence()).distinct().count());
      int last = cluster.losses().size();
      assertEquals(List.of(0, 1, 2), cluster.losses().subList(last - 3, last));
    }
  }

  @Test
  void pagesThatAreAlwaysLostAreGivenUp() throws Exception {
    try (Connection connection = connect("")) {
      cluster.node(0).dropInsteadOfFetching(1_000);
      SQLException e =
          assertThrows(SQLException.class, () -> connection.createStatement().executeQuery(MANY));
      assertEquals("40001", e.getSQLState());
      assertTrue(connection.isValid(1));
    }
  }

  @Test
  void aFetchSizeMakesPagesComeWhenTheyAreRead() throws Exception {
    try (Connection connection = connect("fetchSize=1000");
        ResultSet rows = connection.createStatement().executeQuery(MANY)) {
      assertEquals(1, cluster.openCursors());
      assertEquals(ROWS, count(rows));
      assertEquals(0, cluster.openCursors());
    }
  }

  /** 100 is H2's own default. */
  @ParameterizedTest
  @ValueSource(ints = {10, 100, 1000})
  void theFetchSizeOfTheStatementWins(int size) throws Exception {
    for (String url : new String[] {"", "fetchSize=7"}) {
      try (Connection connection = connect(url);
          Statement statement = connection.createStatement();
          PreparedStatement prepared = connection.prepareStatement(MANY)) {
        statement.setFetchSize(size);
        prepared.setFetchSize(size);
        assertPaged(statement.executeQuery(MANY), size);
        assertPaged(prepared.executeQuery(), size);
      }
    }
  }

  private void assertPaged(ResultSet result, int size) throws SQLException {
    try (ResultSet rows = result) {
      assertEquals(1, cluster.openCursors());
      assertEquals(size, cluster.received().get(cluster.received().size() - 1).pageRows());
      assertEquals(ROWS, count(rows));
    }
  }

  @Test
  void closingAResultEarlyGivesUpItsRows() throws Exception {
    try (Connection connection = connect("fetchSize=10")) {
      try (ResultSet rows = connection.createStatement().executeQuery(MANY)) {
        assertTrue(rows.next());
        assertEquals(1, cluster.openCursors());
      }
      await().until(() -> cluster.openCursors() == 0);
    }
  }

  @Test
  void rowsThatWereToComeAreLostWithTheirNode() throws Exception {
    try (Connection connection = connect("fetchSize=10")) {
      try (ResultSet rows = connection.createStatement().executeQuery(MANY)) {
        for (int i = 0; i < 10; i++) {
          assertTrue(rows.next());
        }
        cluster.lead(cluster.node(1));
        cluster.node(0).stop();
        SQLException e = assertThrows(SQLException.class, rows::next);
        assertTrue(e instanceof SQLTransactionRollbackException, String.valueOf(e));
        assertEquals("40001", e.getSQLState());
        assertTrue(e.getMessage().contains("fetchSize=0"), e.getMessage());
        assertThrows(SQLException.class, rows::next, "it does not skip what is lost");
      }
      try (ResultSet rows = connection.createStatement().executeQuery("SELECT 1")) {
        assertTrue(rows.next(), "the connection goes on");
      }
    }
  }

  @Test
  void rowsThatWereToComeAreLostWhenTheSessionHasMoved() throws Exception {
    try (Connection connection = connect("fetchSize=10");
        ResultSet rows = connection.createStatement().executeQuery(MANY)) {
      assertTrue(rows.next());
      cluster.node(0).breakConnections();
      // its cursor has the same number, on the new connection
      try (ResultSet others = connection.createStatement().executeQuery(MANY)) {
        assertTrue(others.next());
        for (int i = 1; i < 10; i++) {
          assertTrue(rows.next());
        }
        assertEquals("40001", assertThrows(SQLException.class, rows::next).getSQLState());
      }
    }
  }

  @Test
  void scrollingHasAllRows() throws Exception {
    try (Connection connection = connect("fetchSize=10");
        Statement statement =
            connection.createStatement(
                ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
        ResultSet rows = statement.executeQuery(MANY)) {
      assertTrue(rows.last());
      assertEquals(ROWS, rows.getInt(1));
      assertTrue(rows.absolute(15));
      assertEquals(15, rows.getInt(1));
    }
  }

  @Test
  void statementsRunWhileAResultIsRead() throws Exception {
    try (Connection connection = connect("fetchSize=10");
        ResultSet rows = connection.createStatement().executeQuery(MANY)) {
      for (int i = 1; i <= 30; i++) {
        assertTrue(rows.next());
        try (ResultSet inner = connection.createStatement().executeQuery("SELECT " + i)) {
          assertTrue(inner.next());
          assertEquals(rows.getInt(1), inner.getInt(1));
        }
      }
    }
  }
}
