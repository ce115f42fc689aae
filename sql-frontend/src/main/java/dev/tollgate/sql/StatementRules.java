package dev.tollgate.sql;

import dev.tollgate.sql.SqlRefused.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which kinds of statements there are. They are told by their first words, before the parser runs,
 * so that a refusal can say more than "unexpected". What no rule names is refused.
 *
 * <p>The table is also the source of the SQL reference.
 */
final class StatementRules {

  /** Words after CREATE that say how an object is made, not what it is. */
  private static final Set<String> MODIFIERS =
      Set.of(
          ("OR REPLACE FORCE GLOBAL LOCAL TEMPORARY TEMP CACHED MEMORY UNIQUE HASH"
                  + " NULLS NOT ALL DISTINCT")
              .split(" ", -1));

  /** The longest rule of all that fit decides. */
  private static final List<StatementRule> RULES = rules();

  private StatementRules() {}

  static List<StatementRule> all() {
    return RULES;
  }

  /**
   * @throws SqlRefused when the statement is of a kind that is not accepted
   */
  static void check(Tokens tokens) {
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
      throw Refusals.notSupported(tokens.get(0), name + " is not supported: " + best.sentence());
    }
    if (!best.isAccepted()) {
      throw Refusals.notAllowed(tokens.get(0), name + " is not allowed: " + best.sentence());
    }
  }

  private static List<String> leadingWords(Tokens tokens) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < tokens.size() && words.size() < 3; i++) {
      String word = tokens.get(i).image.toUpperCase(Locale.ROOT);
      if (i == 0 || !words.get(0).equals("CREATE") || !MODIFIERS.contains(word)) {
        words.add(word);
      }
    }
    return words;
  }

  /** As much of an unknown statement as may be its kind: CREATE WHATEVER, but only HELP. */
  private static String beginning(List<String> words) {
    boolean hasKind = RULES.stream().anyMatch(rule -> rule.words().get(0).equals(words.get(0)));
    return String.join(" ", words.subList(0, hasKind ? Math.min(2, words.size()) : 1));
  }

  private static boolean startsWith(List<String> words, List<String> beginning) {
    return words.size() >= beginning.size() && words.subList(0, beginning.size()).equals(beginning);
  }

  private static List<StatementRule> rules() {
    Table table = new Table();
    table.accept("reads", "SELECT, WITH, VALUES, TABLE, (, SHOW, EXPLAIN");
    table.accept("evaluates an expression, or calls a lock function", "CALL, ?");
    table.accept("changes rows", "INSERT, UPDATE, DELETE, MERGE");
    table.accept(
        "controls the transaction",
        "BEGIN, START TRANSACTION, COMMIT, ROLLBACK, SAVEPOINT, RELEASE");
    table.accept("creates something", "CREATE TABLE, CREATE VIEW, CREATE INDEX, CREATE SEQUENCE");
    table.accept("creates something", "CREATE SCHEMA, CREATE DOMAIN, CREATE CONSTANT");
    table.accept("alters something", "ALTER TABLE, ALTER VIEW, ALTER INDEX, ALTER SEQUENCE");
    table.accept("alters something", "ALTER SCHEMA, ALTER DOMAIN");
    table.accept("drops something", "DROP TABLE, DROP VIEW, DROP INDEX, DROP SEQUENCE");
    table.accept("drops something", "DROP SCHEMA, DROP DOMAIN, DROP CONSTANT");
    table.accept("empties a table", "TRUNCATE TABLE");
    table.accept(
        "comments on something",
        "COMMENT ON TABLE, COMMENT ON COLUMN, COMMENT ON VIEW, COMMENT ON INDEX");
    table.accept(
        "comments on something",
        "COMMENT ON SEQUENCE, COMMENT ON SCHEMA, COMMENT ON DOMAIN, COMMENT ON CONSTANT");
    table.accept("comments on something", "COMMENT ON CONSTRAINT");
    table.accept(
        "changes the session alone",
        "SET SCHEMA, SET LOCK_TIMEOUT, SET QUERY_TIMEOUT, SET AUTOCOMMIT, SET TIME ZONE");
    table.accept("changes the session alone", "SET TRANSACTION, SET SESSION CHARACTERISTICS");
    table.accept("presents a token with every write that follows", "SET FENCING TOKEN");

    table.refuse(
        "the settings of the store are the same for all its clients; a session may set SCHEMA,"
            + " LOCK_TIMEOUT, QUERY_TIMEOUT, AUTOCOMMIT, TRANSACTION ISOLATION LEVEL, TIME ZONE and"
            + " FENCING TOKEN",
        "SET");
    table.refuse(
        "it works on files or other databases, which are not the same on every replica",
        "SCRIPT, RUNSCRIPT, BACKUP, CREATE LINKED, ALTER LINKED, DROP LINKED");
    String code = "it brings code into the store, which every replica would have to run alike";
    table.refuse(code, "CREATE ALIAS, CREATE FUNCTION, CREATE PROCEDURE, CREATE AGGREGATE");
    table.refuse(code, "CREATE TRIGGER, DROP ALIAS, DROP FUNCTION, DROP PROCEDURE, DROP AGGREGATE");
    table.refuse(code, "DROP TRIGGER");
    String users = "users and rights are kept outside of SQL";
    table.refuse(users, "CREATE USER, ALTER USER, DROP USER, COMMENT ON USER");
    table.refuse(users, "CREATE ROLE, DROP ROLE, COMMENT ON ROLE, GRANT, REVOKE");
    table.refuse(
        "the node itself sees to it", "SHUTDOWN, CHECKPOINT, ANALYZE, REFRESH, ALTER SYSTEM");
    table.refuse("name what is to be dropped: tables with their fences go one by one", "DROP ALL");
    table.refuse(
        "its text would escape the checks: send the statement itself", "EXECUTE, EXEC, DEALLOCATE");
    table.refuse(
        "two-phase commit is not for clients", "PREPARE, COMMIT TRANSACTION, ROLLBACK TRANSACTION");
    table.refuse("write SET SCHEMA", "USE");

    table.defer("write MERGE", "REPLACE, UPSERT");
    table.defer("write CREATE DOMAIN", "CREATE TYPE, CREATE DATATYPE");
    table.defer(
        "this version cannot do it",
        "CREATE SYNONYM, DROP SYNONYM, CREATE MATERIALIZED, DROP MATERIALIZED, CREATE SPATIAL");
    return List.copyOf(table.rules);
  }

  private static final class Table {
    private final List<StatementRule> rules = new ArrayList<>();

    void accept(String what, String beginnings) {
      add(null, what, beginnings);
    }

    void refuse(String why, String beginnings) {
      add(Reason.NOT_ALLOWED, why, beginnings);
    }

    void defer(String why, String beginnings) {
      add(Reason.NOT_SUPPORTED, why, beginnings);
    }

    private void add(@Nullable Reason refusal, String sentence, String beginnings) {
      for (String beginning : beginnings.split(", ", -1)) {
        rules.add(new StatementRule(List.of(beginning.split(" ", -1)), refusal, sentence));
      }
    }
  }
}
