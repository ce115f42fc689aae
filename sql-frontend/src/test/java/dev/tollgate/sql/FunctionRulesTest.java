package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.sql.FunctionRule.Use;
import dev.tollgate.sql.SqlRefused.Reason;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.analysis.WindowFunctionType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every function has a rule, and every rule is kept. */
class FunctionRulesTest {

  /** These have a syntax of their own, which {@code name(1)} is not. */
  private static final Set<String> SPECIAL_SYNTAX =
      Set.of(
          "CAST",
          "CONVERT",
          "DATEADD",
          "DATEDIFF",
          "DATE_TRUNC",
          "EXTRACT",
          "POSITION",
          "SET",
          "SUBSTRING",
          "TIMESTAMPADD",
          "TIMESTAMPDIFF",
          "JSON_OBJECT",
          "JSON_OBJECTAGG",
          "INSERT",
          "ANY",
          "RANDOM_UUID");

  private final SqlFrontend frontend = new SqlFrontend(0);

  static Stream<FunctionRule> callable() {
    return FunctionRules.all().stream()
        .filter(rule -> !rule.withoutParentheses() && !SPECIAL_SYNTAX.contains(rule.name()));
  }

  static Stream<FunctionRule> withoutParentheses() {
    return FunctionRules.all().stream().filter(FunctionRule::withoutParentheses);
  }

  @ParameterizedTest
  @MethodSource("callable")
  void ruleIsKeptForACall(FunctionRule rule) {
    boolean isTable = rule.group().equals("tables") || rule.name().equals("UNNEST");
    String call = isTable ? "(SELECT 1 FROM " + rule.name() + "(1, 1))" : rule.name() + "(1)";
    checkUse(rule, call);
  }

  @ParameterizedTest
  @MethodSource("withoutParentheses")
  void ruleIsKeptForABareName(FunctionRule rule) {
    checkUse(rule, rule.name());
  }

  private void checkUse(FunctionRule rule, String call) {
    boolean read = isAllowed("SELECT " + call);
    boolean write = isAllowed("UPDATE t SET a = " + call);
    boolean definition = isAllowed("CREATE VIEW v AS SELECT " + call);
    Use use = rule.use();
    assertEquals(use != Use.REFUSED, read, call);
    assertEquals(use == Use.ALLOWED || use == Use.BOUNDED || use == Use.PINNED, write, call);
    assertEquals(write, definition, call);
  }

  /** Whether the statement is planned; if it is not, it must be because of the function. */
  private boolean isAllowed(String sql) {
    try {
      frontend.plan(sql);
      return true;
    } catch (SqlRefused e) {
      assertEquals(Reason.NOT_ALLOWED, e.reason(), sql + " " + e.getMessage());
      return false;
    }
  }

  /** Position, what, why, and what to write instead. */
  @ParameterizedTest
  @MethodSource("callable")
  void refusalSaysWhy(FunctionRule rule) {
    if (rule.use() == Use.REFUSED || rule.use() == Use.READ_ONLY || rule.use() == Use.ORDERED) {
      String sql = "UPDATE t\n SET a = " + rule.name() + "(1)";
      SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(sql));
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.startsWith("line 2, column 10: function " + rule.name()), message);
      assertTrue(message.endsWith(": " + rule.explanation()), message);
    }
  }

  /** Why, and what to do about it, in words that fit the one sentence they become. */
  @Test
  void everyRuleThatRefusesGivesAReason() {
    for (FunctionRule rule : FunctionRules.all()) {
      assertEquals(rule.use() == Use.ALLOWED, rule.reason().isEmpty(), rule.name());
      assertFalse(rule.group().isEmpty(), rule.name());
      assertFalse(rule.explanation().matches("(?s).*([.;:]|\\s)|[A-Z][a-z].*"), rule.name());
      assertTrue(rule.use() == Use.ALLOWED || rule.reason().split(" ", -1).length > 3, rule.name());
    }
  }

  @Test
  void everyFunctionThatH2DocumentsHasARule() throws SQLException {
    Set<String> names = new TreeSet<>();
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:")) {
      DatabaseMetaData metaData = connection.getMetaData();
      for (String list :
          new String[] {
            metaData.getNumericFunctions(),
            metaData.getStringFunctions(),
            metaData.getSystemFunctions(),
            metaData.getTimeDateFunctions()
          }) {
        names.addAll(Set.of(list.split(",", -1)));
      }
    }
    assertTrue(names.size() > 100, names::toString);
    assertHaveRules(names);
  }

  @Test
  void everyAggregateOfH2HasARule() throws ReflectiveOperationException {
    var field = Aggregate.class.getDeclaredField("AGGREGATES");
    field.setAccessible(true);
    Set<String> names = new TreeSet<>();
    for (Object name : ((java.util.Map<?, ?>) field.get(null)).keySet()) {
      names.add((String) name);
    }
    assertTrue(names.size() > 40, names::toString);
    assertHaveRules(names);
  }

  @Test
  void everyWindowFunctionOfH2HasARule() {
    Set<String> names = new TreeSet<>();
    for (WindowFunctionType type : WindowFunctionType.values()) {
      names.add(type.getSQL());
    }
    assertHaveRules(names);
  }

  private static void assertHaveRules(Collection<String> names) {
    Set<String> missing = new TreeSet<>(names);
    missing.removeIf(name -> FunctionRules.named(name) != null);
    assertEquals(Set.of(), missing);
  }

  @Test
  void noLockFunctionHasTheNameOfAFunction() {
    for (LockFunction function : LockFunction.values()) {
      assertEquals(null, FunctionRules.named(function.name()), function.name());
    }
  }

  @Test
  void orderedAggregateIsAllowedInAWriteWithAnOrder() {
    for (String call :
        new String[] {
          "ARRAY_AGG(a ORDER BY a)",
          "GROUP_CONCAT(a ORDER BY a SEPARATOR ';')",
          "STRING_AGG(a, ',' ORDER BY a)",
          "LISTAGG(a, ',') WITHIN GROUP (ORDER BY a)",
          "LISTAGG(a) WITHIN GROUP (ORDER BY a) FILTER (WHERE a > 1)",
          "LISTAGG(a) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b)",
          "MODE() WITHIN GROUP (ORDER BY a)",
          "MODE(a ORDER BY a DESC)",
          "MODE(a ORDER BY a) FILTER (WHERE a > 1)",
          "JSON_ARRAYAGG(a ORDER BY a)"
        }) {
      assertTrue(isAllowed("INSERT INTO t SELECT " + call + " FROM s"), call);
    }
    assertFalse(isAllowed("INSERT INTO t SELECT ARRAY_AGG(a) FROM (SELECT a FROM s ORDER BY a)"));
    assertFalse(isAllowed("INSERT INTO t SELECT MODE(a) FROM s"));
    assertFalse(isAllowed("INSERT INTO t SELECT MODE(SLEEP(1) ORDER BY a) FROM s"));
    assertFalse(isAllowed("INSERT INTO t SELECT MODE(a ORDER BY SLEEP(1)) FROM s"));
  }

  @Test
  void columnInQuotesIsNoFunction() {
    assertTrue(isAllowed("UPDATE t SET \"USER\" = \"CURRENT_USER\", a = \"ROWNUM\""));
    assertTrue(isAllowed("UPDATE t SET a = t.today WHERE t.\"NEXTVAL\" = 1"));
  }

  /** The user of a session is a part of the replicated state; the other values are not. */
  @Test
  void userOfTheSessionIsAllowedInWrites() {
    for (String user :
        new String[] {
          "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER", "USER()", "CURRENT_USER()"
        }) {
      assertTrue(isAllowed("INSERT INTO t VALUES (" + user + ")"), user);
      assertTrue(isAllowed("DELETE FROM t WHERE a = " + user), user);
      assertTrue(isAllowed("CREATE TABLE t (a VARCHAR DEFAULT " + user + ")"), user);
      assertTrue(isAllowed("ALTER TABLE t ALTER COLUMN a SET ON UPDATE " + user), user);
      assertTrue(isAllowed("CREATE TABLE t (a VARCHAR CHECK (a = " + user + "))"), user);
      assertTrue(isAllowed("CREATE VIEW v AS SELECT * FROM t WHERE a = " + user), user);
      assertFalse(isAllowed("CREATE TABLE t (a INT) FENCED BY LOCK (a || " + user + ")"), user);
    }
    assertFalse(isAllowed("INSERT INTO t VALUES (CURRENT_ROLE)"));
    assertFalse(isAllowed("CREATE TABLE t (a INT) FENCED BY LOCK (a || CURRENT_SCHEMA)"));
  }
}
