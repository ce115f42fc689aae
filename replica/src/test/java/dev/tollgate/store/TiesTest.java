package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Statements that choose among rows of which none comes first choose alike on every replica. */
class TiesTest {
  private static final int ROWS = 40;

  private static StoreDriver replica() {
    StoreDriver driver = new StoreDriver();
    SessionId client = driver.open();
    driver.ok(client, "CREATE TABLE SRC(ID INT PRIMARY KEY, PRIO INT, X VARCHAR)");
    driver.ok(
        client,
        "INSERT INTO SRC SELECT X, 7, 'x' || MOD(X * 7, 11) FROM SYSTEM_RANGE(1, " + ROWS + ")");
    driver.ok(client, "CREATE TABLE T(ID INT AUTO_INCREMENT PRIMARY KEY, X VARCHAR)");
    return driver;
  }

  private static List<String> rowsAfter(String sql) throws Exception {
    try (StoreDriver driver = replica()) {
      driver.run(driver.open(), sql);
      List<String> rows = new ArrayList<>(driver.query("SELECT * FROM T ORDER BY ID"));
      rows.addAll(driver.query("SELECT * FROM SRC ORDER BY ID"));
      return rows;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T(X) SELECT ID FROM SRC ORDER BY PRIO FETCH FIRST 3 ROWS ONLY",
        "INSERT INTO T(X) SELECT ID FROM SRC ORDER BY PRIO OFFSET 5 ROWS FETCH NEXT 3 ROWS ONLY",
        "INSERT INTO T(X) SELECT ID FROM SRC ORDER BY PRIO LIMIT 10",
        "INSERT INTO T(X) SELECT ID FROM SRC ORDER BY PRIO FETCH FIRST 20 PERCENT ROWS ONLY",
        "INSERT INTO T(X) SELECT DISTINCT ID FROM SRC ORDER BY ID / 100 FETCH FIRST 3 ROWS ONLY",
        "INSERT INTO T(X) SELECT ID FROM SRC UNION ALL SELECT ID FROM SRC ORDER BY 1 LIMIT 7",
        "INSERT INTO T(X) SELECT MAX(ID) FROM SRC GROUP BY X ORDER BY MAX(PRIO) LIMIT 3",
        "INSERT INTO T(X) SELECT ROW_NUMBER() OVER (ORDER BY PRIO) || ID FROM SRC",
        "DELETE FROM SRC WHERE ID IN"
            + " (SELECT ID FROM SRC ORDER BY PRIO FETCH FIRST 3 ROWS ONLY)",
        "UPDATE SRC SET X = 'taken' WHERE ID IN"
            + " (SELECT ID FROM SRC ORDER BY PRIO FETCH FIRST 3 ROWS ONLY)",
        "MERGE INTO T USING (SELECT ID, X FROM SRC ORDER BY PRIO LIMIT 4) AS S ON T.X = S.X"
            + " WHEN NOT MATCHED THEN INSERT (X) VALUES (S.ID)",
        "INSERT INTO T(X) SELECT DISTINCT CAST(V AS DECFLOAT) FROM (VALUES ('Infinity'),"
            + " ('-Infinity'), ('NaN'), ('1')) AS S(V)",
      })
  void chooseAlike(String sql) throws Exception {
    List<String> first = rowsAfter(sql);
    for (int i = 0; i < 4; i++) {
      assertEquals(first, rowsAfter(sql));
    }
  }

  /** So pages of one order have each row once. */
  @Test
  void rowsThatAreEqualKeepTheirOrder() throws Exception {
    try (StoreDriver driver = replica()) {
      List<String> all = driver.query("SELECT ID FROM SRC ORDER BY PRIO");
      List<String> paged = new ArrayList<>();
      for (int from = 0; from < ROWS; from += 8) {
        paged.addAll(
            driver.query(
                "SELECT ID FROM SRC ORDER BY PRIO OFFSET ? ROWS FETCH NEXT 8 ROWS ONLY", from));
      }
      assertEquals(all, paged);
    }
  }
}
