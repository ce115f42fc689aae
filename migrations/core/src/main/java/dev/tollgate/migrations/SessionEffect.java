package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What a statement leaves in its session.
 *
 * @param name of the setting; empty for none
 * @param left words that later statements have if they need what this one left
 * @param ended such words of earlier statements, whose effect has ended
 */
record SessionEffect(Kind kind, String name, List<String> left, List<String> ended) {
  /** What the next session gets. */
  enum Kind {
    /** Nothing, but for the words of {@link #left}. */
    NONE,
    /** A literal value: the statement may be executed again. */
    SETTING,
    /** A setting has the value with which sessions begin. */
    RESET,
    RESET_ALL,
    /** Nobody can tell. */
    OPAQUE
  }

  /** A statement with a variable has this word. */
  private static final String VARIABLE = "@";

  private static final Set<String> SCOPES = Set.of("SESSION", "LOCAL", "GLOBAL", "PERSIST");

  /** Statements that leave nothing in the session by themselves. */
  private static final Set<String> LEAVE_NOTHING =
      Set.of(
          "INSERT",
          "UPDATE",
          "DELETE",
          "MERGE",
          "REPLACE",
          "SELECT",
          "WITH",
          "VALUES",
          "TABLE",
          "SAVEPOINT",
          "RELEASE",
          "ROLLBACK",
          "EXPLAIN",
          "SHOW",
          "DESCRIBE",
          "DESC",
          "CREATE",
          "ALTER",
          "DROP",
          "RENAME",
          "TRUNCATE",
          "GRANT",
          "REVOKE",
          "COMMENT",
          "ANALYZE",
          "VACUUM",
          "REINDEX",
          "CLUSTER",
          "REFRESH",
          "COPY",
          "LOCK",
          "CHECK",
          "OPTIMIZE",
          "REPAIR",
          "FLUSH",
          "CHECKPOINT",
          "NOTIFY",
          "REASSIGN",
          "SECURITY",
          "IMPORT",
          "DISCARD",
          "KILL");

  /** Functions that leave what no other statement shows. */
  private static final Set<String> OPAQUE_FUNCTIONS =
      Set.of(
          "SET_CONFIG",
          "GET_LOCK",
          "PG_ADVISORY_LOCK",
          "PG_ADVISORY_LOCK_SHARED",
          "PG_TRY_ADVISORY_LOCK",
          "PG_TRY_ADVISORY_LOCK_SHARED",
          "SETSEED",
          "DBLINK_CONNECT");

  /** What tells of the last statement that changed or found rows. */
  private static final List<String> OF_LAST_ROWS =
      List.of("LAST_INSERT_ID", "ROW_COUNT", "FOUND_ROWS", "LASTVAL", "CURRVAL");

  private static final Set<String> TEMPORARY = Set.of("TEMPORARY", "TEMP");

  SessionEffect {
    requireNonNull(kind, "kind");
    requireNonNull(name, "name");
    left = List.copyOf(left);
    ended = List.copyOf(ended);
  }

  private static SessionEffect of(Kind kind, String name) {
    return new SessionEffect(kind, name, List.of(), List.of());
  }

  static SessionEffect of(SqlStatement statement) {
    return of(statement.executedWords(Integer.MAX_VALUE), statement.dialect());
  }

  /** True if a statement with these words may need what is left under one of them. */
  static boolean needs(List<String> words, String word) {
    return word.equals(VARIABLE)
        ? hasVariable(words)
        : words.stream().map(SessionEffect::plain).anyMatch(word::equals);
  }

  private static SessionEffect of(List<String> words, Dialect dialect) {
    String first = word(words, 0);
    return switch (first) {
      case "SET" -> ofSet(words, dialect);
      case "USE" -> of(Kind.SETTING, "USE");
      case "RESET" ->
          word(words, 1).equals("ALL")
              ? of(Kind.RESET_ALL, "")
              : of(Kind.RESET, settingAt(words, word(words, 1).equals("SESSION") ? 2 : 1));
      case "PREPARE" -> new SessionEffect(Kind.NONE, "", List.of(plain(word(words, 1))), List.of());
      case "DEALLOCATE" ->
          new SessionEffect(Kind.NONE, "", List.of(), List.of(plain(words.get(words.size() - 1))));
      default -> ofOther(first, words, dialect);
    };
  }

  private static SessionEffect ofOther(String first, List<String> words, Dialect dialect) {
    if (first.equals("DISCARD") && word(words, 1).equals("ALL")) {
      return of(Kind.RESET_ALL, "");
    }
    if (callsOpaque(words) || (!isKnown(first, words, dialect) && dialect != Dialect.TOLLGATE)) {
      return of(Kind.OPAQUE, "");
    }
    List<String> left = new ArrayList<>(isQuery(first) ? List.of("FOUND_ROWS") : List.of());
    if (first.equals("INSERT") || first.equals("REPLACE") || first.equals("LOAD")) {
      left.addAll(OF_LAST_ROWS);
    } else if (words.contains("NEXTVAL") || words.contains("SETVAL")) {
      left.addAll(List.of("LASTVAL", "CURRVAL"));
    } else if (!first.equals("CREATE") && !isQuery(first)) {
      left.add("ROW_COUNT");
    }
    if (hasVariable(words)) {
      left.add(VARIABLE);
    }
    temporary(words).ifPresent(left::add);
    List<String> ended =
        first.equals("DROP") ? words.stream().map(SessionEffect::plain).toList() : List.of();
    return new SessionEffect(Kind.NONE, "", left, ended);
  }

  private static boolean isQuery(String first) {
    return first.equals("SELECT") || first.equals("(") || first.equals("WITH");
  }

  private static boolean isKnown(String first, List<String> words, Dialect dialect) {
    boolean mariadb = dialect == Dialect.MARIADB;
    return switch (first) {
      case "(" -> true;
      case "ALTER" -> !word(words, 1).equals("SESSION");
      case "LOAD" -> mariadb;
      case "DO" -> mariadb;
      default -> LEAVE_NOTHING.contains(first);
    };
  }

  private static boolean callsOpaque(List<String> words) {
    for (int i = 0; i + 1 < words.size(); i++) {
      if (OPAQUE_FUNCTIONS.contains(words.get(i)) && words.get(i + 1).equals("(")) {
        return true;
      }
    }
    return false;
  }

  /** Variables of the user have one @ before them, and those of the server two. */
  private static boolean hasVariable(List<String> words) {
    for (int i = 0; i < words.size(); i++) {
      boolean single =
          words.get(i).equals(VARIABLE)
              && !word(words, i + 1).equals(VARIABLE)
              && !(i > 0 && words.get(i - 1).equals(VARIABLE));
      if (single) {
        return true;
      }
    }
    return false;
  }

  /** The name of a temporary table, also of one that a query makes. */
  private static Optional<String> temporary(List<String> words) {
    for (int i = 1; i < words.size(); i++) {
      String before = words.get(i - 1);
      if (!TEMPORARY.contains(words.get(i))
          || !Set.of("CREATE", "REPLACE", "LOCAL", "INTO").contains(before)) {
        continue;
      }
      int at = i + 1;
      while (Set.of("TABLE", "VIEW", "SEQUENCE", "IF", "NOT", "EXISTS", "RECURSIVE")
          .contains(word(words, at))) {
        at++;
      }
      while (word(words, at + 1).equals(".")) {
        at += 2;
      }
      return Optional.of(plain(word(words, at)));
    }
    return Optional.empty();
  }

  private static SessionEffect ofSet(List<String> words, Dialect dialect) {
    int at = 1;
    while (word(words, at).equals(VARIABLE) && word(words, at + 1).equals(VARIABLE)) {
      at += 2;
    }
    boolean session = false;
    while (SCOPES.contains(word(words, at)) && at + 1 < words.size()) {
      String scope = words.get(at);
      if (scope.equals("GLOBAL")
          || scope.equals("PERSIST")
          || (scope.equals("LOCAL") && dialect == Dialect.POSTGRESQL)) {
        return of(Kind.NONE, "");
      }
      session = true;
      at += word(words, at + 1).equals(".") ? 2 : 1;
    }
    switch (word(words, at)) {
      case "STATEMENT" -> {
        int inner = words.indexOf("FOR");
        return inner < 0
            ? of(Kind.OPAQUE, "")
            : of(words.subList(inner + 1, words.size()), dialect);
      }
      case "PASSWORD", "CONSTRAINTS", "DEFAULT" -> {
        return of(Kind.NONE, "");
      }
      case "TRANSACTION" -> {
        if (!session) {
          return of(Kind.NONE, "");
        }
      }
      case "FENCING" -> {
        return of(Kind.SETTING, fencing(words.subList(at, words.size())));
      }
      default -> {}
    }
    List<String> rest = words.subList(at, words.size());
    if (hasVariable(rest)) {
      return new SessionEffect(Kind.NONE, "", List.of(VARIABLE), List.of());
    }
    if (rest.contains("(") || rest.contains(VARIABLE)) {
      return of(Kind.OPAQUE, "");
    }
    // of several assignments, a later setting replaces one and not the others
    boolean several = dialect == Dialect.MARIADB && rest.contains(",");
    return of(Kind.SETTING, several ? String.join(" ", rest) : settingAt(words, at));
  }

  private static String settingAt(List<String> words, int at) {
    String first = word(words, at);
    if (first.equals("TIME") && word(words, at + 1).equals("ZONE")) {
      return "TIMEZONE";
    }
    StringBuilder name = new StringBuilder(plain(first));
    for (int i = at + 1; word(words, i).equals("."); i += 2) {
      name.append('.').append(plain(word(words, i + 1)));
    }
    return name.toString();
  }

  /** The token of each lock is a setting of its own. */
  private static String fencing(List<String> words) {
    int lock = words.indexOf("FOR");
    return "FENCING " + (lock < 0 ? "" : String.join(" ", words.subList(lock, words.size())));
  }

  private static String word(List<String> words, int at) {
    return at < words.size() ? words.get(at) : "";
  }

  /** A name as it is without quotes, in upper case. */
  static String plain(String word) {
    boolean quoted = word.length() > 1 && (word.charAt(0) == '"' || word.charAt(0) == '`');
    return (quoted ? word.substring(1, word.length() - 1) : word).toUpperCase(Locale.ROOT);
  }
}
