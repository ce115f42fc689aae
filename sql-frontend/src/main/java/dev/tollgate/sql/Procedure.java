package dev.tollgate.sql;

import static java.util.stream.Collectors.toUnmodifiableMap;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The procedures that administer a cluster. Each must be the whole of a CALL. Each returns the rows
 * of a view of schema TOLLGATE as they are after the call. Drivers send a CALL again when the
 * leader changes, so a procedure names the state to be reached: whoever finds it reached does
 * nothing.
 */
public enum Procedure {
  ADD_NODE("node, raft_address, client_address", "NODES"),
  REMOVE_NODE("node", "NODES"),
  TRANSFER_LEADERSHIP("node", "NODES"),
  RESIGN_LEADERSHIP("node", "NODES"),
  VERIFY_REPLICAS("", "REPLICA_CHECKS"),
  TAKE_SNAPSHOT("", "SNAPSHOTS"),
  BEGIN_RUNTIME_CHANGE("", "NODES"),
  END_RUNTIME_CHANGE("", "NODES"),
  SET_TRANSACTION_LIMITS("age, idle", "TRANSACTION_LIMITS"),
  END_SESSION("session", "SESSIONS"),
  RESET_LOG_TIME("", "NODES"),
  UPGRADE_CLUSTER("", "NODES");

  private static final Map<String, Procedure> BY_NAME =
      Arrays.stream(values()).collect(toUnmodifiableMap(Procedure::name, procedure -> procedure));

  private final String parameters;
  private final String view;

  Procedure(String parameters, String view) {
    this.parameters = parameters;
    this.view = view;
  }

  /** Name and parameters, for messages: {@code remove_node(node)}. */
  public String signature() {
    return name().toLowerCase(Locale.ROOT) + "(" + parameters + ")";
  }

  /** The query whose rows are the result. */
  public String resultSql() {
    return "SELECT * FROM TOLLGATE." + view + " ORDER BY 1";
  }

  int argumentCount() {
    return parameters.isEmpty() ? 0 : parameters.split(",", -1).length;
  }

  static @Nullable Procedure named(String name) {
    return BY_NAME.get(name);
  }
}
