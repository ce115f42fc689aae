package dev.tollgate.node.admin;

import java.util.List;

/**
 * What supervisors and load balancers ask. They have no password, so everybody gets the status and
 * one word; only users are told why.
 */
final class HealthPages {
  private final NodeParts node;
  private final Readiness readiness;

  HealthPages(NodeParts node, Readiness readiness) {
    this.node = node;
    this.readiness = readiness;
  }

  List<Route> routes() {
    return List.of(
        new Route("GET", "/health/live", Audience.ANYBODY, request -> live()),
        new Route("GET", "/health/ready", Audience.ANYBODY, request -> ready(request.caller())));
  }

  private Answer live() {
    if (node.replica().failure() != null) {
      return Answer.text(Answer.UNAVAILABLE, "failed");
    }
    return node.replica().applying().stalled() == null
        ? Answer.text(Answer.OK, "live")
        : Answer.text(Answer.UNAVAILABLE, "stalled");
  }

  private Answer ready(Caller caller) {
    List<String> obstacles = readiness.obstacles();
    if (obstacles.isEmpty()) {
      return Answer.text(Answer.OK, "ready");
    }
    String reasons = caller.known() ? "\n" + String.join("\n", obstacles) : "";
    return Answer.text(Answer.UNAVAILABLE, "not ready" + reasons);
  }
}
