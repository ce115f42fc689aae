package dev.tollgate.samples.jooq;

import static dev.tollgate.samples.jooq.Stock.ITEM;
import static dev.tollgate.samples.jooq.Stock.PIECES;
import static dev.tollgate.samples.jooq.Stock.STOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StockTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource pool;
  private Connection connection;
  private DSLContext dsl;
  private Stock stock;

  @BeforeEach
  void open() throws SQLException {
    pool = new HikariDataSource();
    pool.setJdbcUrl(node.url());
    connection = pool.getConnection();
    dsl = Stock.over(connection);
    stock = new Stock(dsl);
    stock.createTable();
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
    pool.close();
  }

  @Test
  void holderWritesWithPlainStatements() {
    assertEquals(1, stock.lock());
    assertEquals(100, stock.add("bolt", 100));
    assertEquals(130, stock.add("bolt", 30));
    assertEquals(7, stock.add("nut", 7));
    assertEquals("nut", stock.scarce(10).get(0).value1());
    assertTrue(stock.unlock());
    assertFalse(stock.unlock());
  }

  @Test
  void whoDoesNotHoldTheLockIsRefused() throws SQLException {
    DataAccessException refused =
        assertThrows(DataAccessException.class, () -> stock.add("bolt", 1));
    assertEquals("23T02", refused.sqlState());
    stock.lock();
    try (Connection other = node.connect()) {
      Stock others = new Stock(Stock.over(other));
      assertEquals(
          "23T02", assertThrows(DataAccessException.class, () -> others.add("bolt", 1)).sqlState());
    }
    assertEquals(0, dsl.fetchCount(STOCK));
  }

  @Test
  void clauseWithATokenGoesAroundAnyQuery() {
    dsl.execute("CREATE TABLE note(id INT PRIMARY KEY, v INT)");
    long token = stock.lock();
    var note = DSL.table(DSL.name("NOTE"));
    var id = DSL.field(DSL.name("ID"), Integer.class);
    var v = DSL.field(DSL.name("V"), Integer.class);
    assertEquals(
        1, stock.fenced(dsl.insertInto(note, id, v).values(1, 10), "stock", token).execute());
    assertEquals(
        1, stock.fenced(dsl.update(note).set(v, 11).where(id.eq(1)), "stock", token).execute());
    assertEquals(
        "23T01",
        assertThrows(
                DataAccessException.class,
                () -> stock.fenced(dsl.deleteFrom(note), "stock", token - 1).execute())
            .sqlState());
    assertEquals(11, dsl.select(v).from(note).fetchSingle().value1());
  }

  @Test
  void locksOfRowsAreTakenInAQuery() {
    stock.lock();
    dsl.insertInto(STOCK, ITEM, PIECES).values("a", 1).values("b", 2).execute();
    var tokens =
        dsl.select(ITEM, Stock.tryAcquireLock(DSL.concat(DSL.inline("item-"), ITEM)))
            .from(STOCK)
            .orderBy(ITEM)
            .fetch();
    assertEquals(2, tokens.size());
    assertTrue(tokens.get(0).value2() < tokens.get(1).value2());
  }

  @Test
  @Tag("cluster")
  void transactionsNestAndRollBack() {
    stock.lock();
    dsl.transaction(
        outer -> {
          outer.dsl().insertInto(STOCK, ITEM, PIECES).values("kept", 1).execute();
          assertThrows(
              IllegalStateException.class,
              () ->
                  outer
                      .dsl()
                      .transaction(
                          inner -> {
                            inner.dsl().insertInto(STOCK, ITEM, PIECES).values("x", 1).execute();
                            node.loseLeader();
                            throw new IllegalStateException("undo this one");
                          }));
        });
    assertEquals(1, dsl.fetchCount(STOCK));
    assertThrows(
        IllegalStateException.class,
        () ->
            dsl.transaction(
                t -> {
                  t.dsl().deleteFrom(STOCK).execute();
                  node.loseLeader();
                  throw new IllegalStateException("undo all");
                }));
    assertEquals(1, dsl.fetchCount(STOCK));
  }
}
