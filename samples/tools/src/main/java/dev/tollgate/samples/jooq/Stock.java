package dev.tollgate.samples.jooq;

import static org.jooq.impl.DSL.constraint;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.function;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Record2;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * Stock that only the holder of lock 'stock' may change. The table itself is fenced, so the
 * statements are plain jOOQ; {@link #fenced} adds the clause where a table is not fenced.
 *
 * <p>The names below are written by hand; jOOQ's code generator makes the same names from a running
 * node.
 *
 * <p>Run it: {@code samples/tools/run.sh jooq.Stock}.
 */
public final class Stock {
  static final String LOCK = "stock";
  static final Table<Record> STOCK = table(name("STOCK"));
  static final Field<Long> ID = field(name("STOCK", "ID"), SQLDataType.BIGINT.identity(true));
  static final Field<String> ITEM = field(name("STOCK", "ITEM"), SQLDataType.VARCHAR(50).notNull());
  static final Field<Integer> PIECES =
      field(name("STOCK", "PIECES"), SQLDataType.INTEGER.notNull());

  private final DSLContext dsl;

  public Stock(DSLContext dsl) {
    this.dsl = dsl;
  }

  /** Names the dialect: jOOQ knows dialects by URL, and Tollgate's URL is not H2's. */
  public static DSLContext over(Connection connection) {
    return DSL.using(connection, SQLDialect.H2);
  }

  /** Defines the table, and binds it to the lock: from then on every write needs a token. */
  public void createTable() {
    dsl.createTableIfNotExists(STOCK)
        .column(ID)
        .column(ITEM)
        .column(PIECES)
        .constraints(constraint("STOCK_PK").primaryKey(ID), constraint("STOCK_ITEM").unique(ITEM))
        .execute();
    dsl.execute("ALTER TABLE {0} FENCED BY LOCK {1}", STOCK, inline(LOCK));
  }

  /** The lock functions as expressions of the DSL. */
  public static Field<Long> acquireLock(String lock) {
    return function("acquire_lock", Long.class, val(lock));
  }

  public static Field<Long> tryAcquireLock(Field<String> lock) {
    return function("try_acquire_lock", Long.class, lock);
  }

  public static Field<Boolean> releaseLock(String lock) {
    return function("release_lock", Boolean.class, val(lock));
  }

  /**
   * Returns the query with a clause: the store refuses it unless the lock is held under this token.
   */
  public Query fenced(Query query, String lock, long token) {
    // inline: jOOQ would write a parameter as a cast, and the clause takes a number or a ?
    return dsl.query("{0} FENCED BY LOCK {1} TOKEN {2}", query, inline(lock), inline(token));
  }

  /** Acquires the lock with the connection's own lease, which then presents the token by itself. */
  public long lock() {
    return dsl.select(acquireLock(LOCK)).fetchOptional(0, Long.class).orElseThrow();
  }

  public boolean unlock() {
    return dsl.select(releaseLock(LOCK)).fetchSingle().value1();
  }

  /** Adds pieces of an item that may be new, and returns how many pieces there are. */
  public int add(String item, int pieces) {
    dsl.mergeInto(STOCK)
        .using(dsl.selectOne())
        .on(ITEM.eq(item))
        .whenMatchedThenUpdate()
        .set(PIECES, PIECES.plus(pieces))
        .whenNotMatchedThenInsert(ITEM, PIECES)
        .values(item, pieces)
        .execute();
    return dsl.select(PIECES).from(STOCK).where(ITEM.eq(item)).fetchSingle().value1();
  }

  public List<Record2<String, Integer>> scarce(int fewerThan) {
    return dsl.select(ITEM, PIECES).from(STOCK).where(PIECES.lt(fewerThan)).orderBy(ITEM).fetch();
  }

  /**
   * @param arguments the JDBC URL
   */
  public static void main(String[] arguments) throws SQLException {
    try (Connection connection = DriverManager.getConnection(arguments[0])) {
      Stock stock = new Stock(over(connection));
      stock.createTable();
      System.out.println("token " + stock.lock());
      System.out.println("bolts: " + stock.add("bolt", 100));
      System.out.println("nuts: " + stock.add("nut", 7));
      System.out.println(stock.scarce(10));
    }
  }
}
