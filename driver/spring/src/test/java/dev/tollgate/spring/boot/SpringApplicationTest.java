package dev.tollgate.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.support.TestPropertySourceUtils;

/** A whole application, beside an H2, in both versions of Boot. */
@Timeout(60)
class SpringApplicationTest {
  private static final String DRIVER = "spring.datasource.driver-class-name";

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  /** What it takes to have an environment, and no data source. */
  @Configuration(proxyBeanMethods = false)
  static class Nothing {}

  private static SpringApplicationBuilder builder(Class<?> application) {
    return new SpringApplicationBuilder(application)
        .web(WebApplicationType.NONE)
        .properties("spring.main.banner-mode=off", "spring.application.name=shop");
  }

  private static ConfigurableApplicationContext start(Class<?> application, String... settings) {
    List<String> arguments = new ArrayList<>();
    for (String setting : settings) {
      arguments.add("--" + setting);
    }
    return builder(application).run(arguments.toArray(String[]::new));
  }

  @Test
  void urlOfTheDataSourceIsEnough() throws Exception {
    assertNotNull(Class.forName("org.h2.Driver"), "an H2 is on the class path");
    try (ConfigurableApplicationContext context =
        start(Application.class, "spring.datasource.url=" + url)) {
      isAtHome(context);
    }
  }

  private void isAtHome(ConfigurableApplicationContext context) throws Exception {
    HikariDataSource pool =
        assertInstanceOf(HikariDataSource.class, context.getBean(DataSource.class));
    assertEquals("dev.tollgate.jdbc.TollgateDriver", pool.getDriverClassName());
    JdbcTemplate sql = context.getBean(JdbcTemplate.class);
    sql.execute("CREATE TABLE report(id INT PRIMARY KEY) FENCED BY LOCK 'nightly'");
    try (HeldLock lock = context.getBean(LockClient.class).acquire("nightly")) {
      assertEquals(
          1,
          sql.update(
              "INSERT INTO report VALUES (1) FENCED BY LOCK 'nightly' TOKEN ?", lock.token()));
    }
    assertEquals(1, context.getBeansOfType(LockRegistry.class).size());
    assertTrue(context.containsBean("tollgateHealthIndicator"));
  }

  /** As {@code @DynamicPropertySource} does it: after the environment is prepared. */
  @Test
  void urlThatComesLateIsEnoughToo() throws Exception {
    ApplicationContextInitializer<ConfigurableApplicationContext> late =
        context ->
            TestPropertySourceUtils.addInlinedPropertiesToEnvironment(
                context, "spring.datasource.url=" + url);
    try (ConfigurableApplicationContext context =
        builder(Application.class).initializers(late).run()) {
      isAtHome(context);
    }
  }

  @Test
  void driverOfTheApplicationWins() {
    try (ConfigurableApplicationContext context =
        start(
            Nothing.class,
            "spring.datasource.url=" + url,
            "spring.datasource.driverClassName=com.example.Tracing")) {
      assertEquals("com.example.Tracing", context.getEnvironment().getProperty(DRIVER));
    }
  }

  @Test
  void otherUrlsAreLeftAlone() {
    try (ConfigurableApplicationContext context =
        start(
            Nothing.class,
            "spring.datasource.url=jdbc:h2:mem:x",
            "spring.flyway.url=" + url,
            "spring.liquibase.url=" + url)) {
      var environment = context.getEnvironment();
      assertNull(environment.getProperty(DRIVER));
      for (String tool : List.of("flyway", "liquibase")) {
        assertEquals(
            "dev.tollgate.jdbc.TollgateDriver",
            environment.getProperty("spring." + tool + ".driver-class-name"));
      }
    }
    try (ConfigurableApplicationContext context = start(Nothing.class)) {
      assertNull(context.getEnvironment().getProperty(DRIVER));
    }
  }

  private static final List<String> INITIALIZED =
      List.of(
          "spring.sql.init.mode",
          "spring.batch.jdbc.initialize-schema",
          "spring.integration.jdbc.initialize-schema",
          "spring.quartz.jdbc.initialize-schema",
          "spring.session.jdbc.initialize-schema");

  @Test
  void databaseInMemoryIsInitializedAsAnEmbeddedOne() {
    try (ConfigurableApplicationContext context =
        start(
            Application.class,
            "spring.datasource.url=" + url,
            "spring.sql.init.schema-locations=classpath:embedded-schema.sql")) {
      JdbcTemplate sql = context.getBean(JdbcTemplate.class);
      assertEquals(1, sql.update("INSERT INTO made_by_script VALUES (1)"));
      var environment = context.getEnvironment();
      assertEquals("create-drop", environment.getProperty("spring.jpa.hibernate.ddl-auto"));
      INITIALIZED.forEach(name -> assertEquals("always", environment.getProperty(name), name));
      assertEquals("NONE", environment.getProperty("spring.test.database.replace"));
      assertEquals("H2", environment.getProperty("spring.jooq.sql-dialect"));
    }
  }

  @Test
  void settingsOfTheApplicationGoBeforeThoseOfAnEmbeddedDatabase() {
    try (ConfigurableApplicationContext context =
        builder(Nothing.class)
            .properties("spring.sql.init.mode=never")
            .run("--spring.datasource.url=" + url, "--spring.jpa.hibernate.ddl-auto=validate")) {
      var environment = context.getEnvironment();
      assertEquals("never", environment.getProperty("spring.sql.init.mode"));
      assertEquals("validate", environment.getProperty("spring.jpa.hibernate.ddl-auto"));
    }
  }

  /** What was written must be there after the next start. */
  @Test
  void databaseThatOutlivesTheApplicationIsLeftAlone() {
    for (String durable : List.of("jdbc:tollgate:embedded:/data", "jdbc:tollgate://h:7400/")) {
      try (ConfigurableApplicationContext context =
          start(Nothing.class, "spring.datasource.url=" + durable)) {
        var environment = context.getEnvironment();
        assertNull(environment.getProperty("spring.jpa.hibernate.ddl-auto"));
        assertNull(environment.getProperty("spring.test.database.replace"));
        INITIALIZED.forEach(name -> assertNull(environment.getProperty(name), name));
        assertEquals("H2", environment.getProperty("spring.jooq.sql-dialect"));
      }
    }
    try (ConfigurableApplicationContext context =
        start(Nothing.class, "spring.datasource.url=jdbc:h2:mem:x")) {
      assertNull(context.getEnvironment().getProperty("spring.jooq.sql-dialect"));
    }
  }
}
