package dev.tollgate.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** What an editor shows of the properties, and the page that lists them. */
class MetadataTest {
  /** Each name, with the description and the default as far as there is one. */
  static List<Map<String, Object>> properties() throws Exception {
    try (InputStream file =
        TollgateProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      assertNotNull(file, "the annotation processor of Boot has not run");
      @SuppressWarnings("unchecked")
      List<Map<String, Object>> all =
          (List<Map<String, Object>>)
              JsonParserFactory.getJsonParser()
                  .parseMap(new String(file.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
                  .get("properties");
      return all;
    }
  }

  @Test
  void eachPropertyIsDescribed() throws Exception {
    Set<String> names = new TreeSet<>();
    for (Map<String, Object> property : properties()) {
      names.add(String.valueOf(property.get("name")));
      assertFalse(
          String.valueOf(property.getOrDefault("description", "")).isBlank(), property.toString());
    }
    assertEquals(
        Set.of(
            "tollgate.from-data-source",
            "tollgate.health.timeout",
            "tollgate.lock-registry.enabled",
            "tollgate.lock-registry.prefix",
            "tollgate.lock.owner",
            "tollgate.lock.ttl",
            "tollgate.password",
            "tollgate.properties",
            "tollgate.url",
            "tollgate.username"),
        names);
  }
}
