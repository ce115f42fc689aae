package dev.tollgate.spring.boot;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.util.ClassUtils;

/**
 * What Boot does by itself for an embedded database, for a data source in memory: Hibernate and
 * scripts create the schema, and tests of slices run on it. Boot has a fixed list of embedded
 * databases. For every URL of Tollgate, jOOQ speaks the dialect of H2.
 *
 * <p>A database in a directory outlives the application, so nothing is created or dropped there
 * unasked; Boot treats H2's files alike.
 */
final class EmbeddedDefaultsSource extends PropertySource<Map<String, String>> {
  static final String DDL_AUTO = "spring.jpa.hibernate.ddl-auto";

  private static final String NAME = "tollgate embedded defaults";
  private static final String MEMORY_PREFIX = DriverClassSource.URL_PREFIX + "mem:";

  /**
   * Where {@code SpringApplication.setDefaultProperties} puts the properties of the application.
   */
  private static final String DEFAULTS_OF_THE_APPLICATION = "defaultProperties";

  private static final String DIALECT = "spring.jooq.sql-dialect";
  private static final Map<String, String> IN_MEMORY =
      Map.of(
          DDL_AUTO,
          "create-drop",
          "spring.sql.init.mode",
          "always",
          "spring.batch.jdbc.initialize-schema",
          "always",
          "spring.integration.jdbc.initialize-schema",
          "always",
          "spring.quartz.jdbc.initialize-schema",
          "always",
          "spring.session.jdbc.initialize-schema",
          "always",
          // of @DataJpaTest and the like: the data source of a test is this one, and no H2
          "spring.test.database.replace",
          "NONE");

  /** The class of a tool that manages the schema, by the property that turns the tool off. */
  private static final Map<String, String> SCHEMA_TOOLS =
      Map.of(
          "spring.flyway.enabled", "org.flywaydb.core.Flyway",
          "spring.liquibase.enabled", "liquibase.integration.spring.SpringLiquibase");

  private final ConfigurableEnvironment environment;

  private EmbeddedDefaultsSource(ConfigurableEnvironment environment) {
    // not the environment: Boot would look for properties in the sources of that, for ever
    super(NAME, IN_MEMORY);
    this.environment = requireNonNull(environment, "environment");
  }

  /** Adds this source behind all others, once. */
  static void addTo(ConfigurableEnvironment environment) {
    if (!environment.getPropertySources().contains(NAME)) {
      environment.getPropertySources().addLast(new EmbeddedDefaultsSource(environment));
    }
  }

  @Override
  public @Nullable Object getProperty(String name) {
    boolean dialect = name.equals(DIALECT);
    if ((!dialect && !source.containsKey(name)) || isSetBehindThis(name)) {
      return null;
    }
    String url = environment.getProperty(DriverClassSource.URL);
    if (url == null || !url.startsWith(dialect ? DriverClassSource.URL_PREFIX : MEMORY_PREFIX)) {
      return null;
    }
    if (dialect) {
      return "H2";
    }
    return name.equals(DDL_AUTO) && isSchemaManaged() ? null : source.get(name);
  }

  /** Boot moves the application's own defaults behind all sources. */
  private boolean isSetBehindThis(String name) {
    PropertySource<?> defaults = environment.getPropertySources().get(DEFAULTS_OF_THE_APPLICATION);
    return defaults != null && defaults.containsProperty(name);
  }

  private boolean isSchemaManaged() {
    return SCHEMA_TOOLS.entrySet().stream()
        .anyMatch(
            tool ->
                environment.getProperty(tool.getKey(), Boolean.class, true)
                    && ClassUtils.isPresent(tool.getValue(), getClass().getClassLoader()));
  }
}
