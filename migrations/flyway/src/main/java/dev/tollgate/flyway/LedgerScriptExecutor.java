package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.LedgerUnit;
import dev.tollgate.migrations.MigrationException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogFactory;
import org.flywaydb.core.internal.callback.CallbackExecutor;
import org.flywaydb.core.internal.database.h2.H2Parser;
import org.flywaydb.core.internal.jdbc.JdbcTemplate;
import org.flywaydb.core.internal.jdbc.Results;
import org.flywaydb.core.internal.parser.ParsingContext;
import org.flywaydb.core.internal.sqlscript.DefaultSqlScriptExecutor;
import org.flywaydb.core.internal.sqlscript.SqlScript;
import org.flywaydb.core.internal.sqlscript.SqlStatement;
import org.flywaydb.core.internal.sqlscript.SqlStatementIterator;

/** Runs the statements of a migration that no earlier run has done. */
final class LedgerScriptExecutor extends DefaultSqlScriptExecutor {
  private static final Log LOG = LogFactory.getLog(LedgerScriptExecutor.class);

  private final ScriptLedger ledger;

  LedgerScriptExecutor(
      ScriptLedger ledger,
      JdbcTemplate statements,
      CallbackExecutor<Event> callbacks,
      boolean outputQueryResults) {
    super(statements, callbacks, /* undo= */ false, /* batch= */ false, outputQueryResults, null);
    this.ledger = requireNonNull(ledger, "ledger");
  }

  @Override
  public List<Results> execute(SqlScript script, Configuration configuration) {
    List<Results> results = new ArrayList<>();
    try (SqlStatementIterator statements = script.getSqlStatements()) {
      LedgerUnit unit = ledger.begin(key(script, configuration));
      if (unit.done() > 0) {
        LOG.info(
            script.getResource().getFilename()
                + ": "
                + unit.done()
                + " statements were done by an earlier run");
      }
      Iterator<String> written = written(script, configuration).iterator();
      for (SqlStatement next = statements.next(); next != null; next = statements.next()) {
        String sql = next.getSql();
        if (unit.before(sql, written.hasNext() ? written.next() : sql)) {
          results.add(execute(unit, script, next, configuration));
        }
      }
      ledger.scriptEnded(unit);
    } catch (MigrationException e) {
      throw ScriptLedger.refused(e);
    } catch (SQLException e) {
      throw new FlywayException("the ledger of statements failed: " + e.getMessage(), e);
    }
    return results;
  }

  /**
   * The statements as the script has them, because values such as the time differ from run to run.
   * Empty if a value has semicolons, so that the statements are others.
   */
  private static List<String> written(SqlScript script, Configuration configuration) {
    Configuration withoutValues =
        new FluentConfiguration(configuration.getClassLoader())
            .configuration(configuration)
            .placeholderReplacement(false);
    List<String> written =
        texts(new H2Parser(withoutValues, new ParsingContext()).parse(script.getResource()));
    return written.size() == texts(script.getSqlStatements()).size() ? written : List.of();
  }

  private static List<String> texts(SqlStatementIterator statements) {
    try (statements) {
      List<String> texts = new ArrayList<>();
      for (SqlStatement next = statements.next(); next != null; next = statements.next()) {
        texts.add(next.getSql());
      }
      return texts;
    }
  }

  private Results execute(
      LedgerUnit unit, SqlScript script, SqlStatement statement, Configuration configuration)
      throws SQLException {
    Results results;
    try {
      results = executeStatement(jdbcTemplate, script, statement, configuration);
    } catch (FlywayException e) {
      noteFailure(unit, e);
      throw e;
    }
    unit.after();
    return results;
  }

  private static void noteFailure(LedgerUnit unit, FlywayException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException why) {
        try {
          unit.failed(why);
        } catch (SQLException e) {
          failure.addSuppressed(e);
        }
        return;
      }
    }
  }

  /** A version keeps its key when its file gets another description. */
  private static String key(SqlScript script, Configuration configuration) {
    String file = script.getResource().getFilename();
    String prefix = configuration.getSqlMigrationPrefix();
    int separator = file.indexOf(configuration.getSqlMigrationSeparator());
    if (prefix.isEmpty() || !file.startsWith(prefix) || separator <= prefix.length()) {
      return file;
    }
    return prefix + MigrationVersion.fromVersion(file.substring(prefix.length(), separator));
  }
}
