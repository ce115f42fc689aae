package dev.tollgate.simulation;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SeriesEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A series with one of the bugs of {@link Breakage}; other operations stay as they are. */
final class BrokenSeries implements UnaryOperator<Operation> {
  private final Breakage breakage;

  BrokenSeries(Breakage breakage) {
    this.breakage = breakage;
  }

  @Override
  public Operation apply(Operation operation) {
    if (operation instanceof Operation.DefineMarked marked) {
      return switch (breakage) {
        case MARK_WITHOUT_DEFINITION ->
            new Operation.ExecuteSeries(marked.marks(), SeriesEnd.COMMIT);
        case DEFINITION_WITHOUT_MARK -> marked.definition();
        default -> marked;
      };
    }
    if (!(operation instanceof Operation.ExecuteSeries series)) {
      return operation;
    }
    return switch (breakage) {
      case SERIES_FENCED_BY_ITS_FIRST -> fencedByItsFirst(series);
      case SERIES_GOES_ON_AFTER_FAILURE ->
          series.stopsAtFailure() && series.end() != SeriesEnd.COMMIT
              ? new Operation.ExecuteSeries(series.statements(), SeriesEnd.RUN_ALL)
              : series;
      case SERIES_NOT_COMMITTED ->
          series.end() == SeriesEnd.COMMIT
              ? new Operation.ExecuteSeries(series.statements(), SeriesEnd.STOP_AT_FAILURE)
              : series;
      case MARK_WITHOUT_DEFINITION, DEFINITION_WITHOUT_MARK -> series;
      default -> throw new IllegalArgumentException("not of series: " + breakage);
    };
  }

  private static Operation fencedByItsFirst(Operation.ExecuteSeries series) {
    List<Operation.ExecuteSql> statements = new ArrayList<>();
    for (Operation.ExecuteSql statement : series.statements()) {
      statements.add(statements.isEmpty() ? statement : withoutClause(statement));
    }
    return new Operation.ExecuteSeries(statements, series.end());
  }

  private static Operation.ExecuteSql withoutClause(Operation.ExecuteSql statement) {
    return new Operation.ExecuteSql(
        statement.sql(),
        false,
        statement.targets(),
        statement.parameterSets().stream()
            .map(set -> new Operation.ParameterSet(set.values(), null))
            .toList(),
        true,
        false,
        statement.keys(),
        statement.maxRows(),
        statement.binding(),
        statement.ownLeaseTrusted(),
        statement.mode());
  }
}
