package dev.tollgate.samples.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

class ReportJobTest {
  private static final LocalDate DAY = LocalDate.of(2026, 11, 20);

  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource pool;
  private JdbcTemplate jdbc;
  private ReportLines lines;
  private ReportJob job;

  @BeforeEach
  void open() {
    pool = new HikariDataSource();
    pool.setJdbcUrl(node.url());
    pool.setMaximumPoolSize(2);
    jdbc = new JdbcTemplate(pool);
    lines = new ReportLines(jdbc);
    lines.createTable();
    job = new ReportJob(jdbc, Duration.ofMillis(50));
  }

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void writesTheLinesAndReturnsTheirKeys() {
    Map<String, BigDecimal> amounts =
        Map.of("rent", new BigDecimal("900.00"), "wages", new BigDecimal("4200.50"));
    Map<String, Long> ids = job.write(DAY, amounts).orElseThrow();
    List<ReportLines.Line> written = lines.of(DAY);
    assertEquals(2, written.size());
    for (ReportLines.Line line : written) {
      assertEquals(ids.get(line.account()), line.id());
      assertEquals(amounts.get(line.account()), line.amount());
    }
    assertNull(jdbc.queryForObject("SELECT lock_token('report')", Long.class), "it is released");
  }

  @Test
  void whoComesSecondGoesHome() {
    long lease = jdbc.queryForObject("SELECT create_lease(60000, 'first')", Long.class);
    jdbc.queryForObject("SELECT acquire_lock('report', ?)", Long.class, lease);
    assertEquals(Optional.empty(), job.write(DAY, Map.of("rent", BigDecimal.ONE)));
    assertEquals(List.of(), lines.of(DAY));
  }

  @Test
  void staleTokenIsAnIntegrityViolationAndThePoolKeepsItsConnection() {
    Set<Object> before = sessions();
    DataIntegrityViolationException refused =
        assertThrows(
            DataIntegrityViolationException.class,
            () -> lines.add(DAY, "rent", BigDecimal.ONE, 999));
    assertEquals("23T01", assertInstanceOf(SQLException.class, refused.getCause()).getSQLState());
    assertEquals(List.of(), lines.of(DAY));
    assertTrue(sessions().containsAll(before));
  }

  private Set<Object> sessions() {
    return Set.copyOf(jdbc.queryForList("SELECT session_id FROM tollgate.sessions", Object.class));
  }

  @Test
  void errorsHaveSpringsTypes() {
    jdbc.execute("CREATE TABLE t(id INT PRIMARY KEY, p INT REFERENCES t(id), v INT CHECK (v > 0))");
    jdbc.update("INSERT INTO t VALUES (1, NULL, 1)");
    assertThrows(
        DuplicateKeyException.class, () -> jdbc.update("INSERT INTO t VALUES (1, NULL, 1)"));
    assertThrows(
        DataIntegrityViolationException.class, () -> jdbc.update("INSERT INTO t VALUES (2, 9, 1)"));
    assertThrows(
        DataIntegrityViolationException.class, () -> jdbc.update("INSERT INTO t VALUES (2, 1, 0)"));
    assertThrows(BadSqlGrammarException.class, () -> jdbc.update("INSERT INTO nothing VALUES (1)"));
    assertThrows(BadSqlGrammarException.class, () -> jdbc.execute("this is no SQL"));
    // what the gate refuses is an error in the statement too
    assertThrows(
        BadSqlGrammarException.class,
        () -> jdbc.execute("CREATE ALIAS f FOR 'java.lang.Math.abs'"));
  }

  @Test
  void templatesBatchesAndNamedParameters() {
    jdbc.execute(
        "CREATE TABLE acct(id BIGINT AUTO_INCREMENT PRIMARY KEY, owner VARCHAR(50),"
            + " balance DECIMAL(18,2) DEFAULT 0 NOT NULL, opened TIMESTAMP DEFAULT NOW())");
    Number id =
        new SimpleJdbcInsert(jdbc)
            .withTableName("acct")
            .usingColumns("owner", "balance")
            .usingGeneratedKeyColumns("id")
            .executeAndReturnKey(Map.of("owner", "a", "balance", 10));
    assertEquals(1L, id.longValue());

    NamedParameterJdbcTemplate named = new NamedParameterJdbcTemplate(jdbc);
    GeneratedKeyHolder keys = new GeneratedKeyHolder();
    named.update(
        "insert into acct(owner, balance) values (:owner, :balance)",
        new MapSqlParameterSource().addValue("owner", null).addValue("balance", 5),
        keys,
        new String[] {"ID", "OPENED"});
    assertEquals(2L, keys.getKeyList().get(0).get("ID"));
    assertTrue(keys.getKeyList().get(0).containsKey("OPENED"));

    int[] counts =
        jdbc.batchUpdate(
            "update acct set balance = balance - ? where id = ? and balance >= ?",
            List.of(new Object[] {1, 1, 1}, new Object[] {99, 2, 99}));
    assertEquals(List.of(1, 0), List.of(counts[0], counts[1]));
    assertEquals(
        List.of("a"),
        named.queryForList(
            "select owner from acct where owner in (:owners) order by id desc limit :most",
            Map.of("owners", List.of("a", "b"), "most", 5),
            String.class));
    assertEquals(2, jdbc.queryForObject("select count(*) from acct", Integer.class));
    assertEquals(
        new BigDecimal("9.00"),
        JdbcClient.create(jdbc)
            .sql("select balance from acct where id = :id")
            .param("id", 1)
            .query(BigDecimal.class)
            .single());
    jdbc.batchUpdate("delete from acct where id = 1", "delete from acct where id = 2");
    assertEquals(0, jdbc.queryForObject("select count(*) from acct", Integer.class));
  }

  @Test
  void largeObjectsGoBothWays() {
    jdbc.execute("CREATE TABLE doc(id INT PRIMARY KEY, text CLOB, bytes BLOB)");
    String text = "long ".repeat(20_000);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    jdbc.update("INSERT INTO doc VALUES (1, ?, ?)", text, bytes);
    assertEquals(text, jdbc.queryForObject("SELECT text FROM doc", String.class));
    assertEquals(bytes.length, jdbc.queryForObject("SELECT bytes FROM doc", byte[].class).length);
  }

  @Test
  @Tag("cluster")
  void transactionsRollBackAndNestAndThePoolKeepsItsConnections() {
    Set<Object> before = sessions();
    jdbc.execute("CREATE TABLE note(id INT PRIMARY KEY)");
    JdbcTransactionManager manager = new JdbcTransactionManager(pool);
    TransactionTemplate transactions = new TransactionTemplate(manager);
    TransactionTemplate nested = new TransactionTemplate(manager);
    nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
    transactions.executeWithoutResult(
        status -> {
          jdbc.update("INSERT INTO note VALUES(1)");
          nested.executeWithoutResult(
              inner -> {
                jdbc.update("INSERT INTO note VALUES(2)");
                node.loseLeader();
                inner.setRollbackOnly();
              });
          jdbc.update("INSERT INTO note VALUES(3)");
        });
    assertThrows(
        DuplicateKeyException.class,
        () ->
            transactions.executeWithoutResult(
                status -> {
                  jdbc.update("INSERT INTO note VALUES(4)");
                  node.loseLeader();
                  jdbc.update("INSERT INTO note VALUES(1)");
                }));
    assertEquals(
        List.of(1, 3), jdbc.queryForList("SELECT id FROM note ORDER BY id", Integer.class));
    assertTrue(sessions().containsAll(before));
  }
}
