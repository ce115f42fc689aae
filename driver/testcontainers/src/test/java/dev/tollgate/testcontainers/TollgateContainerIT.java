package dev.tollgate.testcontainers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.github.dockerjava.api.exception.NotFoundException;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.utility.DockerImageName;

/**
 * A node in a container, of the image that replica/docker/build.sh makes. Skipped where there can
 * be no containers, as ContainersIT is.
 */
@Timeout(120)
class TollgateContainerIT {
  private static final String BASE = "tollgate-base:ci";
  private static final Duration BUILD = Duration.ofSeconds(90);

  @BeforeAll
  static void buildImage() throws Exception {
    Optional<String> missing = missing();
    missing.ifPresent(what -> System.out.println("TollgateContainerIT IS SKIPPED: " + what));
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    Path out = Path.of("target", "image.log");
    ProcessBuilder build =
        new ProcessBuilder(Path.of("..", "..", "replica", "docker", "build.sh").toString())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    build.environment().put("TOLLGATE_BASE_IMAGE", BASE);
    Process process = build.start();
    assertTrue(process.waitFor(BUILD.toSeconds(), TimeUnit.SECONDS), "the image is not built");
    assertEquals(0, process.exitValue(), Files.readString(out));
  }

  /** Why there can be no containers here; empty if there can. */
  private static Optional<String> missing() throws IOException, InterruptedException {
    if (System.getenv("DOCKER_HOST") == null && !Files.exists(Path.of("/var/run/docker.sock"))) {
      return Optional.of("no Docker engine runs: .ci/containers start");
    }
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return Optional.of("the Docker engine does not answer");
    }
    try {
      DockerClientFactory.instance().client().inspectImageCmd(BASE).exec();
    } catch (NotFoundException e) {
      return Optional.of("there is no image " + BASE + ": .ci/containers start");
    }
    return Optional.empty();
  }

  private static long one(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  @Test
  void poolKnowsOnlyTheUrl() throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:tc:tollgate:///?TC_INITSCRIPT=schema.sql&applicationName=test");
    config.setMaximumPoolSize(3);
    try (HikariDataSource pool = new HikariDataSource(config);
        Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      assertEquals(0, one(statement, "SELECT COUNT(*) FROM report"));
      SQLException refused =
          assertThrows(
              SQLException.class,
              () -> statement.execute("INSERT INTO report VALUES (CURRENT_DATE, 1)"));
      assertEquals("23T02", refused.getSQLState());
      assertTrue(
          one(statement, "SELECT COUNT(*) FROM tollgate.sessions WHERE application = 'test'") > 0);
      try (LockClient locks = LockClient.of(pool);
          HeldLock lock = locks.acquire("nightly")) {
        lock.run(c -> c.createStatement().execute("INSERT INTO report VALUES (CURRENT_DATE, 1)"));
      }
      assertEquals(1, one(statement, "SELECT COUNT(*) FROM report"));
      String told = connection.getMetaData().getURL().replaceAll(".*//|/.*", "");
      assertEquals(told, address(statement));
    }
  }

  @Test
  @Tag("nightly")
  void exampleOfThePageRuns() throws Exception {
    ReportInContainer.main(new String[0]);
  }

  /** A client that is told another address than it used would look for the leader there. */
  private static String address(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT client_address FROM tollgate.nodes")) {
      row.next();
      return row.getString(1);
    }
  }

  @Test
  void missingImageIsNamedAtOnce() {
    try (TollgateContainer container =
        new TollgateContainer(DockerImageName.parse("tollgate:never-built"))) {
      ContainerLaunchException e = assertThrows(ContainerLaunchException.class, container::start);
      assertTrue(e.getMessage().contains("tollgate:never-built"), e.getMessage());
      assertTrue(e.getMessage().contains("replica/docker/build.sh"), e.getMessage());
    }
  }
}
