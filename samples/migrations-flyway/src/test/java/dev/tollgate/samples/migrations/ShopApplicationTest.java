package dev.tollgate.samples.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.DriverManager;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** The database of the service is an H2 of its own. */
class ShopApplicationTest {
  @Test
  void serviceMigratesItsDatabaseUnderTheLock() throws Exception {
    String tollgate = "jdbc:tollgate:mem:" + UUID.randomUUID();
    // a node in memory lives as long as there is a connection
    Connection keepsTheNode = DriverManager.getConnection(tollgate);
    try (keepsTheNode;
        ConfigurableApplicationContext shop =
            SpringApplication.run(
                ShopApplication.class,
                "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
                "--shop.tollgate-url=" + tollgate)) {
      JdbcTemplate database = shop.getBean(JdbcTemplate.class);
      assertEquals(
          700_000, database.queryForObject("SELECT people FROM city WHERE id = 1", Integer.class));
      assertEquals(
          "migrations of shop",
          database.queryForObject("SELECT name FROM tollgate_fence", String.class));
    }
  }
}
