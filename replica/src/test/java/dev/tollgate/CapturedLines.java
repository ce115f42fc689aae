package dev.tollgate;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** The warnings of a class while a test runs. */
public final class CapturedLines implements AutoCloseable {
  private final Logger logger;
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  public CapturedLines(Class<?> of) {
    logger = (Logger) LoggerFactory.getLogger(of);
    log.start();
    logger.addAppender(log);
  }

  public List<String> warnings() {
    return List.copyOf(log.list).stream()
        .filter(event -> event.getLevel() == Level.WARN)
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  @Override
  public void close() {
    logger.detachAppender(log);
  }
}
