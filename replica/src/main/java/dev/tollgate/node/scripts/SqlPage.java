package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.ErrorAnswer;
import dev.tollgate.store.PlainResult;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.SqlState;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs one statement in a session of its own, which ends with the request. So nothing that belongs
 * to a session can be used: transactions, SET, and the lease of the session's own. Thread-safe.
 */
final class SqlPage {
  private static final int OK = 200;

  /** What would end with the session, before the script could make use of it. */
  private static final Pattern OF_SESSIONS =
      Pattern.compile(
          "(?:BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PREPARE|SET)\\b",
          Pattern.CASE_INSENSITIVE);

  private final ScriptSessions sessions;

  SqlPage(ScriptSessions sessions) {
    this.sessions = requireNonNull(sessions, "sessions");
  }

  /** POST: the rows of a query, or how many rows a statement has changed. */
  Answer run(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    Arguments arguments = Arguments.ofBody(request, "sql", "parameters", "max_rows", "timeout");
    String sql = arguments.text("sql");
    if (OF_SESSIONS.matcher(sql).region(firstWord(sql), sql.length()).lookingAt()) {
      throw ScriptRefusal.of(
          SqlState.NOT_SUPPORTED,
          "each request has a session and a transaction of its own: transactions of several"
              + " statements, and settings of a session, are for clients of JDBC");
    }
    List<SqlValue> parameters = parameters(arguments.list("parameters"));
    int maxRows = arguments.count("max_rows", ScriptLimits.ROWS, ScriptLimits.ROWS_MOST);
    Duration patience =
        arguments.time("timeout", ScriptLimits.STATEMENT, ScriptLimits.STATEMENT_MOST);
    return sessions.alone(
        request,
        connection -> {
          PlainResult result =
              connection.execute(sql, Repeat.UNSAFE, parameters, maxRows + 1, patience);
          if (result.hasRows()) {
            return rows(connection, result, maxRows, patience);
          }
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("updated", result.updated());
          return JsonWriter.answer(answer);
        });
  }

  /** Where the first word begins, after spaces, parentheses and comments. */
  private static int firstWord(String sql) {
    int at = 0;
    while (at < sql.length()) {
      char unit = sql.charAt(at);
      if (unit == '(' || Character.isWhitespace(unit)) {
        at++;
      } else if (sql.startsWith("/*", at)) {
        int end = sql.indexOf("*/", at + 2);
        at = end < 0 ? sql.length() : end + 2;
      } else if (sql.startsWith("--", at) || sql.startsWith("//", at)) {
        int end = sql.indexOf('\n', at);
        at = end < 0 ? sql.length() : end + 1;
      } else {
        break;
      }
    }
    return at;
  }

  private static List<SqlValue> parameters(List<? extends @Nullable Object> values)
      throws ScriptRefusal {
    if (values.size() > ScriptLimits.PARAMETERS) {
      throw ScriptRefusal.invalid(
          values.size() + " parameters: at most " + ScriptLimits.PARAMETERS);
    }
    List<SqlValue> parameters = new ArrayList<>(values.size());
    for (Object value : values) {
      parameters.add(parameter(value));
    }
    return parameters;
  }

  private static SqlValue parameter(@Nullable Object value) throws ScriptRefusal {
    try {
      return valueOf(value);
    } catch (SQLException e) {
      throw ScriptRefusal.invalid(SqlErrors.failed(e).message());
    }
  }

  private static SqlValue valueOf(@Nullable Object value) throws ScriptRefusal, SQLException {
    if (value == null) {
      return SqlValue.ofNull();
    } else if (value instanceof String text) {
      return SqlValue.ofText(text);
    } else if (value instanceof Long number) {
      return SqlValue.ofNumber(number);
    } else if (value instanceof BigDecimal number) {
      return SqlValue.ofDecimal(number);
    } else if (value instanceof Boolean truth) {
      return SqlValue.ofTruth(truth);
    } else if (value instanceof List<?> elements) {
      List<SqlValue> array = new ArrayList<>(elements.size());
      for (Object element : elements) {
        array.add(valueOf(element));
      }
      return SqlValue.ofArray(array);
    }
    throw ScriptRefusal.invalid(
        "a parameter is an object: send its text as a string, and write ? FORMAT JSON");
  }

  private static Answer rows(
      ScriptConnection connection, PlainResult first, int maxRows, Duration patience)
      throws ScriptRefusal {
    List<@Nullable Object> columns = new ArrayList<>();
    for (PlainResult.PlainColumn column : first.columns()) {
      Map<String, @Nullable Object> described = new LinkedHashMap<>();
      described.put("name", column.name());
      described.put("type", column.type());
      columns.add(described);
    }
    JsonWriter body = new JsonWriter().json("{\"columns\":").append(columns).json(",\"rows\":[");
    boolean truncated = false;
    int count = 0;
    PlainResult page = first;
    while (true) {
      for (List<@Nullable Object> row : page.rows()) {
        if (count == maxRows || body.length() > ScriptLimits.RESULT_CHARS) {
          truncated = true;
          break;
        }
        body.row(count == 0, row);
        count++;
      }
      if (truncated || page.cursorId() == 0) {
        break;
      }
      page = connection.fetch(page, Repeat.UNSAFE, patience);
    }
    body.json("],\"truncated\":" + truncated + "}\n");
    return Answer.of(OK, ErrorAnswer.JSON, body.toString().getBytes(StandardCharsets.UTF_8));
  }
}
