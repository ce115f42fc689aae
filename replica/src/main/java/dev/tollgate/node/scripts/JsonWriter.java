package dev.tollgate.node.scripts;

import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.ErrorAnswer;
import dev.tollgate.node.json.JsonText;
import dev.tollgate.store.PlainResult;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists, strings, numbers, Boolean and null as JSON. Not thread-safe. */
final class JsonWriter {
  private static final int OK = 200;

  private final StringBuilder text = new StringBuilder();

  /** Answers a request that was carried out. */
  static Answer answer(Map<String, @Nullable Object> object) {
    return answer(OK, object);
  }

  static Answer answer(int status, Map<String, @Nullable Object> object) {
    String body = new JsonWriter().append(object).toString() + '\n';
    return Answer.of(status, ErrorAnswer.JSON, body.getBytes(StandardCharsets.UTF_8));
  }

  /** Characters that are written so far. */
  int length() {
    return text.length();
  }

  JsonWriter append(@Nullable Object value) {
    if (value instanceof Map<?, ?> object) {
      appendObject(object);
    } else if (value instanceof List<?> array) {
      appendArray(array);
    } else if (value instanceof String string) {
      text.append(JsonText.quoted(string));
    } else if (value instanceof PlainResult.Json document) {
      json(document.text());
    } else {
      // null, true, false; and the numbers of Java, whose texts are numbers of JSON too
      text.append(value);
    }
    return this;
  }

  /** Adds text that is JSON, or a part of it. */
  JsonWriter json(String part) {
    text.append(part);
    return this;
  }

  /** Adds a row to others, each on a line of its own. */
  void row(boolean first, List<?> row) {
    text.append(first ? "\n" : ",\n");
    append(row);
  }

  private void appendObject(Map<?, ?> object) {
    text.append('{');
    String comma = "";
    for (Map.Entry<?, ?> member : object.entrySet()) {
      text.append(comma).append(JsonText.quoted(String.valueOf(member.getKey()))).append(':');
      append(member.getValue());
      comma = ",";
    }
    text.append('}');
  }

  private void appendArray(List<?> array) {
    text.append('[');
    String comma = "";
    for (Object element : array) {
      text.append(comma);
      append(element);
      comma = ",";
    }
    text.append(']');
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
