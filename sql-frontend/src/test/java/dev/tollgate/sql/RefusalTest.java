package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.sql.SqlRefused.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is not allowed is refused where it stands, and the message says why. */
class RefusalTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          FOO BAR                                | NOT_ALLOWED   | no statement that begins with FOO
          CREATE WHATEVER x                      | NOT_ALLOWED   | no statement that begins with CREATE WHATEVER
          SHUTDOWN                               | NOT_ALLOWED   | SHUTDOWN is not allowed
          SCRIPT TO 'f'                          | NOT_ALLOWED   | SCRIPT TO is not allowed: it writes a file on one replica; write SCRIPT without TO
          RUNSCRIPT FROM 'f'                     | NOT_ALLOWED   | send them one by one
          BACKUP TO 'f'                          | NOT_ALLOWED   | copy its data directory
          CREATE ALIAS f FOR 'a.b'               | NOT_ALLOWED   | compute the value in the application and pass it as a parameter, or name
          CREATE FORCE TRIGGER g                 | NOT_ALLOWED   | CREATE TRIGGER is not allowed
          CREATE AGGREGATE a FOR 'x'             | NOT_ALLOWED   | it loads Java code into the store
          COMMENT ON USER u IS 'x'               | NOT_ALLOWED   | users and roles have no comments
          GRANT ALTER ANY SCHEMA TO r            | NOT_ALLOWED   | is an administrator; write ALTER USER name ADMIN TRUE
          REVOKE ALTER ANY SCHEMA FROM PUBLIC    | NOT_ALLOWED   | is an administrator; write ALTER USER name ADMIN TRUE
          CREATE CONSTANT c VALUE 1              | NOT_ALLOWED   | use a table of one row
          COMMENT ON ROLE r IS 'x'               | NOT_ALLOWED   | users and roles have no comments
          CREATE LINKED TABLE t ('a')            | NOT_ALLOWED   | CREATE LINKED is not allowed
          CREATE LOCAL TEMPORARY TABLE t (a INT) | NOT_SUPPORTED | CREATE LOCAL is not supported
          CREATE CACHED LOCAL TEMPORARY TABLE t (a INT) | NOT_SUPPORTED | CREATE LOCAL is not supported
          CREATE TEMP TABLE IF NOT EXISTS session.t (a INT) | NOT_SUPPORTED | CREATE LOCAL is not supported
          CREATE GLOBAL TEMPORARY TABLE "SESSION".t (a INT) | NOT_SUPPORTED | CREATE LOCAL is not supported
          CREATE GLOBAL TEMPORARY LINKED TABLE t | NOT_ALLOWED   | CREATE LINKED is not allowed
          DROP ALL OBJECTS                       | NOT_ALLOWED   | drop them by name
          EXECUTE IMMEDIATE 'DROP TABLE t'       | NOT_ALLOWED   | its text would escape the checks
          PREPARE COMMIT x                       | NOT_ALLOWED   | two-phase commit
          ROLLBACK TRANSACTION x                 | NOT_ALLOWED   | two-phase commit
          SET MODE MySQL                         | NOT_ALLOWED   | SET MODE is not allowed
          DECLARE TABLE t (a INT)                | NOT_ALLOWED   | Tollgate knows no statement that begins with DECLARE
          DECLARE LOCAL TEMPORARY TABLE t(a INT) | NOT_SUPPORTED | CREATE LOCAL is not supported
          SET NON_KEYWORDS VALUE                 | NOT_ALLOWED   | SET NON_KEYWORDS is not allowed
          SET SCHEMA_SEARCH_PATH a               | NOT_ALLOWED   | SET SCHEMA_SEARCH_PATH is not allowed
          SET NO_SUCH_SETTING 1                  | NOT_ALLOWED   | SET NO_SUCH_SETTING is not allowed: it is no setting of a session; a session may set SCHEMA
          HELP 'x'                               | NOT_ALLOWED   | read docs/sql.md
          SET SALT 'x' HASH 'y'                  | NOT_ALLOWED   | SET SALT is not allowed
          SET ROLE r                             | NOT_ALLOWED   | SET ROLE is not allowed
          SET REFERENTIAL_INTEGRITY FALSE        | NOT_ALLOWED   | ALTER TABLE name SET REFERENTIAL_INTEGRITY FALSE
          CREATE SYNONYM s FOR t                 | NOT_SUPPORTED | CREATE SYNONYM is not supported
          CREATE MATERIALIZED VIEW v AS SELECT 1 | NOT_SUPPORTED | CREATE MATERIALIZED is not supported
          REPLACE INTO t VALUES (1)              | NOT_SUPPORTED | write MERGE
          """)
  void unlistedStatementIsRefused(String sql, Reason reason, String sentence) {
    assertRefused(sql, reason, 1, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT SLEEP(1)                                  | 8  | function SLEEP is not allowed: it would stall every replica
          SELECT a FROM t WHERE FILE_READ('x') = 1         | 23 | it would read a file that the other replicas do not have; pass its content
          SELECT * FROM CSVREAD('x')                       | 15 | send the rows with INSERT
          SELECT * FROM TABLE(CSVREAD('x'))                | 21 | send the rows with INSERT
          CALL FILE_WRITE('x', 'y')                        | 6  | it would write a file on one replica
          SELECT LINK_SCHEMA('a', 'b', 'c', 'd', 'e', 'f') | 8  | it would reach another database
          SELECT SECURE_RAND(5)                            | 8  | every replica would draw another number
          SELECT NO_SUCH_FUNCTION(1)                       | 8  | Tollgate does not know it
          SELECT PUBLIC.ABS(1)                             | 8  | call functions without a schema
          SELECT TOLLGATE.ROWS_OF('LOCKS')                 | 8  | call functions without a schema
          SELECT db.TOLLGATE.LOCK_TOKEN('a')               | 8  | call functions without a schema
          SELECT app.LOCK_TOKEN('a')                       | 8  | call functions without a schema
          SELECT "SLEEP"(1)                                | 8  | function SLEEP is not allowed
          SELECT "sleep"(1)                                | 8  | function sleep is not allowed
          VALUES (1, SLEEP(1))                             | 12 | function SLEEP
          SELECT 1 ORDER BY SLEEP(1)                       | 19 | function SLEEP
          SELECT COUNT(*) FROM t GROUP BY SLEEP(1)         | 33 | function SLEEP
          SELECT 1 FROM t HAVING SLEEP(1) = 1              | 24 | function SLEEP
          SELECT 1 FROM t QUALIFY SLEEP(1) = 1             | 25 | function SLEEP
          SELECT 1 FROM t WINDOW w AS (ORDER BY SLEEP(1))  | 39 | function SLEEP
          SELECT SUM(a) OVER (PARTITION BY SLEEP(1)) FROM t| 34 | function SLEEP
          SELECT SUM(a) OVER (ORDER BY SLEEP(1)) FROM t    | 30 | function SLEEP
          SELECT SUM(a) FILTER (WHERE SLEEP(1) = 1) FROM t | 29 | function SLEEP
          SELECT LISTAGG(a) WITHIN GROUP (ORDER BY SLEEP(1)) FROM t | 42 | function SLEEP
          SELECT DISTINCT ON (SLEEP(1)) a FROM t           | 21 | function SLEEP
          SELECT a[SLEEP(1)] FROM t                        | 10 | function SLEEP
          SELECT CASE SLEEP(1) WHEN 1 THEN 2 END           | 13 | function SLEEP
          SELECT CASE WHEN a = 1 THEN SLEEP(1) END FROM t  | 29 | function SLEEP
          SELECT CASE WHEN a = 1 THEN 1 ELSE SLEEP(1) END FROM t | 36 | function SLEEP
          SELECT CAST(SLEEP(1) AS INT)                     | 13 | function SLEEP
          SELECT EXTRACT(DAY FROM SLEEP(1))                | 25 | function SLEEP
          SELECT DATEADD(DAY, SLEEP(1), d) FROM t          | 21 | function SLEEP
          SELECT TRIM(SLEEP(1) FROM a) FROM t              | 13 | function SLEEP
          SELECT SUBSTRING(a FROM SLEEP(1)) FROM t         | 25 | function SLEEP
          SELECT a LIKE SLEEP(1) FROM t                    | 15 | function SLEEP
          SELECT a REGEXP SLEEP(1) FROM t                  | 17 | function SLEEP
          SELECT a AT TIME ZONE SLEEP(1) FROM t            | 23 | function SLEEP
          SELECT a BETWEEN 1 AND SLEEP(1) FROM t           | 24 | function SLEEP
          SELECT a IN (1, SLEEP(1)) FROM t                 | 17 | function SLEEP
          SELECT a = ANY (SELECT SLEEP(1)) FROM t          | 24 | function SLEEP
          SELECT (SELECT SLEEP(1))                         | 16 | function SLEEP
          SELECT ARRAY[SLEEP(1)]                           | 14 | function SLEEP
          SELECT ARRAY(SELECT SLEEP(1))                    | 21 | function SLEEP
          SELECT ROW (1, SLEEP(1))                         | 16 | function SLEEP
          SELECT ((SLEEP(1)))                              | 8  | function SLEEP is not allowed
          SELECT * FROM t LIMIT 1, SLEEP(1)                | 26 | function SLEEP
          SELECT * FROM t LIMIT SLEEP(1), 2                | 23 | function SLEEP
          SELECT TRIM(FROM SLEEP(1))                       | 18 | function SLEEP
          SELECT INSERT(a, 1, 2, SLEEP(1)) FROM t          | 24 | function SLEEP
          SELECT DATE_TRUNC(MONTH, SLEEP(1))               | 26 | function SLEEP
          SELECT SLEEP(1)::INT                             | 8  | function SLEEP
          SELECT JSON_OBJECT('a': SLEEP(1))                | 25 | function SLEEP
          SELECT * FROM t JOIN s ON SLEEP(1) = 1           | 27 | function SLEEP
          SELECT * FROM (SELECT SLEEP(1)) x                | 23 | function SLEEP
          SELECT * FROM UNNEST(ARRAY[SLEEP(1)])            | 28 | function SLEEP
          SELECT * FROM SYSTEM_RANGE(1, SLEEP(1))          | 31 | function SLEEP
          SELECT * FROM VALUES (1, SLEEP(1))               | 26 | function SLEEP
          SELECT * FROM TABLE(a INT = SLEEP(1))            | 29 | function SLEEP
          SELECT * FROM TABLE(a INT = 1, b INT = SLEEP(1)) | 40 | function SLEEP
          SELECT * FROM TABLE(a OTHER = 1)                 | 23 | type OTHER is not allowed
          SELECT SLEEP(1) IS OF (INT)                      | 8  | function SLEEP
          SELECT a IS NOT OF (INT, JAVA_OBJECT) FROM t     | 26 | type JAVA_OBJECT is not allowed
          SELECT LISTAGG(SLEEP(1), ',' ON OVERFLOW ERROR) WITHIN GROUP (ORDER BY a) FROM t | 16 | function SLEEP
          SELECT JSON_ARRAYAGG(DISTINCT SLEEP(1)) FROM t   | 31 | function SLEEP
          SELECT SUM(a) OVER (ORDER BY a GROUPS BETWEEN SLEEP(1) PRECEDING AND CURRENT ROW) FROM t | 47 | function SLEEP
          WITH x AS (SELECT SLEEP(1)) SELECT * FROM x      | 19 | function SLEEP
          SELECT 1 UNION SELECT SLEEP(1)                   | 23 | function SLEEP
          EXPLAIN SELECT SLEEP(1)                          | 16 | function SLEEP
          INSERT INTO t VALUES (SLEEP(1))                  | 23 | function SLEEP
          INSERT INTO t SELECT SLEEP(1)                    | 22 | function SLEEP
          UPDATE t SET a = SLEEP(1)                        | 18 | function SLEEP
          UPDATE t SET (a, b) = (SELECT 1, SLEEP(1))       | 34 | function SLEEP
          UPDATE t SET a = 1 WHERE SLEEP(1) = 1            | 26 | function SLEEP
          DELETE FROM t WHERE SLEEP(1) = 1                 | 21 | function SLEEP
          MERGE INTO t KEY (a) VALUES (SLEEP(1))           | 30 | function SLEEP
          MERGE INTO t USING s ON SLEEP(1) = 1 WHEN MATCHED THEN DELETE | 25 | function SLEEP
          MERGE INTO t USING (SELECT SLEEP(1)) s ON 1 = 1 WHEN MATCHED THEN DELETE | 28 | function SLEEP
          MERGE INTO t USING s ON 1 = 1 WHEN MATCHED AND SLEEP(1) = 1 THEN DELETE | 48 | function SLEEP
          MERGE INTO t USING s ON 1 = 1 WHEN MATCHED THEN UPDATE SET a = SLEEP(1) | 64 | function SLEEP
          MERGE INTO t USING s ON 1 = 1 WHEN NOT MATCHED THEN INSERT VALUES (SLEEP(1)) | 68 | function SLEEP
          SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (SLEEP(1))) | 50 | function SLEEP
          CREATE TABLE t (a INT DEFAULT SLEEP(1))          | 31 | function SLEEP
          CREATE TABLE t (a INT ON UPDATE SLEEP(1))        | 33 | function SLEEP
          CREATE TABLE t (a INT GENERATED ALWAYS AS (SLEEP(1))) | 43 | function SLEEP
          CREATE TABLE t (a INT CHECK (SLEEP(1) = 1))      | 30 | function SLEEP
          CREATE TABLE t (a INT, CHECK (SLEEP(1) = 1))     | 31 | function SLEEP
          CREATE TABLE t AS SELECT SLEEP(1)                | 26 | function SLEEP
          CREATE VIEW v AS SELECT SLEEP(1)                 | 25 | function SLEEP
          CREATE DOMAIN d AS INT CHECK (SLEEP(1) = 1)      | 31 | function SLEEP
          CREATE DOMAIN d AS INT DEFAULT SLEEP(1)          | 32 | function SLEEP
          ALTER TABLE t ADD COLUMN b INT DEFAULT SLEEP(1)  | 40 | function SLEEP
          ALTER TABLE t ADD COLUMN b INT USING SLEEP(1)    | 38 | function SLEEP
          ALTER TABLE t ALTER COLUMN a SET DEFAULT SLEEP(1)| 42 | function SLEEP
          ALTER TABLE t ALTER COLUMN a SET ON UPDATE SLEEP(1) | 44 | function SLEEP
          ALTER TABLE t ALTER COLUMN a SET DATA TYPE INT USING SLEEP(1) | 54 | function SLEEP
          ALTER TABLE t ADD CHECK (SLEEP(1) = 1)           | 26 | function SLEEP
          ALTER DOMAIN d ADD CHECK (SLEEP(1) = 1)          | 27 | function SLEEP
          ALTER DOMAIN d SET DEFAULT SLEEP(1)              | 28 | function SLEEP
          SELECT s.NEXTVAL                                 | 8  | write NEXT VALUE FOR
          SELECT NEXTVAL('s')                              | 8  | write NEXT VALUE FOR
          SELECT CURRENT VALUE FOR s                       | 8  | what a session got last is not replicated
          SELECT IDENTITY()                                | 8  | what a session inserted last is not replicated
          SELECT SCOPE_IDENTITY()                          | 8  | what a session inserted last is not replicated
          SELECT RANDOM_UUID(7)                            | 8  | version 4 only
          SELECT RANDOM_UUID(?)                            | 8  | version 4 only
          SELECT TRANSACTION_ID()                          | 8  | it names a transaction of one replica
          SELECT CAST(a AS JAVA_OBJECT) FROM t             | 18 | type JAVA_OBJECT is not allowed
          SELECT CAST(a AS JAVA_OBJECT ARRAY) FROM t       | 18 | type JAVA_OBJECT is not allowed
          SELECT CONVERT(a, JAVA_OBJECT) FROM t            | 19 | type JAVA_OBJECT is not allowed
          SELECT CAST(a AS ROW(x OTHER)) FROM t            | 24 | type OTHER is not allowed
          CREATE TABLE t (a OTHER)                         | 19 | type OTHER is not allowed
          """)
  void forbiddenFunctionOrTypeIsFoundWhereverItStands(String sql, int column, String sentence) {
    assertRefused(sql, Reason.NOT_ALLOWED, column, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INSERT INTO t SELECT * FROM INFORMATION_SCHEMA.TABLES   | 29 | cannot be read in a statement that writes
          INSERT INTO t SELECT * FROM "information_schema".x      | 29 | cannot be read in a statement that writes
          UPDATE t SET a = (SELECT token FROM tollgate.locks)     | 37 | TOLLGATE.LOCKS cannot be read
          DELETE FROM t WHERE EXISTS (TABLE tollgate.locks)       | 35 | TOLLGATE.LOCKS cannot be read
          CREATE VIEW v AS SELECT * FROM tollgate.locks           | 32 | TOLLGATE.LOCKS cannot be read
          CREATE TABLE t AS SELECT * FROM db.tollgate.locks       | 33 | TOLLGATE.LOCKS cannot be read
          CREATE TABLE t (a INT REFERENCES tollgate.locks)        | 34 | TOLLGATE.LOCKS cannot be read
          CREATE ROLE tollgate                                    | 13 | TOLLGATE is a user of the node
          DROP ROLE IF EXISTS tollgate_system                     | 21 | TOLLGATE_SYSTEM is a user of the node
          GRANT ALL ON t TO tollgate                              | 19 | it can be given no rights and lose none
          REVOKE SELECT, INSERT ON SCHEMA app FROM "TOLLGATE"     | 42 | it can be given no rights and lose none
          GRANT r TO Tollgate                                     | 12 | it can be given no rights and lose none
          REVOKE PUBLIC FROM tollgate                             | 20 | it can be given no rights and lose none
          GRANT ALL ON t TO "tollgate"                            | 19 | it can be given no rights and lose none
          CREATE ROLE "Tollgate_system"                           | 13 | is a user of the node itself
          GRANT LOCK ON '%' TO tollgate                           | 22 | it can be given no rights and lose none
          REVOKE FORCE ON ? FROM "tollgate_system"                | 24 | it can be given no rights and lose none
          GRANT USAGE ON SEQUENCE tollgate.s TO r                 | 25 | TOLLGATE.S cannot be changed
          CREATE USER tollgate PASSWORD 'x'                       | 13 | TOLLGATE is a user of the node itself
          ALTER USER "tollgate" SET PASSWORD 'x'                  | 12 | TOLLGATE is a user of the node itself
          DROP USER IF EXISTS tollgate_system                     | 21 | no statement creates, alters or drops it
          CREATE USER public                                      | 13 | PUBLIC is no user but the role that every user has
          ALTER USER PUBLIC ADMIN TRUE                            | 12 | PUBLIC is no user but the role that every user has
          DROP USER "Public"                                      | 11 | PUBLIC is no user but the role that every user has
          REVOKE ALL PRIVILEGES FROM tollgate                     | 28 | it can be given no rights and lose none
          GRANT ALL ON SCHEMA tollgate TO PUBLIC                  | 21 | TOLLGATE cannot be changed
          REVOKE SELECT ON t, tollgate.locks FROM PUBLIC          | 21 | TOLLGATE.LOCKS cannot be changed
          GRANT SELECT ON information_schema.tables TO r          | 17 | INFORMATION_SCHEMA.TABLES cannot be changed
          SELECT * FROM tollgate.locks FOR UPDATE                 | 15 | TOLLGATE.LOCKS cannot be read
          SELECT NEXT VALUE FOR s FROM tollgate.locks             | 30 | TOLLGATE.LOCKS cannot be read
          SELECT TRY_ACQUIRE_LOCK(name) FROM tollgate.locks       | 36 | TOLLGATE.LOCKS cannot be read
          INSERT INTO tollgate.locks VALUES (1)                   | 13 | TOLLGATE.LOCKS cannot be changed
          UPDATE information_schema.tables SET a = 1              | 8  | INFORMATION_SCHEMA.TABLES cannot be changed
          DELETE FROM tollgate.locks                              | 13 | cannot be changed
          MERGE INTO tollgate.locks KEY (a) VALUES (1)            | 12 | cannot be changed
          EXPLAIN DELETE FROM tollgate.locks                      | 21 | cannot be changed
          SELECT * FROM OLD TABLE (DELETE FROM tollgate.locks)    | 38 | cannot be changed
          CREATE TABLE tollgate.x (a INT)                         | 14 | cannot be changed
          DROP TABLE t, tollgate.x                                | 15 | cannot be changed
          CREATE INDEX i ON tollgate.x (a)                        | 19 | cannot be changed
          CREATE INDEX tollgate.i ON x (a)                        | 14 | cannot be changed
          ALTER TABLE tollgate.x ADD COLUMN a INT                 | 13 | cannot be changed
          ALTER TABLE tollgate.x FENCED BY LOCK 'a'               | 13 | cannot be changed
          COMMENT ON COLUMN tollgate.locks.name IS 'x'            | 19 | cannot be changed
          CREATE SCHEMA tollgate                                  | 15 | TOLLGATE cannot be changed
          DROP SCHEMA "Tollgate" CASCADE                          | 13 | cannot be changed
          ALTER SCHEMA app RENAME TO tollgate                     | 28 | TOLLGATE cannot be changed
          SET SCHEMA tollgate                                     | 12 | a session cannot stand in schema TOLLGATE
          SET SCHEMA 'INFORMATION_SCHEMA'                         | 12 | a session cannot stand in schema
          """)
  void reservedSchemasAreReadOnly(String sql, int column, String sentence) {
    assertRefused(sql, Reason.NOT_ALLOWED, column, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          UPDATE t SET a = CURRENT_ROLE                           | 18 | function CURRENT_ROLE is not allowed in a statement that writes
          UPDATE t SET a = CURRENT_PATH                           | 18 | it depends on the session
          INSERT INTO t VALUES (AUTOCOMMIT())                     | 23 | it depends on the session
          CREATE TABLE t (a VARCHAR DEFAULT CURRENT_CATALOG)      | 35 | it depends on the session
          CREATE VIEW v AS SELECT DATABASE()                      | 25 | it depends on the session
          UPDATE t SET a = TO_CHAR(d, 'x')                        | 18 | it depends on the locale
          UPDATE t SET a = H2VERSION()                            | 18 | it is not the same on every replica
          UPDATE t SET a = SESSION_ID()                           | 18 | it depends on the session
          UPDATE t SET a = ROWNUM                                 | 18 | write ROW_NUMBER() OVER
          SELECT a FROM t WHERE ROWNUM < 3 FOR UPDATE             | 23 | write ROW_NUMBER() OVER
          DELETE FROM t WHERE _ROWID_ = 1                         | 21 | compare two of them
          DELETE FROM t WHERE "_ROWID_" = 1                       | 21 | compare two of them
          INSERT INTO t SELECT x._ROWID_ FROM x                   | 22 | compare two of them
          INSERT INTO t SELECT ARRAY_AGG(a) FROM s                | 22 | give it an ORDER BY of its own
          INSERT INTO t SELECT LISTAGG(a, ',') FROM s             | 22 | give it an ORDER BY of its own
          INSERT INTO t SELECT ANY_VALUE(a) FROM s                | 22 | in which one replica happens to read
          CREATE VIEW v AS SELECT NEXT VALUE FOR s                | 25 | not allowed in a view: it changes the sequence
          CREATE VIEW v AS SELECT * FROM OLD TABLE (DELETE FROM t) | 32 | not allowed in a view: it changes a table
          EXPLAIN ANALYZE UPDATE t SET a = 1                      | 9  | EXPLAIN ANALYZE runs the statement
          EXPLAIN ANALYZE SELECT a FROM t FOR UPDATE              | 9  | EXPLAIN ANALYZE runs the statement
          EXPLAIN ANALYZE SELECT NEXT VALUE FOR s                 | 9  | EXPLAIN ANALYZE runs the statement
          SELECT * FROM a JOIN b JOIN c ON 1 = 1 ON SLEEP(1) = 1  | 43 | function SLEEP is not allowed
          SELECT * FROM a JOIN b JOIN c ON SLEEP(1) = 1 ON 1 = 1  | 34 | function SLEEP is not allowed
          SELECT * FROM (UNNEST(SLEEP(1)))                        | 23 | function SLEEP is not allowed
          SELECT CASE a WHEN = SLEEP(1) THEN 1 END                | 22 | function SLEEP is not allowed
          SELECT CASE a WHEN < ALL(SELECT SLEEP(1)) THEN 1 END    | 33 | function SLEEP is not allowed
          SELECT CASE a WHEN IN (1, SLEEP(1)) THEN 1 END          | 27 | function SLEEP is not allowed
          SELECT CASE a WHEN NOT BETWEEN 1 AND SLEEP(1) THEN 1 END | 38 | function SLEEP is not allowed
          SELECT CASE a WHEN IS DISTINCT FROM SLEEP(1) THEN 1 END | 37 | function SLEEP is not allowed
          SELECT 1 IS DISTINCT FROM ANY(SELECT SLEEP(1))          | 38 | function SLEEP is not allowed
          SELECT TIMESTAMPADD('DAY', SLEEP(1), d)                 | 28 | function SLEEP is not allowed
          SELECT a ~ SLEEP(1)                                     | 12 | function SLEEP is not allowed
          SELECT 1 GROUP BY SLEEP(1)                              | 19 | function SLEEP is not allowed
          SELECT 1 GROUP BY 1 HAVING SLEEP(1) = 1                 | 28 | function SLEEP is not allowed
          INSERT INTO t DIRECT SORTED SELECT SLEEP(1)             | 36 | function SLEEP is not allowed
          UPDATE t SET a = 1 WHERE b ~ 'a'                        | 26 | a regular expression
          DELETE FROM t LIMIT SLEEP(1)                            | 21 | function SLEEP is not allowed
          UPDATE t SET a = 1 FETCH FIRST SLEEP(1) ROWS ONLY       | 32 | function SLEEP is not allowed
          """)
  void whatReplicasWouldDoDifferentlyIsRefusedInWrites(String sql, int column, String sentence) {
    assertRefused(sql, Reason.NOT_ALLOWED, column, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT a FROM t ORDER BY ?                          | 26 | ORDER BY ? is not supported
          SELECT a FROM t ORDER BY b, ? DESC NULLS LAST       | 29 | ORDER BY ? is not supported
          SELECT a FROM (SELECT a FROM t ORDER BY ? FETCH FIRST ROW ONLY) s | 41 | ORDER BY ? is not supported
          SELECT * FROM t PIVOT (SUM(x) FOR y IN (1))         | 17 | PIVOT is not supported
          SELECT INTERVAL a DAY FROM t                        | 8  | INTERVAL is not supported
          SELECT a & b FROM t                                 | 8  | & is not supported
          SELECT MAP['a', 1]                                  | 8  | MAP is not supported
          SELECT ABS(x => 1)                                  | 12 | => is not supported
          """)
  void whatOnlyCalciteKnowsIsNotSupported(String sql, int column, String sentence) {
    assertRefused(sql, Reason.NOT_SUPPORTED, column, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT 1,                       | 9  | the statement ends too early
          SELECT SELECT a FROM            | 20 | the statement ends too early
          SELECT b, SELECT a FROM t FROM u | 27 | unexpected "FROM"
          SELECT CASE WHEN 1 = SELECT 1 THEN 2 END | 31 | unexpected "THEN"
          DELETE FROM t WHERE a = SELECT 1 FENCED BY LOCK 'x' TOKEN 1, 2 | 60 | unexpected ","
          SCRIPT DROP TO 'f' CIPHER AES X | 31 | unexpected "X"
          SELECT 1 FROM                   | 13 | the statement ends too early
          CREATE TABLE t (a CHAR(MAX))    | 24 | unexpected "MAX"
          CREATE TABLE t (a TIMESTAMP(9, 0, 1)) | 33 | unexpected ","
          SELECT 1 2                      | 10 | unexpected "2"
          UPDATE t                        | 8  | the statement ends too early
          GRANT SELECT ON t FROM r        | 19 | expected TO
          REVOKE r TO PUBLIC              | 10 | expected FROM
          GRANT ALL ON SCHEMA a, b TO r   | 22 | unexpected ","
          GRANT a, b TO PUBLIC            | 8  | one at a time
          REVOKE a, b FROM PUBLIC         | 9  | one at a time
          DROP ROLE a, b                  | 12 | unexpected ","
          INSERT INTO t VALUES 1 2        | 24 | unexpected "2"
          DELETE TOP 5 FROM t             | 12 | unexpected "5"
          UPDATE t SET a = 1 ORDER BY a LIMIT 1 | 20 | UPDATE has no ORDER BY, because H2 ignores it
          INSERT INTO t (a, _rowid_) VALUES (1, 7) | 19 | _ROWID_ cannot be given a value
          INSERT INTO t SET _ROWID_ = 7   | 19 | _ROWID_ cannot be given a value
          UPDATE t SET (a, _ROWID_) = (SELECT 1, 2) | 18 | _ROWID_ cannot be given a value
          MERGE INTO t (_ROWID_, a) VALUES (7, 1) | 15 | _ROWID_ cannot be given a value
          MERGE INTO t USING s ON s.a = t.a WHEN NOT MATCHED THEN INSERT (_ROWID_) VALUES (1) | 65 | _ROWID_ cannot be given a value
          SELECT * FROM t LIMIT 1, 2, 3   | 27 | unexpected ","
          CREATE TABLE t (a INT, all INT) | 24 | as a name it is written "ALL"
          SELECT a.b.c.d.e FROM t         | 15 | at most four parts
          SELECT 1 FROM a.b.c.d           | 15 | at most three parts
          SHOW ME                         | 6  | expected TABLES, COLUMNS or SCHEMAS
          COMMENT ON COLUMN a IS 'x'      | 19 | COMMENT ON COLUMN table.column
          SELECT SUM(a) OVER (ORDER BY a ROWZ 1 PRECEDING) FROM t | 32 | unexpected "ROWZ"
          SELECT LISTAGG(a ON UNDERFLOW ERROR) FROM t | 21 | expected OVERFLOW
          DROP INDEX                      | 10 | the statement ends too early
          DROP WHATEVER x                 | 1  | no statement that begins with DROP WHATEVER
          SELECT a FROM t FENCED BY LOCK 'x' TOKEN 1 | 17 | FENCED BY LOCK stands at the end of
          SET TRANSACTION ISOLATION LEVEL CHAOS | 33 | expected SNAPSHOT
          SET AUTOCOMMIT MAYBE            | 16 | expected OFF
          """)
  void syntaxErrorSaysWhereAndWhat(String sql, int column, String sentence) {
    Reason reason = sentence.startsWith("no statement") ? Reason.NOT_ALLOWED : Reason.SYNTAX;
    assertRefused(sql, reason, column, sentence);
  }

  /** What does nothing is planned as that, and nothing of it reaches the database. */
  @Test
  void nothingIsDoneForEmptyStatementsAndSettingsOfTheNode() {
    for (String sql :
        new String[] {
          "",
          " \n",
          ";",
          "-- nothing",
          "/* nothing */ ;",
          "ANALYZE TABLE t",
          "CHECKPOINT SYNC;",
          "SET CACHE_SIZE 8192",
          "set db_close_delay -1",
          "SET MODE Regular"
        }) {
      assertInstanceOf(Plan.Nothing.class, new SqlFrontend(0).plan(sql), sql);
    }
  }

  @Test
  void longTokenIsCutInTheMessage() {
    assertRefused("SELECT 1 '" + "x".repeat(1_000) + "'", Reason.SYNTAX, 10, "character literal");
    String name = "x".repeat(200);
    assertRefused("TABLE t " + name, Reason.SYNTAX, 9, "\"" + name.substring(0, 40) + "...\"");
  }

  @Test
  void refusalCarriesNoStackTrace() {
    SqlFrontend frontend = new SqlFrontend(0);
    try {
      frontend.plan("SELECT 1,");
    } catch (SqlRefused e) {
      assertEquals(0, e.getStackTrace().length);
      return;
    }
    throw new AssertionError("not refused");
  }

  @Test
  void comparisonOfTwoRowIdsIsAllowedInWrites() {
    Plan plan =
        new SqlFrontend(0)
            .plan("DELETE FROM b x WHERE EXISTS (SELECT 1 FROM b y WHERE x._rowid_ = y._rowid_)");
    assertInstanceOf(Plan.Write.class, plan);
  }
}
