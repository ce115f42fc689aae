package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way back to one client: makes frames of replies, and counts the requests that are not
 * answered yet. Thread-safe.
 */
final class ReplyChannel {
  private final ClientConnection.Link link;
  private final Traffic traffic;
  private final Complaints complaints;
  private final RequestRate rate;
  private final AtomicInteger unanswered = new AtomicInteger();
  private volatile UserName user = UserName.ANONYMOUS;

  ReplyChannel(ClientConnection.Link link, Traffic traffic, Complaints complaints) {
    this.link = requireNonNull(link, "link");
    this.traffic = requireNonNull(traffic, "traffic");
    this.complaints = requireNonNull(complaints, "complaints");
    this.rate =
        new RequestRate(traffic.limits().connections().statementsPerSecond(), System::nanoTime);
  }

  /** Where the client is, for log messages. */
  String client() {
    return link.client();
  }

  /** The network address of the client without its port. */
  String address() {
    return link.address();
  }

  /** Logs what the client did wrong. */
  void complain(String what) {
    complaints.log(link.client(), what);
  }

  /**
   * Returns the way back for a request, which counts until it is answered. Returns null if the
   * request was refused because the node has no room for it. A cancel makes room, and a ping takes
   * none. {@link HolderWatches} counts requests that wait for the holder of a lock, and {@link
   * LeaderWatches} those that wait for another leader.
   */
  @Nullable Consumer<Reply> admit(Frame frame, Request request) {
    long id = frame.requestId();
    if (request instanceof Request.CloseCursor
        || request instanceof Request.Cancel
        || request instanceof Request.AwaitHolder
        || request instanceof Request.AwaitLeader
        || request instanceof Request.Ping) {
      return to(id);
    }
    traffic.came();
    RequestWeight weight = RequestWeight.of(frame.body().length, request);
    long bytes = weight.bytes();
    Reply.Failure full = weight.refusal();
    if (full == null) {
      full = full();
    }
    if (full == null) {
      full = rate.admit(request);
    }
    UserName by = user;
    if (full == null) {
      full = traffic.admit(by, bytes);
    }
    if (full != null) {
      traffic.refused();
      send(id, full);
      return null;
    }
    unanswered.incrementAndGet();
    AtomicBoolean counts = new AtomicBoolean(true);
    return reply -> {
      send(id, reply);
      if (counts.getAndSet(false)) {
        traffic.answered(by, bytes);
        unanswered.decrementAndGet();
      }
    };
  }

  private Reply.@Nullable Failure full() {
    int most = traffic.limits().requestsPerConnection();
    return unanswered.get() < most
        ? null
        : new Reply.Failure(
            SqlState.BUSY,
            "the connection has "
                + most
                + " requests that are not answered yet, as many as may be: nothing was done; wait"
                + " for an answer");
  }

  /** True if every request that counts is answered. */
  boolean owesNothing() {
    return unanswered.get() == 0;
  }

  /** Returns the way back for a request that is not counted. */
  Consumer<Reply> to(long requestId) {
    return reply -> send(requestId, reply);
  }

  /** Sends the client an event that it did not request. */
  void push(Reply event) {
    send(0, event);
  }

  /** Says why the node does not talk with this client, and closes the connection. */
  void refuse(Consumer<Reply> answer, String why) {
    refuse(answer, new Reply.Failure(SqlState.CONNECTION_REFUSED, why));
  }

  /** Says why the node does not talk with this client, and closes the connection. */
  void refuse(Consumer<Reply> answer, Reply.Failure why) {
    answer.accept(why);
    link.close();
  }

  /** Closes the connection once the replies are sent. */
  void close() {
    link.close();
  }

  /** Records that the client has said who it is; returns why the node has no room for it. */
  @Nullable String introduced(String name) {
    String noRoom = link.introduced(name);
    if (noRoom == null && !name.isEmpty()) {
      user = new UserName(name);
    }
    return noRoom;
  }

  private void send(long requestId, Reply reply) {
    byte[] body = bodyOf(reply);
    if (body.length <= Protocol.MAX_FRAME_BYTES - Protocol.HEADER_BYTES) {
      link.send(new Frame(reply.type(), requestId, 0, body));
      if (reply instanceof Reply.Failure failure
          && failure.sqlState().equals(SqlState.PROTOCOL_VIOLATION.state())) {
        link.close();
      }
    } else {
      Reply tooLarge =
          new Reply.Failure(
              SqlState.TOO_LARGE,
              "the answer has " + body.length + " bytes, more than fit into a frame");
      link.send(new Frame(tooLarge.type(), requestId, 0, bodyOf(tooLarge)));
    }
  }

  private static byte[] bodyOf(Reply reply) {
    WireWriter out = new WireWriter();
    reply.write(out);
    return out.toByteArray();
  }
}
