package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

/**
 * What the admin address serves at a path.
 *
 * @param method in upper case; GET serves HEAD too
 * @param path exact, or the beginning of all paths that it serves if it ends with a slash
 * @param page makes the answer, on a thread that may wait for some seconds
 */
public record Route(String method, String path, Audience audience, Page page) {
  /** Makes the answer to a request. */
  public interface Page {
    Answer answer(AdminRequest request);
  }

  public Route {
    requireNonNull(method, "method");
    requireNonNull(audience, "audience");
    requireNonNull(page, "page");
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("path " + path);
    }
  }

  boolean serves(String requested) {
    return (path.endsWith("/") && path.length() > 1)
        ? requested.startsWith(path)
        : requested.equals(path);
  }

  /** What follows this path in a requested one. */
  String rest(String requested) {
    return requested.substring(path.length());
  }
}
