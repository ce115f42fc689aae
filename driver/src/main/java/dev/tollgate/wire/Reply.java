package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A message from a node: a reply to a request, or an event. */
@SuppressWarnings("ArrayRecordComponent") // messages are passed on, never compared
public sealed interface Reply {
  /** The code of this message in its frame. */
  int type();

  /** Appends the body. */
  void write(WireWriter out);

  /**
   * Reads the body of a frame.
   *
   * @throws WireFormatException if the body is not a reply of this version
   */
  static Reply read(Frame frame) {
    WireReader in = new WireReader(frame.body());
    Reply reply =
        switch (frame.type()) {
          case Welcome.TYPE -> Welcome.read(in);
          case SessionReady.TYPE -> new SessionReady(in.i64(), in.i64());
          case Prepared.TYPE -> Prepared.read(in);
          case Result.TYPE -> new Result(in.rest());
          case BatchResult.TYPE -> BatchResult.read(in);
          case HeartbeatAck.TYPE -> new HeartbeatAck(in.i64s(), in.i64s());
          case Ok.TYPE -> new Ok();
          case Failure.TYPE -> Failure.read(in);
          case NotLeader.TYPE -> new NotLeader(ClusterView.read(in));
          case Lost.TYPE -> new Lost(in.i64s(), in.i64s());
          case ClusterChanged.TYPE -> new ClusterChanged(ClusterView.read(in));
          case SnapshotOpened.TYPE ->
              new SnapshotOpened(in.string(), in.i64(), in.i64(), in.i64(), in.i64(), in.bytes());
          case SnapshotPart.TYPE -> new SnapshotPart(in.rest());
          case NodeStatus.TYPE -> NodeStatus.read(in);
          case Holder.TYPE -> Holder.read(in);
          case Leader.TYPE -> Leader.read(in);
          case LocksLost.TYPE -> new LocksLost(in.i64s(), in.i64s());
          case LoginRequired.TYPE -> LoginRequired.read(in);
          case LoginChallenge.TYPE -> new LoginChallenge(in.bytes());
          case LoggedIn.TYPE -> LoggedIn.read(in);
          default -> throw new WireFormatException("reply type " + frame.type());
        };
    in.expectEnd();
    return reply;
  }

  /**
   * The node accepts the connection.
   *
   * @param version the version that both sides speak from now on
   * @param clusterId distinguishes the cluster from any other; null before version 2, and while the
   *     node does not know it
   * @param term of the node: only in this term or a later one does it lead. 0 before version 5
   */
  record Welcome(
      int version, String nodeId, ClusterView cluster, @Nullable String clusterId, long term)
      implements Reply {
    static final int TYPE = 0x81;

    public Welcome {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(cluster, "cluster");
    }

    static Welcome read(WireReader in) {
      int version = in.u16();
      String nodeId = in.string();
      ClusterView cluster = ClusterView.read(in);
      return new Welcome(
          version,
          nodeId,
          cluster,
          version >= Protocol.CLUSTER_ID_VERSION ? in.nullableString() : null,
          version >= Protocol.LEADER_VERSION ? in.i64() : 0);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.u16(version).string(nodeId);
      cluster.write(out);
      if (version >= Protocol.CLUSTER_ID_VERSION) {
        out.nullableString(clusterId);
      }
      if (version >= Protocol.LEADER_VERSION) {
        out.i64(term);
      }
    }
  }

  /**
   * The nodes of the cluster, as far as the replying node knows them.
   *
   * @param leaderAddress host:port for clients, or null if no leader is known at the moment
   * @param addresses host:port of every node, for clients
   */
  record ClusterView(@Nullable String leaderAddress, List<String> addresses) {
    public ClusterView {
      addresses = List.copyOf(addresses);
    }

    static ClusterView read(WireReader in) {
      String leader = in.nullableString();
      List<String> addresses = new ArrayList<>();
      for (int i = in.count(4); i > 0; i--) {
        addresses.add(in.string());
      }
      return new ClusterView(leader, addresses);
    }

    void write(WireWriter out) {
      out.nullableString(leaderAddress).i32(addresses.size());
      addresses.forEach(out::string);
    }
  }

  /** The connection has a session. */
  record SessionReady(long sessionId, long secret) implements Reply {
    static final int TYPE = 0x82;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(sessionId).i64(secret);
    }
  }

  /**
   * What a statement takes and returns.
   *
   * @param query true if it returns rows
   * @param commandType H2's number for the kind of statement
   * @param parameters the parameters as {@code dev.tollgate.value.Parameter} describes them
   * @param columns the columns as {@code dev.tollgate.value.RowSet.writeColumns} writes them, or no
   *     bytes at all if it returns none
   */
  record Prepared(boolean query, int commandType, byte[] parameters, byte[] columns)
      implements Reply {
    static final int TYPE = 0x83;

    static Prepared read(WireReader in) {
      return new Prepared(in.flag(), in.i32(), in.bytes(), in.bytes());
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.flag(query).i32(commandType).bytes(parameters).bytes(columns);
    }
  }

  /**
   * The result of a statement.
   *
   * @param body a result as {@code dev.tollgate.value} encodes it
   */
  record Result(byte[] body) implements Reply {
    static final int TYPE = 0x84;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.raw(body, 0, body.length);
    }
  }

  /** The result of each execution of a batch, in order: {@link Result} or {@link Failure}. */
  record BatchResult(List<Reply> results) implements Reply {
    static final int TYPE = 0x85;

    public BatchResult {
      results = List.copyOf(results);
    }

    static BatchResult read(WireReader in) {
      List<Reply> results = new ArrayList<>();
      for (int i = in.count(5); i > 0; i--) {
        results.add(in.flag() ? new Result(in.bytes()) : Failure.read(in));
      }
      return new BatchResult(results);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i32(results.size());
      for (Reply reply : results) {
        if (reply instanceof Result result) {
          out.flag(true).bytes(result.body());
        } else {
          out.flag(false);
          reply.write(out);
        }
      }
    }
  }

  /**
   * The leader has renewed everything that a heartbeat named, except for these sessions and leases,
   * which are gone for good.
   *
   * @param lostSessions sessions that ended
   * @param lostLeases leases that ended
   */
  record HeartbeatAck(List<Long> lostSessions, List<Long> lostLeases) implements Reply {
    static final int TYPE = 0x86;

    public HeartbeatAck {
      lostSessions = List.copyOf(lostSessions);
      lostLeases = List.copyOf(lostLeases);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64s(lostSessions).i64s(lostLeases);
    }
  }

  /** Done. */
  record Ok() implements Reply {
    static final int TYPE = 0x87;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {}
  }

  /**
   * The request failed and its outcome is known: nothing was changed, unless the message says
   * otherwise.
   *
   * @param vendorCode the number of {@code SQLException.getErrorCode}
   */
  record Failure(String sqlState, int vendorCode, String message) implements Reply {
    static final int TYPE = 0x88;

    public Failure {
      requireNonNull(sqlState, "sqlState");
      requireNonNull(message, "message");
    }

    public Failure(SqlState state, String message) {
      this(state.state(), state.vendorCode(), message);
    }

    static Failure read(WireReader in) {
      return new Failure(in.string(), in.i32(), in.string());
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.string(sqlState).i32(vendorCode).string(message);
    }
  }

  /**
   * This node is not the leader, or has lost leadership: the client sends the request again to the
   * leader, with its sequence number. Until then it is unknown whether an operation has taken
   * effect.
   */
  record NotLeader(ClusterView cluster) implements Reply {
    static final int TYPE = 0x89;

    public NotLeader {
      requireNonNull(cluster, "cluster");
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      cluster.write(out);
    }
  }

  /**
   * Event, request id 0: sessions and leases that this connection's heartbeats named have ended.
   * The leader sends the event as soon as it knows.
   */
  record Lost(List<Long> sessions, List<Long> leases) implements Reply {
    static final int TYPE = 0x8a;

    public Lost {
      sessions = List.copyOf(sessions);
      leases = List.copyOf(leases);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64s(sessions).i64s(leases);
    }
  }

  /**
   * Locks that their leases no longer hold, whoever released them. The answer to {@link
   * Request.WatchLocks}, and an event afterwards.
   *
   * @param leases the lease of each lock
   * @param tokens the token under which each lock was held
   */
  record LocksLost(List<Long> leases, List<Long> tokens) implements Reply {
    static final int TYPE = 0x94;

    public LocksLost {
      leases = List.copyOf(leases);
      tokens = List.copyOf(tokens);
      if (leases.size() != tokens.size()) {
        throw new WireFormatException(
            "loss of " + leases.size() + " leases and " + tokens.size() + " tokens");
      }
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64s(leases).i64s(tokens);
    }
  }

  /**
   * Who holds a lock exclusively.
   *
   * @param token 0 if no lease does
   * @param owner of the lease, null if no lease holds the lock
   */
  record Holder(long token, @Nullable String owner) implements Reply {
    static final int TYPE = 0x8f;

    static Holder read(WireReader in) {
      long token = in.i64();
      String owner = in.nullableString();
      if (token < 0 || (token == 0) != (owner == null)) {
        throw new WireFormatException("holder with token " + token);
      }
      return new Holder(token, owner);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(token).nullableString(owner);
    }
  }

  /**
   * Who leads in the latest term of which the node knows a leader that has committed an entry.
   *
   * @param cluster names the leader's address
   */
  record Leader(long term, String nodeId, ClusterView cluster) implements Reply {
    static final int TYPE = 0x90;

    public Leader {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(cluster, "cluster");
    }

    static Leader read(WireReader in) {
      Leader leader = new Leader(in.i64(), in.string(), ClusterView.read(in));
      if (leader.term <= 0 || leader.cluster.leaderAddress() == null) {
        throw new WireFormatException("leader of term " + leader.term + " without an address");
      }
      return leader;
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(term).string(nodeId);
      cluster.write(out);
    }
  }

  /** Event, request id 0: the addresses at which clients reach nodes have changed. */
  record ClusterChanged(ClusterView cluster) implements Reply {
    static final int TYPE = 0x8b;

    public ClusterChanged {
      requireNonNull(cluster, "cluster");
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      cluster.write(out);
    }
  }

  /**
   * A snapshot is open for this connection.
   *
   * @param nodeId the node that has the snapshot
   * @param term of the last log entry that the snapshot covers
   * @param index of that entry
   * @param writtenMicros when the snapshot was written, in microseconds since 1970-01-01T00:00:00Z
   * @param configuration the members of the group, as the node's log keeps them
   */
  record SnapshotOpened(
      String nodeId,
      long term,
      long index,
      long sizeBytes,
      long writtenMicros,
      byte[] configuration)
      implements Reply {
    static final int TYPE = 0x8c;

    public SnapshotOpened {
      requireNonNull(nodeId, "nodeId");
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.string(nodeId).i64(term).i64(index);
      out.i64(sizeBytes).i64(writtenMicros).bytes(configuration);
    }
  }

  /**
   * Bytes of a snapshot.
   *
   * @param bytes as many as were requested, fewer at the end of the file, none after it
   */
  record SnapshotPart(byte[] bytes) implements Reply {
    static final int TYPE = 0x8d;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.raw(bytes, 0, bytes.length);
    }
  }

  /**
   * The cluster as one node sees it.
   *
   * @param nodeId the node that replies
   * @param role LEADER, FOLLOWER, CANDIDATE, STARTING or STOPPED
   * @param leaderId the leader of this term, or null if the node knows of none
   * @param appliedIndex log index up to which the node has applied entries
   * @param commitIndex log index up to which the node knows entries to be committed
   * @param failure why the node no longer applies entries, or null
   */
  record NodeStatus(
      String nodeId,
      String role,
      @Nullable String leaderId,
      long term,
      long appliedIndex,
      long commitIndex,
      @Nullable String failure,
      List<Member> members)
      implements Reply {
    static final int TYPE = 0x8e;

    public NodeStatus {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(role, "role");
      members = List.copyOf(members);
    }

    /**
     * A node of the cluster.
     *
     * @param raftAddress host:port for the other nodes
     * @param clientAddress host:port for clients, or null if the node has not announced it yet
     * @param silentMillis how long the replying node has not heard from this member; null if it
     *     does not listen to this member. A leader listens to all members, a follower only to its
     *     leader
     */
    public record Member(
        String nodeId,
        String raftAddress,
        @Nullable String clientAddress,
        @Nullable Long silentMillis) {
      public Member {
        requireNonNull(nodeId, "nodeId");
        requireNonNull(raftAddress, "raftAddress");
      }

      static Member read(WireReader in) {
        return new Member(
            in.string(), in.string(), in.nullableString(), in.flag() ? (Long) in.i64() : null);
      }

      void write(WireWriter out) {
        out.string(nodeId).string(raftAddress).nullableString(clientAddress);
        out.flag(silentMillis != null);
        if (silentMillis != null) {
          out.i64(silentMillis);
        }
      }
    }

    static NodeStatus read(WireReader in) {
      String nodeId = in.string();
      String role = in.string();
      String leaderId = in.nullableString();
      long term = in.i64();
      long applied = in.i64();
      long committed = in.i64();
      String failure = in.nullableString();
      List<Member> members = new ArrayList<>();
      for (int i = in.count(MEMBER_BYTES); i > 0; i--) {
        members.add(Member.read(in));
      }
      return new NodeStatus(nodeId, role, leaderId, term, applied, committed, failure, members);
    }

    /** Fewer bytes than any member has. */
    private static final int MEMBER_BYTES = 13;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.string(nodeId).string(role).nullableString(leaderId);
      out.i64(term).i64(appliedIndex).i64(commitIndex).nullableString(failure);
      out.i32(members.size());
      members.forEach(member -> member.write(out));
    }
  }

  /**
   * The node serves only clients that authenticate, and tells others nothing of its cluster.
   *
   * @param version the version that both sides speak from now on
   * @param mechanisms names of SASL mechanisms, the strongest first
   */
  record LoginRequired(int version, List<String> mechanisms) implements Reply {
    static final int TYPE = 0x91;

    public LoginRequired {
      mechanisms = List.copyOf(mechanisms);
    }

    static LoginRequired read(WireReader in) {
      int version = in.u16();
      List<String> mechanisms = new ArrayList<>();
      for (int i = in.count(4); i > 0; i--) {
        mechanisms.add(in.string());
      }
      return new LoginRequired(version, mechanisms);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.u16(version).i32(mechanisms.size());
      mechanisms.forEach(out::string);
    }
  }

  /**
   * The exchange goes on.
   *
   * @param data the next message of the mechanism
   */
  record LoginChallenge(byte[] data) implements Reply {
    static final int TYPE = 0x92;

    public LoginChallenge {
      requireNonNull(data, "data");
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.bytes(data);
    }
  }

  /**
   * The client has authenticated itself.
   *
   * @param data the last message of the mechanism, with which the node proves itself; may be empty
   */
  record LoggedIn(byte[] data, Welcome welcome) implements Reply {
    static final int TYPE = 0x93;

    public LoggedIn {
      requireNonNull(data, "data");
      requireNonNull(welcome, "welcome");
    }

    static LoggedIn read(WireReader in) {
      return new LoggedIn(in.bytes(), Welcome.read(in));
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.bytes(data);
      welcome.write(out);
    }
  }
}
