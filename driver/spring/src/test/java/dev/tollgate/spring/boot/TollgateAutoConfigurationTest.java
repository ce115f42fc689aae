package dev.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.jdbc.TollgateDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;

/** Which beans there are for which properties, in both versions of Boot. */
@Timeout(60)
class TollgateAutoConfigurationTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TollgateAutoConfiguration.class,
                  LockRegistryAutoConfiguration.class,
                  HealthAutoConfiguration.class));
  private Connection keepsTheNode;

  @BeforeEach
  void open() throws SQLException {
    keepsTheNode = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    keepsTheNode.close();
  }

  @Test
  void nothingIsThereWithoutAUrl() {
    application.run(
        context ->
            assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(LockClient.class)
                .doesNotHaveBean(LockRegistry.class)
                .doesNotHaveBean("tollgateHealthIndicator"));
  }

  @Test
  void urlGivesAClientAndARegistry() {
    application
        .withPropertyValues(
            "tollgate.url=" + url,
            "tollgate.username=ann",
            "tollgate.password=secret",
            "tollgate.properties.failoverTimeout=2s",
            "tollgate.lock.ttl=40s",
            "tollgate.lock-registry.prefix=shop/",
            "spring.application.name=billing")
        .run(
            context -> {
              LockClient client = context.getBean(LockClient.class);
              LockOptions options = context.getBean(LockOptions.class);
              try (HeldLock lock = client.acquire("job", options)) {
                assertThat(lock.lease().ttl()).isEqualTo(Duration.ofSeconds(40));
                assertThat(client.holder("job").orElseThrow().candidate()).isEqualTo("billing");
              }
              var lock = context.getBean(LockRegistry.class).obtain("7");
              assertThat(lock.tryLock()).isTrue();
              assertThat(client.holder("shop/7")).isPresent();
              lock.unlock();
              assertThat(context.getBean(TollgateProperties.class).toString())
                  .doesNotContain("secret");
              assertThat(context).hasBean("tollgateHealthIndicator");
            });
  }

  @Test
  void ownerIsWhatThePropertySays() {
    application
        .withPropertyValues(
            "tollgate.url=" + url, "tollgate.lock.owner=me", "spring.application.name=billing")
        .run(
            context -> {
              LockClient client = context.getBean(LockClient.class);
              client.acquire("job", context.getBean(LockOptions.class));
              assertThat(client.holder("job").orElseThrow().candidate()).isEqualTo("me");
            });
  }

  @Test
  void dataSourceOfTollgateIsUsed() {
    TollgateDataSource pool = new TollgateDataSource();
    pool.setUrl(url);
    ApplicationContextRunner withPool = application.withBean("pool", DataSource.class, () -> pool);
    withPool.run(context -> assertThat(context).doesNotHaveBean(LockClient.class));
    withPool
        .withPropertyValues("spring.datasource.url=" + url)
        .run(context -> assertThat(context.getBean(LockClient.class).tryAcquire("a")).isPresent());
    withPool
        .withPropertyValues("tollgate.url=${not.set:}", "tollgate.from-data-source=true")
        .run(context -> assertThat(context.getBean(LockClient.class).tryAcquire("a")).isPresent());
    withPool
        .withPropertyValues("spring.datasource.url=" + url, "tollgate.from-data-source=false")
        .run(context -> assertThat(context).doesNotHaveBean(LockClient.class));
    withPool
        .withPropertyValues("spring.datasource.url=" + url, "tollgate.url=" + url)
        .run(
            context ->
                assertThat(context).hasSingleBean(Cluster.class).hasSingleBean(LockClient.class));
  }

  @Test
  void beansOfTheApplicationWin() {
    LockClient own = LockClient.connect(url);
    DefaultLockRegistry registry = new DefaultLockRegistry();
    application
        .withPropertyValues("tollgate.url=" + url)
        .withBean("own", LockClient.class, () -> own)
        .withBean("ownOptions", LockOptions.class, () -> LockOptions.DEFAULT)
        .withBean("ownRegistry", LockRegistry.class, () -> registry)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(LockOptions.class)
                    .getBean(LockClient.class)
                    .isSameAs(own));
    own.close();
    assertThat(registry.obtain("a")).isInstanceOf(ReentrantLock.class);
  }

  @Test
  void registryIsThereOnlyIfItIsWanted() {
    application
        .withPropertyValues("tollgate.url=" + url, "tollgate.lock-registry.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(LockRegistry.class));
    application
        .withPropertyValues("tollgate.url=" + url)
        .withClassLoader(new FilteredClassLoader("org.springframework.integration"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(LockClient.class)
                    .doesNotHaveBean("tollgateLockRegistry"));
  }

  @Test
  void otherUrlIsRefusedByItsProperty() {
    application
        .withPropertyValues("tollgate.url=jdbc:postgresql://db/shop")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining(
                        "tollgate.url is 'jdbc:postgresql://db/shop': it begins with"
                            + " jdbc:tollgate:"));
  }

  @Test
  void healthWithoutTimeIsRefusedByItsProperty() {
    application
        .withPropertyValues("tollgate.url=" + url, "tollgate.health.timeout=0s")
        .run(
            context ->
                assertThat(context).getFailure().hasStackTraceContaining("health.timeout is PT0S"));
  }

  @Test
  void healthCanBeTurnedOff() {
    application
        .withPropertyValues("tollgate.url=" + url, "management.health.tollgate.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("tollgateHealthIndicator"));
  }
}
