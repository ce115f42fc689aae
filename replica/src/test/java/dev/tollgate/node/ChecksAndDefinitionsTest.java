package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLTransactionRollbackException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A definition waits for copies of the state, and so must not be waited for by who reads them. */
class ChecksAndDefinitionsTest {
  private static final int DEFINITIONS = 150;
  private static final int DEFINITIONS_AT_NIGHT = 1_000;
  private static final int CHECKERS = 3;

  @TempDir private Path directory;
  private LocalCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = LocalCluster.started(directory, 3);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Timeout(120)
  void goOnBesideEachOther() throws Exception {
    define(DEFINITIONS);
  }

  @Tag("nightly")
  @Test
  @Timeout(600)
  void goOnBesideEachOtherForLong() throws Exception {
    define(DEFINITIONS_AT_NIGHT);
  }

  private void define(int definitions) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CHECKERS);
    AtomicBoolean over = new AtomicBoolean();
    List<Future<?>> checkers = new ArrayList<>();
    try (Connection definer = DriverManager.getConnection(cluster.url())) {
      for (int i = 0; i < CHECKERS; i++) {
        checkers.add(threads.submit(() -> check(over)));
      }
      for (int i = 0; i < definitions; i++) {
        run(definer, "CREATE OR REPLACE VIEW V AS SELECT " + i + " N");
      }
      over.set(true);
      for (Future<?> checker : checkers) {
        checker.get(60, TimeUnit.SECONDS);
      }
      Awaitility.await()
          .atMost(60, TimeUnit.SECONDS)
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertEquals(
                      Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"),
                      LocalCluster.verify(definer)));
    } finally {
      over.set(true);
      threads.shutdownNow();
    }
  }

  private static void checkUnlessADefinitionComesFirst(Connection connection) throws Exception {
    try {
      LocalCluster.verify(connection);
    } catch (SQLTransactionRollbackException e) {
      assertTrue(e.getMessage().contains("a definition waited"), e.getMessage());
    }
  }

  private Void check(AtomicBoolean over) throws Exception {
    try (Connection connection = DriverManager.getConnection(cluster.url())) {
      while (!over.get()) {
        checkUnlessADefinitionComesFirst(connection);
      }
    }
    return null;
  }
}
