package dev.tollgate.node.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the route of a request. Immutable. */
final class RouteTable {
  private final List<Route> routes;

  /**
   * @throws IllegalArgumentException if two routes have the same method and path
   */
  RouteTable(List<Route> routes) {
    List<String> seen = new ArrayList<>();
    for (Route route : routes) {
      String key = route.method() + " " + route.path();
      if (seen.contains(key)) {
        throw new IllegalArgumentException("two routes " + key);
      }
      seen.add(key);
    }
    this.routes = List.copyOf(routes);
  }

  /** The route with the longest path, or null. */
  @Nullable Route find(String method, String path) {
    Route best = null;
    for (Route route : routes) {
      if (route.method().equals(method)
          && route.serves(path)
          && (best == null || route.path().length() > best.path().length())) {
        best = route;
      }
    }
    return best;
  }

  /** The methods that are served at a path, in order; none if the path is not served. */
  SortedSet<String> methods(String path) {
    SortedSet<String> methods = new TreeSet<>();
    for (Route route : routes) {
      if (route.serves(path)) {
        methods.add(route.method());
        if (route.method().equals("GET")) {
          methods.add("HEAD");
        }
      }
    }
    return methods;
  }
}
