package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import java.net.InetAddress;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request that was admitted.
 *
 * @param method in upper case; GET for a HEAD
 * @param path as it was sent, with its escapes
 * @param rest what follows the path of a route that ends with a slash; else empty
 * @param query what follows the question mark, with its escapes; empty without one
 * @param body at most {@link AdminLimits#requestBytes}
 * @param from where the connection comes from
 * @param headers the first header of a name, or null
 * @param presence whether the client still waits for the answer
 */
@SuppressWarnings("ArrayRecordComponent") // no page changes it, and none compares requests
public record AdminRequest(
    String method,
    String path,
    String rest,
    String query,
    byte[] body,
    Caller caller,
    InetAddress from,
    Function<String, @Nullable String> headers,
    Presence presence) {
  public AdminRequest {
    requireNonNull(method, "method");
    requireNonNull(path, "path");
    requireNonNull(rest, "rest");
    requireNonNull(query, "query");
    requireNonNull(body, "body");
    requireNonNull(caller, "caller");
    requireNonNull(from, "from");
    requireNonNull(headers, "headers");
    requireNonNull(presence, "presence");
  }

  /** The first header of this name, or null. */
  public @Nullable String header(String name) {
    return headers.apply(name);
  }
}
