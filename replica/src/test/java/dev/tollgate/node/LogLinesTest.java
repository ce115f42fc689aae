package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The format of the log of a node. */
class LogLinesTest {
  private static String line(String message) throws Exception {
    LoggerContext context = new LoggerContext();
    try {
      JoranConfigurator configurator = new JoranConfigurator();
      configurator.setContext(context);
      configurator.doConfigure(Path.of("conf", "logback.xml").toFile());
      Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
      ConsoleAppender<ILoggingEvent> appender =
          (ConsoleAppender<ILoggingEvent>) root.getAppender("STDERR");
      LoggingEvent event =
          new LoggingEvent("any", context.getLogger("a.b.Node"), Level.WARN, message, null, null);
      return new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8);
    } finally {
      context.stop();
    }
  }

  /** Nor can it show what follows backwards (U+202E), or hide it from a search (U+200B). */
  @Test
  void nameThatAStrangerSentBeginsNoLineAndOrdersNothing() throws Exception {
    String line = line("n1: Z\u00fcrich {x} a\r\nb\u001b[2Jc\u202ed\u200be\u2028f\ue000g");
    assertTrue(line.endsWith(" WARN  Node n1: Z\u00fcrich {x} a b [2Jc d e f g\n"), line);
    assertEquals(1, line.lines().count());
  }
}
