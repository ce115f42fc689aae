package dev.tollgate.flyway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.jdbc.TollgateDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.callback.BaseCallback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each command of Flyway on Tollgate, and what its lock and its history refuse. */
class TollgateFlywayTest {
  private static final String LOCK = "flyway:PUBLIC.flyway_schema_history";
  private static final String HISTORY = "\"flyway_schema_history\"";

  @RegisterExtension final TestNode node = new TestNode();

  private void cities() throws Exception {
    node.write(
        "V1__city.sql",
        "CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(50));",
        "INSERT INTO city VALUES (1, 'Oslo; the capital');");
    node.write("V2__people.sql", "ALTER TABLE city ADD COLUMN people INT DEFAULT 0;");
    node.write("R__view.sql", "CREATE OR REPLACE VIEW names AS SELECT name FROM city;");
  }

  @Test
  void versionOfFlywayIsTheOneThatTheBuildNames() {
    String version = System.getProperty("tollgate.flyway.version");
    assumeTrue(version != null, "the build says it");
    String jar = Flyway.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    assertTrue(jar.endsWith("/flyway-core-" + version + ".jar"), jar);
  }

  @Test
  void scriptsRunOnceAndInOrder() throws Exception {
    cities();
    assertEquals(3, node.flyway().migrate().migrationsExecuted);
    assertEquals(0, node.flyway().migrate().migrationsExecuted);
    assertEquals("Oslo; the capital", node.ask("SELECT name FROM names"));
    assertEquals(3, node.flyway().info().applied().length);
    node.flyway().validate();
    node.write("R__view.sql", "CREATE OR REPLACE VIEW names AS SELECT name, people FROM city;");
    assertEquals(1, node.flyway().migrate().migrationsExecuted);
    assertEquals("0", node.ask("SELECT people FROM names"));
  }

  @Test
  void poolGetsItsConnectionsBackWithoutAFence() throws Exception {
    cities();
    HikariConfig settings = new HikariConfig();
    settings.setJdbcUrl(node.url());
    settings.setMaximumPoolSize(2);
    try (HikariDataSource pool = new HikariDataSource(settings)) {
      Flyway flyway = node.configuration().dataSource(pool).load();
      assertEquals(3, flyway.migrate().migrationsExecuted);
      assertEquals(0, flyway.migrate().migrationsExecuted);
      for (int i = 0; i < 4; i++) {
        try (Connection connection = pool.getConnection()) {
          assertEquals("2000", TestNode.ask(connection, "SELECT LOCK_TIMEOUT()"));
          connection.createStatement().execute("UPDATE city SET people = people + 1");
        }
      }
    }
    assertEquals("4", node.ask("SELECT people FROM city"));
  }

  @Test
  void historyIsFencedByTheLock() throws Exception {
    cities();
    node.flyway().migrate();
    assertEquals(
        LOCK,
        node.ask(
            "SELECT LOCK_NAME FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'flyway_schema_history'"));
    SQLException refused =
        assertThrows(SQLException.class, () -> node.execute("DELETE FROM " + HISTORY));
    assertEquals("23T02", refused.getSQLState());
    assertEquals("no row", node.ask("SELECT * FROM TOLLGATE.LOCKS"));
  }

  @Test
  void changedScriptIsRefusedAndAcceptedByRepair() throws Exception {
    cities();
    node.flyway().migrate();
    node.write("V2__people.sql", "ALTER TABLE city ADD COLUMN people BIGINT DEFAULT 0;");
    FlywayException changed = assertThrows(FlywayException.class, () -> node.flyway().migrate());
    assertTrue(changed.getMessage().contains("checksum mismatch"), changed.getMessage());
    assertEquals(1, node.flyway().repair().migrationsAligned.size());
    assertEquals(0, node.flyway().migrate().migrationsExecuted);
    assertEquals("no row", node.ask("SELECT * FROM TOLLGATE.LOCKS"));
  }

  /** Such as the time of the run, ${flyway:timestamp}. */
  @Test
  void valueOfAPlaceholderMayDifferWhenAScriptGoesOn() throws Exception {
    node.write(
        "V1__at.sql",
        "CREATE TABLE moment(v VARCHAR(9));",
        "INSERT INTO moment VALUES ('${at}');",
        "CREATE TABLE more(id INT);",
        "INSERT INTO nowhere VALUES (1);");
    assertThrows(
        FlywayException.class,
        () -> node.configuration().placeholders(Map.of("at", "1")).load().migrate());
    node.write(
        "V1__at.sql",
        "CREATE TABLE moment(v VARCHAR(9));",
        "INSERT INTO moment VALUES ('${at}');",
        "CREATE TABLE more(id INT);",
        "INSERT INTO more VALUES (1);");
    Flyway next = node.configuration().placeholders(Map.of("at", "2")).load();
    next.repair();
    assertEquals(1, next.migrate().migrationsExecuted);
    assertEquals("1", node.ask("SELECT v FROM moment"));
  }

  @Test
  void cleanLeavesNothing() throws Exception {
    cities();
    node.write("V3__more.sql", "CREATE SEQUENCE s; CREATE DOMAIN d AS INT; CREATE TABLE t(d d);");
    node.flyway().migrate();
    node.flyway().clean();
    assertEquals(
        "0",
        node.ask(
            "SELECT (SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC')"
                + " + (SELECT COUNT(*) FROM INFORMATION_SCHEMA.SEQUENCES)"
                + " + (SELECT COUNT(*) FROM INFORMATION_SCHEMA.DOMAINS)"));
    assertEquals(4, node.flyway().migrate().migrationsExecuted);
  }

  @Test
  void baselineIsTheFirstRow() throws Exception {
    cities();
    node.execute("CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(50))");
    assertThrows(FlywayException.class, () -> node.flyway().migrate());
    assertTrue(node.flyway().baseline().successfullyBaselined);
    assertEquals(2, node.flyway().migrate().migrationsExecuted);
    assertEquals(MigrationState.BASELINE, node.flyway().info().applied()[0].getState());
  }

  @Test
  void schemasAreMadeAndDropped() throws Exception {
    cities();
    Flyway flyway = node.configuration().schemas("shop", "archive").table("history").load();
    assertEquals(3, flyway.migrate().migrationsExecuted);
    assertEquals("flyway:shop.history", node.ask("SELECT LOCK_NAME FROM TOLLGATE.FENCES LIMIT 1"));
    assertEquals("1", node.ask("SELECT COUNT(*) FROM \"shop\".city"));
    flyway.clean();
    assertEquals(
        "0",
        node.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME IN ('shop',"
                + " 'archive')"));
  }

  @Test
  void groupIsMigratedUnderOneLock() throws Exception {
    cities();
    assertEquals(3, node.configuration().group(true).load().migrate().migrationsExecuted);
    assertEquals(0, node.flyway().migrate().migrationsExecuted);
  }

  @Test
  void scriptOutsideATransactionRuns() throws Exception {
    cities();
    node.write("V3__by_itself.sql", "INSERT INTO city(id) VALUES (2);", "DELETE FROM city;");
    node.write("V3__by_itself.sql.conf", "executeInTransaction=false");
    assertEquals(4, node.flyway().migrate().migrationsExecuted);
    assertEquals(
        0, node.configuration().executeInTransaction(false).load().migrate().migrationsExecuted);
    assertEquals("0", node.ask("SELECT COUNT(*) FROM city"));
  }

  @Test
  void busyLockIsNamedWithItsHolder() throws Exception {
    cities();
    node.execute("SELECT acquire_lock('" + LOCK + "')");
    FlywayException busy =
        assertThrows(
            FlywayException.class, () -> node.configuration().lockRetryCount(1).load().migrate());
    assertTrue(
        busy.getMessage().startsWith("lock '" + LOCK + "' was not free for 1 s: "),
        busy.getMessage());
    assertTrue(busy.getMessage().contains("flyway.lockRetryCount"), busy.getMessage());
  }

  @Test
  @SuppressWarnings("deprecation") // the one name that each version of Flyway has
  void leaseIsASettingOfFlyway() throws Exception {
    cities();
    FluentConfiguration configuration = node.configuration();
    TollgateConfigurationExtension own =
        configuration.getPluginRegister().getPlugin(TollgateConfigurationExtension.class);
    own.setLease("7s");
    assertEquals("7000", leaseOf(configuration));
    own.setLease("soon");
    FlywayException wrong =
        assertThrows(FlywayException.class, () -> configuration.load().migrate());
    assertTrue(wrong.getMessage().contains("such as 15s"), wrong.getMessage());
  }

  @Test
  void leaseOfTheUrlComesFirst() throws Exception {
    cities();
    assertEquals(
        "8000", leaseOf(node.configuration().dataSource(node.url() + "?lease=8s", "", "")));
  }

  /** A killed run keeps its rows for the sessionTimeout of the DataSource. */
  @Test
  void sessionOfADataSourceWaitsLongerForRows() throws Exception {
    cities();
    TollgateDataSource database = new TollgateDataSource();
    database.setUrl(node.url());
    assertEquals(
        "75000",
        seenInRun(
            node.configuration().dataSource(database),
            context -> TestNode.ask(context.getConnection(), "SELECT LOCK_TIMEOUT()")));
  }

  private String leaseOf(FluentConfiguration configuration) {
    return seenInRun(
        configuration,
        context ->
            node.ask("SELECT TTL_MS FROM TOLLGATE.LEASES JOIN TOLLGATE.LOCKS USING (LEASE_ID)"));
  }

  private interface Look {
    String at(Context context) throws SQLException;
  }

  private static String seenInRun(FluentConfiguration configuration, Look look) {
    AtomicReference<String> seen = new AtomicReference<>();
    BaseCallback reader =
        new BaseCallback() {
          @Override
          public boolean supports(Event event, Context context) {
            return event == Event.BEFORE_EACH_MIGRATE;
          }

          @Override
          public void handle(Event event, Context context) {
            try {
              seen.set(look.at(context));
            } catch (SQLException e) {
              throw new FlywayException(e);
            }
          }
        };
    configuration.callbacks(reader).load().migrate();
    return seen.get();
  }

  @Test
  void runThatHasLostItsLockChangesNothingMore() throws Exception {
    node.write(
        "V1__loses.sql",
        "CREATE TABLE city(id INT);",
        "SELECT force_release_lock('" + LOCK + "');",
        "CREATE TABLE never(id INT);");
    FlywayException refused = assertThrows(FlywayException.class, () -> node.flyway().migrate());
    assertTrue(
        refused.getMessage().startsWith("The run was refused: lock '" + LOCK + "' is no longer"),
        refused.getMessage());
    assertEquals(
        "CITY,FLYWAY_SCHEMA_HISTORY_PROGRESS,flyway_schema_history",
        node.ask(
            "SELECT LISTAGG(TABLE_NAME, ',') WITHIN GROUP (ORDER BY TABLE_NAME) FROM"
                + " INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM " + HISTORY));
  }

  @Test
  void tenRunsAtOnceApplyEachScriptOnce() throws Exception {
    node.execute("CREATE TABLE counter(n INT)");
    node.execute("INSERT INTO counter VALUES (0)");
    for (int i = 1; i <= 5; i++) {
      node.write(
          "V" + i + "__step.sql",
          "CREATE TABLE t" + i + "(id INT);",
          "UPDATE counter SET n = n + 1;");
    }
    ExecutorService threads = Executors.newFixedThreadPool(10);
    List<Callable<Integer>> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(
          () ->
              node.configuration()
                  .baselineOnMigrate(true)
                  .baselineVersion("0")
                  .load()
                  .migrate()
                  .migrationsExecuted);
    }
    int ran = 0;
    for (Future<Integer> run : threads.invokeAll(runs)) {
      ran += run.get();
    }
    threads.shutdown();
    assertEquals(5, ran);
    assertEquals("5", node.ask("SELECT n FROM counter"));
    assertEquals("6", node.ask("SELECT COUNT(*) FROM " + HISTORY));
  }

  /** The driver also answers another name for the product. */
  @Test
  void productNameIsOfNoImportance() throws Exception {
    cities();
    try (Connection other = DriverManager.getConnection(node.url() + "?productName=Tollgate")) {
      assertEquals("Tollgate", other.getMetaData().getDatabaseProductName());
    }
    Flyway flyway =
        node.configuration().dataSource(node.url() + "?productName=Tollgate", "", "").load();
    assertEquals(3, flyway.migrate().migrationsExecuted);
    assertEquals(
        List.of("1", "2"),
        Arrays.stream(flyway.info().applied())
            .filter(applied -> applied.getVersion() != null)
            .map(applied -> applied.getVersion().getVersion())
            .toList());
  }
}
