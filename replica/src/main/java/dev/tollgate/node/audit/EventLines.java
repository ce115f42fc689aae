package dev.tollgate.node.audit;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Text;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes lines of the events of one command of the log. Only the node's name differs by node. */
final class EventLines implements AuditEvent.Handler<JsonLine> {
  /**
   * Names with their quotes, which stay, and texts with theirs and numbers, which do not. A quote
   * or a digit within a name begins no value.
   */
  private static final Pattern NAME_OR_VALUE =
      Pattern.compile("(\"(?:[^\"]|\"\")*+\")|'(?:[^']|'')*+'|(?<![\\w$])[0-9][\\w.]*+");

  private static final Pattern RIGHTS =
      Pattern.compile("\\s*(GRANT|REVOKE)\\b.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private final String nodeId;
  private final AuditPosition position;
  private final LineTime time;

  private EventLines(String nodeId, AuditPosition position, LineTime time) {
    this.nodeId = nodeId;
    this.position = position;
    this.time = time;
  }

  static String of(String nodeId, AuditPosition position, LineTime time, AuditEvent event) {
    return event.handledBy(new EventLines(nodeId, position, time)).toString();
  }

  private JsonLine line(String event) {
    JsonLine line = time.begin(event);
    position.appendTo(line);
    return time.describe(line.text("node", nodeId));
  }

  @Override
  public JsonLine granted(AuditEvent.LockGranted event) {
    JsonLine line =
        line("lock_granted")
            .text("outcome", "granted")
            .constant("way", event.way())
            .text("lock", event.lock().value())
            .constant("mode", event.mode())
            .number("token", event.token().value())
            .number("lease", event.lease().value())
            .constant("lease_kind", event.kind());
    return party(line, "", event.by());
  }

  @Override
  public JsonLine forced(AuditEvent.LockForced event) {
    JsonLine line =
        line("lock_forced")
            .text("outcome", "released")
            .text("lock", event.lock().value())
            .number("token", event.token().value())
            .number("lease", event.lease().value());
    return party(party(line, "", event.by()), "holder_", event.holder());
  }

  @Override
  public JsonLine lost(AuditEvent.LockLost event) {
    JsonLine line =
        line("lock_lost")
            .text("outcome", "released")
            .constant("reason", event.reason())
            .text("lock", event.lock().value())
            .number("token", event.token().value())
            .number("lease", event.lease().value());
    return party(party(line, "", event.by()), "holder_", event.holder());
  }

  @Override
  public JsonLine refused(AuditEvent.WriteRefused event) {
    JsonLine line =
        line("write_refused")
            .text("outcome", "refused")
            .constant("reason", event.code())
            .text("table", event.table() == null ? null : event.table().toString())
            .text("lock", event.lock().value())
            .number("token", event.token());
    return party(line, "", event.by());
  }

  @Override
  public JsonLine administered(AuditEvent.Administered event) {
    JsonLine line =
        line("administration")
            .text("outcome", outcome(event.result()))
            .text("action", event.action())
            .text("object", event.object());
    return party(line, "", event.by());
  }

  @Override
  public JsonLine defined(AuditEvent.Defined event) {
    JsonLine line =
        line("administration")
            .text("outcome", outcome(event.result()))
            .text("action", "definition")
            .text("object", withoutValues(event.sql()), Limits.GRANT_CHARS);
    return party(line, "", event.by());
  }

  private static String outcome(AuditEvent.Result result) {
    String kind = result.kind().name();
    return (result.code() == null ? kind : kind + "_" + result.code()).toLowerCase(Locale.ROOT);
  }

  /**
   * A statement without the values in it. Of a long one, the beginning and the end, but GRANT and
   * REVOKE whole: nobody hides a right among others.
   */
  static String withoutValues(String sql) {
    String shown =
        NAME_OR_VALUE
            .matcher(sql)
            .replaceAll(
                part -> part.group(1) == null ? "?" : Matcher.quoteReplacement(part.group(1)));
    boolean rights = RIGHTS.matcher(sql).matches();
    int half = (rights ? Limits.GRANT_CHARS : Limits.AUDITED_DEFINITION_CHARS) / 2;
    return shown.length() <= 2 * half
        ? shown
        : Text.first(shown, half) + " ... " + shown.substring(shown.length() - half);
  }

  /** Adds who acts, or who held a lock; a session that has ended is a number alone. */
  private static JsonLine party(JsonLine line, String prefix, AuditEvent.Party party) {
    line.text(prefix + "user", party.user())
        .number(prefix + "session", party.session() == null ? null : party.session().value());
    return Actor.describe(line, prefix, party.client());
  }

  /** Where a line of this node begins which is not about the log. */
  static JsonLine local(String nodeId, long timeMicros, String event, @Nullable Long term) {
    return new JsonLine(timeMicros, event).text("node", nodeId).number("term", term);
  }
}
