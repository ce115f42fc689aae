package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A node that keeps the format of the protocol between nodes and none of its rules. One that is not
 * believed says anything, in terms of its choice. One that is believed says what an old leader, a
 * candidate without a log, or a repeated message may say, and breaks the protocol itself: a member
 * that lies about entries in the newest term would be obeyed, as in any Raft. All follows from the
 * seed but for the moments at which nodes get it.
 */
public final class PeerFuzzer {
  private static final int MESSAGES = 12;
  private static final int FLOOD = 400;
  private static final byte[] JUNK = new byte[2_000];

  private final Random random;
  private final RaftGroupId group;
  private final Map<String, String> addresses;
  private final Map<String, NodeIdentity> identities;
  private final List<String> ids;
  private final Map<String, Integer> counts = new TreeMap<>();

  /**
   * @param addresses where nodes listen for each other, by id
   * @param identities what each of these nodes knows of itself and the others
   */
  public PeerFuzzer(
      Random random,
      RaftGroupId group,
      Map<String, String> addresses,
      Map<String, NodeIdentity> identities) {
    this.random = random;
    this.group = group;
    this.addresses = addresses;
    this.identities = identities;
    this.ids = List.copyOf(addresses.keySet());
  }

  /** How often each thing was done. */
  public Map<String, Integer> counts() {
    return counts;
  }

  private void count(String what) {
    counts.merge(what, 1, Integer::sum);
  }

  /** Connects once, says something, and leaves. */
  public void act() throws IOException {
    String to = ids.get(random.nextInt(ids.size()));
    String from = random.nextInt(3) == 0 ? "n9" : ids.get(random.nextInt(ids.size()));
    boolean greeted = false;
    try (RawPeer peer = new RawPeer(addresses.get(to))) {
      switch (random.nextInt(11)) {
        case 0 -> {
          count("said nothing");
          return;
        }
        case 1 -> {
          count("bytes without a hello");
          peer.send(random.nextBoolean() ? junk() : mutated(hello(credentials("n9", to))));
        }
        case 2 -> {
          count("hello cut");
          byte[] hello = hello(credentials(from, to));
          peer.send(Arrays.copyOf(hello, random.nextInt(hello.length)));
        }
        case 3, 4, 5 -> {
          count("not believed");
          peer.send(hello(forged(from, to)));
          sayAnything(peer, to);
        }
        case 6 -> {
          count("wrong incarnation");
          // a removed node keeps the key, and has any name
          NodeIdentity key = identities.get(ids.get(random.nextInt(ids.size())));
          greeted = true;
          peer.greet(mistaken(from, to), key.known());
          sayAnything(peer, to);
        }
        default -> {
          count("believed");
          NodeIdentity self = identities.get(from);
          peer.greet(credentials(from, to), self == null ? ClusterIdentity.NONE : self.known());
          greeted = true;
          sayWhatIsPast(peer, to);
        }
      }
      if (random.nextBoolean()) {
        peer.hangUp();
        readAll(peer, greeted);
      }
    } catch (IOException e) {
      count("cut off"); // the node has closed the connection, as it may
    }
  }

  private void readAll(RawPeer peer, boolean greeted) throws IOException {
    try {
      if (!greeted) {
        HelloToPeer.requirePreface(peer.in());
      }
      while (true) {
        count("answer " + Frame.read(peer.in(), 32 << 20).kind());
      }
    } catch (EOFException | SocketTimeoutException e) {
      // the node has said all it has to say
    } catch (ProtocolException | WireFormatException e) {
      throw new AssertionError("a node breaks the protocol", e);
    }
  }

  private PeerCredentials credentials(String from, String to) {
    NodeIdentity self = identities.get(from);
    if (self != null) {
      return PeerCredentials.of(self, to);
    }
    return new PeerCredentials(
        from,
        identities.get(to).clusterId(),
        new UniqueId(7, 7),
        to,
        identities.get(to).incarnation());
  }

  /** Credentials of which one part is wrong. */
  private PeerCredentials forged(String from, String to) {
    PeerCredentials right = credentials(ids.get(random.nextInt(ids.size())), to);
    UniqueId wrong = new UniqueId(random.nextLong(), random.nextLong());
    return switch (random.nextInt(3)) {
      case 0 -> new PeerCredentials(from, wrong, right.incarnation(), to, right.expected());
      case 1 -> new PeerCredentials(right.from(), right.clusterId(), wrong, to, right.expected());
      default ->
          new PeerCredentials(
              right.from(), right.clusterId(), right.incarnation(), to + "x", right.expected());
    };
  }

  /** Credentials that take the other node for another incarnation. */
  private PeerCredentials mistaken(String from, String to) {
    PeerCredentials right = credentials(from, to);
    return new PeerCredentials(
        right.from(),
        right.clusterId(),
        right.incarnation(),
        to,
        new UniqueId(random.nextLong(), random.nextLong()));
  }

  private static byte[] hello(PeerCredentials credentials) {
    return RawPeer.hello(credentials);
  }

  private byte[] junk() {
    byte[] junk = new byte[1 + random.nextInt(200)];
    random.nextBytes(junk);
    return junk;
  }

  private byte[] mutated(byte[] bytes) {
    byte[] changed = bytes.clone();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
    }
    return changed;
  }

  private void sayAnything(RawPeer peer, String to) throws IOException {
    for (int i = 1 + random.nextInt(MESSAGES); i > 0; i--) {
      long term = 1L + random.nextInt(1_000);
      send(peer, i, call(i, to, term, /* lies= */ true));
    }
  }

  private void sayWhatIsPast(RawPeer peer, String to) throws IOException {
    if (random.nextInt(12) == 0) {
      count("flood");
      for (int i = 1; i <= FLOOD; i++) {
        peer.send(Frame.of(Frame.Kind.TERM, i, 0, new WireWriter(0)));
      }
      return;
    }
    for (int i = 1 + random.nextInt(MESSAGES); i > 0; i--) {
      byte[] frame = call(i, to, 0, /* lies= */ false);
      if (random.nextInt(8) == 0) {
        count("rule broken");
        peer.send(broken(i, frame));
        return;
      }
      send(peer, i, frame);
    }
  }

  private void send(RawPeer peer, int number, byte[] frame) throws IOException {
    if (random.nextInt(20) == 0) {
      count("message cut");
      peer.send(Arrays.copyOf(frame, random.nextInt(frame.length)));
      throw new EOFException("message " + number + " cut");
    }
    peer.send(frame);
  }

  /** What no node sends: after it, the connection is of no more use. */
  private byte[] broken(int number, byte[] frame) {
    return switch (random.nextInt(7)) {
      case 0 -> Frame.of(Frame.Kind.APPEND, number, 1 + random.nextInt(99), message(0, 0));
      case 1 -> Frame.of(Frame.Kind.DONE, number, 0, new WireWriter(0));
      case 2 -> Frame.of(Frame.Kind.HELLO, number, 0, new WireWriter(0));
      case 3 -> new byte[] {0x7f, 1, 1, 1, 3, 0, 0, 0, 1, 0, 0, 0, 0};
      case 4 -> {
        frame[Integer.BYTES] = (byte) (9 + random.nextInt(50)); // a kind that does not exist
        yield frame;
      }
      case 5 ->
          Frame.of(
              Frame.Kind.IDENTITY,
              number,
              0,
              new WireWriter().bytes(credentials("n8", ids.get(0)).toBytes()));
      default -> Frame.of(Frame.Kind.APPEND, number, 0, new WireWriter().bytes(JUNK));
    };
  }

  /**
   * A call as Ratis makes it.
   *
   * @param lies whether it may say what would do harm if the node believed it
   */
  private byte[] call(int number, String to, long term, boolean lies) {
    Frame.Kind kind =
        switch (random.nextInt(lies ? 6 : 4)) {
          case 0 -> Frame.Kind.TERM;
          case 1, 2 -> Frame.Kind.APPEND;
          case 3 -> Frame.Kind.VOTE;
          case 4 -> Frame.Kind.SNAPSHOT;
          default -> Frame.Kind.ELECTION;
        };
    count("call " + kind);
    return switch (kind) {
      case APPEND -> Frame.of(kind, number, 0, append(to, term, lies));
      case VOTE -> Frame.of(kind, number, 0, vote(to, term));
      case SNAPSHOT -> Frame.of(kind, number, 0, snapshot(to, term));
      case ELECTION ->
          Frame.of(
              kind,
              number,
              0,
              StartLeaderElectionRequestProto.newBuilder()
                  .setServerRequest(server(to))
                  .setLeaderLastEntry(at(term))
                  .build());
      default -> Frame.of(kind, number, 0, new WireWriter(0));
    };
  }

  private MessageLite message(long term, int entries) {
    return append(ids.get(0), term, entries > 0);
  }

  private RaftRpcRequestProto server(String to) {
    return RaftRpcRequestProto.newBuilder()
        .setRequestorId(ByteString.copyFromUtf8(ids.get(random.nextInt(ids.size()))))
        .setReplyId(ByteString.copyFromUtf8(random.nextInt(8) == 0 ? "nobody" : to))
        .setRaftGroupId(
            RaftGroupIdProto.newBuilder()
                .setId(
                    random.nextInt(8) == 0
                        ? RaftGroupId.randomId().toByteString()
                        : group.toByteString()))
        .setCallId(random.nextInt(100))
        .build();
  }

  private TermIndexProto at(long term) {
    return TermIndexProto.newBuilder().setTerm(term).setIndex(number()).build();
  }

  /** An index at some bound. */
  private long number() {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> -1;
      case 2 -> Long.MAX_VALUE;
      default -> random.nextInt(500);
    };
  }

  private AppendEntriesRequestProto append(String to, long term, boolean lies) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(server(to))
            .setLeaderTerm(term)
            .setPreviousLog(at(term))
            .setLeaderCommit(lies ? number() : -1);
    for (int i = random.nextInt(3); i > 0; i--) {
      request.addEntries(
          LogEntryProto.newBuilder()
              .setTerm(term)
              .setIndex(number())
              .setStateMachineLogEntry(
                  StateMachineLogEntryProto.newBuilder()
                      .setLogData(ByteString.copyFrom(junk()))
                      .setClientId(ClientId.randomId().toByteString())
                      .setCallId(number())));
    }
    return request.build();
  }

  private RequestVoteRequestProto vote(String to, long term) {
    return RequestVoteRequestProto.newBuilder()
        .setServerRequest(server(to))
        .setCandidateTerm(term)
        .setPreVote(random.nextBoolean())
        .setCandidateLastEntry(at(term))
        .build();
  }

  private InstallSnapshotRequestProto snapshot(String to, long term) {
    byte[] junk = junk();
    List<FileChunkProto> files = new ArrayList<>();
    files.add(
        FileChunkProto.newBuilder()
            .setFilename(random.nextBoolean() ? "../../identity" : "sm/snapshot.9_9")
            .setTotalSize(number())
            .setData(ByteString.copyFrom(junk))
            .setDone(true)
            .build());
    return InstallSnapshotRequestProto.newBuilder()
        .setServerRequest(server(to))
        .setLeaderTerm(term)
        .setSnapshotChunk(
            SnapshotChunkProto.newBuilder()
                .setRequestId("fuzz")
                .setTermIndex(at(term))
                .setTotalSize(junk.length)
                .addAllFileChunks(files)
                .setDone(true))
        .build();
  }
}
