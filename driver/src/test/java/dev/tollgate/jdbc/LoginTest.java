package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLInvalidAuthorizationSpecException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Properties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins of the driver, at nodes that require them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoginTest {
  private static final PasswordVerifier SECRET =
      PasswordVerifier.of("secret", new byte[16], PasswordVerifier.DEFAULT_ITERATIONS);

  private FakeCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(2);
    cluster.addUser("jo", SECRET);
    cluster.addUser("mo", SECRET.beside("other"), SECRET);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private Connection connect(String user, String password) throws SQLException {
    return DriverManager.getConnection(cluster.url("failoverTimeout=5s"), user, password);
  }

  private static void use(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      assertTrue(statement.execute("SELECT 1"));
    }
  }

  /** A stranger that pretends to be a node would ask for few, and guess the password from that. */
  @Test
  void nodeThatAsksForFewIterationsGetsNoProof() {
    cluster.addUser(
        "lo", PasswordVerifier.of("secret", new byte[16], PasswordVerifier.DEFAULT_ITERATIONS - 1));
    SQLException refused = assertThrows(SQLException.class, () -> connect("lo", "secret"));
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("99999 iterations, fewer than 100000"), message);
  }

  @Test
  void everyConnectionOfTheDriverLogsIn() throws Exception {
    try (Connection connection = connect("jo", "secret")) {
      use(connection);
      await().until(() -> cluster.node(1).isWatched() && !cluster.heartbeats().isEmpty());
      int before = cluster.logins().size();
      // the fake nodes do not know the question, which comes after the login all the same
      TollgateDriver.surveyNodes(cluster.url("user=jo&password=secret"));
      assertTrue(cluster.logins().size() > before);
    }
    assertTrue(cluster.logins().stream().allMatch("jo"::equals), cluster.logins().toString());
  }

  @Test
  void failoverLogsInAgain() throws Exception {
    try (Connection connection = connect("jo", "secret")) {
      use(connection);
      cluster.lead(cluster.node(1));
      use(connection);
    }
    assertTrue(cluster.logins().stream().allMatch("jo"::equals), cluster.logins().toString());
  }

  @Test
  void eitherOfTwoPasswordsLogsIn() throws Exception {
    connect("mo", "secret").close();
    connect("mo", "other").close();
  }

  @Test
  void wrongPasswordIsTriedOnceAtEachNode() {
    SQLException e = assertThrows(SQLException.class, () -> connect("jo", "hunter2"));
    assertEquals("28000", e.getSQLState());
    assertEquals(SQLInvalidAuthorizationSpecException.class, e.getClass().getSuperclass());
    assertFalse(allTextOf(e).contains("hunter2"));
    assertEquals(2, cluster.logins().size(), cluster.logins().toString());
    assertTrue(cluster.logins().stream().allMatch("not jo"::equals));
  }

  @Test
  void wrongPasswordIsNotRepeatedWhileAnotherNodeIsDown() throws Exception {
    cluster.node(1).stop();
    long start = System.nanoTime();
    SQLException e = assertThrows(SQLException.class, () -> connect("jo", "hunter2"));
    assertEquals("28000", e.getSQLState());
    assertEquals(1, cluster.logins().size(), cluster.logins().toString());
    assertTrue(System.nanoTime() - start < 4_000_000_000L);
  }

  @Test
  void loginWithoutAPasswordSaysWhatToSet() {
    SQLException e = assertThrows(SQLException.class, () -> connect("jo", ""));
    assertEquals("28000", e.getSQLState());
    assertTrue(e.getMessage().contains("passwordFile"), e.getMessage());
    assertTrue(cluster.logins().isEmpty());
  }

  @Test
  void nodeThatDoesNotKnowItsUsersIsTriedAgain() throws Exception {
    Reply.Failure notYet = new Reply.Failure(SqlState.NO_QUORUM, "not yet");
    cluster.node(0).refuse(notYet);
    cluster.node(1).refuse(notYet);
    Thread mending =
        new Thread(
            () -> {
              await().until(() -> cluster.node(0).accepted() > 2);
              cluster.node(0).refuse(null);
              cluster.node(1).refuse(null);
            });
    mending.start();
    connect("jo", "secret").close();
    mending.join();
  }

  @Test
  void nodeThatProvesNothingIsLeft() {
    cluster.node(0).deceive(true);
    cluster.node(1).deceive(true);
    SQLException e = assertThrows(SQLException.class, () -> connect("jo", "secret"));
    assertEquals("08004", e.getSQLState());
    assertTrue(e.getMessage().contains("does not authenticate itself"), e.getMessage());
  }

  @Test
  void usersShareNoControlConnection() throws Exception {
    try (Connection one = connect("jo", "secret");
        Connection two = connect("jo", "secret")) {
      await().until(() -> cluster.node(0).openConnections() == 3);
      try (Connection other = connect("mo", "secret")) {
        // its session, and a control connection of its own
        await().until(() -> cluster.node(0).openConnections() == 5);
        use(other);
      }
      use(one);
      use(two);
    }
  }

  @Test
  void passwordFileIsReadForEachLogin(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("password");
    Properties properties = new Properties();
    properties.setProperty("user", "mo");
    properties.setProperty("passwordFile", file.toString());
    String url = cluster.url("failoverTimeout=5s");
    SQLException missing =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url, properties));
    assertEquals("28000", missing.getSQLState());
    Files.writeString(file, "secret\nnothing else counts\n");
    try (Connection connection = DriverManager.getConnection(url, properties)) {
      Files.writeString(file, "other");
      cluster.node(0).breakConnections();
      use(connection);
    }
    Files.writeString(file, "\n");
    SQLException empty =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url, properties));
    assertTrue(empty.getMessage().contains("first line is empty"), empty.getMessage());
  }

  @Test
  void passwordAndFileTogetherAreRefused() {
    String url = cluster.url("passwordFile=x&password=hunter2");
    SQLException e = assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    assertEquals("22023", e.getSQLState());
    assertFalse(allTextOf(e).contains("hunter2"));
  }

  @Test
  void tokenAndPasswordTogetherAreRefused() {
    String url = cluster.url("tokenFile=x&password=hunter2");
    SQLException e = assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    assertTrue(e.getMessage().contains("password and tokenFile are both set"), e.getMessage());
    assertFalse(e.getMessage().contains("hunter2"), e.getMessage());
  }

  @Test
  void passwordItselfGoesToNoNodeThatHasNotShownWhoItIs() {
    String url = cluster.url("user=jo&password=hunter2&plainPassword=true");
    SQLException e = assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    assertEquals("28000", e.getSQLState(), e.getMessage());
    assertTrue(e.getMessage().contains("sslMode=verify-full"), e.getMessage());
    assertFalse(e.getMessage().contains("hunter2"), e.getMessage());
    assertTrue(cluster.logins().isEmpty(), cluster.logins().toString());
  }

  @Test
  void tokenIsNoPasswordToSend() {
    String url = cluster.url("user=jo&token=hunter2&plainPassword=true");
    SQLException e = assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    assertEquals("22023", e.getSQLState(), e.getMessage());
    assertTrue(e.getMessage().contains("a token is no password"), e.getMessage());
  }

  @Test
  void tokenGoesToNoNodeThatHasNotShownWhoItIs() {
    String url = cluster.url("token=hunter2");
    SQLException e = assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    assertEquals("28000", e.getSQLState(), e.getMessage());
    assertTrue(e.getMessage().contains("sslMode=verify-full"), e.getMessage());
    assertFalse(e.getMessage().contains("hunter2"), e.getMessage());
  }

  @Test
  void theUrlWinsOverAPasswordFileBesideIt() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", "jo");
    properties.setProperty("passwordFile", "missing");
    DriverManager.getConnection(cluster.url("password=secret"), properties).close();
  }

  @Test
  void dataSourceLogsIn() throws Exception {
    TollgateDataSource source = new TollgateDataSource();
    source.setUrl(cluster.url(""));
    source.getConnection("mo", "other").close();
    source.setUser("jo");
    source.setPassword("secret");
    source.getConnection().close();
  }

  @Test
  void userAndPasswordAreIgnoredWhereNoneIsRequired() throws Exception {
    try (FakeCluster open = FakeCluster.start(1);
        Connection connection = DriverManager.getConnection(open.url(""), "sa", "anything")) {
      use(connection);
      assertEquals(FakeCluster.USER, connection.getMetaData().getUserName());
      assertTrue(open.logins().isEmpty());
    }
  }

  @Test
  void passwordShowsNowhere() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", "jo");
    properties.setProperty("password", "hunter2");
    DriverPropertyInfo[] infos =
        new TollgateDriver().getPropertyInfo("jdbc:tollgate://h/", properties);
    assertTrue(Arrays.stream(infos).noneMatch(info -> "hunter2".equals(info.value)));
    ConnectionSettings settings = ConnectionSettings.parse("jdbc:tollgate://h/", properties);
    assertFalse(settings.toString().contains("hunter2"));
    assertNotNull(settings.session().credentials());
    for (String url :
        new String[] {
          "jdbc:tollgate://h/?password=hunter2%zz",
          "jdbc:tollgate://h/?p%61ssword=hunter2&wrong=1",
          "jdbc:tollgate://h/?pasword=hunter2",
          "jdbc:tollgate://h/?user=jo&password=hunter2&lease=x",
        }) {
      SQLException e =
          assertThrows(SQLException.class, () -> DriverManager.getConnection(url), url);
      assertFalse(allTextOf(e).contains("hunter2"), allTextOf(e));
    }
  }

  private static String allTextOf(Throwable e) {
    StringBuilder text = new StringBuilder();
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      text.append(cause).append('\n');
    }
    return text.toString();
  }
}
