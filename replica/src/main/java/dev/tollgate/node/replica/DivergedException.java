package dev.tollgate.node.replica;

import java.util.List;

/** The state of this replica is not that of the majority: it must not serve. */
public final class DivergedException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int NAMES_TO_TELL = 10;

  /**
   * @param differences the names of the parts that differ
   */
  DivergedException(String nodeId, long logIndex, List<String> differences) {
    super(
        "at log index "
            + logIndex
            + " the data of node "
            + nodeId
            + " differed from those of the majority in "
            + list(differences)
            + ". They are not to be trusted, and a restart does not help: keep a copy of the"
            + " directory if you want to know why, and have the node begin anew with the data of"
            + " the leader: tollgate reseed");
  }

  static String list(List<String> differences) {
    return differences.size() <= NAMES_TO_TELL
        ? String.join(", ", differences)
        : String.join(", ", differences.subList(0, NAMES_TO_TELL))
            + " and "
            + (differences.size() - NAMES_TO_TELL)
            + " more";
  }
}
