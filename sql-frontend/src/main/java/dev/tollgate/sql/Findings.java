package dev.tollgate.sql;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/**
 * What a statement does, as far as its tree shows it. {@link TreeWalk} gathers the findings first.
 * {@link UseRules} judges them when it is known whether all replicas will run the statement.
 */
final class Findings {

  /**
   * @param ordered whether an ORDER BY says in which order the function sees its rows
   */
  record FunctionUse(FunctionRule rule, SqlParserPos position, boolean ordered) {}

  record LockUse(LockFunction function, SqlParserPos position) {}

  record TableUse(ObjectName table, SqlParserPos position) {}

  record TargetUse(Target target, SqlParserPos position) {}

  /** A part that may run forever or use up all memory, and the sentence that says so. */
  record TooDear(SqlParserPos position, String sentence) {}

  private final List<FunctionUse> functions = new ArrayList<>();
  private final List<LockUse> locks = new ArrayList<>();
  private final List<TableUse> reads = new ArrayList<>();
  private final List<TargetUse> targets = new ArrayList<>();
  private final List<TargetUse> rights = new ArrayList<>();
  private final List<SqlParserPos> rowIds = new ArrayList<>();
  private final List<SqlNode> namelessItems = new ArrayList<>();
  private final List<TooDear> tooDear = new ArrayList<>();
  private final List<SqlIdentifier> columns = new ArrayList<>();
  private final List<SqlParserPos> queries = new ArrayList<>();
  private long prepared;
  private int joins;
  private @Nullable SqlParserPos advancedSequence;
  private @Nullable SqlParserPos deltaTable;

  void function(FunctionUse use) {
    functions.add(use);
  }

  void lock(LockUse use) {
    locks.add(use);
  }

  /** Records a table or schema on which rights are granted or revoked. */
  void rights(TargetUse use) {
    rights.add(use);
  }

  void read(TableUse use) {
    reads.add(use);
  }

  void target(TargetUse use) {
    targets.add(use);
  }

  /** Records a use of _ROWID_ other than a comparison of two row ids. */
  void rowId(SqlParserPos position) {
    rowIds.add(position);
  }

  /** Records a name that stands for a value and is not a function. */
  void column(SqlIdentifier column) {
    columns.add(column);
  }

  /** Records a query: the whole statement or a part of an expression. */
  void query(SqlParserPos position) {
    queries.add(position);
  }

  /** Records an item of a SELECT list that is more than a column and has no alias. */
  void namelessItem(SqlNode item) {
    namelessItems.add(item);
  }

  /**
   * @param sentence null if there is nothing to refuse
   */
  void tooDear(SqlParserPos position, @Nullable String sentence) {
    if (sentence != null) {
      tooDear.add(new TooDear(position, sentence));
    }
  }

  /**
   * Records a part of a derived table, and how many nodes H2 prepares for it.
   *
   * @throws SqlRefused if the statement has too many such nodes
   */
  void prepared(SqlParserPos position, long nodes) {
    prepared += nodes;
    if (prepared > SqlLimits.PREPARATION) {
      throw Refusals.tooLong(
          position,
          "too many derived tables in one another, or too long ones: each level multiplies the time"
              + " that the database takes to prepare them. Nest at most 5, name them one after the"
              + " other in one WITH, or store what one gives in a table");
    }
  }

  /** Records a join. H2 tries all orders of joined tables, each with all indexes. */
  void join(SqlParserPos position) {
    joins++;
    if (joins > SqlLimits.JOINS) {
      tooDear(
          position,
          "a statement that writes joins at most "
              + SqlLimits.JOINS
              + " times, because every replica looks for the best order of all these joins: store"
              + " what some of the queries give in a table");
    }
  }

  /** Returns how many nodes H2 prepares for the derived tables. */
  long prepared() {
    return prepared;
  }

  /** Records NEXT VALUE FOR a sequence. */
  void advancedSequence(SqlParserPos position) {
    advancedSequence = position;
  }

  /** Records FINAL, OLD or NEW TABLE (...). */
  void deltaTable(SqlParserPos position) {
    deltaTable = position;
  }

  List<FunctionUse> functions() {
    return functions;
  }

  List<LockUse> locks() {
    return locks;
  }

  List<TableUse> reads() {
    return reads;
  }

  List<TargetUse> targets() {
    return targets;
  }

  List<TargetUse> rights() {
    return rights;
  }

  List<SqlParserPos> rowIds() {
    return rowIds;
  }

  List<SqlIdentifier> columns() {
    return columns;
  }

  List<SqlParserPos> queries() {
    return queries;
  }

  List<SqlNode> namelessItems() {
    return namelessItems;
  }

  List<TooDear> tooDear() {
    return tooDear;
  }

  @Nullable SqlParserPos advancedSequence() {
    return advancedSequence;
  }

  @Nullable SqlParserPos deltaTable() {
    return deltaTable;
  }

  /** Whether a statement that has the form of a query changes state. */
  boolean changesState() {
    return advancedSequence != null
        || deltaTable != null
        || locks.stream().anyMatch(use -> use.function().changesState());
  }

  List<Target> targetList() {
    return targets.stream().map(TargetUse::target).distinct().toList();
  }
}
