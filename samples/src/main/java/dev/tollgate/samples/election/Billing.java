package dev.tollgate.samples.election;

import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * Sends invoices in one process at a time: the leader's. Start as many processes as you like; when
 * the leader dies, pauses for too long or is told to stop, another one leads.
 */
public final class Billing {
  /** How long the others wait at most after the leader has died. */
  private static final Duration TTL = Duration.ofSeconds(3);

  private static final long PAUSE_MILLIS = 100;

  private Billing() {}

  /**
   * @param arguments name of the candidate, JDBC URL
   */
  public static void main(String[] arguments) throws InterruptedException {
    LockClient locks = LockClient.connect(arguments[1]);
    // resigns, so that the next candidate leads at once; a killed process cannot
    Runtime.getRuntime().addShutdownHook(new Thread(locks::close));
    locks.elect("billing", arguments[0], TTL, Billing::lead);
    new CountDownLatch(1).await();
  }

  /** Runs on a thread of the election, which is interrupted when the term is over. */
  private static void lead(Leadership leadership) throws SQLException, InterruptedException {
    say(leadership, "leads");
    try {
      while (leadership.isLeader()) {
        sendInvoice(leadership);
        Thread.sleep(PAUSE_MILLIS);
      }
    } finally {
      say(leadership, "no longer leads");
    }
  }

  /** The store refuses the transaction if another candidate leads by now. */
  private static void sendInvoice(Leadership leadership) throws SQLException {
    leadership
        .lock()
        .run(
            connection -> {
              try (PreparedStatement insert =
                  connection.prepareStatement(
                      "INSERT INTO election.invoice(sent_by, term) VALUES (?, ?)")) {
                insert.setString(1, leadership.candidate());
                insert.setLong(2, leadership.token());
                return insert.executeUpdate();
              }
            });
    say(leadership, "has sent an invoice");
  }

  private static void say(Leadership leadership, String what) {
    System.out.println(leadership.candidate() + " " + what + " under token " + leadership.token());
  }
}
