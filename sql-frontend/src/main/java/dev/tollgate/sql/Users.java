package dev.tollgate.sql;

import dev.tollgate.sql.Findings.TargetUse;
import dev.tollgate.sql.UseRules.Role;
import dev.tollgate.sql.tree.Statement;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.TemporalAccessor;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/** Plans statements about users, and GRANT and REVOKE of the rights that H2 does not know. */
final class Users {
  /** A day, or a day and a time, with or without an offset; years of four digits. */
  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .optionalStart()
          .appendPattern("[ ]['T']")
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .optionalStart()
          .appendPattern("[ ][XXX][X]")
          .toFormatter(Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT);

  /** No year of five digits: views show this time. */
  private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

  private Users() {}

  static Plan.ConfigureUser plan(Tokens tokens, Statement.ConfigureUser statement) {
    SqlIdentifier identifier = statement.user();
    String user = identifier == null ? null : Names.grantee(tokens, identifier);
    if (identifier != null && user != null) {
      UseRules.checkUser(user, identifier.getParserPosition());
      if (statement.verb().equals("RENAME")) {
        throw Refusals.notAllowed(
            identifier.getParserPosition(),
            "a user cannot be renamed, because sessions, grants and audit lines name users: create"
                + " another user, and drop this one");
      }
    }
    return new Plan.ConfigureUser(
        Plan.ConfigureUser.Change.valueOf(statement.verb()),
        user,
        text(statement.password(), "a password", SqlLimits.PASSWORD_LENGTH),
        statement.endsSessions(),
        statement.administrator(),
        statement.workLimit() == null ? 0 : workLimit(statement.workLimit()),
        statement.validUntil() == null ? 0 : validUntilMicros(statement.validUntil()),
        statement.lenient(),
        tokens.parameterCount());
  }

  private static int workLimit(SqlNode percent) {
    if (Arguments.of(percent) instanceof Argument.Integral number
        && number.value() >= 1
        && number.value() <= SqlLimits.FULL_WORK) {
      return (int) number.value();
    }
    throw Refusals.notAllowed(
        percent.getParserPosition(),
        "a work limit is 1 to " + SqlLimits.FULL_WORK + ", in percent of what a statement may do");
  }

  private static long validUntilMicros(SqlNode time) {
    String text = Arguments.text((SqlCharStringLiteral) time).strip();
    if (text.equalsIgnoreCase("infinity")) {
      return Long.MAX_VALUE;
    }
    try {
      TemporalAccessor read =
          TIME.parseBest(text, OffsetDateTime::from, LocalDateTime::from, LocalDate::from);
      Instant instant = instant(read);
      long micros =
          TimeUnit.SECONDS.toMicros(instant.getEpochSecond())
              + TimeUnit.NANOSECONDS.toMicros(instant.getNano());
      if (micros > 0 && instant.isBefore(END)) {
        return micros;
      }
    } catch (DateTimeException e) {
      // told below, as for a time before 1970
    }
    throw Refusals.notAllowed(
        time.getParserPosition(),
        "VALID UNTIL takes a time from 1970 to 9999 like '2030-12-31 23:59:59', of UTC unless it ends with"
            + " an offset like +02:00, or 'infinity'");
  }

  private static Instant instant(TemporalAccessor time) {
    if (time instanceof OffsetDateTime there) {
      return there.toInstant();
    }
    LocalDateTime local = time instanceof LocalDate day ? day.atStartOfDay() : (LocalDateTime) time;
    return local.toInstant(ZoneOffset.UTC);
  }

  static Plan.ConfigureRight plan(Tokens tokens, Statement.ConfigureRight statement) {
    SqlIdentifier sequence = statement.sequence();
    Findings findings = new Findings();
    ObjectName sequenceName = null;
    if (sequence != null) {
      sequenceName = Names.tableName(sequence);
      findings.rights(use(ObjectKind.SEQUENCE, sequenceName, sequence));
    }
    String grantee = Names.grantee(tokens, statement.grantee());
    findings.target(use(ObjectKind.ROLE, new ObjectName(null, grantee), statement.grantee()));
    UseRules.check(findings, Role.CHANGE);
    return new Plan.ConfigureRight(
        statement.grant(),
        Plan.ConfigureRight.Right.valueOf(statement.right()),
        text(statement.pattern(), "a pattern of lock names", SqlLimits.LOCK_PATTERN_LENGTH),
        sequenceName,
        grantee,
        tokens.parameterCount());
  }

  private static TargetUse use(ObjectKind kind, ObjectName name, SqlIdentifier identifier) {
    return new TargetUse(new Target(kind, name), identifier.getParserPosition());
  }

  /**
   * Returns the argument for a text or a parameter; null for null.
   *
   * @param what names the text in a refusal, which does not repeat the text
   */
  private static @Nullable Argument text(@Nullable SqlNode node, String what, int length) {
    if (node == null) {
      return null;
    }
    if (node instanceof SqlDynamicParam parameter) {
      return new Argument.Parameter(parameter.getIndex());
    }
    String text = Arguments.text((SqlCharStringLiteral) node);
    if (text.isEmpty() || text.length() > length) {
      throw Refusals.notAllowed(
          node.getParserPosition(),
          what + " has 1 to " + length + " characters, this one has " + text.length());
    }
    return new Argument.Text(text);
  }
}
