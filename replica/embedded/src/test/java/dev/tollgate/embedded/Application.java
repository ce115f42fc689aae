package dev.tollgate.embedded;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * An application with a node in its JVM and an H2 of its own: it knows java.sql and slf4j. It
 * prints what it sees, and EmbeddedJarIT compares.
 */
@SuppressWarnings("SystemOut")
public final class Application {
  /** What an application must not find unless it brings it itself. */
  private static final List<String> NOT_OURS =
      List.of(
          "ch.qos.logback.classic.Logger",
          "com.google.common.collect.ImmutableList",
          "com.sun.jna.Native",
          "io.netty.channel.Channel",
          "org.apache.calcite.sql.SqlNode",
          "org.apache.commons.math3.util.FastMath",
          "org.jline.reader.LineReader",
          "picocli.CommandLine",
          "sqlline.SqlLine");

  private Application() {}

  /**
   * @param arguments a directory for a durable node, and "h2" if there is an H2
   */
  public static void main(String[] arguments) throws Exception {
    System.out.println(
        "providers: "
            + ServiceLoader.load(SLF4JServiceProvider.class).stream()
                .map(provider -> provider.type().getName())
                .collect(Collectors.joining(",")));
    System.out.println(
        "found: "
            + NOT_OURS.stream().filter(Application::isThere).collect(Collectors.joining(",")));
    LoggerFactory.getLogger(Application.class).info("the application logs");
    try (Connection own =
            arguments.length > 1 ? DriverManager.getConnection("jdbc:h2:mem:own") : null;
        Connection node = DriverManager.getConnection("jdbc:tollgate:mem:x")) {
      if (own != null) {
        use("own", own);
      }
      use("mem", node);
      lock(node);
      if (own != null) {
        System.out.println("own rows: " + ask(own, "SELECT COUNT(*) FROM T"));
      }
      System.out.println("functions: " + ask(node, "SELECT LISTAGG(UPPER(V)) FROM T"));
    }
    for (int start = 1; start <= 2; start++) {
      try (Connection durable =
          DriverManager.getConnection("jdbc:tollgate:embedded:" + arguments[0])) {
        if (start == 1) {
          use("embedded", durable);
        }
        System.out.println("durable rows: " + ask(durable, "SELECT COUNT(*) FROM T"));
      }
    }
    System.out.println(
        "drivers: "
            + DriverManager.drivers()
                .map(driver -> driver.getClass().getName())
                .sorted()
                .collect(Collectors.joining(",")));
  }

  private static boolean isThere(String name) {
    try {
      Class.forName(name, false, Application.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static void use(String name, Connection connection) throws SQLException {
    System.out.println(name + ": " + connection.getMetaData().getDatabaseProductVersion());
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, A INT ARRAY, J JSON)");
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO T(ID, V, A) VALUES(?, ?, ?)")) {
        insert.setInt(1, 1);
        insert.setString(2, "x");
        insert.setArray(3, connection.createArrayOf("INTEGER", new Object[] {1, 2}));
        insert.executeUpdate();
        try {
          insert.executeUpdate();
        } catch (SQLException e) {
          System.out.println(name + " refuses: " + e.getSQLState() + " " + e.getMessage());
        }
      }
      try (ResultSet rows =
          statement.executeQuery("SELECT ID, V, A FROM T WHERE V LIKE 'x%' AND 1 = ANY(A)")) {
        rows.next();
        System.out.println(
            name
                + " row: "
                + rows.getInt("ID")
                + rows.getString("V")
                + Arrays.toString((Object[]) rows.getArray("A").getArray()));
      }
    }
  }

  private static void lock(Connection node) throws SQLException {
    try (Statement statement = node.createStatement()) {
      statement.execute("CREATE TABLE F(ID INT PRIMARY KEY) FENCED BY LOCK 'f'");
      String token = ask(node, "SELECT acquire_lock('f')");
      statement.execute("INSERT INTO F VALUES(1)");
      try {
        statement.execute("INSERT INTO F VALUES(2) FENCED BY LOCK 'f' TOKEN " + token + "0");
      } catch (SQLException e) {
        System.out.println("fence: " + e.getSQLState());
      }
    }
  }

  private static String ask(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      rows.next();
      return rows.getString(1);
    }
  }
}
