package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.node.slow.SlowLog;
import dev.tollgate.node.slow.SlowStatement;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.wire.Reply;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Measures the statements of all connections, and records those that are slow. Thread-safe. */
final class SlowStatements {
  private static final String DONE = "DONE";
  private static final String UNREAD = "unread";

  private final SlowLog log;
  private final LongSupplier nanoTime;

  SlowStatements(SlowLog log, LongSupplier nanoTime) {
    this.log = requireNonNull(log, "log");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /**
   * Begins to measure a statement.
   *
   * @param others how many statements follow in its series
   */
  TimedAnswer time(
      AttachedSession session, ClientInfo client, String sql, int others, Consumer<Reply> answer) {
    return new TimedAnswer(
        answer,
        nanoTime,
        (reply, time) -> {
          if (time.workedNanos() >= log.statementNanos()) {
            log.statement(() -> slow(session, client, sql, others, reply, time));
          }
        });
  }

  private SlowStatement slow(
      AttachedSession session,
      ClientInfo client,
      String sql,
      int others,
      Reply reply,
      TimedAnswer.Time time) {
    String form = time.planned() ? form(sql, others) : null;
    return new SlowStatement(
        log.nowMicros(),
        TimeUnit.NANOSECONDS.toMillis(time.tookNanos()),
        TimeUnit.NANOSECONDS.toMillis(time.waitedNanos()),
        reply instanceof Reply.Failure failure ? failure.sqlState() : DONE,
        id(form),
        form,
        session.id(),
        session.user(),
        client);
  }

  private static String form(String sql, int others) {
    String form = SqlFrontend.form(sql);
    return others > 0 ? form + " (and " + others + " more)" : form;
  }

  private static String id(@Nullable String form) {
    return form == null ? UNREAD : String.format(Locale.ROOT, "%08x", form.hashCode());
  }
}
