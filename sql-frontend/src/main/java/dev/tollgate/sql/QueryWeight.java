package dev.tollgate.sql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;

/**
 * How often the queries of a view use each other. A chain of names in WITH, each of which uses the
 * name before it twice, is short and needs no memory. But H2 processes every query as often as it
 * is used, and compiles all views after each definition, where steps end nothing.
 */
final class QueryWeight {
  /** Above all limits, and far from an overflow. */
  private static final long MOST = 1L << 40;

  private QueryWeight() {}

  /**
   * Refuses the query of a view in which queries are used too often.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void checkView(SqlNode root) {
    if (of(root, Map.of()) > SqlLimits.USES_OF_QUERIES_IN_A_VIEW) {
      throw Refusals.tooLong(
          root.getParserPosition(),
          "the queries that WITH names are used more than "
              + SqlLimits.USES_OF_QUERIES_IN_A_VIEW
              + " times in a view, each counted as often as those that use it: store what one gives"
              + " in a table");
    }
  }

  /** Returns the uses in a query or an expression. */
  private static long of(SqlNode root, Map<String, Long> named) {
    long uses = 0;
    Deque<SqlNode> open = new ArrayDeque<>();
    open.push(root);
    while (!open.isEmpty()) {
      SqlNode next = open.pop();
      if (next instanceof SqlWith with) {
        uses += ofWith(with, named);
      } else if (next instanceof SqlSelect && next != root) {
        uses += of(next, named);
      } else if (next instanceof SqlIdentifier name) {
        Long inner = name.isSimple() ? named.get(upperCase(name)) : null;
        uses += inner == null ? 0 : 1 + inner;
      } else {
        open.addAll(partsOf(next));
      }
      uses = Math.min(MOST, uses);
    }
    return uses;
  }

  private static long ofWith(SqlWith with, Map<String, Long> around) {
    Map<String, Long> named = new HashMap<>(around);
    for (SqlNode node : with.withList) {
      SqlWithItem item = (SqlWithItem) node;
      named.put(upperCase(item.name), of(item.query, named));
    }
    return of(with.body, named);
  }

  private static List<SqlNode> partsOf(SqlNode node) {
    List<SqlNode> parts = new ArrayList<>();
    if (node instanceof SqlCall call) {
      call.getOperandList().stream().filter(Objects::nonNull).forEach(parts::add);
    } else if (node instanceof SqlNodeList list) {
      list.getList().stream().filter(Objects::nonNull).forEach(parts::add);
    }
    return parts;
  }

  private static String upperCase(SqlIdentifier name) {
    return name.getSimple().toUpperCase(Locale.ROOT);
  }
}
