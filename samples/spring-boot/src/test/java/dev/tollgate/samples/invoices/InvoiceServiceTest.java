package dev.tollgate.samples.invoices;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Three instances in one JVM. Boot's H2 is on the class path, and no driver is named. */
class InvoiceServiceTest {
  @Test
  void eachInvoiceIsSentOnceWhicheverInstanceSendsIt() throws Exception {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    ExecutorService instances = Executors.newCachedThreadPool();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      List<Future<?>> ends = new ArrayList<>();
      for (String each : List.of("a", "b", "c")) {
        ends.add(
            instances.submit(
                () -> {
                  InvoiceService.main(
                      new String[] {
                        "--spring.datasource.url=" + url, "--tollgate.lock.owner=instance " + each
                      });
                  return null;
                }));
      }
      for (Future<?> end : ends) {
        end.get(60, TimeUnit.SECONDS);
      }
      long token = 0;
      int number = 0;
      try (ResultSet rows = statement.executeQuery("SELECT * FROM sent_invoice ORDER BY id")) {
        while (rows.next()) {
          number++;
          assertEquals(number, rows.getInt("id"));
          assertTrue(rows.getLong("token") > token, "a token was used twice");
          token = rows.getLong("token");
        }
      }
      assertEquals(InvoiceJob.INVOICES, number);
      SQLException refused =
          assertThrows(
              SQLException.class,
              () -> statement.execute("INSERT INTO sent_invoice VALUES (99, 'nobody', 1)"));
      assertEquals("23T02", refused.getSQLState());
    } finally {
      instances.shutdownNow();
    }
  }
}
