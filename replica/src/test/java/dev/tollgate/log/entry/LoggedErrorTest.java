package dev.tollgate.log.entry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import org.h2.message.DbException;
import org.junit.jupiter.api.Test;

/** Stacks are logged, and values are not. */
class LoggedErrorTest {
  private static final String CANARY = "canary-value";

  private static String printed(Throwable error) {
    StringWriter text = new StringWriter();
    LoggedError.of(error).printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  @Test
  void errorsOfTheDatabaseKeepTheirStackAndTheirCode() {
    DbException inner = DbException.get(23505, "PUBLIC.T(V) VALUES ( '" + CANARY + "' )");
    IllegalStateException wrapped = new IllegalStateException(inner);
    assertTrue(
        wrapped.toString().contains(CANARY), "the default message repeats that of the cause");
    String text = printed(wrapped);
    assertFalse(text.contains(CANARY), text);
    assertTrue(text.contains("org.h2.message.DbException"), text);
    assertTrue(text.contains("SQLSTATE 23505, error 23505"), text);
    assertTrue(text.contains("LoggedErrorTest.errorsOfTheDatabaseKeepTheirStack"), text);
    assertArrayEquals(wrapped.getStackTrace(), LoggedError.of(wrapped).getStackTrace());
    assertFalse(LoggedError.text(wrapped).contains(CANARY));
  }

  @Test
  void errorsOfParsersAreOfTheSameKind() {
    String text = printed(new IllegalArgumentException(new NumberFormatException(CANARY)));
    assertFalse(text.contains(CANARY), text);
    assertFalse(LoggedError.text(new SQLException(CANARY)).contains(CANARY));
  }

  @Test
  void otherErrorsStayWhole() {
    IOException error = new IOException("No space left on device", new IllegalStateException("x"));
    assertSame(error, LoggedError.of(error));
    assertEquals("java.io.IOException: No space left on device", LoggedError.text(error));
  }
}
