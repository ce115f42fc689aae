package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeProvider;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("try") // closing early, and closing twice, is what is tested
class EmbeddedTest {
  @TempDir private Path directory;

  private static Connection connect(String place) throws SQLException {
    return DriverManager.getConnection("jdbc:tollgate:" + place + "?lease=2s");
  }

  private static int count(List<String> names, Object name) {
    return Collections.frequency(names, name.toString());
  }

  private static int one(Connection connection, String sql) throws SQLException {
    try (ResultSet rows = connection.createStatement().executeQuery(sql)) {
      assertTrue(rows.next());
      return rows.getInt(1);
    }
  }

  @Test
  void aDurableNodeClosesWithItsLastConnection() throws Exception {
    try (Connection first = connect("embedded:" + directory);
        Connection second = connect("embedded:" + directory.resolve("x/.."))) {
      first.createStatement().execute("CREATE TABLE T(ID INT)");
      assertEquals(0, one(second, "SELECT COUNT(*) FROM T"));
      assertEquals(1, count(FakeProvider.started(), directory));
      first.close();
      assertEquals(0, count(FakeProvider.closed(), directory));
      assertTrue(second.isValid(1));
    }
    assertEquals(1, count(FakeProvider.closed(), directory));
    try (Connection again = connect("embedded:" + directory)) {
      assertEquals(2, count(FakeProvider.started(), directory));
      assertTrue(again.isValid(1));
    }
  }

  @Test
  void aNamedNodeInMemoryOutlivesItsConnections() throws Exception {
    String name = "mem:named" + System.nanoTime();
    try (Connection connection = connect(name)) {
      connection.createStatement().execute("CREATE TABLE T(ID INT)");
    }
    try (Connection connection = connect(name)) {
      assertEquals(0, one(connection, "SELECT COUNT(*) FROM T"));
    }
    assertEquals(1, count(FakeProvider.started(), name));
    assertEquals(0, count(FakeProvider.closed(), name));
    await("its control thread ends, though")
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(t -> t.getName().equals("tollgate-control-" + name)));
  }

  @Test
  void aNodeWithoutANameIsPrivate() throws Exception {
    int closed = count(FakeProvider.closed(), "mem:");
    try (Connection first = connect("mem:");
        Connection second = connect("mem:")) {
      first.createStatement().execute("CREATE TABLE T(ID INT)");
      assertThrows(SQLException.class, () -> one(second, "SELECT COUNT(*) FROM T"));
      first.close();
      assertEquals(closed + 1, count(FakeProvider.closed(), "mem:"));
      assertTrue(second.isValid(1));
    }
  }

  @Test
  void aNodeThatDoesNotStartSaysWhy() throws Exception {
    Path locked = directory.resolve("locked");
    SQLException e = assertThrows(SQLException.class, () -> connect("embedded:" + locked));
    assertEquals("08001", e.getSQLState());
    assertTrue(e.getMessage().contains("another process has"), e.getMessage());
    assertThrows(SQLException.class, () -> connect("embedded:" + locked), "and again");
  }

  @Test
  void otherDataKeysThanThoseOfTheRunningNodeAreRefused() throws Exception {
    String keys = "&dataKeyFile=" + directory.resolve("keys");
    String url = "jdbc:tollgate:embedded:" + directory + "?lease=2s";
    try (Connection first = DriverManager.getConnection(url + keys);
        Connection second = DriverManager.getConnection(url + keys)) {
      assertTrue(first.isValid(1) && second.isValid(1));
      for (String other : List.of("", keys + "2")) {
        SQLException e =
            assertThrows(
                SQLException.class, () -> DriverManager.getConnection(url + other).close());
        assertEquals("08001", e.getSQLState());
        assertTrue(e.getMessage().contains("give all connections the same one"), e.getMessage());
      }
    }
    assertEquals(1, count(FakeProvider.started(), directory));
  }

  @Test
  void anAbortedConnectionLeavesNoNodeBehind() throws Exception {
    try (Connection connection = connect("embedded:" + directory)) {
      connection.abort(Runnable::run);
      assertTrue(connection.isClosed());
      assertEquals(1, count(FakeProvider.closed(), directory));
    }
    assertEquals(1, count(FakeProvider.closed(), directory));
  }

  @Test
  void manyThreadsOpenAndCloseTheSameNode() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    Callable<Boolean> user =
        () -> {
          for (int i = 0; i < 25; i++) {
            try (Connection connection = connect("embedded:" + directory)) {
              if (one(connection, "SELECT 1") != 1) {
                return false;
              }
            }
          }
          return true;
        };
    try {
      for (Future<Boolean> done : threads.invokeAll(Collections.nCopies(4, user))) {
        assertTrue(done.get());
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(count(FakeProvider.started(), directory), count(FakeProvider.closed(), directory));
    assertFalse(FakeProvider.started().isEmpty());
  }
}
