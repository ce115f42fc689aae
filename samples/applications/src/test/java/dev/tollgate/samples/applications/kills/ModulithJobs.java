package dev.tollgate.samples.applications.kills;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Applications with the event publications of Spring Modulith. Each takes a job and publishes an
 * event in one transaction. The listener of an application that dies is called again by another.
 */
final class ModulithJobs implements Framework {
  private static final Duration OLD = Duration.ofSeconds(5);
  private static final int LOOK_FOR_OLD_MILLIS = 1000;
  private static final int TAKE_MILLIS = 50;

  @Override
  public Promise promise() {
    return Promise.AT_LEAST_ONCE;
  }

  @Override
  public Duration detection() {
    return OLD.plusMillis(LOOK_FOR_OLD_MILLIS);
  }

  @Override
  public void prepare(DataSource database) throws SQLException {
    Inbox.create(database);
    start(database, new Ledger(database, "prepares"), /* prepares= */ true).close();
  }

  @Override
  public Submitter submitter(DataSource database) {
    return job -> Inbox.submit(database, job);
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) {
    start(database, ledger, /* prepares= */ false);
  }

  private static ConfigurableApplicationContext start(
      DataSource database, Ledger ledger, boolean prepares) {
    return new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .initializers(
            context -> {
              context.getBeanFactory().registerSingleton("database", database);
              context.getBeanFactory().registerSingleton("ledger", ledger);
            })
        .properties(
            "spring.main.banner-mode=off",
            "spring.batch.job.enabled=false",
            "spring.modulith.events.jdbc.schema-initialization.enabled=" + prepares)
        .run();
  }

  @Override
  public String remainder() {
    return "SELECT (SELECT COUNT(*) FROM EVENT_PUBLICATION WHERE COMPLETION_DATE IS NULL) + ("
        + Inbox.ROWS
        + ")";
  }

  /** A job has been taken. */
  record Taken(int job) {}

  /** The application. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableAsync
  @EnableScheduling
  static class Application {
    @Bean
    Taking taking(
        JdbcTemplate jdbc,
        PlatformTransactionManager transactions,
        ApplicationEventPublisher events,
        IncompleteEventPublications publications) {
      return new Taking(jdbc, new TransactionTemplate(transactions), events, publications);
    }

    @Bean
    Working working(Ledger ledger) {
      return new Working(ledger);
    }
  }

  /** Turns jobs into events. */
  record Taking(
      JdbcTemplate jdbc,
      TransactionTemplate transaction,
      ApplicationEventPublisher events,
      IncompleteEventPublications publications) {

    @Scheduled(fixedDelay = TAKE_MILLIS)
    void take() {
      transaction.executeWithoutResult(
          status -> {
            List<Integer> jobs =
                jdbc.queryForList(
                    "SELECT JOB FROM INBOX ORDER BY JOB LIMIT 1 FOR UPDATE", Integer.class);
            for (int job : jobs) {
              jdbc.update("DELETE FROM INBOX WHERE JOB = ?", job);
              events.publishEvent(new Taken(job));
            }
          });
    }

    @Scheduled(fixedDelay = LOOK_FOR_OLD_MILLIS)
    void resubmit() {
      publications.resubmitIncompletePublicationsOlderThan(OLD);
    }
  }

  /** Does the job of an event. */
  static class Working {
    private final Ledger ledger;

    Working(Ledger ledger) {
      this.ledger = ledger;
    }

    @ApplicationModuleListener
    void on(Taken taken) throws SQLException {
      ledger.begin(taken.job());
      ledger.writeOnce(taken.job());
    }
  }
}
