package dev.tollgate.samples.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.TestDatabase;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What DBeaver does with a connection: its generic model, and the statements of its model for H2,
 * which a user may choose for Tollgate. Each answer is compared with that of a plain H2.
 */
class DbeaverTest {
  private static final List<String> SCHEMA =
      List.of(
          "CREATE TABLE t(id INT PRIMARY KEY, v VARCHAR(20) UNIQUE CHECK (v <> ''), c CLOB)",
          "CREATE SEQUENCE s START WITH 5",
          "CREATE VIEW w AS SELECT id FROM t",
          "INSERT INTO t VALUES (1, 'one', 'long'), (2, 'two', NULL)");

  @RegisterExtension final TestDatabase node = new TestDatabase();
  private Connection tollgate;
  private Connection h2;

  @BeforeEach
  void open() throws SQLException {
    tollgate = node.connect();
    h2 = DriverManager.getConnection("jdbc:h2:mem:tollgate");
    for (String sql : SCHEMA) {
      TestDatabase.ask(tollgate, sql);
      TestDatabase.ask(h2, sql);
    }
  }

  @AfterEach
  void close() throws SQLException {
    h2.close();
    tollgate.close();
  }

  @Test
  void opensAConnectionAsTheToolDoes() throws SQLException {
    DatabaseMetaData meta = tollgate.getMetaData();
    tollgate.setAutoCommit(true);
    tollgate.setReadOnly(false);
    tollgate.setClientInfo("ApplicationName", "DBeaver 24.2 - Main");
    assertEquals(Connection.TRANSACTION_READ_COMMITTED, tollgate.getTransactionIsolation());
    assertEquals("PUBLIC", tollgate.getSchema());
    assertEquals("TOLLGATE", tollgate.getCatalog());
    assertTrue(tollgate.isValid(5));
    assertNull(tollgate.getWarnings());
    assertEquals("\"", meta.getIdentifierQuoteString());
    assertEquals("\\", meta.getSearchStringEscape());
    // the H2 model asks for the version before it chooses its statements
    assertEquals(2, meta.getDatabaseMajorVersion());
  }

  @Test
  void readsTheTreeOfObjects() throws SQLException {
    same(
        "SELECT VIEW_DEFINITION FROM INFORMATION_SCHEMA.VIEWS WHERE "
            + "TABLE_SCHEMA=? AND TABLE_NAME=?",
        "PUBLIC",
        "W");
    same("SELECT * FROM INFORMATION_SCHEMA.SEQUENCES WHERE SEQUENCE_SCHEMA=?", "PUBLIC");
    same("SELECT * FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA = ?", "PUBLIC");
    same(
        "SELECT tc.*, tc.CONSTRAINT_NAME AS PK_NAME, ccu.COLUMN_NAME,"
            + " cc.CHECK_CLAUSE AS CHECK_EXPRESSION"
            + " FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS tc LEFT JOIN\n"
            + "INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE ccu"
            + " ON tc.CONSTRAINT_SCHEMA = ccu.CONSTRAINT_SCHEMA"
            + " AND tc.CONSTRAINT_NAME = ccu.CONSTRAINT_NAME\n"
            + "LEFT JOIN INFORMATION_SCHEMA.CHECK_CONSTRAINTS cc"
            + " ON tc.CONSTRAINT_SCHEMA = cc.CONSTRAINT_SCHEMA"
            + " AND tc.CONSTRAINT_NAME = cc.CONSTRAINT_NAME\n"
            + "WHERE tc.CONSTRAINT_TYPE NOT IN ('REFERENTIAL', 'FOREIGN KEY')"
            + " AND tc.CONSTRAINT_SCHEMA = ?AND tc.TABLE_NAME = ?",
        "PUBLIC",
        "T");
  }

  @Test
  void showsAndEditsRows() throws SQLException {
    same("SELECT t.* FROM PUBLIC.T t");
    same("SELECT t.*\nFROM PUBLIC.T t\nWHERE V = 'one'\nORDER BY t.ID DESC");
    same("SELECT COUNT(*) FROM PUBLIC.T");
    same("SELECT count(*) FROM (\nSELECT * FROM T\n) dbvrcnt");
    same("SELECT x.* FROM PUBLIC.T x LIMIT 200 OFFSET 1");
    same("INSERT INTO PUBLIC.T\n(ID, V, C)\nVALUES(?, ?, ?)", 3, "three", "c");
    same("UPDATE PUBLIC.T\nSET V=?\nWHERE ID=?", "drei", 3);
    same("UPDATE PUBLIC.T\n\tSET V='vier'\n\tWHERE ID=3");
    same("SELECT V FROM PUBLIC.T WHERE ID=3");
    same("DELETE FROM PUBLIC.T\nWHERE ID=?", 3);
    same("SELECT DISTINCT t.V, COUNT(*) FROM PUBLIC.T t GROUP BY t.V ORDER BY t.V LIMIT 200");
  }

  @Test
  void editsTables() throws SQLException {
    same(
        "CREATE TABLE PUBLIC.NEWTABLE (\n\tID INTEGER NOT NULL "
            + "AUTO_INCREMENT,\n\tCOLUMN1 VARCHAR(100) DEFAULT 'x' NULL,\n\tCONSTRAINT "
            + "NEWTABLE_PK PRIMARY KEY (ID)\n)");
    same("ALTER TABLE PUBLIC.NEWTABLE ADD COLUMN2 BIGINT NULL");
    same("ALTER TABLE PUBLIC.NEWTABLE ALTER COLUMN COLUMN2 RENAME TO COLUMN3");
    same("ALTER TABLE PUBLIC.NEWTABLE ALTER COLUMN COLUMN3 SET DATA TYPE INTEGER");
    same("ALTER TABLE PUBLIC.NEWTABLE ALTER COLUMN COLUMN3 SET NOT NULL");
    same("ALTER TABLE PUBLIC.NEWTABLE ALTER COLUMN COLUMN3 SET DEFAULT 7");
    same("ALTER TABLE PUBLIC.NEWTABLE ADD CONSTRAINT NEWTABLE_UN UNIQUE (COLUMN1)");
    same("ALTER TABLE PUBLIC.NEWTABLE ADD CONSTRAINT NEWTABLE_CK CHECK (ID > 0)");
    same(
        "ALTER TABLE PUBLIC.NEWTABLE ADD CONSTRAINT NEWTABLE_FK FOREIGN KEY "
            + "(COLUMN3) REFERENCES PUBLIC.T(ID)");
    same("CREATE INDEX NEWTABLE_COLUMN1_IDX ON PUBLIC.NEWTABLE (COLUMN1,ID)");
    same("COMMENT ON TABLE PUBLIC.NEWTABLE IS 'text'");
    same("COMMENT ON COLUMN PUBLIC.NEWTABLE.ID IS 'text'");
    same("ALTER TABLE PUBLIC.NEWTABLE RENAME TO NEWER");
    same(
        "SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_DEFAULT FROM "
            + "INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'NEWER' ORDER BY "
            + "ORDINAL_POSITION");
    same("ALTER TABLE PUBLIC.NEWER DROP CONSTRAINT NEWTABLE_FK");
    same("DROP INDEX PUBLIC.NEWTABLE_COLUMN1_IDX");
    same("ALTER TABLE PUBLIC.NEWER DROP COLUMN COLUMN3");
    same("CREATE OR REPLACE VIEW PUBLIC.NEWVIEW\nAS SELECT * FROM NEWER");
    same("DROP VIEW PUBLIC.NEWVIEW");
    same("TRUNCATE TABLE PUBLIC.NEWER");
    same("DROP TABLE PUBLIC.NEWER CASCADE");
    same("CREATE SCHEMA NEWSCHEMA");
    same("DROP SCHEMA NEWSCHEMA");
    same("EXPLAIN SELECT * FROM T");
  }

  @Test
  void readsLargeResultsInPages() throws SQLException {
    TestDatabase.ask(tollgate, "CREATE TABLE big(id INT PRIMARY KEY)");
    TestDatabase.ask(tollgate, "INSERT INTO big SELECT X FROM SYSTEM_RANGE(1, 1000) ORDER BY X");
    try (Statement statement =
        tollgate.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
      statement.setMaxRows(201);
      statement.setFetchSize(200);
      statement.setQueryTimeout(10);
      assertTrue(statement.execute("SELECT x.* FROM PUBLIC.BIG x"));
      try (ResultSet rows = statement.getResultSet()) {
        assertEquals("BIG", rows.getMetaData().getTableName(1));
        assertEquals("PUBLIC", rows.getMetaData().getSchemaName(1));
        int count = 0;
        while (rows.next()) {
          count++;
        }
        assertEquals(201, count);
      }
    }
  }

  /** The same answer from both: rows with their columns, a count, or an error. */
  private void same(String sql, Object... arguments) throws SQLException {
    String expected = answer(h2, sql, arguments);
    assertEquals(expected, answer(tollgate, sql, arguments), sql);
    assertTrue(!expected.startsWith("error"), sql + ": " + expected);
  }

  private static String answer(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setObject(i + 1, arguments[i]);
      }
      if (!statement.execute()) {
        return String.valueOf(statement.getUpdateCount());
      }
      List<String> text = new ArrayList<>();
      try (ResultSet rows = statement.getResultSet()) {
        while (rows.next()) {
          StringBuilder row = new StringBuilder();
          for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
            row.append(rows.getMetaData().getColumnLabel(i)).append('=').append(rows.getString(i));
            row.append(", ");
          }
          text.add(row.toString());
        }
      }
      return text.toString();
    } catch (SQLException e) {
      return "error " + e.getSQLState() + " " + e.getMessage();
    }
  }
}
