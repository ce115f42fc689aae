package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * The client that asks this node for something.
 *
 * @param user null where nobody has to log in
 * @param session null for a connection without one
 * @param client what the client says of itself
 * @param address where the connection comes from, or null if only its session is known
 */
public record Actor(
    @Nullable String user,
    @Nullable SessionId session,
    ClientInfo client,
    @Nullable String address) {
  public Actor {
    requireNonNull(client, "client");
  }

  JsonLine describe(JsonLine line) {
    line.text("user", user)
        .number("session", session == null ? null : session.value())
        .text("address", address);
    return describe(line, "", client);
  }

  /** Adds what a client says of itself, which nobody has checked. */
  static JsonLine describe(JsonLine line, String prefix, @Nullable ClientInfo client) {
    return client == null
        ? line
        : line.text(prefix + "host", client.host())
            .text(prefix + "application", client.application())
            .text(prefix + "process", client.process());
  }
}
