package dev.tollgate.sql;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;

import dev.tollgate.sql.FunctionRule.Use;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collector;
import java.util.stream.Stream;

/**
 * docs/sql.md: a template that says what cannot be computed, filled with the tables that the
 * front-end itself goes by.
 */
final class SqlReference {

  /** Operators that are written in another way than they are called. */
  private static final Map<String, String> AS_WRITTEN =
      Map.ofEntries(
          Map.entry("CAST", "::"),
          Map.entry("PLUS", "+"),
          Map.entry("MINUS", "-"),
          Map.entry("PLUS_PREFIX", "+"),
          Map.entry("MINUS_PREFIX", "-"),
          Map.entry("TIMES", "*"),
          Map.entry("DIVIDE", "/"),
          Map.entry("MOD", "%"),
          Map.entry("LESS_THAN", "<"),
          Map.entry("LESS_THAN_OR_EQUAL", "<="),
          Map.entry("GREATER_THAN", ">"),
          Map.entry("GREATER_THAN_OR_EQUAL", ">="),
          Map.entry("SOME", "ANY"));

  private SqlReference() {}

  static String text() {
    String text = Corpus.text("/sql.md.template");
    for (Map.Entry<String, String> part : parts().entrySet()) {
      String place = "{{" + part.getKey() + "}}";
      if (!text.contains(place)) {
        throw new IllegalStateException("the template has no place for " + place);
      }
      text = text.replace(place, part.getValue());
    }
    if (text.contains("{{")) {
      throw new IllegalStateException("nothing fills " + text.substring(text.indexOf("{{")));
    }
    return text;
  }

  private static Map<String, String> parts() {
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("accepted statements", acceptedStatements());
    parts.put("refused statements", refusedStatements());
    parts.put("lock functions", lockFunctions());
    parts.put("permits", number(SqlLimits.LOCK_PERMITS));
    parts.put("procedures", procedures());
    parts.put("settings", settings());
    parts.put("password length", number(SqlLimits.PASSWORD_LENGTH));
    parts.put("pattern length", number(SqlLimits.LOCK_PATTERN_LENGTH));
    parts.put("allowed functions", allowedFunctions());
    parts.put("special functions", specialFunctions());
    parts.put("refused functions", refusedFunctions());
    parts.put("endless pattern", FunctionRules.ENDLESS_PATTERN);
    parts.put("like instead", FunctionRules.LIKE_INSTEAD);
    parts.put(
        "operators",
        ExpressionRules.operators()
            .map(name -> code(AS_WRITTEN.getOrDefault(name, name.replace('_', ' '))))
            .sorted()
            .distinct()
            .collect(joining(", ")));
    parts.put("refused types", ExpressionRules.refusedTypes().collect(joining(", ")));
    parts.put("result length", number(SqlLimits.FUNCTION_RESULT_LENGTH));
    parts.put("limits", limits());
    return parts;
  }

  private static String acceptedStatements() {
    Stream<StatementRule> rules = StatementRules.all().stream().filter(StatementRule::isAccepted);
    return table(
        List.of("statement", "what it does"),
        rules
            .collect(groupingBy(StatementRule::sentence, LinkedHashMap::new, joinedNames()))
            .entrySet()
            .stream()
            .map(group -> List.of(group.getValue(), group.getKey())));
  }

  private static String refusedStatements() {
    Stream<StatementRule> rules = StatementRules.all().stream().filter(rule -> !rule.isAccepted());
    Map<List<String>, String> groups =
        rules.collect(
            groupingBy(
                rule -> List.of(rule.sentence(), rule.instead()),
                LinkedHashMap::new,
                joinedNames()));
    return table(
        List.of("statement", "why", "write instead"),
        groups.entrySet().stream()
            .map(group -> Stream.concat(Stream.of(group.getValue()), group.getKey().stream()))
            .map(Stream::toList));
  }

  private static Collector<StatementRule, ?, String> joinedNames() {
    return mapping(
        rule -> code(rule.name().equals("SET") ? "SET of anything else" : rule.name()),
        joining(", "));
  }

  private static String lockFunctions() {
    return table(
        List.of("call", "gives", ""),
        Arrays.stream(LockFunction.values())
            .map(
                function ->
                    List.of(code(function.signature()), result(function), place(function))));
  }

  private static String result(LockFunction function) {
    return switch (function) {
      case CREATE_LEASE -> "a new lease, which ends after ttl unless it is renewed";
      case RENEW_LEASE -> "the milliseconds that are left of it: its full ttl again";
      case REVOKE_LEASE -> "whether it lived; it ends at once, and its locks with it";
      case ACQUIRE_LOCK -> "the fencing token, or NULL when the wait ran out";
      case TRY_ACQUIRE_LOCK -> "the fencing token, or NULL at once";
      case ACQUIRE_SHARED_LOCK -> "the same, together with other shared holders";
      case TRY_ACQUIRE_SHARED_LOCK -> "the same, without waiting";
      case ACQUIRE_LOCKS ->
          "the fencing tokens of all of them, an array in the order of the names, or NULL when the"
              + " wait ran out";
      case TRY_ACQUIRE_LOCKS -> "the same, without waiting";
      case ACQUIRE_TRANSACTION_LOCK ->
          "the fencing token, or NULL when the wait ran out; released with the transaction";
      case RELEASE_LOCK -> "whether the lease held it; nobody gets it before keep has passed";
      case TRANSFER_LOCK -> "the new fencing token, or NULL if from_lease does not hold it";
      case FORCE_RELEASE_LOCK -> "whether anybody held it; for administrators";
      case HOLDS_LOCK -> "whether the lock is held under this token";
      case LOCK_TOKEN -> "the token under which it is held, or NULL";
    };
  }

  private static String procedures() {
    return table(
        List.of("call", "what it does"),
        Arrays.stream(Procedure.values())
            .map(procedure -> List.of(code("CALL " + procedure.signature()), effect(procedure))));
  }

  private static String effect(Procedure procedure) {
    return switch (procedure) {
      case ADD_NODE ->
          "adds a node that was started with an empty directory, and waits until it has what the"
              + " others have";
      case REMOVE_NODE ->
          "removes a node, if it is still there; the leader hands its leadership over first";
      case TRANSFER_LEADERSHIP -> "makes that node the leader";
      case RESIGN_LEADERSHIP ->
          "if that node is the leader, makes the other node that is furthest in the log the leader";
      case VERIFY_REPLICAS ->
          "compares the data of all nodes at one place in the log, and waits up to ten seconds for"
              + " their answers; a node that differs from the majority stops; returns"
              + " TOLLGATE.REPLICA_CHECKS";
      case TAKE_SNAPSHOT ->
          "makes the node that answers write a snapshot of what it has applied; returns"
              + " TOLLGATE.SNAPSHOTS";
      case BEGIN_RUNTIME_CHANGE ->
          "refuses statements that write with 55T05, on every node, so that the nodes can be"
              + " started with another Java runtime one after the other; locks, leases and queries"
              + " work";
      case END_RUNTIME_CHANGE ->
          "lets statements write again, computed as the Java runtime of the leader does";
      case SET_TRANSACTION_LIMITS ->
          "limits how long a transaction may be open, and how long its client may pause within it:"
              + " each an INTERVAL or milliseconds, from a second to 24 hours, for all clients, at"
              + " once; returns TOLLGATE.TRANSACTION_LIMITS";
      case END_SESSION ->
          "ends a session of another connection, if it is still there, with its wait, its"
              + " transaction, its own lease and their locks; other leases go on, and so do the"
              + " other sessions of its user; returns TOLLGATE.SESSIONS";
      case RESET_LOG_TIME ->
          "sets the time of the log, from which CURRENT_TIMESTAMP follows, back to the time of the"
              + " clocks, if it is ahead of them; see"
              + " [Clocks that are wrong](operations.md#clocks-that-are-wrong)";
      case UPGRADE_CLUSTER ->
          "lets the cluster use what a new version brings, once every node runs that version; see"
              + " [Upgrading](operations.md#upgrading)";
    };
  }

  private static String place(LockFunction function) {
    if (function.mustStandAlone()) {
      return "stands alone";
    }
    return function.changesState() ? "makes a write of its statement" : "for any condition";
  }

  private static String settings() {
    return table(
        List.of("statement", "what it sets"),
        Arrays.stream(Setting.values()).map(SqlReference::setting));
  }

  private static List<String> setting(Setting setting) {
    return switch (setting) {
      case SCHEMA -> List.of("`SET SCHEMA name`", "where names without a schema are looked for");
      case LOCK_TIMEOUT ->
          List.of("`SET LOCK_TIMEOUT ms`", "how long a write waits for rows that others change");
      case QUERY_TIMEOUT ->
          List.of(
              "`SET QUERY_TIMEOUT ms`",
              "when statements of the connection are given up, with 57014, also while they wait"
                  + " for rows; 0: never");
      case AUTOCOMMIT ->
          List.of("`SET AUTOCOMMIT ON`, `OFF`", "the same as Connection.setAutoCommit");
      case ISOLATION ->
          List.of(
              "`SET TRANSACTION ISOLATION LEVEL ...`,"
                  + " `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ...`",
              "READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SNAPSHOT or SERIALIZABLE");
      case TIME_ZONE ->
          List.of(
              "`SET TIME ZONE 'Europe/Berlin'`, `'+05:45'`, `INTERVAL '5:45' HOUR TO MINUTE`,"
                  + " `LOCAL`",
              "the [time zone](#time-zones) of the session; LOCAL: the zone with which the"
                  + " connection was opened");
    };
  }

  private static String allowedFunctions() {
    Map<String, String> groups =
        FunctionRules.all().stream()
            .filter(rule -> rule.use() == Use.ALLOWED)
            .collect(
                groupingBy(
                    FunctionRule::group,
                    LinkedHashMap::new,
                    mapping(FunctionRule::name, joining(", "))));
    return table(
        List.of("", "functions"),
        groups.entrySet().stream().map(group -> List.of(group.getKey(), group.getValue())));
  }

  private static String specialFunctions() {
    EnumSet<Use> special = EnumSet.complementOf(EnumSet.of(Use.ALLOWED, Use.REFUSED));
    return functions(
        List.of("functions", "in queries", "in writes", "why", "write instead"),
        rule -> special.contains(rule.use()),
        rule ->
            List.of(
                "allowed" + suffix(rule.use()),
                inWrites(rule.use()),
                rule.reason(),
                rule.instead()));
  }

  private static String suffix(Use use) {
    return use == Use.BOUNDED ? ", bounded" : "";
  }

  private static String inWrites(Use use) {
    return switch (use) {
      case ALLOWED -> "allowed";
      case BOUNDED -> "allowed, bounded";
      case PINNED -> "allowed, pinned";
      case ORDERED -> "with ORDER BY";
      case SESSION, READ_ONLY, REFUSED -> "refused";
    };
  }

  private static String refusedFunctions() {
    return functions(
        List.of("functions", "why", "write instead"),
        rule -> rule.use() == Use.REFUSED,
        rule -> List.of(rule.reason(), rule.instead()));
  }

  /** A row for all functions of which the same is to be said. */
  private static String functions(
      List<String> head,
      Predicate<FunctionRule> filter,
      Function<FunctionRule, List<String>> cells) {
    Map<List<String>, String> groups =
        FunctionRules.all().stream()
            .filter(filter)
            .collect(
                groupingBy(cells, LinkedHashMap::new, mapping(FunctionRule::name, joining(", "))));
    return table(
        head,
        groups.entrySet().stream()
            .map(group -> Stream.concat(Stream.of(group.getValue()), group.getKey().stream()))
            .map(Stream::toList));
  }

  private static String limits() {
    return table(
        List.of("what", "at most"),
        Stream.of(
            List.of("characters of a statement", number(SqlLimits.STATEMENT_LENGTH)),
            List.of("words, literals and signs of a statement", number(SqlLimits.TOKENS)),
            List.of("levels of parentheses, brackets, CASE", number(SqlLimits.NESTING)),
            List.of(
                "operators on the way into an expression; BETWEEN and LIKE count 3",
                number(SqlLimits.OPERATORS)),
            List.of(
                "levels of derived tables and WITH queries in one another; less if they are long",
                "5"),
            List.of("the same in a view", "4"),
            List.of(
                "nodes of all of them, and 200 for each, times 4 for each level",
                number(SqlLimits.PREPARATION)),
            List.of("the same in a view", number(SqlLimits.PREPARATION_OF_A_VIEW)),
            List.of(
                "uses in a view of the queries that WITH names, each counted as often as the query"
                    + " in which it stands",
                number(SqlLimits.USES_OF_QUERIES_IN_A_VIEW)),
            List.of("digits of a number, and the exponent of one", number(SqlLimits.NUMBER_LENGTH)),
            List.of("characters of a name", number(SqlLimits.NAME_LENGTH)),
            List.of("characters of the name of a lock", number(SqlLimits.LOCK_NAME_LENGTH)),
            List.of("characters of a pattern of lock names", number(SqlLimits.LOCK_PATTERN_LENGTH)),
            List.of("permits of a lock", number(SqlLimits.LOCK_PERMITS)),
            List.of("characters of a password", number(SqlLimits.PASSWORD_LENGTH)),
            List.of(
                "characters of the result of LPAD, REPEAT, REPLACE, RPAD, SPACE",
                number(SqlLimits.FUNCTION_RESULT_LENGTH))));
  }

  private static String table(List<String> head, Stream<List<String>> rows) {
    String rule = "|---".repeat(head.size()) + "|";
    return Stream.of(Stream.of(row(head), rule), rows.map(SqlReference::row))
        .flatMap(lines -> lines)
        .collect(joining("\n"));
  }

  private static String row(List<String> cells) {
    return cells.stream()
        .map(cell -> cell.replace("||", "&#124;&#124;"))
        .collect(joining(" | ", "| ", " |"));
  }

  private static String code(String text) {
    return "`" + text + "`";
  }

  private static String number(int number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
