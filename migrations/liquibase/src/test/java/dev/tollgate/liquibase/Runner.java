package dev.tollgate.liquibase;

import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.Map;

/** A process that updates a database: URL, folder. Ends with 1 and the reasons if that fails. */
final class Runner {
  private Runner() {}

  public static void main(String[] arguments) {
    try {
      new ChangeLog(Path.of(arguments[1]))
          .run(
              DriverManager.getConnection(arguments[0]),
              Map.of(),
              liquibase -> liquibase.update(""));
    } catch (Exception e) {
      System.out.println(ChangeLog.reasons(e));
      System.exit(1);
    }
  }
}
