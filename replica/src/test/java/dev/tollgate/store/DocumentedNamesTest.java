package dev.tollgate.store;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateProperty;
import dev.tollgate.store.statement.SystemTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of the manual are those of the product. What is missing is what the test prints. */
class DocumentedNamesTest {
  private static void assertHas(String page, Stream<String> lines) throws IOException {
    String expected = lines.collect(joining("\n", "", "\n"));
    String text = Files.readString(Path.of("..", "docs", page));
    assertTrue(text.contains(expected), () -> page + " lacks this table:\n" + expected);
  }

  @Test
  void propertiesOfUrls() throws IOException {
    assertHas(
        "driver.md",
        Stream.concat(
            Stream.of("| property | default | meaning |", "|---|---|---|"),
            Arrays.stream(TollgateProperty.values())
                .map(
                    each ->
                        ("| `" + each.key() + "` | " + each.defaultValue() + " | ")
                            + (each.description() + " |"))));
  }

  @Test
  void columnsOfViews() throws IOException {
    assertHas(
        "operations.md",
        Stream.concat(
            Stream.of("| view | columns |", "|---|---|"),
            Arrays.stream(SystemTable.values())
                .map(view -> "| `TOLLGATE." + view + "` | " + columns(view) + " |")));
  }

  private static String columns(SystemTable view) {
    return view.columns().stream()
        .map(column -> column.name() + " (" + typeOf(column).toLowerCase(Locale.ROOT) + ")")
        .collect(joining(", "));
  }

  private static String typeOf(SystemTable.Column column) {
    return switch (column.type()) {
      case NAME, TEXT, WORD -> "text";
      case NUMBER -> "bigint";
      case ANSWER -> "boolean";
      case MOMENT -> "timestamp";
    };
  }
}
