package dev.tollgate.spring.boot;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * Knows the driver class of a {@code jdbc:tollgate:} URL where the application does not name it.
 * Boot knows the drivers of a fixed list of URLs; for any other URL it takes the driver of an
 * embedded database on the class path, which refuses the URL.
 *
 * <p>The URL is read when Boot asks for the driver: tests may set it after the environment is
 * prepared.
 */
final class DriverClassSource extends PropertySource<String> {
  static final String URL = "spring.datasource.url";
  static final String URL_PREFIX = "jdbc:tollgate:";

  private static final String NAME = "tollgate driver class";
  private static final String DRIVER = "dev.tollgate.jdbc.TollgateDriver";
  private static final Map<String, String> URL_OF =
      Map.of(
          "spring.datasource.driver-class-name", URL,
          "spring.flyway.driver-class-name", "spring.flyway.url",
          "spring.liquibase.driver-class-name", "spring.liquibase.url");

  private final ConfigurableEnvironment environment;

  private DriverClassSource(ConfigurableEnvironment environment) {
    // not the environment: Boot would look for properties in the sources of that, for ever
    super(NAME, DRIVER);
    this.environment = requireNonNull(environment, "environment");
  }

  /** Adds this source behind all others, once. */
  static void addTo(ConfigurableEnvironment environment) {
    if (!environment.getPropertySources().contains(NAME)) {
      environment.getPropertySources().addLast(new DriverClassSource(environment));
    }
  }

  @Override
  public @Nullable Object getProperty(String name) {
    String urlProperty = URL_OF.get(name);
    if (urlProperty == null) {
      return null;
    }
    String url = environment.getProperty(urlProperty);
    return url != null && url.startsWith(URL_PREFIX) ? source : null;
  }
}
