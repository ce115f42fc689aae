package dev.tollgate.samples.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobInstanceAlreadyCompleteException;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.item.support.ListItemReader;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with the defaults of Spring Boot and Spring Batch, beside Boot's own H2. */
class SpringBootTest {
  private static final List<Integer> NUMBERS = List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

  @RegisterExtension final TestDatabase node = new TestDatabase();

  /** Whether the job fails at a number. */
  private static final AtomicBoolean STUMBLES = new AtomicBoolean();

  /** What happens in the middle of the first chunk. */
  private static final AtomicReference<Runnable> IN_A_CHUNK = new AtomicReference<>(() -> {});

  /** The application: a job that writes numbers. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {
    @Bean
    Job copy(JobRepository jobs, Step write) {
      return new JobBuilder("copy", jobs).start(write).build();
    }

    @Bean
    Step write(JobRepository jobs, PlatformTransactionManager transactions, JdbcTemplate sql) {
      return new StepBuilder("write", jobs)
          .<Integer, Integer>chunk(4)
          .transactionManager(transactions)
          .reader(new ListItemReader<>(NUMBERS))
          .writer(
              chunk -> {
                for (int number : chunk) {
                  sql.update("INSERT INTO copied(id) VALUES (?)", number);
                  if (number == 2) {
                    IN_A_CHUNK.get().run();
                  }
                  if (number == 6 && STUMBLES.get()) {
                    throw new IllegalStateException("stumbled over 6");
                  }
                }
              })
          .build();
    }
  }

  @AfterEach
  void calmDown() {
    STUMBLES.set(false);
    IN_A_CHUNK.set(() -> {});
  }

  private ConfigurableApplicationContext start() {
    return new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .properties(
            Map.of(
                "spring.datasource.url", node.url(),
                "spring.batch.job.enabled", "false",
                "spring.batch.jdbc.initialize-schema", "always",
                "spring.main.banner-mode", "off"))
        .run();
  }

  @Test
  @Tag("cluster")
  void dataSourceTemplateAndTransactionsAreTheDefaultOnes() {
    try (ConfigurableApplicationContext application = start()) {
      assertInstanceOf(HikariDataSource.class, application.getBean(DataSource.class));
      JdbcTemplate sql = application.getBean(JdbcTemplate.class);
      sql.execute("CREATE TABLE author(id INT PRIMARY KEY, name VARCHAR(50))");
      TransactionTemplate transaction =
          new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
      assertThrows(
          DuplicateKeyException.class,
          () ->
              transaction.executeWithoutResult(
                  status -> {
                    sql.update("INSERT INTO author VALUES (1, 'ann')");
                    node.loseLeader();
                    sql.update("INSERT INTO author VALUES (1, 'bob')");
                  }));
      assertEquals(0, sql.queryForObject("SELECT COUNT(*) FROM author", Integer.class));
      transaction.executeWithoutResult(
          status -> {
            sql.update("INSERT INTO author VALUES (1, 'ann')");
            node.loseLeader();
          });
      assertEquals(1, sql.queryForObject("SELECT COUNT(*) FROM author", Integer.class));
    }
  }

  private BatchStatus runJob() throws Exception {
    try (ConfigurableApplicationContext application = start()) {
      JobParameters same = new JobParametersBuilder().addLong("run", 1L).toJobParameters();
      return application
          .getBean(JobOperator.class)
          .start(application.getBean(Job.class), same)
          .getStatus();
    }
  }

  @Test
  @Tag("cluster")
  void batchJobKeepsItsStateInTheDatabase() throws Exception {
    node.ask("CREATE TABLE copied(id INT PRIMARY KEY)");
    STUMBLES.set(true);
    IN_A_CHUNK.set(node::loseLeader);
    assertEquals(BatchStatus.FAILED, runJob());
    // the chunk with 6 is rolled back, the one before stays
    assertEquals("4", node.ask("SELECT COUNT(*) FROM copied"));
    assertEquals("4", node.ask("SELECT WRITE_COUNT FROM BATCH_STEP_EXECUTION"));
    node.ask("DELETE FROM copied");
    STUMBLES.set(false);
    assertEquals(BatchStatus.COMPLETED, runJob());
    assertEquals("10", node.ask("SELECT COUNT(*) FROM copied"));
    assertEquals("1", node.ask("SELECT COUNT(*) FROM BATCH_JOB_INSTANCE"));
    assertEquals("2", node.ask("SELECT COUNT(*) FROM BATCH_JOB_EXECUTION"));
    assertThrows(JobInstanceAlreadyCompleteException.class, this::runJob);
  }
}
