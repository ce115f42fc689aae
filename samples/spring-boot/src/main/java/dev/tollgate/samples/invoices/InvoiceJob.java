package dev.tollgate.samples.invoices;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.spring.boot.TollgateProperties;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Sends one invoice at each run, if no other instance is at it. */
@Component
class InvoiceJob {
  static final int INVOICES = 12;

  private final LockClient locks;
  private final LockOptions options;
  private final String instance;
  private final CountDownLatch end = new CountDownLatch(1);

  InvoiceJob(LockClient locks, LockOptions options, TollgateProperties tollgate) {
    this.locks = locks;
    this.options = options;
    this.instance = String.valueOf(tollgate.lock().owner());
  }

  @Scheduled(fixedDelay = 100)
  void sendNext() throws SQLException, InterruptedException {
    Optional<HeldLock> granted = locks.tryAcquire("invoices", options);
    if (granted.isEmpty()) {
      return; // another instance is at it
    }
    try (HeldLock lock = granted.get()) {
      int number = lock.run(connection -> send(connection, lock));
      if (number > INVOICES) {
        end.countDown();
      } else {
        System.out.printf("%s sent invoice %d under token %d%n", instance, number, lock.token());
      }
    }
  }

  /** In a transaction that commits only while the lock is held. Returns the invoice's number. */
  private int send(Connection connection, HeldLock lock) throws SQLException {
    int number = next(connection);
    if (number <= INVOICES) {
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO sent_invoice VALUES (?, ?, ?)")) {
        insert.setInt(1, number);
        insert.setString(2, instance);
        insert.setLong(3, lock.token());
        insert.executeUpdate();
      }
    }
    return number;
  }

  private static int next(Connection connection) throws SQLException {
    try (Statement query = connection.createStatement();
        ResultSet last = query.executeQuery("SELECT COALESCE(MAX(id), 0) FROM sent_invoice")) {
      last.next();
      return last.getInt(1) + 1;
    }
  }

  void awaitEnd() throws InterruptedException {
    end.await();
  }
}
