package dev.tollgate.simulation;

import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a client to a node, like one of TCP: what is sent arrives in order, late or
 * never; each side may believe in it for a while after the other has gone.
 */
final class Connection {
  /** How often what could not pass is tried again. */
  private static final long RETRANSMISSION = World.millis(100);

  /** What its owner at the client hears. */
  interface Owner {
    /** For whom the client logs in; null where nobody has to. */
    @Nullable String user();

    void received(Connection connection, long requestId, Reply reply);

    void broken(Connection connection);
  }

  private final Simulation simulation;
  private final World world;
  private final SimulatedProcess client;
  private final SimulatedNode node;
  private final Owner owner;
  private final Deque<Frame> toNode = new ArrayDeque<>();
  private final Deque<Frame> toClient = new ArrayDeque<>();
  private @Nullable ClientConnection server;
  private int incarnation;
  private boolean pumpingToNode;
  private boolean pumpingToClient;
  private boolean clientOpen = true;
  private boolean nodeOpen;
  private boolean served;
  private long lastRequestId;
  long heardAt;

  Connection(Simulation simulation, SimulatedProcess client, SimulatedNode node, Owner owner) {
    this.simulation = simulation;
    this.world = simulation.world();
    this.client = client;
    this.node = node;
    this.owner = owner;
    this.heardAt = world.now();
  }

  String nodeId() {
    return node.id();
  }

  String clientName() {
    return client.name();
  }

  boolean isOpen() {
    return clientOpen;
  }

  /** Sends a request; gives the number under which it is answered. */
  long send(Request request) {
    WireWriter body = new WireWriter();
    request.write(body);
    long id = ++lastRequestId;
    if (clientOpen) {
      world.count("requests");
      toNode.addLast(new Frame(request.type(), id, 0, body.toByteArray()));
      pumpToNode(simulation.network().delay());
    }
    return id;
  }

  private void pumpToNode(long delay) {
    if (!pumpingToNode) {
      pumpingToNode = true;
      world.after(delay, this::deliverToNode);
    }
  }

  private void deliverToNode() {
    pumpingToNode = false;
    if (toNode.isEmpty()) {
      return;
    }
    if (!simulation.network().passes(client.name(), node.id())) {
      pumpToNode(RETRANSMISSION);
    } else if (!node.isUp() || (server != null && incarnation != node.incarnation())) {
      toNode.clear();
      world.after(simulation.network().delay(), this::breakAtClient);
    } else if (node.isPaused()) {
      pumpToNode(node.pausedUntil() - world.now());
    } else {
      Frame frame = toNode.removeFirst();
      ClientConnection at = accepted();
      if (nodeOpen) {
        if (node.leads() && owner instanceof SimulatedSession session) {
          simulation.receipts().received(session, frame, node.replica());
        }
        noteService(frame);
        node.serve(at, frame);
      }
      pumpToNode(20_000);
    }
  }

  /** A node knows the process of a client that it serves. */
  private void noteService(Frame frame) {
    Request request = Request.read(frame);
    boolean greeting =
        request instanceof Request.Hello
            || request instanceof Request.BeginLogin
            || request instanceof Request.Ping;
    if (!served && !greeting) {
      served = true;
      simulation.checker().departures().connected(client.name(), node.id());
    }
  }

  private ClientConnection accepted() {
    ClientConnection at = server;
    if (at == null) {
      at = node.accept(new Link());
      server = at;
      incarnation = node.incarnation();
      nodeOpen = true;
    }
    return at;
  }

  private final class Link implements ClientConnection.Link {
    @Override
    public void send(Frame frame) {
      if (nodeOpen) {
        toClient.addLast(frame);
        pumpToClient(simulation.network().delay());
      }
    }

    @Override
    public void close() {
      if (!simulation.seesProcessesEnd()) {
        nodeOpen = false;
      } else if (nodeOpen) {
        // what the node is doing now comes first
        world.after(0, () -> leaveAtNode(Connection.this::closedByNode));
      }
    }

    @Override
    public String client() {
      return client.name();
    }

    @Override
    public @Nullable String certificateUser() {
      return owner.user();
    }
  }

  private void pumpToClient(long delay) {
    if (!pumpingToClient) {
      pumpingToClient = true;
      world.after(delay, this::deliverToClient);
    }
  }

  private void deliverToClient() {
    pumpingToClient = false;
    if (toClient.isEmpty() || !clientOpen || !client.isAlive()) {
      return;
    }
    if (!simulation.network().passes(node.id(), client.name())) {
      pumpToClient(RETRANSMISSION);
    } else if (client.isPaused()) {
      pumpToClient(client.pausedUntil() - world.now());
    } else {
      Frame frame = toClient.removeFirst();
      heardAt = world.now();
      owner.received(this, frame.requestId(), Reply.read(frame));
      pumpToClient(20_000);
    }
  }

  private void breakAtClient() {
    if (clientOpen && client.isAlive()) {
      if (client.isPaused()) {
        world.after(client.pausedUntil() - world.now(), this::breakAtClient);
      } else {
        clientOpen = false;
        owner.broken(this);
      }
    }
  }

  /** Resets it: what is under way is lost, and both sides learn of it. */
  void reset() {
    toNode.clear();
    toClient.clear();
    leaveAtNode(this::leftByClient);
    world.after(simulation.network().delay(), this::breakAtClient);
  }

  /** The client closes it; the node learns of that if it can be reached. */
  void close() {
    close(simulation.network().delay());
  }

  /** The operating system closes it, because the process of the client has ended. */
  void endWithProcess() {
    close(World.millis(1));
  }

  private void close(long delay) {
    clientOpen = false;
    toNode.clear();
    world.after(
        delay,
        () -> {
          if (simulation.network().passes(client.name(), node.id())) {
            leaveAtNode(this::leftByClient);
          }
        });
  }

  private void leaveAtNode(Consumer<ClientConnection> how) {
    ClientConnection at = server;
    if (at != null && nodeOpen && node.incarnation() == incarnation) {
      how.accept(at);
    }
    nodeOpen = false;
  }

  private void closedByNode(ClientConnection at) {
    if (served) {
      simulation.checker().departures().closed(client.name(), node.id());
    }
    at.disconnected();
  }

  private void leftByClient(ClientConnection at) {
    if (!simulation.seesProcessesEnd()) {
      at.disconnected();
      return;
    }
    boolean last = served && simulation.checker().departures().left(client.name(), node);
    at.left();
    if (owner instanceof SimulatedSession session && session.sessionId() != 0) {
      switch (simulation.breakage()) {
        case ONE_CONNECTION_IS_ALL -> node.endTransaction(session.sessionId(), 0);
        case RETURN_OF_PROCESS_IGNORED -> {
          if (last) {
            node.endTransaction(session.sessionId(), World.millis(1_050));
          }
        }
        default -> {}
      }
    }
  }
}
