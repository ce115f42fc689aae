package dev.tollgate.jdbc;

import dev.tollgate.wire.SeriesEnding;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.BatchUpdateException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * H2's statement, except that its batch of different texts is one request: neighbors that change
 * rows travel as a series. Each statement of a batch stands by itself, as in H2. Its results name
 * this statement.
 *
 * <p>A proxy, because H2's class runs nothing in a subclass. Not thread-safe, except for cancel.
 */
final class TollgateStatement extends OverH2 {
  private final Statement h2;
  private final StatementRunner runner;
  private volatile boolean runsSeries;
  private List<String> batch = new ArrayList<>();

  /** The last result that H2's statement has given, and as the application has it. */
  private @Nullable ResultSet lastOfH2;

  private @Nullable ResultSet last;

  private TollgateStatement(Statement h2, StatementRunner runner) {
    super(h2);
    this.h2 = h2;
    this.runner = runner;
  }

  static Statement over(Statement h2, StatementRunner runner) {
    return (Statement)
        Proxy.newProxyInstance(
            TollgateStatement.class.getClassLoader(),
            new Class<?>[] {Statement.class},
            new TollgateStatement(h2, runner));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    switch (method.getName()) {
      case "addBatch" -> {
        pass(method, arguments);
        // H2 has checked the text; its own batch stays empty
        h2.clearBatch();
        batch.add(String.valueOf(arguments == null ? null : arguments[0]));
        return null;
      }
      case "clearBatch" -> {
        pass(method, arguments);
        batch = new ArrayList<>();
        return null;
      }
      case "executeBatch" -> {
        return Arrays.stream(executeBatch())
            .mapToInt(count -> count > Integer.MAX_VALUE ? Statement.SUCCESS_NO_INFO : (int) count)
            .toArray();
      }
      case "executeLargeBatch" -> {
        return executeBatch();
      }
      case "cancel" -> {
        if (runsSeries) {
          runner.cancel();
        }
        return pass(method, arguments);
      }
      default -> {
        Object answer = super.invoke(proxy, method, arguments);
        return answer instanceof ResultSet result ? own(result, (Statement) proxy) : answer;
      }
    }
  }

  private ResultSet own(ResultSet result, Statement statement) {
    ResultSet own = last;
    if (own == null || lastOfH2 != result) {
      own = TollgateResultSet.over(result, statement);
      last = own;
      lastOfH2 = result;
    }
    return own;
  }

  private long[] executeBatch() throws SQLException {
    // closes the result set of the execution before
    h2.getMoreResults();
    Execution execution = new Execution(batch);
    batch = new ArrayList<>();
    Pipeline pipeline = runner.pipeline();
    try {
      // a batch has its counts, also in a pipelined transaction
      pipeline.pause();
      return execution.run();
    } catch (DbException e) {
      throw e.getSQLException();
    } finally {
      pipeline.resume();
    }
  }

  /** One execution of the batch. */
  private final class Execution {
    private final List<String> texts;
    private final BatchOutcome outcome;

    Execution(List<String> texts) {
      this.texts = texts;
      this.outcome = new BatchOutcome(texts.size());
    }

    long[] run() throws SQLException {
      while (outcome.done() < texts.size()) {
        Series series = new Series();
        for (int i = outcome.done(); i < texts.size() && fits(texts.get(i)); i++) {
          if (!series.add(texts.get(i), SeriesRunner.NO_PARAMETERS)) {
            break;
          }
        }
        if (series.size() < 2 || !runTogether(series)) {
          runAlone();
        }
      }
      SQLException failure = outcome.chain();
      if (failure == null) {
        return outcome.counts();
      }
      BatchUpdateException failed =
          new BatchUpdateException(
              failure.getMessage(),
              failure.getSQLState(),
              failure.getErrorCode(),
              outcome.counts(),
              null);
      failed.setNextException(failure);
      throw failed;
    }

    /** Texts with JDBC escapes go through H2's classes, which translate them. */
    private boolean fits(String sql) {
      return sql.indexOf('{') < 0 && StatementKind.isForSeries(sql);
    }

    private void runAlone() {
      try {
        outcome.succeeded(h2.executeLargeUpdate(texts.get(outcome.done())));
      } catch (SQLException e) {
        outcome.failed(e);
      }
    }

    /** Returns false if the node cannot run a series; then nothing has been done. */
    private boolean runTogether(Series series) {
      List<Series.Result> results;
      runsSeries = true;
      try {
        results = runner.series().run(series, SeriesEnding.RUN_ALL);
      } catch (DbException e) {
        outcome.failedTogether(series.size(), e.getSQLException());
        return true;
      } finally {
        runsSeries = false;
      }
      if (results == null) {
        return false;
      }
      for (Series.Result result : results) {
        SQLException failure = result.failure();
        if (failure == null) {
          outcome.succeeded(result.count());
        } else {
          outcome.failed(failure);
        }
      }
      return true;
    }
  }
}
