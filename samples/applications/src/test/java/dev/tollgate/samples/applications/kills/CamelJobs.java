package dev.tollgate.samples.applications.kills;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.processor.idempotent.jdbc.JdbcOrphanLockAwareIdempotentRepository;

/**
 * Routes of Camel that read the same rows, with an idempotent repository between them. A message
 * that a client had begun is another's once the repository takes its key for an orphan.
 */
final class CamelJobs implements Framework {
  private static final Duration ORPHAN = Duration.ofSeconds(5);
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(1);
  private static final int POLL_MILLIS = 100;

  @Override
  public Promise promise() {
    return Promise.AT_LEAST_ONCE;
  }

  @Override
  public Duration detection() {
    return ORPHAN.plusMillis(POLL_MILLIS);
  }

  /** The table as the manual of Camel has it. */
  @Override
  public void prepare(DataSource database) throws SQLException {
    Inbox.create(database);
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE CAMEL_MESSAGEPROCESSED (processorName VARCHAR(255), messageId VARCHAR(100),"
              + " createdAt TIMESTAMP, done BOOLEAN, PRIMARY KEY (processorName, messageId))");
    }
  }

  @Override
  public Submitter submitter(DataSource database) {
    return job -> Inbox.submit(database, job);
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) throws Exception {
    DefaultCamelContext camel = new DefaultCamelContext();
    camel.getRegistry().bind("database", database);
    JdbcOrphanLockAwareIdempotentRepository repository =
        new JdbcOrphanLockAwareIdempotentRepository(database, "kills", camel);
    repository.setLockMaxAgeMillis(ORPHAN.toMillis());
    repository.setLockKeepAliveIntervalMillis(KEEP_ALIVE.toMillis());
    camel.addRoutes(
        new RouteBuilder() {
          @Override
          public void configure() {
            errorHandler(noErrorHandler());
            from("sql:SELECT JOB FROM INBOX ORDER BY JOB?dataSource=#database&delay=" + POLL_MILLIS)
                .idempotentConsumer(simple("${body[JOB]}"), repository)
                .process(
                    exchange -> {
                      int job = (int) exchange.getMessage().getBody(java.util.Map.class).get("JOB");
                      ledger.begin(job);
                      ledger.writeOnce(job);
                    })
                .to("sql:DELETE FROM INBOX WHERE JOB = :#${body[JOB]}?dataSource=#database");
          }
        });
    camel.start();
  }

  @Override
  public String remainder() {
    return Inbox.ROWS;
  }
}
