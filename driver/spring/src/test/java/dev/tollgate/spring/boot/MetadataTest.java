package dev.tollgate.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What an editor shows of the properties is what docs/adapters.md lists. */
class MetadataTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "adapters.md");

  /** Each property with its default, in code font, and its description. */
  private static Map<String, String> inMetadata() throws Exception {
    try (InputStream file =
        TollgateProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      assertNotNull(file, "the annotation processor of Boot has not run");
      String json = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      String properties = json.substring(json.indexOf("\"properties\": ["));
      Map<String, String> found = new TreeMap<>();
      for (String each : properties.split("}", -1)) {
        String name = value(each, "name");
        if (!name.isEmpty()) {
          String standard = value(each, "defaultValue");
          found.put(
              name, (standard.isEmpty() ? "" : "`" + standard + "`") + value(each, "description"));
        }
      }
      return found;
    }
  }

  private static String value(String json, String name) {
    return Pattern.compile("\"" + name + "\": (?:\"([^\"]*)\"|(\\w+))")
        .matcher(json)
        .results()
        .findFirst()
        .map(each -> each.group(1) == null ? each.group(2) : each.group(1))
        .orElse("");
  }

  /** Other sections have tables of other names. */
  private static String section(String page) {
    int begin = page.indexOf("\n## Spring\n");
    return page.substring(begin, page.indexOf("\n## ", begin + 1));
  }

  private static Map<String, String> inPage() throws Exception {
    Map<String, String> found = new TreeMap<>();
    for (MatchResult row :
        Pattern.compile("(?m)^\\| `(tollgate\\.[\\w.-]+)` \\| (.*?) ?\\| (.*) \\|$")
            .matcher(section(Files.readString(PAGE)))
            .results()
            .toList()) {
      found.put(row.group(1), row.group(2) + row.group(3).replace("`", ""));
    }
    return found;
  }

  @Test
  void eachPropertyIsInThePageAsTheEditorShowsIt() throws Exception {
    assertEquals(inMetadata(), inPage());
    assertEquals(10, inMetadata().size());
  }
}
