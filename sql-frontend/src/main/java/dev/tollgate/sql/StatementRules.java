package dev.tollgate.sql;

import dev.tollgate.sql.SqlRefused.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of statements that Tollgate knows. The first words of a statement determine its kind,
 * before the parser runs, so that a refusal can say more than "unexpected". A statement that no
 * rule names is refused.
 *
 * <p>The table is also the source of the SQL reference.
 */
final class StatementRules {

  /** Words after CREATE that say how an object is made, not what it is. */
  private static final Set<String> MODIFIERS =
      Set.of(
          ("OR REPLACE FORCE GLOBAL TEMPORARY TEMP CACHED MEMORY UNIQUE HASH"
                  + " NULLS NOT ALL DISTINCT")
              .split(" ", -1));

  /** Other ways to get a file of SQL. */
  static final String SCRIPT_INSTEAD =
      "write SCRIPT without TO, which returns the text in rows, or take a dump of a backup with"
          + " tollgate dump";

  private static final String LOCAL = "CREATE LOCAL";

  /** All rules; of those that fit a statement, the longest decides. */
  private static final List<StatementRule> RULES = rules();

  private StatementRules() {}

  static List<StatementRule> all() {
    return RULES;
  }

  /**
   * @return the rule for the statement
   * @throws SqlRefused when the statement is of a kind that is not accepted
   */
  static StatementRule check(Tokens tokens) {
    List<String> words = leadingWords(tokens);
    StatementRule best = null;
    for (StatementRule rule : RULES) {
      if (startsWith(words, rule.words())
          && (best == null || best.words().size() < rule.words().size())) {
        best = rule;
      }
    }
    if (best == null) {
      throw Refusals.notAllowed(
          tokens.get(0), "Tollgate knows no statement that begins with " + beginning(words));
    }
    String name = best.name().equals("SET") ? beginning(words) : best.name();
    if (best.refusal() == Reason.NOT_SUPPORTED) {
      throw Refusals.notSupported(tokens.get(0), name + " is not supported: " + best.explanation());
    }
    if (!best.isAccepted()) {
      throw Refusals.notAllowed(tokens.get(0), name + " is not allowed: " + best.explanation());
    }
    return best;
  }

  private static List<String> leadingWords(Tokens tokens) {
    List<String> words = new ArrayList<>();
    if (isTableOfSession(tokens)) {
      return List.of(LOCAL.split(" ", -1));
    }
    for (int i = 0; i < tokens.size() && words.size() < 3; i++) {
      String word = tokens.get(i).image.toUpperCase(Locale.ROOT);
      if (i == 0 || !words.get(0).equals("CREATE") || !MODIFIERS.contains(word)) {
        words.add(word);
      }
    }
    return words;
  }

  /**
   * Whether the statement is CREATE GLOBAL TEMPORARY TABLE SESSION.T, which is LOCAL to H2, as it
   * is to Db2.
   */
  private static boolean isTableOfSession(Tokens tokens) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < tokens.size() && !tokens.get(i).image.equals("."); i++) {
      words.add(tokens.get(i).image.toUpperCase(Locale.ROOT));
    }
    String schema = words.isEmpty() ? "" : words.get(words.size() - 1);
    return words.size() < tokens.size()
        && words.indexOf("CREATE") == 0
        && words.contains("TABLE")
        && (words.contains("TEMPORARY") || words.contains("TEMP"))
        && (schema.equals("SESSION") || schema.equals("\"SESSION\""));
  }

  /** The words that may name a statement's kind: two if a rule begins with the first, else one. */
  private static String beginning(List<String> words) {
    boolean hasKind = RULES.stream().anyMatch(rule -> rule.words().get(0).equals(words.get(0)));
    return String.join(" ", words.subList(0, hasKind ? Math.min(2, words.size()) : 1));
  }

  private static boolean startsWith(List<String> words, List<String> beginning) {
    return words.size() >= beginning.size() && words.subList(0, beginning.size()).equals(beginning);
  }

  private static List<StatementRule> rules() {
    Table table = new Table();
    whatIsAccepted(table);
    whatReachesOutOfTheStore(table);
    whatIsLeftToTheNode(table);
    settings(table);
    whatDoesNothing(table);
    whatIsNotThereYet(table);
    return List.copyOf(table.rules);
  }

  private static void whatIsAccepted(Table table) {
    table.accept("reads", "SELECT, WITH, VALUES, TABLE, (, SHOW");
    table.accept(
        "returns the tables, their rows and their fences as SQL, without users and settings, of"
            + " what is committed",
        "SCRIPT");
    table.accept("shows how H2 would run a statement, and does not run it", "EXPLAIN");
    table.accept("evaluates an expression, or calls a lock function", "CALL, ?");
    table.accept("changes rows", "INSERT, UPDATE, DELETE, MERGE");
    table.accept(
        "controls the transaction",
        "BEGIN, START TRANSACTION, COMMIT, ROLLBACK, SAVEPOINT, RELEASE");
    table.accept("creates something", "CREATE TABLE, CREATE VIEW, CREATE INDEX, CREATE SEQUENCE");
    table.accept("creates something", "CREATE SCHEMA, CREATE DOMAIN, CREATE TYPE");
    table.accept("alters something", "ALTER TABLE, ALTER VIEW, ALTER INDEX, ALTER SEQUENCE");
    table.accept("alters something", "ALTER SCHEMA, ALTER DOMAIN");
    table.accept("drops something", "DROP TABLE, DROP VIEW, DROP INDEX, DROP SEQUENCE");
    table.accept("drops something", "DROP SCHEMA, DROP DOMAIN, DROP TYPE, DROP CONSTANT");
    table.accept(
        "defines how many leases may hold a lock at a time; no part of a transaction",
        "CREATE LOCK, ALTER LOCK, DROP LOCK");
    table.accept("empties a table", "TRUNCATE TABLE");
    table.accept(
        "creates, alters or drops a [user](#users); no part of a transaction",
        "CREATE USER, ALTER USER, DROP USER");
    table.accept("changes the password of the session's own user", "SET PASSWORD");
    table.accept(
        "creates or drops a role: a name for rights that several users have",
        "CREATE ROLE, DROP ROLE");
    table.accept(
        "gives or takes [rights](#rights) on tables, schemas, sequences and locks, or a role",
        "GRANT, REVOKE");
    table.accept(
        "comments on something",
        "COMMENT ON TABLE, COMMENT ON COLUMN, COMMENT ON VIEW, COMMENT ON INDEX");
    table.accept(
        "comments on something", "COMMENT ON SEQUENCE, COMMENT ON SCHEMA, COMMENT ON DOMAIN");
    table.accept("comments on something", "COMMENT ON CONSTRAINT");
    table.accept(
        "changes the session alone",
        "SET SCHEMA, SET LOCK_TIMEOUT, SET QUERY_TIMEOUT, SET AUTOCOMMIT, SET TIME ZONE");
    table.accept("changes the session alone", "SET TRANSACTION, SET SESSION CHARACTERISTICS");
    table.accept("presents a token with every write that follows", "SET FENCING TOKEN");
    table.accept(
        "refuses every write that follows unless a lock is held under a token; ends that",
        "SET FENCED, SET NOT FENCED");
  }

  private static void whatReachesOutOfTheStore(Table table) {
    table.refuse("it writes a file on one replica", SCRIPT_INSTEAD, "SCRIPT TO");
    table.refuse(
        "it runs the statements of a file that the other replicas do not have",
        "send them one by one",
        "RUNSCRIPT");
    table.refuse(
        "it copies the files of one replica", "stop a node, and copy its data directory", "BACKUP");
    table.refuse(
        "a linked table lies in another database, which answers each replica at another moment",
        "copy its rows with INSERT",
        "CREATE LINKED, ALTER LINKED, DROP LINKED");
    table.refuse(
        "it loads Java code into the store, where each replica would have to compute the same with it",
        "compute the value in the application and pass it as a parameter, or name an expression by CREATE"
            + " VIEW or a column GENERATED ALWAYS AS",
        "CREATE ALIAS, CREATE FUNCTION, CREATE PROCEDURE");
    table.refuse(
        "it loads Java code into the store",
        "use the aggregates of H2, or ARRAY_AGG(x ORDER BY x) and the application",
        "CREATE AGGREGATE");
    table.refuse(
        "it loads Java code into the store",
        "use CHECK, ON UPDATE, GENERATED ALWAYS AS, or foreign keys that cascade",
        "CREATE TRIGGER");
    table.refuse(
        "there is none, because none can be created",
        "",
        "DROP ALIAS, DROP FUNCTION, DROP PROCEDURE, DROP AGGREGATE, DROP TRIGGER");
    table.refuse(
        "its text would escape the checks",
        "send the statement itself",
        "EXECUTE IMMEDIATE, EXECUTE, EXEC");
  }

  private static void whatIsLeftToTheNode(Table table) {
    table.refuse(
        "H2 would compute with it while it reads a statement, where nobody can count or interrupt",
        "use a table of one row",
        "CREATE CONSTANT");
    table.refuse("there is none, because none can be created", "", "COMMENT ON CONSTANT");
    table.refuse(
        "users and roles have no comments", "leave it out", "COMMENT ON USER, COMMENT ON ROLE");
    table.refuse(
        "a user that may alter every schema is an administrator",
        "write ALTER USER name ADMIN TRUE or FALSE, or CREATE SCHEMA name AUTHORIZATION user",
        "GRANT ALTER, REVOKE ALTER");
    table.refuse(
        "it would stop every replica", "stop the nodes with SIGTERM, one by one", "SHUTDOWN");
    table.refuse("there are no materialized views", "query the tables", "REFRESH");
    table.refuse("settings are those of the node, from its start", "", "ALTER SYSTEM");
    table.refuse(
        "it would take tables and their fences at one stroke",
        "drop them by name, or DROP SCHEMA name CASCADE",
        "DROP ALL");
    table.refuse(
        "two-phase commit is not for clients: a prepared transaction would block the others for as"
            + " long as its coordinator is away",
        "COMMIT",
        "PREPARE, COMMIT TRANSACTION");
    table.refuse(
        "two-phase commit is not for clients, so nothing is prepared",
        "ROLLBACK",
        "ROLLBACK TRANSACTION");
    table.refuse("SQL statements are prepared by the driver", "leave it out", "DEALLOCATE");
    table.refuse("H2 answers it from its help file", "read docs/sql.md", "HELP");
  }

  private static void settings(Table table) {
    table.refuse(
        "it is no setting of a session",
        "a session may set SCHEMA, LOCK_TIMEOUT, QUERY_TIMEOUT, AUTOCOMMIT, TRANSACTION ISOLATION"
            + " LEVEL, TIME ZONE, FENCING TOKEN and FENCED",
        "SET");
    String dialect =
        "it changes what statements mean, for all clients, and for those that are in the log";
    table.refuse(
        dialect,
        "",
        "SET MODE, SET IGNORECASE, SET NON_KEYWORDS, SET VARIABLE_BINARY,"
            + " SET DEFAULT_NULL_ORDERING, SET TRUNCATE_LARGE_LENGTH, SET IGNORE_CATALOGS,"
            + " SET DEFAULT_TABLE_TYPE");
    table.refuse(dialect, "write ORDER BY UPPER(name), or use VARCHAR_IGNORECASE", "SET COLLATION");
    table.refuse(
        dialect, "write SET SCHEMA, and name other schemas with a dot", "SET SCHEMA_SEARCH_PATH");
    table.refuse("there is one catalog", "write SET SCHEMA", "SET CATALOG, USE");
    table.refuse(
        "foreign keys hold for all clients",
        "ALTER TABLE name SET REFERENTIAL_INTEGRITY FALSE",
        "SET REFERENTIAL_INTEGRITY");
    table.refuse(
        "it loads classes into the store",
        "",
        "SET DATABASE_EVENT_LISTENER, SET JAVA_OBJECT_SERIALIZER, SET AUTHENTICATOR");
    table.refuse("it writes files on one replica", "", "SET TRACE_LEVEL_FILE");
    table.refuse(
        "it writes files on one replica",
        "",
        "SET TRACE_LEVEL_SYSTEM_OUT, SET TRACE_MAX_FILE_SIZE");
    table.refuse(
        "nodes keep passwords in a form of their own", "write SET PASSWORD 'password'", "SET SALT");
    table.refuse("every role that a user has holds at all times", "leave it out", "SET ROLE");
    table.refuse(
        "it locks all other clients out",
        "take a lock that they all respect: SELECT acquire_lock('name')",
        "SET EXCLUSIVE");
    table.refuse("it slows every replica down", "slow down in the application", "SET THROTTLE");
    table.refuse(
        "it sets the timeout of all clients", "write SET LOCK_TIMEOUT", "SET DEFAULT_LOCK_TIMEOUT");
    table.refuse(
        "how a replica keeps its data, and how much memory it spends, is for the node to say",
        "",
        "SET READONLY, SET CLUSTER");
    table.refuse(
        "it would refuse the statements of other clients, too",
        "use parameters",
        "SET ALLOW_LITERALS");
  }

  /** Statements that scripts and tools send, and on which nothing depends that a client can see. */
  private static void whatDoesNothing(Table table) {
    table.ignore(
        "does nothing: the log is what is durable, and replicas plan without statistics",
        "ANALYZE, CHECKPOINT");
    table.ignore(
        "does nothing: how a replica keeps its data and spends its memory is for the node to say",
        "SET CACHE_SIZE, SET WRITE_DELAY, SET MAX_LOG_SIZE, SET MAX_MEMORY_ROWS,"
            + " SET MAX_MEMORY_UNDO, SET MAX_OPERATION_MEMORY, SET MAX_LENGTH_INPLACE_LOB,"
            + " SET DB_CLOSE_DELAY, SET RETENTION_TIME, SET REDO_LOG_BINARY, SET CREATE_BUILD,"
            + " SET OPTIMIZE_REUSE_RESULTS, SET LAZY_QUERY_EXECUTION, SET QUERY_STATISTICS,"
            + " SET QUERY_STATISTICS_MAX_ENTRIES, SET LOCK_MODE");
    table.ignore(
        "does nothing: there are no aliases of clients that could take the place of a function",
        "SET BUILTIN_ALIAS_OVERRIDE");
    table.ignore(
        "does nothing: it is so already",
        "SET MODE REGULAR, SET IGNORECASE FALSE, SET COLLATION OFF,"
            + " SET REFERENTIAL_INTEGRITY TRUE, SET ALLOW_LITERALS ALL, SET THROTTLE 0,"
            + " SET TRACE_LEVEL_FILE 0, SET TRACE_LEVEL_SYSTEM_OUT 0,"
            + " SET TRUNCATE_LARGE_LENGTH FALSE, SET DEFAULT_NULL_ORDERING LOW,"
            + " SET VARIABLE_BINARY FALSE");
  }

  private static void whatIsNotThereYet(Table table) {
    table.defer("H2 has it in its MySQL mode only", "write MERGE", "REPLACE, UPSERT");
    table.defer("H2 has domains for it", "write CREATE DOMAIN", "CREATE DATATYPE");
    table.defer(
        "a fence on the table would not be seen through the synonym",
        "write CREATE VIEW",
        "CREATE SYNONYM");
    table.defer("there is none, because none can be created", "", "DROP SYNONYM");
    table.defer(
        "it would have to be refreshed by somebody",
        "write CREATE VIEW, or CREATE TABLE ... AS",
        "CREATE MATERIALIZED");
    table.defer("there is none, because none can be created", "", "DROP MATERIALIZED");
    table.defer(
        "every session sees the tables of the store, and none has its own",
        "write WITH name AS (SELECT ...), or CREATE TABLE under a name that no other session uses,"
            + " and DROP TABLE at the end",
        LOCAL);
    table.defer(
        "there are no spatial indexes",
        "write CREATE INDEX, which serves equality and order",
        "CREATE SPATIAL");
  }

  private static final class Table {
    private final List<StatementRule> rules = new ArrayList<>();

    void accept(String what, String beginnings) {
      add(null, what, "", /* ignored= */ false, beginnings);
    }

    void ignore(String what, String beginnings) {
      add(null, what, "", /* ignored= */ true, beginnings);
    }

    void refuse(String why, String instead, String beginnings) {
      add(Reason.NOT_ALLOWED, why, instead, /* ignored= */ false, beginnings);
    }

    void defer(String why, String instead, String beginnings) {
      add(Reason.NOT_SUPPORTED, why, instead, /* ignored= */ false, beginnings);
    }

    private void add(
        @Nullable Reason refusal,
        String sentence,
        String instead,
        boolean ignored,
        String beginnings) {
      for (String beginning : beginnings.split(", ", -1)) {
        rules.add(
            new StatementRule(
                List.of(beginning.split(" ", -1)), refusal, sentence, instead, ignored));
      }
    }
  }
}
