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
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;

/**
 * How often the queries of one statement use each other. A chain of names in WITH, each of which
 * uses the name before it twice, is short and needs no memory. But H2 processes every query as
 * often as it is used, and every field of {@code ROW(c, c)} as often as it occurs. H2 does so while
 * it prepares the statement, where the store can neither count the work nor interrupt it.
 */
final class QueryWeight {

  /**
   * @param uses number of uses of queries that WITH names, and of the queries that those use
   * @param fields number of fields of the largest row that the query can return, if its tables have
   *     no columns of type ROW
   */
  private record Weight(long uses, long fields) {}

  /** Above all limits, and far from an overflow. */
  private static final long MOST = 1L << 40;

  private QueryWeight() {}

  /**
   * Refuses a statement, or a part of one, in which queries are used too often.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void check(SqlNode root) {
    check(root, SqlLimits.USES_OF_QUERIES);
  }

  /** Refuses the query of a view in which queries are used too often. */
  static void checkView(SqlNode root) {
    check(root, SqlLimits.USES_OF_QUERIES_IN_A_VIEW);
  }

  private static void check(SqlNode root, int uses) {
    Weight weight = of(root, Map.of());
    if (weight.uses() > uses) {
      throw Refusals.tooLong(
          root.getParserPosition(),
          "the queries that WITH names are used more than "
              + uses
              + " times, each counted as often as those that use it: store what one gives in a"
              + " table");
    }
    if (weight.fields() > SqlLimits.FIELDS_OF_A_ROW) {
      throw Refusals.tooLong(
          root.getParserPosition(),
          "a row has more than "
              + SqlLimits.FIELDS_OF_A_ROW
              + " fields, with those of the rows within it: keep its parts in columns");
    }
  }

  /** Returns the weight of everything in a query or an expression. */
  private static Weight of(SqlNode root, Map<String, Weight> named) {
    long uses = 0;
    long widest = 1;
    Deque<SqlNode> open = new ArrayDeque<>();
    open.push(root);
    while (!open.isEmpty()) {
      SqlNode next = open.pop();
      Weight inner = null;
      if (next instanceof SqlWith with) {
        inner = ofWith(with, named);
      } else if (next instanceof SqlSelect && next != root) {
        inner = of(next, named);
      } else if (next instanceof SqlIdentifier name) {
        inner = name.isSimple() ? named.get(upperCase(name)) : null;
        uses += inner == null ? 0 : 1;
      } else {
        open.addAll(partsOf(next));
      }
      if (inner != null) {
        uses = Math.min(MOST, uses + inner.uses());
        widest = Math.max(widest, inner.fields());
      }
    }
    return new Weight(uses, Math.min(MOST, widest * fieldsOfRows(root)));
  }

  private static Weight ofWith(SqlWith with, Map<String, Weight> around) {
    Map<String, Weight> named = new HashMap<>(around);
    long widest = 1;
    for (SqlNode node : with.withList) {
      SqlWithItem item = (SqlWithItem) node;
      Weight weight = of(item.query, named);
      named.put(upperCase(item.name), weight);
      widest = Math.max(widest, weight.fields());
    }
    Weight body = of(with.body, named);
    return new Weight(body.uses(), Math.max(widest, body.fields()));
  }

  /**
   * Returns the number of fields of the largest row that a SELECT list or a VALUES builds itself; 1
   * if it builds none.
   */
  private static long fieldsOfRows(SqlNode query) {
    long fields = 1;
    if (query instanceof SqlSelect select) {
      for (SqlNode item : select.getSelectList()) {
        fields = Math.max(fields, fieldsIn(item));
      }
    } else if (query.getKind() == SqlKind.VALUES) {
      for (SqlNode row : ((SqlCall) query).getOperandList()) {
        for (SqlNode item : ((SqlCall) row).getOperandList()) {
          fields = Math.max(fields, fieldsIn(item));
        }
      }
    }
    return fields;
  }

  private static long fieldsIn(SqlNode item) {
    long fields = 1;
    Deque<SqlNode> open = new ArrayDeque<>(List.of(item));
    while (!open.isEmpty()) {
      SqlNode next = open.pop();
      if (next.getKind() == SqlKind.ROW) {
        fields = Math.max(fields, leavesOf(next));
      } else if (!(next instanceof SqlSelect)) {
        open.addAll(partsOf(next));
      }
    }
    return fields;
  }

  private static long leavesOf(SqlNode row) {
    long leaves = 0;
    Deque<SqlNode> open = new ArrayDeque<>(List.of(row));
    while (!open.isEmpty()) {
      List<SqlNode> parts = partsOf(open.pop());
      leaves += parts.isEmpty() ? 1 : 0;
      open.addAll(parts);
    }
    return leaves;
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
