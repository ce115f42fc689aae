package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whichever method finds that a lock is lost throws the same type. */
@Timeout(60)
class OneLossTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private LockClient client;
  private Connection administrator;

  @BeforeEach
  void open() throws SQLException {
    client = LockClient.connect(url);
    administrator = DriverManager.getConnection(url);
    execute("CREATE TABLE t(id INT PRIMARY KEY)");
    execute("CREATE TABLE other(id INT PRIMARY KEY) FENCED BY LOCK 'other'");
  }

  @AfterEach
  void close() throws SQLException {
    client.close();
    administrator.close();
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = administrator.createStatement()) {
      statement.execute(sql);
    }
  }

  private void force() throws SQLException {
    execute("SELECT force_release_lock('job')");
  }

  private static int insert(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate("INSERT INTO t VALUES (1)");
    }
  }

  private int rows() throws SQLException {
    try (Statement statement = administrator.createStatement();
        ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM t")) {
      count.next();
      return count.getInt(1);
    }
  }

  private static SQLException refusal(LockLostException lost) {
    SQLException refused = assertInstanceOf(SQLException.class, lost.getCause());
    assertEquals("23T01", refused.getSQLState());
    return refused;
  }

  @Test
  void lossInWorkIsALossWhoeverFindsIt() throws Exception {
    HeldLock written = client.acquire("job");
    refusal(
        assertThrows(
            LockLostException.class,
            () ->
                written.run(
                    connection -> {
                      force();
                      return insert(connection);
                    })));
    HeldLock committed = client.acquire("job");
    // the client knows of the loss before it commits, or the cluster refuses the commit
    assertThrows(
        LockLostException.class,
        () ->
            committed.run(
                connection -> {
                  int rows = insert(connection);
                  force();
                  return rows;
                }));
    assertEquals(0, rows());
    assertThrows(LockLostException.class, () -> committed.run(OneLossTest::insert));
  }

  @Test
  void lossFoundByOtherCallsIsTheSameType() throws Exception {
    HeldLock asserted = client.acquire("job");
    force();
    assertThrows(LockLostException.class, asserted::confirm);
    assertThrows(LockLostException.class, asserted::assertHeld);
    assertThrows(LockLostException.class, () -> asserted.extend(Duration.ofMinutes(1)));
    HeldLock kept = client.acquire("job", LockOptions.DEFAULT.fixedTerm(Duration.ofMinutes(1)));
    force();
    assertThrows(LockLostException.class, () -> kept.releaseAfter(Duration.ofSeconds(1)));
    FencedLock lock = client.asLock("job");
    lock.lock();
    force();
    assertThrows(LockLostException.class, () -> lock.extend(Duration.ofMinutes(1)));
    assertThrows(LockLostException.class, lock::unlock);
  }

  /** The lock of the work is held: what is lost, or was never held, is another one. */
  @Test
  void refusalForAnotherLockIsNoLossOfThisOne() throws Exception {
    try (HeldLock lock = client.acquire("job")) {
      SQLException refused =
          assertThrows(
              SQLException.class,
              () ->
                  lock.run(
                      connection -> {
                        try (Statement statement = connection.createStatement()) {
                          return statement.executeUpdate(
                              "INSERT INTO other VALUES (1) FENCED BY LOCK 'other' TOKEN 99");
                        }
                      }));
      assertEquals("23T01", refused.getSQLState());
      lock.confirm();
    }
  }
}
