package dev.tollgate.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the tests of this module go through. */
class PublishedDriverTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();

  @Test
  void everyTestGoesThroughThePublishedJar() throws Exception {
    try (Connection connection = node.connect()) {
      Class<?> type = connection.getClass();
      String jar = type.getProtectionDomain().getCodeSource().getLocation().getPath();
      assertTrue(jar.contains("tollgate-jdbc"), jar);
      assertEquals(
          "dev.tollgate.shaded.h2.jdbc", type.getSuperclass().getPackageName(), "H2 is renamed");
    }
  }
}
