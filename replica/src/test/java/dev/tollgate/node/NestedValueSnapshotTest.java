package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the log takes, a snapshot takes: its thread recurses as deep as the one that applies. */
@Timeout(60)
class NestedValueSnapshotTest {
  private static final int LEVELS = 20_000;
  private static final int GEOMETRY_COLLECTION = 7;

  @TempDir private Path directory;

  /** A collection of one geometry, which is a collection of one geometry, and so on. */
  private static byte[] nested() {
    ByteBuffer ewkb = ByteBuffer.allocate((LEVELS + 1) * (1 + 2 * Integer.BYTES));
    for (int level = 0; level < LEVELS; level++) {
      ewkb.put((byte) 0).putInt(GEOMETRY_COLLECTION).putInt(1);
    }
    ewkb.put((byte) 0).putInt(GEOMETRY_COLLECTION).putInt(0);
    return ewkb.array();
  }

  @Test
  void nodeWithADeepGeometrySurvivesItsSnapshot() throws Exception {
    String url = "jdbc:tollgate:embedded:" + directory;
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE G(G GEOMETRY)");
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO G VALUES (CAST(? AS GEOMETRY))")) {
        insert.setBytes(1, nested());
        assertEquals(1, insert.executeUpdate());
      }
      statement.execute("CALL take_snapshot()");
      try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM G")) {
        assertTrue(rows.next());
        assertEquals(1, rows.getInt(1));
      }
    }
  }
}
