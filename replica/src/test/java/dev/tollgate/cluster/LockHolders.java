package dev.tollgate.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.HeldLocks;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/**
 * A thread that takes locks of all kinds through a client, one after the other, and writes under
 * each of them. A failure of any of that ends it.
 */
final class LockHolders {
  static final String TABLE =
      "CREATE TABLE IF NOT EXISTS HELD(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
          + " LOCK_NAME VARCHAR(20), TOKEN BIGINT, WHOLE BOOLEAN)";
  static final int PERMITS = 3;

  /** Longer than any election takes, so a lock that is lost was not renewed. */
  private static final LockOptions OPTIONS = LockOptions.DEFAULT.ttl(Duration.ofSeconds(30));

  private static final int WRITES = 3;
  private static final int LONGEST_WAIT_MILLIS = 200;

  private final LockClient client;
  private final Connection connection;
  private final RandomGenerator random;
  private final AtomicInteger grants;

  /**
   * @param connection for the writes of this thread alone
   */
  LockHolders(
      LockClient client, Connection connection, RandomGenerator random, AtomicInteger grants) {
    this.client = client;
    this.connection = connection;
    this.random = random;
    this.grants = grants;
  }

  void takeOne() throws SQLException, InterruptedException {
    LockOptions options = OPTIONS.waitFor(Duration.ofMillis(random.nextInt(LONGEST_WAIT_MILLIS)));
    switch (random.nextInt(5)) {
      case 0 -> hold(client.tryAcquire("pool", options));
      case 1 -> hold(client.tryAcquire("both", options.shared()), /* whole= */ false);
      case 2 -> hold(client.tryAcquire("both", options));
      case 3 -> holdAll(options, random.nextBoolean() ? List.of("a", "b") : List.of("b", "a"));
      default -> hold(client.tryAcquire("a", options.fixedTerm(Duration.ofSeconds(30))));
    }
  }

  private void hold(Optional<HeldLock> granted) throws SQLException {
    hold(granted, /* whole= */ true);
  }

  private void hold(Optional<HeldLock> granted, boolean whole) throws SQLException {
    if (granted.isPresent()) {
      try (HeldLock lock = granted.get()) {
        use(List.of(lock), whole);
      }
    }
  }

  private void holdAll(LockOptions options, List<String> names)
      throws SQLException, InterruptedException {
    Optional<HeldLocks> granted = client.tryAcquireAll(names, options);
    if (granted.isPresent()) {
      try (HeldLocks locks = granted.get()) {
        use(locks.locks(), /* whole= */ true);
      }
    }
  }

  private void use(List<HeldLock> locks, boolean whole) throws SQLException {
    for (int i = 0; i < WRITES; i++) {
      for (HeldLock lock : locks) {
        write(lock, whole);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(5)));
    }
    for (HeldLock lock : locks) {
      assertTrue(lock.isHeld(), lock + " was lost");
    }
    grants.incrementAndGet();
  }

  /**
   * A reader may not write under its token, so it asks in the statement whether it holds the lock.
   */
  private void write(HeldLock lock, boolean whole) throws SQLException {
    String insert =
        whole
            ? "VALUES (?, ?, ?) FENCED BY LOCK '" + lock.name() + "' TOKEN ?"
            : "SELECT ?, ?, ? WHERE holds_lock('" + lock.name() + "', ?)";
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO HELD(LOCK_NAME, TOKEN, WHOLE) " + insert)) {
      statement.setString(1, lock.name());
      statement.setLong(2, lock.token());
      statement.setBoolean(3, whole);
      statement.setLong(4, lock.token());
      assertEquals(1, statement.executeUpdate(), lock + " was lost");
    }
  }
}
