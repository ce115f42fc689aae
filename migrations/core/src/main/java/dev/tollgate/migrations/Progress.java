package dev.tollgate.migrations;

import java.time.Duration;

/** Hears what a run does, while it does it. */
public interface Progress {
  /** Hears nothing. */
  Progress NONE = new Progress() {};

  default void lockTaken(String name, long token) {}

  /** A script begins, or goes on behind the statements that an earlier run has done. */
  default void scriptBegins(Script script, int alreadyDone) {}

  /** A statement is about to be sent. */
  default void statementBegins(Script script, int number) {}

  default void statementDone(Script script, int number, Duration took) {}

  default void scriptDone(Script script, Duration took) {}
}
