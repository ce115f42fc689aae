package dev.tollgate.samples.applications;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import jakarta.jms.Connection;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.time.Duration;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.store.jdbc.JDBCPersistenceAdapter;
import org.apache.activemq.store.jdbc.LeaseDatabaseLocker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two brokers of ActiveMQ on one database: the lease locker lets one of them work at a time. */
class ActiveMqTest {
  private static final int MESSAGES = 20;

  @RegisterExtension final TestDatabase node = new TestDatabase();

  private static BrokerService broker(HikariDataSource pool, String name) throws Exception {
    LeaseDatabaseLocker locker = new LeaseDatabaseLocker();
    locker.setLockAcquireSleepInterval(1_000);
    locker.setLeaseHolderId(name);
    JDBCPersistenceAdapter store = new JDBCPersistenceAdapter();
    store.setDataSource(pool);
    store.setLocker(locker);
    store.setLockKeepAlivePeriod(500);
    BrokerService broker = new BrokerService();
    broker.setBrokerName(name);
    broker.setUseJmx(false);
    broker.setUseShutdownHook(false);
    broker.setSchedulerSupport(false);
    broker.setStartAsync(true);
    broker.setPersistenceAdapter(store);
    return broker;
  }

  private static Connection connect(String broker) throws Exception {
    Connection connection =
        new ActiveMQConnectionFactory("vm://" + broker + "?create=false").createConnection();
    connection.start();
    return connection;
  }

  @Test
  @Tag("cluster")
  void messagesOutliveTheirBrokerAndOneBrokerWorksAtATime() throws Exception {
    try (HikariDataSource pool = Pool.of(node.url())) {
      BrokerService first = broker(pool, "first");
      BrokerService second = broker(pool, "second");
      try {
        first.start();
        assertTrue(first.waitUntilStarted(30_000));
        second.start();
        try (Connection connection = connect("first");
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue("orders"))) {
          for (int i = 0; i < MESSAGES; i++) {
            producer.send(session.createTextMessage("order " + i));
          }
          session.commit();
          producer.send(session.createTextMessage("never sent"));
          session.rollback();
        }
        node.loseLeader();
        assertEquals("first", node.ask("SELECT BROKER_NAME FROM ACTIVEMQ_LOCK WHERE ID = 1"));
        assertFalse(second.isStarted());
        first.stop();
        first.waitUntilStopped();
        await().atMost(Duration.ofSeconds(60)).until(second::isStarted);
        try (Connection connection = connect("second");
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer consumer = session.createConsumer(session.createQueue("orders"))) {
          for (int i = 0; i < MESSAGES; i++) {
            Message message = consumer.receive(10_000);
            assertEquals("order " + i, assertInstanceOf(TextMessage.class, message).getText());
          }
        }
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> node.ask("SELECT COUNT(*) FROM ACTIVEMQ_MSGS").equals("0"));
      } finally {
        second.stop();
        first.stop();
      }
    }
  }
}
