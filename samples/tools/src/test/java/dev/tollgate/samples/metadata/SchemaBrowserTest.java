package dev.tollgate.samples.metadata;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SchemaBrowserTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();

  @Test
  void printsTablesColumnsKeysAndIndexes() throws Exception {
    node.ask("CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)");
    node.ask("CREATE TABLE street(id INT PRIMARY KEY, city INT REFERENCES city)");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Connection connection = node.connect();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      new SchemaBrowser(connection.getMetaData(), out).print();
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertTrue(text.startsWith("H2 2.5.250 (Tollgate "), text);
    assertTrue(
        text.contains("  CITY\n    ID INTEGER not null\n    NAME CHARACTER VARYING not null"),
        text);
    assertTrue(text.contains("    foreign key CITY -> CITY.ID\n"), text);
    assertTrue(text.contains("TOLLGATE\n  ENVIRONMENT\n"), text);
  }
}
