package dev.tollgate.sql;

import dev.tollgate.sql.Findings.TableUse;
import dev.tollgate.sql.Findings.TargetUse;
import dev.tollgate.sql.tree.DataChange;
import dev.tollgate.sql.tree.DeltaTable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWindow;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.jspecify.annotations.Nullable;

/**
 * Walks a tree and records what it finds. It refuses nodes that it does not know: a node without a
 * rule could hide a function or a table.
 *
 * <p>The walk is not recursive: a tree may be {@link SqlLimits#OPERATORS} deep.
 */
final class TreeWalk {

  private enum Place {
    /** Where a value or a query may stand. */
    EXPRESSION,
    /** The call of an aggregate whose ORDER BY has been seen. */
    ORDERED,
    /** After FROM, JOIN and USING. */
    TABLE
  }

  /** H2 prepares the contents of a derived table about four times for each level of nesting. */
  private static final int PREPARED_PER_LEVEL = 4;

  /** What a derived table costs in addition to its nodes, in nodes. */
  private static final int NODES_OF_A_TABLE = 200;

  /** Level at which a single derived table is too expensive. */
  private static final int DEEP = 10;

  /**
   * @param level how many derived tables and WITH queries contain the node
   */
  private record Pending(SqlNode node, Place place, int level) {}

  private static final Set<SqlKind> ORDERS =
      EnumSet.of(SqlKind.DESCENDING, SqlKind.NULLS_FIRST, SqlKind.NULLS_LAST);

  private final Findings findings;
  private final ExpressionRules expressions;
  private final Deque<Pending> pending = new ArrayDeque<>();
  private int level;

  private TreeWalk(Tokens tokens, Findings findings) {
    this.findings = findings;
    this.expressions = new ExpressionRules(tokens, findings);
  }

  /** Adds what it finds in an expression, a query, a data type or a change. */
  static void expression(Tokens tokens, SqlNode node, Findings findings) {
    TreeWalk walk = new TreeWalk(tokens, findings);
    walk.later(node, Place.EXPRESSION);
    while (!walk.pending.isEmpty()) {
      Pending next = walk.pending.pop();
      walk.level = next.level();
      walk.prepared(next.node(), 1);
      if (next.place() == Place.TABLE) {
        walk.table(next.node());
      } else {
        walk.node(next.node(), next.place());
      }
    }
  }

  private void later(@Nullable SqlNode node, Place place) {
    if (node != null) {
      pending.push(new Pending(node, place, level));
    }
  }

  /** Enters one more derived table: the nodes added from here on are in it. */
  private void descend(SqlNode table) {
    level = Math.min(level + 1, DEEP);
    prepared(table, NODES_OF_A_TABLE);
  }

  private void prepared(SqlNode node, int nodes) {
    if (level > 0) {
      long times = Math.round(Math.pow(PREPARED_PER_LEVEL, level));
      findings.prepared(node.getParserPosition(), nodes * times);
    }
  }

  /** Adds all nodes to the pending nodes, so that the first node is visited first. */
  private void later(List<? extends @Nullable SqlNode> nodes) {
    for (int i = nodes.size() - 1; i >= 0; i--) {
      later(nodes.get(i), Place.EXPRESSION);
    }
  }

  private void node(SqlNode node, Place place) {
    if (node instanceof SqlCall call) {
      call(call, place);
    } else if (node instanceof SqlIdentifier identifier) {
      expressions.name(identifier);
    } else if (node instanceof SqlNodeList list) {
      later(list.getList());
    } else if (node instanceof SqlDataTypeSpec type) {
      expressions.dataType(type);
    } else if (!(node instanceof SqlLiteral)
        && !(node instanceof SqlDynamicParam)
        && !(node instanceof SqlIntervalQualifier)) {
      throw unknown(node);
    }
  }

  private void table(SqlNode node) {
    if (node instanceof SqlIdentifier identifier) {
      read(identifier);
    } else if (node instanceof SqlJoin join) {
      join(join);
    } else if (node instanceof DeltaTable delta) {
      descend(delta);
      node(delta, Place.EXPRESSION);
    } else {
      switch (node.getKind()) {
        // only the first operand is a table; an alias and the names of its columns follow
        case AS, LATERAL -> later(((SqlCall) node).operand(0), Place.TABLE);
        case COLLECTION_TABLE, UNNEST -> later(((SqlCall) node).getOperandList());
        case SELECT, UNION, INTERSECT, EXCEPT, VALUES, WITH, ORDER_BY, EXPLICIT_TABLE -> {
          descend(node);
          node(node, Place.EXPRESSION);
        }
        default -> throw unknown(node);
      }
    }
  }

  private void read(SqlIdentifier table) {
    findings.read(new TableUse(Names.tableName(table), table.getParserPosition()));
  }

  private void join(SqlJoin join) {
    findings.join(join.getParserPosition());
    switch (join.getConditionType()) {
      case ON -> later(join.getCondition(), Place.EXPRESSION);
      case USING, NONE -> {}
    }
    later(join.getRight(), Place.TABLE);
    later(join.getLeft(), Place.TABLE);
  }

  private void call(SqlCall call, Place place) {
    if (SqlKind.TOP_LEVEL.contains(call.getKind()) || call.getKind() == SqlKind.EXPLICIT_TABLE) {
      findings.query(call.getParserPosition());
    }
    if (call instanceof DataChange change) {
      change(change);
      return;
    }
    if (call instanceof DeltaTable delta) {
      findings.deltaTable(delta.getParserPosition());
      change(delta.change());
      return;
    }
    switch (call.getKind()) {
      case SELECT -> select((SqlSelect) call);
      case ORDER_BY -> {
        ((SqlOrderBy) call).orderList.forEach(TreeWalk::requireNoParameter);
        later(call.getOperandList());
      }
      case WITH -> with((SqlWith) call);
      case EXPLICIT_TABLE -> read(call.operand(0));
      case AS -> later(call.operand(0), Place.EXPRESSION);
      case WINDOW -> window((SqlWindow) call);
      case OVER -> over(call);
      case WITHIN_GROUP -> {
        later(call.operand(1), Place.EXPRESSION);
        later(call.operand(0), Place.ORDERED);
      }
      case LIKE -> {
        expressions.pattern(call);
        later(call.getOperandList());
      }
      case RESPECT_NULLS, IGNORE_NULLS -> later(call.operand(0), place);
      case NEXT_VALUE -> findings.advancedSequence(call.getParserPosition());
      case CURRENT_VALUE ->
          throw Refusals.notAllowed(
              call.getParserPosition(),
              "CURRENT VALUE FOR is not allowed: what a session got last is not replicated; keep"
                  + " what NEXT VALUE FOR gave");
      case EQUALS, NOT_EQUALS -> {
        if (!expressions.comparesRowIds(call)) {
          later(call.getOperandList());
        }
      }
      default -> operation(call, place);
    }
  }

  private void operation(SqlCall call, Place place) {
    if (call.getOperator() instanceof SqlFunction) {
      expressions.function(call, place == Place.ORDERED);
    } else if (!ExpressionRules.isAllowedOperator(call)) {
      throw unknown(call);
    }
    later(call.getOperandList());
  }

  private void change(DataChange change) {
    findings.target(
        new TargetUse(
            new Target(ObjectKind.TABLE, Names.tableName(change.target())),
            change.target().getParserPosition()));
    later(change.parts());
    later(change.using(), Place.TABLE);
  }

  /**
   * Refuses a parameter as an item of ORDER BY. H2 takes it for the number of a column, which it
   * would have to know before it prepares the query.
   */
  private static void requireNoParameter(SqlNode item) {
    SqlNode inner = item;
    while (inner instanceof SqlCall call && ORDERS.contains(call.getKind())) {
      inner = call.operand(0);
    }
    if (inner instanceof SqlDynamicParam) {
      throw Refusals.notSupported(
          inner.getParserPosition(),
          "ORDER BY ? is not supported: write the name or the number of the column, or an"
              + " expression around the parameter, as in CASE ? WHEN 1 THEN a ELSE b END");
    }
  }

  private void select(SqlSelect select) {
    later(select.getFetch(), Place.EXPRESSION);
    later(select.getOffset(), Place.EXPRESSION);
    later(select.getOrderList(), Place.EXPRESSION);
    later(select.getWindowList(), Place.EXPRESSION);
    later(select.getQualify(), Place.EXPRESSION);
    later(select.getHaving(), Place.EXPRESSION);
    later(select.getGroup(), Place.EXPRESSION);
    later(select.getWhere(), Place.EXPRESSION);
    later(select.getFrom(), Place.TABLE);
    later(select.getSelectList(), Place.EXPRESSION);
    for (SqlNode item : select.getSelectList()) {
      if (item instanceof SqlCall && item.getKind() != SqlKind.AS) {
        findings.namelessItem(item);
      }
    }
    // DISTINCT ON and TOP, see expressions.ftl
    later(select.getHints(), Place.EXPRESSION);
  }

  /**
   * Walks a WITH. The name of a common table expression hides nothing: H2 prefers a table of that
   * name.
   */
  private void with(SqlWith with) {
    later(with.body, Place.EXPRESSION);
    int around = level;
    for (SqlNode item : with.withList) {
      descend(item);
      later(((SqlWithItem) item).query, Place.EXPRESSION);
      level = around;
    }
  }

  private void window(SqlWindow window) {
    later(window.getUpperBound(), Place.EXPRESSION);
    later(window.getLowerBound(), Place.EXPRESSION);
    later(window.getOrderList(), Place.EXPRESSION);
    later(window.getPartitionList(), Place.EXPRESSION);
  }

  /** Walks an OVER, whose window is the name of a window or a definition. */
  private void over(SqlCall call) {
    if (call.operand(1).getKind() == SqlKind.WINDOW) {
      later(call.operand(1), Place.EXPRESSION);
    }
    later(call.operand(0), Place.EXPRESSION);
  }

  private static SqlRefused unknown(SqlNode node) {
    String what =
        node instanceof SqlCall call ? call.getOperator().getName() : node.getKind().name();
    return Refusals.notSupported(node.getParserPosition(), what + " is not supported here");
  }
}
