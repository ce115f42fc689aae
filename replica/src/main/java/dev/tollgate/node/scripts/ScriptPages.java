package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.Audience;
import dev.tollgate.node.admin.Route;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.replica.Replica;
import java.util.List;

/**
 * What scripts find below /v1 of an admin address; docs/http.md is the manual, docs/openapi.yaml
 * the description for programs. The leader serves it, and other nodes show the way to the leader.
 * Thread-safe.
 */
public final class ScriptPages {
  /** A page that may be refused. */
  private interface Page {
    Answer answer(AdminRequest request) throws ScriptRefusal, LeaderMovedException;
  }

  private final Replica replica;
  private final LeaderHint leader;
  private final ScriptGate gate;
  private final LockPages locks;
  private final LeasePages leases;
  private final SqlPage sql;

  public ScriptPages(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      ClientService clients,
      ScriptLimits limits) {
    this.replica = requireNonNull(replica, "replica");
    this.leader = new LeaderHint(nodeId, log, replica.facts()::nodes);
    this.gate = new ScriptGate(limits);
    ScriptSessions sessions = new ScriptSessions(limits, clients);
    this.locks = new LockPages(sessions);
    this.leases = new LeasePages(sessions);
    this.sql = new SqlPage(sessions);
  }

  /** The pages, for the admin address. */
  public List<Route> routes() {
    return List.of(
        route("GET", "/v1/locks/", locks::read),
        route("POST", "/v1/locks/", locks::acquire),
        route("PUT", "/v1/locks/", locks::renew),
        route("DELETE", "/v1/locks/", locks::release),
        route("GET", "/v1/leases", leases::list),
        route("POST", "/v1/leases", leases::create),
        route("GET", "/v1/leases/", leases::read),
        route("PUT", "/v1/leases/", leases::renew),
        route("DELETE", "/v1/leases/", leases::revoke),
        route("POST", "/v1/sql", sql::run));
  }

  private Route route(String method, String path, Page page) {
    return new Route(method, path, Audience.USERS, gate, request -> answer(page, request));
  }

  private Answer answer(Page page, AdminRequest request) {
    if (!replica.isLeading()) {
      return leader.answer(request, /* maybeDone= */ false);
    }
    try {
      return page.answer(request);
    } catch (ScriptRefusal refusal) {
      return refusal.answer();
    } catch (LeaderMovedException e) {
      return leader.answer(request, e.maybeDone());
    }
  }
}
