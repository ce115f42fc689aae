package dev.tollgate.testcontainers;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import java.sql.Statement;

public class ReportInContainer {
  public static void main(String[] args) throws Exception {
    try (TollgateContainer tollgate = new TollgateContainer().withInitScript("schema.sql")) {
      tollgate.start();
      try (LockClient locks = LockClient.connect(tollgate.getJdbcUrl());
          HeldLock lock = locks.acquire("nightly")) {
        lock.run(
            connection -> {
              try (Statement statement = connection.createStatement()) {
                return statement.executeUpdate("INSERT INTO report VALUES (CURRENT_DATE, 12.50)");
              }
            });
      }
    }
  }
}
