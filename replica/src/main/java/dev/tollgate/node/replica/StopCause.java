package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.StalledError;
import dev.tollgate.log.CommandFailedException;
import dev.tollgate.log.LogFailedException;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.SupervisedFailure;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.log.entry.UnknownCommandException;
import dev.tollgate.snapshot.UnknownVersionException;

/** An error for which a replica stops, as an operator has to know it. */
record StopCause(Throwable error) {
  StopCause {
    requireNonNull(error, "error");
  }

  /**
   * True if this process cannot load its own classes, because it lacks file descriptors or its jars
   * are gone. The JVM remembers that failure for each class.
   */
  boolean areClassesLost() {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof LinkageError) {
        return true;
      }
    }
    return false;
  }

  /** Says in one line what happened and what to do. */
  String explanation() {
    if (explainsItself()) {
      return String.valueOf(error.getMessage());
    }
    if (areClassesLost()) {
      return "it cannot load its own classes ("
          + LoggedError.text(error)
          + "): it had too few file descriptors (ulimit -n), or its jars were replaced. Start it"
          + " again";
    }
    if (error instanceof OutOfMemoryError) {
      return "memory has run out (" + error.getMessage() + "). Start it again with a larger heap";
    }
    return "its state can no longer be trusted, because of "
        + LoggedError.text(error)
        + ". Start it again, and it begins with its last snapshot; if it stops again, report this"
        + " and have it begin anew with the data of the leader: tollgate reseed";
  }

  private boolean explainsItself() {
    return error instanceof DivergedException
        || error instanceof StateDiffersException
        || error instanceof CommandFailedException
        || error instanceof LogFailedException
        || error instanceof EnvironmentDiffersException
        || error instanceof FeatureLevelException
        || error instanceof StalledError
        || error instanceof SupervisedFailure
        || error instanceof StrangerException
        || error instanceof UnknownCommandException
        || error instanceof UnknownVersionException;
  }
}
