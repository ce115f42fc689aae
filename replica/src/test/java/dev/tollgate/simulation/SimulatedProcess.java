package dev.tollgate.simulation;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.LeaseProof;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A process with the driver in it: sessions, and the control connection that keeps them alive. The
 * driver's own classes block threads, so this is written anew after docs/protocol.md, sections 7 to
 * 9; what it knows of leases is the driver's own {@code Renewal}.
 */
final class SimulatedProcess {
  private static final long DEAD_AFTER = World.millis(3_000);
  private static final long LOOK = World.millis(100);
  private static final long QUIET_LOOK = World.millis(1_000);
  private static final int SESSIONS = 2;

  private final Simulation simulation;
  private final World world;
  private final String name;
  private final double clockRate;
  private final long clockOffset;
  private final List<LeaseProof> members = new ArrayList<>();

  /** Tokens by lock as the workers of this process know them, stale ones among them. */
  private final Map<Integer, Long> tokens = new TreeMap<>();

  private final Control control = new Control();

  /**
   * Whether a lease that is shorter than the others brings the next heartbeat forward, as in the
   * driver. Where it does not, leases end under those who count on them, more often than elsewhere.
   */
  private final boolean prompt;

  private boolean alive = true;
  private long pausedUntil;
  private @Nullable String leader;
  private int lastTried;

  SimulatedProcess(Simulation simulation, String name) {
    this.simulation = simulation;
    this.world = simulation.world();
    this.name = name;
    this.clockRate = 1 + (world.random.nextDouble() - 0.5) * 2 * Simulation.DRIFT;
    this.clockOffset = world.random.nextInt(1_000_000_000);
    this.lastTried = world.random.nextInt(10);
    this.prompt = world.chance(0.5);
  }

  void start() {
    control.look();
    for (int i = 0; i < SESSIONS; i++) {
      new SimulatedSession(simulation, this).start();
    }
  }

  String name() {
    return name;
  }

  Map<Integer, Long> tokens() {
    return tokens;
  }

  boolean isAlive() {
    return alive;
  }

  void die() {
    alive = false;
  }

  boolean isPaused() {
    return world.now() < pausedUntil;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  void pause(long nanos) {
    pausedUntil = Math.max(pausedUntil, world.now() + nanos);
  }

  /** As System.nanoTime() in that process; it goes on in a pause. */
  long clock() {
    return (long) (world.now() * clockRate) + clockOffset;
  }

  /** Does something in this process after a while, or when a pause ends. */
  void later(long nanos, Runnable action) {
    world.after(nanos, () -> run(action));
  }

  private void run(Runnable action) {
    if (alive) {
      if (isPaused()) {
        world.after(pausedUntil - world.now(), () -> run(action));
      } else {
        action.run();
      }
    }
  }

  /** The node to try next: the one that is said to lead, else one after the other. */
  SimulatedNode nextNode() {
    String named = leader;
    leader = null;
    List<String> nodes = simulation.nodesBut("");
    return simulation.node(named == null ? nodes.get(lastTried++ % nodes.size()) : named);
  }

  void learn(Reply.ClusterView view) {
    String address = view.leaderAddress();
    leader = address == null ? null : address.substring(0, address.indexOf(':'));
  }

  @Nullable String leader() {
    return leader;
  }

  Request hello() {
    int version = simulation.hasUsers() ? Protocol.LOGIN_VERSION : 1;
    return new Request.Hello(1, version, "simulation", "host", name);
  }

  /** What logs a user in; the name stands in the certificate of the connection, too. */
  static Request login(@Nullable String user) {
    return new Request.BeginLogin(
        Protocol.EXTERNAL, requireNonNull(user, "user").getBytes(StandardCharsets.UTF_8));
  }

  void keepAlive(LeaseProof proof) {
    members.add(proof);
    control.hasMore(proof);
    simulation.checker().keeps(this, proof);
  }

  /** Nothing renews it any more, and nobody here trusts in it. */
  void drop(LeaseProof proof) {
    members.remove(proof);
    simulation.checker().dropped(proof);
  }

  void beatNow(LeaseProof proof) {
    control.beat(List.of(proof));
  }

  private record Beat(long sentNanos, List<LeaseProof> members) {}

  /** The control connection. */
  private final class Control implements Connection.Owner {
    private final Map<Long, Beat> pending = new LinkedHashMap<>();
    private @Nullable Connection connection;
    private boolean welcome;
    private long dueNanos;

    /** Looks around, again and again. */
    void look() {
      Connection current = connection;
      if (current == null) {
        connect(nextNode());
      } else if (!pending.isEmpty() && world.now() - current.heardAt > DEAD_AFTER) {
        disconnect();
      } else if (welcome && clock() >= dueNanos) {
        beat(List.copyOf(members));
        dueNanos = clock() + (long) (interval() * world.between(800, 1_000) / 1_000.0);
      }
      boolean quiet = welcome && pending.isEmpty();
      later(Math.min(quiet ? QUIET_LOOK : LOOK, interval() / 4), this::look);
    }

    void hasMore(LeaseProof proof) {
      if (prompt) {
        dueNanos = Math.min(dueNanos, clock() + proof.interval().toNanos());
      }
    }

    private long interval() {
      long shortest = Duration.ofSeconds(20).toNanos();
      for (LeaseProof member : members) {
        shortest = Math.min(shortest, member.interval().toNanos());
      }
      return shortest;
    }

    private void connect(SimulatedNode node) {
      Connection fresh = simulation.connect(SimulatedProcess.this, node, this);
      connection = fresh;
      welcome = false;
      pending.clear();
      pending.put(fresh.send(hello()), new Beat(0, List.of()));
    }

    private void disconnect() {
      Connection old = connection;
      if (old != null) {
        old.close();
      }
      connection = null;
      pending.clear();
    }

    void beat(List<LeaseProof> proofs) {
      Connection current = connection;
      List<LeaseProof> kept = proofs.stream().filter(proof -> !proof.isLost()).toList();
      if (current != null && welcome && !kept.isEmpty()) {
        List<Long> sessions =
            kept.stream().filter(LeaseProof::isSession).map(LeaseProof::id).toList();
        List<Long> leases =
            kept.stream().filter(proof -> !proof.isSession()).map(LeaseProof::id).toList();
        long sent = clock();
        world.count("heartbeats");
        pending.put(current.send(new Request.Heartbeat(sessions, leases)), new Beat(sent, kept));
      }
    }

    @Override
    public void received(Connection from, long requestId, Reply reply) {
      if (from != connection) {
        return;
      }
      Beat beat = pending.remove(requestId);
      if (reply instanceof Reply.LoginRequired) {
        pending.put(from.send(login(user())), new Beat(0, List.of()));
      } else if (reply instanceof Reply.LoggedIn in) {
        welcomed(from, in.welcome());
      } else if (reply instanceof Reply.Welcome greeting) {
        welcomed(from, greeting);
      } else if (reply instanceof Reply.Failure && simulation.hasUsers()) {
        // the node does not know the users yet
        disconnect();
      } else if (reply instanceof Reply.NotLeader elsewhere) {
        learn(elsewhere.cluster());
        disconnect();
      } else if (reply instanceof Reply.HeartbeatAck ack && beat != null) {
        lose(beat.members, ack.lostSessions(), ack.lostLeases());
        long from0 =
            simulation.breakage() == Breakage.LEASE_COUNTED_FROM_ANSWER ? clock() : beat.sentNanos;
        for (LeaseProof proof : beat.members) {
          proof.renewed(from0);
        }
      } else if (reply instanceof Reply.Lost lost) {
        lose(List.copyOf(members), lost.sessions(), lost.leases());
      }
    }

    private void welcomed(Connection from, Reply.Welcome greeting) {
      learn(greeting.cluster());
      String named = leader();
      if (named != null && !named.equals(from.nodeId())) {
        disconnect();
        connect(nextNode());
      } else {
        welcome = true;
      }
    }

    /** An administrator, who is never dropped. */
    @Override
    public @Nullable String user() {
      return simulation.hasUsers() ? Op.ROOT : null;
    }

    private void lose(List<LeaseProof> among, List<Long> sessions, List<Long> leases) {
      for (LeaseProof proof : among) {
        if ((proof.isSession() ? sessions : leases).contains(proof.id())) {
          proof.lose();
          members.remove(proof);
        }
      }
    }

    @Override
    public void broken(Connection broken) {
      if (broken == connection) {
        disconnect();
      }
    }
  }
}
