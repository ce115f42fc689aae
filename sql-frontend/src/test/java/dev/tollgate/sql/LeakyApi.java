package dev.tollgate.sql;

import java.nio.file.Path;
import org.apache.calcite.sql.SqlNode;

/** Breaks the rules of {@link ArchitectureTest}, to see that they hold. */
public final class LeakyApi {

  private LeakyApi() {}

  public static boolean equalsDeep(SqlNode left, SqlNode right) {
    return left == right;
  }

  public static Path nowhere() {
    return Path.of("nowhere");
  }
}
