package dev.tollgate.cluster;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A process that holds lock 'paused' until it is interrupted for its loss, and writes then. Prints
 * a line for what happens to it.
 */
final class PausedHolder {
  static final String LOCK = "paused";
  static final String WRITE =
      "INSERT INTO HELD(LOCK_NAME, TOKEN, WHOLE) VALUES ('paused', 0, TRUE)";

  private PausedHolder() {}

  /**
   * @param arguments URL, ttl in milliseconds, and whether the ttl is a fixed term
   */
  public static void main(String[] arguments) throws Exception {
    Duration ttl = Duration.ofMillis(Long.parseLong(arguments[1]));
    LockOptions options =
        Boolean.parseBoolean(arguments[2])
            ? LockOptions.DEFAULT.fixedTerm(ttl)
            : LockOptions.DEFAULT.ttl(ttl);
    LockClient client = LockClient.connect(arguments[0]);
    HeldLock lock = client.acquire(LOCK, options.interruptOnLoss());
    CountDownLatch told = new CountDownLatch(1);
    lock.lease()
        .onLost(
            lost -> {
              say("lost");
              told.countDown();
            });
    say("holds " + lock.token());
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      say(lock.isHeld() ? "interrupted too early" : "interrupted");
    }
    told.await();
    write(client, lock);
  }

  /** As a program that does not look at what it was told. */
  private static void write(LockClient client, HeldLock lock) throws InterruptedException {
    try (HeldLock other = client.acquire("another")) {
      other.run(
          connection ->
              connection
                  .createStatement()
                  .executeUpdate(WRITE + " FENCED BY LOCK 'paused' TOKEN " + lock.token()));
      say("written");
    } catch (SQLException e) {
      say("refused with " + e.getSQLState());
    }
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
