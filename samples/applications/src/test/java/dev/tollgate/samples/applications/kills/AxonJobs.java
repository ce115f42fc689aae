package dev.tollgate.samples.applications.kills;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.axonframework.common.jdbc.ConnectionProvider;
import org.axonframework.common.transaction.Transaction;
import org.axonframework.common.transaction.TransactionManager;
import org.axonframework.eventhandling.EventHandler;
import org.axonframework.eventhandling.GenericDomainEventMessage;
import org.axonframework.eventhandling.PropagatingErrorHandler;
import org.axonframework.eventhandling.SimpleEventHandlerInvoker;
import org.axonframework.eventhandling.pooled.PooledStreamingEventProcessor;
import org.axonframework.eventhandling.tokenstore.jdbc.GenericTokenTableFactory;
import org.axonframework.eventhandling.tokenstore.jdbc.JdbcTokenStore;
import org.axonframework.eventsourcing.eventstore.EmbeddedEventStore;
import org.axonframework.eventsourcing.eventstore.jdbc.JdbcEventStorageEngine;
import org.axonframework.eventsourcing.eventstore.jdbc.MySqlEventTableFactory;
import org.axonframework.serialization.Serializer;
import org.axonframework.serialization.json.JacksonSerializer;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Event processors of Axon on its JDBC event store. The effect of an event commits with the
 * processor's token. The segments of a process that dies are another's once its claims are old.
 */
final class AxonJobs implements Framework {
  private static final Duration CLAIM = Duration.ofSeconds(5);
  private static final Duration LOOK_FOR_CLAIMS = Duration.ofSeconds(1);

  /** Two clients can have all segments. */
  private static final int SEGMENTS = 6;

  private static final int MOST_OF_A_CLIENT = 3;

  @Override
  public Promise promise() {
    return Promise.EXACTLY_ONCE;
  }

  @Override
  public Duration detection() {
    return CLAIM.plus(LOOK_FOR_CLAIMS);
  }

  @Override
  public void prepare(DataSource database) throws SQLException {
    Inbox.create(database);
    Store store = new Store(database, "prepares");
    // what it has for HSQLDB is not SQL that H2 knows
    store.engine().createSchema(MySqlEventTableFactory.INSTANCE);
    store.tokens().createSchema(GenericTokenTableFactory.INSTANCE);
  }

  @Override
  public Submitter submitter(DataSource database) {
    Store store = new Store(database, "submits");
    EmbeddedEventStore events = store.events();
    TransactionTemplate transaction = new TransactionTemplate(store.transactions);
    return job ->
        transaction.executeWithoutResult(
            status -> {
              try {
                if (Inbox.enter(store.connections.getConnection(), job)) {
                  events.publish(
                      new GenericDomainEventMessage<>("Job", "job-" + job, 0, new Submitted(job)));
                }
              } catch (SQLException e) {
                throw new IllegalStateException(e);
              }
            });
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) {
    Store store = new Store(database, client);
    PooledStreamingEventProcessor.builder()
        .name("kills")
        .eventHandlerInvoker(
            SimpleEventHandlerInvoker.builder()
                .eventHandlers(new Effects(ledger, store.connections))
                .listenerInvocationErrorHandler(PropagatingErrorHandler.instance())
                .build())
        .messageSource(store.events())
        .tokenStore(store.tokens())
        .transactionManager(store.manager())
        .coordinatorExecutor(name -> Executors.newScheduledThreadPool(1))
        .workerExecutor(name -> Executors.newScheduledThreadPool(MOST_OF_A_CLIENT))
        .initialSegmentCount(SEGMENTS)
        .maxClaimedSegments(MOST_OF_A_CLIENT)
        .tokenClaimInterval(LOOK_FOR_CLAIMS.toMillis())
        .claimExtensionThreshold(CLAIM.toMillis() / 4)
        .build()
        .start();
  }

  @Override
  public String remainder() {
    return "SELECT COUNT(*) FROM DomainEventEntry WHERE aggregateIdentifier NOT IN (SELECT 'job-'"
        + " || JOB FROM EFFECTS)";
  }

  /** A job was submitted. */
  public record Submitted(int job) {}

  /** What the processor calls for each event. */
  static final class Effects {
    private final Ledger ledger;
    private final ConnectionProvider connections;

    Effects(Ledger ledger, ConnectionProvider connections) {
      this.ledger = ledger;
      this.connections = connections;
    }

    @EventHandler
    void on(Submitted submitted) throws SQLException {
      ledger.begin(submitted.job());
      ledger.write(connections.getConnection(), submitted.job());
    }
  }

  /** Axon's parts, on the transactions of Spring. */
  private static final class Store {
    private final Serializer serializer = JacksonSerializer.defaultSerializer();
    private final PlatformTransactionManager transactions;
    private final ConnectionProvider connections;
    private final String client;

    Store(DataSource database, String client) {
      this.client = client;
      transactions = new JdbcTransactionManager(database);
      connections = new TransactionAwareDataSourceProxy(database)::getConnection;
    }

    TransactionManager manager() {
      return () -> {
        TransactionStatus status = transactions.getTransaction(null);
        return new Transaction() {
          @Override
          public void commit() {
            transactions.commit(status);
          }

          @Override
          public void rollback() {
            transactions.rollback(status);
          }
        };
      };
    }

    JdbcEventStorageEngine engine() {
      return JdbcEventStorageEngine.builder()
          .eventSerializer(serializer)
          .snapshotSerializer(serializer)
          .connectionProvider(connections)
          .transactionManager(manager())
          .build();
    }

    EmbeddedEventStore events() {
      return EmbeddedEventStore.builder().storageEngine(engine()).build();
    }

    JdbcTokenStore tokens() {
      return JdbcTokenStore.builder()
          .connectionProvider(connections)
          .serializer(serializer)
          .claimTimeout(CLAIM)
          .nodeId(client)
          .build();
    }
  }
}
