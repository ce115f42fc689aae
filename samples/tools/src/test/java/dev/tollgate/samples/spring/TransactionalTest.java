package dev.tollgate.samples.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** {@code @Transactional} as applications write it, through Spring's proxies. */
@Tag("cluster")
class TransactionalTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource pool;
  private JdbcTemplate jdbc;
  private AnnotationConfigApplicationContext application;
  private Orders orders;

  /** What an application declares. */
  @Configuration
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Application {
    @Bean
    JdbcTransactionManager transactionManager(DataSource source) {
      return new JdbcTransactionManager(source);
    }

    @Bean
    JdbcTemplate jdbc(DataSource source) {
      return new JdbcTemplate(source);
    }

    @Bean
    Stock stock(JdbcTemplate jdbc) {
      return new Stock(jdbc);
    }

    @Bean
    Orders orders(JdbcTemplate jdbc, Stock stock) {
      return new Orders(jdbc, stock);
    }
  }

  /** Thrown where nothing may be rolled back. */
  static class SoldOutException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** A service that others call in their transactions. */
  static class Stock {
    private final JdbcTemplate jdbc;

    Stock(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    /** Goes back to its savepoint if it fails. */
    @Transactional(propagation = Propagation.NESTED)
    public void take(int item, int count) {
      jdbc.update("UPDATE stock SET n = n - ? WHERE item = ?", count, item);
      Integer left = jdbc.queryForObject("SELECT n FROM stock WHERE item = ?", Integer.class, item);
      if (left == null || left < 0) {
        throw new SoldOutException();
      }
    }

    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void note(String text) {
      jdbc.update("INSERT INTO journal(text) VALUES (?)", text);
    }
  }

  /** A service with one transaction per call. */
  static class Orders {
    private final JdbcTemplate jdbc;
    private final Stock stock;

    Orders(JdbcTemplate jdbc, Stock stock) {
      this.jdbc = jdbc;
      this.stock = stock;
    }

    @Transactional
    public void order(int id, int item, int count, Runnable meanwhile) {
      stock.note("order " + id);
      jdbc.update("INSERT INTO orders(id, state) VALUES (?, 'ordered')", id);
      meanwhile.run();
      try {
        stock.take(item, count);
      } catch (SoldOutException e) {
        jdbc.update("UPDATE orders SET state = 'sold out' WHERE id = ?", id);
      }
    }

    @Transactional(isolation = Isolation.SERIALIZABLE)
    public int total(Consumer<Integer> seen) {
      int isolation = jdbc.execute((Connection connection) -> connection.getTransactionIsolation());
      seen.accept(isolation);
      return jdbc.queryForObject("SELECT SUM(n) FROM stock", Integer.class);
    }

    @Transactional(noRollbackFor = SoldOutException.class)
    public void keepAndFail(int id) {
      jdbc.update("INSERT INTO orders(id, state) VALUES (?, 'kept')", id);
      throw new SoldOutException();
    }
  }

  @BeforeEach
  void open() {
    pool = new HikariDataSource();
    pool.setJdbcUrl(node.url());
    pool.setMaximumPoolSize(4);
    jdbc = new JdbcTemplate(pool);
    jdbc.execute("CREATE TABLE orders(id INT PRIMARY KEY, state VARCHAR(20))");
    jdbc.execute("CREATE TABLE stock(item INT PRIMARY KEY, n INT)");
    jdbc.execute("CREATE TABLE journal(id BIGINT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(50))");
    jdbc.update("INSERT INTO stock VALUES (7, 10)");
    application = new AnnotationConfigApplicationContext();
    application.registerBean("source", DataSource.class, () -> pool);
    application.register(Application.class);
    application.refresh();
    orders = application.getBean(Orders.class);
  }

  @AfterEach
  void close() {
    application.close();
    pool.close();
  }

  @Test
  void savepointOfAnInnerServiceIsRolledBackAlone() {
    orders.order(1, 7, 4, node::loseLeader);
    orders.order(2, 7, 20, node::loseLeader);
    assertEquals(List.of("ordered", "sold out"), states());
    assertEquals(6, jdbc.queryForObject("SELECT n FROM stock", Integer.class));
  }

  @Test
  void exceptionRollsBackButWhatRequiredItsOwnTransactionStays() {
    orders.order(1, 7, 1, () -> {});
    assertThrows(
        DuplicateKeyException.class, () -> orders.order(1, 7, 1, () -> {}), "the same order again");
    assertThrows(
        IllegalStateException.class,
        () ->
            orders.order(
                2,
                7,
                1,
                () -> {
                  throw new IllegalStateException("the application failed");
                }));
    assertEquals(List.of("ordered"), states());
    assertEquals(9, jdbc.queryForObject("SELECT n FROM stock", Integer.class));
    assertEquals(
        List.of("order 1", "order 1", "order 2"),
        jdbc.queryForList("SELECT text FROM journal ORDER BY id", String.class));
  }

  @Test
  void rulesOfTheAnnotationHold() throws SQLException {
    assertThrows(SoldOutException.class, () -> orders.keepAndFail(3));
    assertEquals(List.of("kept"), states());
    int[] isolation = new int[1];
    assertEquals(10, orders.total(level -> isolation[0] = level));
    assertEquals(Connection.TRANSACTION_SERIALIZABLE, isolation[0]);
    try (Connection after = pool.getConnection()) {
      assertEquals(Connection.TRANSACTION_READ_COMMITTED, after.getTransactionIsolation());
    }
  }

  private List<String> states() {
    return jdbc.queryForList("SELECT state FROM orders ORDER BY id", String.class);
  }
}
