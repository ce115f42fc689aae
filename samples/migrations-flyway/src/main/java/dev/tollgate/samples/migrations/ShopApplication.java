package dev.tollgate.samples.migrations;

import dev.tollgate.flyway.FencedFlyway;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.flyway.autoconfigure.FlywayMigrationStrategy;
import org.springframework.context.annotation.Bean;

/**
 * A service whose instances all migrate their own database when they start, under a lock of
 * Tollgate. In Spring Boot 3 the strategy has the same method in another package.
 */
@SpringBootApplication(proxyBeanMethods = false)
public class ShopApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(ShopApplication.class, arguments);
  }

  @Bean
  FlywayMigrationStrategy underTheLock(@Value("${shop.tollgate-url}") String tollgateUrl) {
    return FencedFlyway.under(tollgateUrl).withLockName("migrations of shop")::migrate;
  }
}
