package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.io.File;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What the settings of the server's log make of a message. */
class LogConfigurationTest {
  @Test
  void nameThatAStrangerSentBeginsNoLine() throws Exception {
    LoggerContext context = new LoggerContext();
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(new File("conf/logback.xml"));
    try {
      Logger logger = context.getLogger("dev.tollgate.node.Node");
      ConsoleAppender<?> appender =
          (ConsoleAppender<?>) context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("STDERR");
      @SuppressWarnings("unchecked") // it is the appender of events
      ConsoleAppender<Object> ofEvents = (ConsoleAppender<Object>) appender;
      String line =
          new String(
              ofEvents
                  .getEncoder()
                  .encode(
                      new LoggingEvent(
                          "",
                          logger,
                          Level.WARN,
                          "n1: node {} is strange, {} too",
                          null,
                          new Object[] {
                            "x\r\n2026-11-25T00:00:00.000Z INFO  Node n1", "\u001b[31my\u2028z"
                          })),
              StandardCharsets.UTF_8);
      assertTrue(
          line.endsWith(
              " WARN  Node n1: node x 2026-11-25T00:00:00.000Z INFO  Node n1 is strange,  [31my z too"
                  + System.lineSeparator()),
          line);
      assertEquals(1, line.lines().count());
    } finally {
      context.stop();
    }
  }
}
