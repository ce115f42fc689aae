package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;

/** A message from a client. The first request of a connection is {@link Hello}. */
@SuppressWarnings("ArrayRecordComponent") // messages are passed on, never compared
public sealed interface Request {
  /** The code of this message in its frame. */
  int type();

  /** Appends the body. */
  void write(WireWriter out);

  /**
   * Reads the body of a frame.
   *
   * @throws WireFormatException if the body is not a request of this version
   */
  static Request read(Frame frame) {
    WireReader in = new WireReader(frame.body());
    Request request =
        switch (frame.type()) {
          case Hello.TYPE -> Hello.read(in);
          case OpenSession.TYPE -> OpenSession.read(in);
          case AttachSession.TYPE -> AttachSession.read(in);
          case CloseSession.TYPE -> new CloseSession();
          case Prepare.TYPE -> new Prepare(in.string());
          case Execute.TYPE -> Execute.read(in);
          case Fetch.TYPE -> new Fetch(in.i64(), in.i32());
          case CloseCursor.TYPE -> new CloseCursor(in.i64());
          case Metadata.TYPE -> new Metadata(in.i32(), in.rest());
          case Heartbeat.TYPE -> new Heartbeat(in.i64s(), in.i64s());
          case Cancel.TYPE -> new Cancel(in.i64(), in.i64(), in.i64());
          case Ping.TYPE -> new Ping();
          case ReleaseOwnLease.TYPE -> new ReleaseOwnLease();
          case OpenSnapshot.TYPE -> new OpenSnapshot(in.flag());
          case ReadSnapshot.TYPE -> ReadSnapshot.read(in);
          case AskNodeStatus.TYPE -> new AskNodeStatus();
          case AwaitHolder.TYPE -> AwaitHolder.read(in);
          case AwaitLeader.TYPE -> AwaitLeader.read(in);
          case WatchLocks.TYPE -> new WatchLocks(in.i64s(), in.i64s());
          case ExecuteSeries.TYPE -> ExecuteSeries.read(in);
          case BeginLogin.TYPE -> new BeginLogin(in.string(), in.bytes());
          case ContinueLogin.TYPE -> new ContinueLogin(in.bytes());
          default -> throw new WireFormatException("request type " + frame.type());
        };
    in.expectEnd();
    return request;
  }

  /**
   * Opens the conversation. Reply: {@link Reply.Welcome}, {@link Reply.LoginRequired}, or {@link
   * Reply.Failure} and the end of the connection.
   *
   * @param minVersion oldest version that the client speaks
   * @param maxVersion newest version that the client speaks
   * @param application name of the application, for operators
   * @param host name or address of the client, for operators
   * @param process process id and start, for operators
   */
  record Hello(int minVersion, int maxVersion, String application, String host, String process)
      implements Request {
    static final int TYPE = 0x01;

    public Hello {
      requireNonNull(application, "application");
      requireNonNull(host, "host");
      requireNonNull(process, "process");
    }

    static Hello read(WireReader in) {
      int magic = in.i32();
      if (magic != Protocol.MAGIC) {
        throw new WireFormatException("this is not the Tollgate protocol");
      }
      return new Hello(in.u16(), in.u16(), in.string(), in.string(), in.string());
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i32(Protocol.MAGIC).u16(minVersion).u16(maxVersion);
      out.string(application).string(host).string(process);
    }
  }

  /**
   * Opens a session for this connection. Reply: {@link Reply.SessionReady}.
   *
   * @param ttlMillis how long the session outlives its last heartbeat
   * @param leaseTtlMillis ttl of the session's own lease
   * @param timeZone name of the time zone of the session
   */
  record OpenSession(long ttlMillis, long leaseTtlMillis, SessionOptions options, String timeZone)
      implements Request {
    static final int TYPE = 0x02;

    public OpenSession {
      requireNonNull(options, "options");
      requireNonNull(timeZone, "timeZone");
    }

    /** A session in UTC. */
    public OpenSession(long ttlMillis, long leaseTtlMillis, SessionOptions options) {
      this(ttlMillis, leaseTtlMillis, options, Protocol.UTC);
    }

    static OpenSession read(WireReader in) {
      long ttlMillis = in.i64();
      long leaseTtlMillis = in.i64();
      SessionOptions options = SessionOptions.read(in);
      return in.remaining() == 0
          ? new OpenSession(ttlMillis, leaseTtlMillis, options)
          : new OpenSession(ttlMillis, leaseTtlMillis, options, in.string());
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(ttlMillis).i64(leaseTtlMillis);
      options.write(out);
      // absent in versions before Protocol.TIME_ZONE_VERSION
      if (!timeZone.equals(Protocol.UTC)) {
        out.string(timeZone);
      }
    }
  }

  /**
   * Attaches this connection to a session that another connection opened, after a failover. Reply:
   * {@link Reply.SessionReady}, or {@link Reply.Failure} if the session is gone.
   *
   * @param secret the secret from {@link Reply.SessionReady}
   * @param leaderOnly true if a node that is not the leader has to reply {@link Reply.NotLeader}
   * @param settingSequence number of the last statement by which the client has learned of a
   *     setting of the session; a node that has not applied it does not take the session; 0 for
   *     none
   */
  record AttachSession(
      long sessionId, long secret, boolean leaderOnly, SessionOptions options, long settingSequence)
      implements Request {
    static final int TYPE = 0x03;

    public AttachSession {
      requireNonNull(options, "options");
    }

    /** For a session that has the settings with which it was opened. */
    public AttachSession(long sessionId, long secret, boolean leaderOnly, SessionOptions options) {
      this(sessionId, secret, leaderOnly, options, 0);
    }

    static AttachSession read(WireReader in) {
      long sessionId = in.i64();
      long secret = in.i64();
      boolean leaderOnly = in.flag();
      SessionOptions options = SessionOptions.read(in);
      long settingSequence = in.remaining() == 0 ? 0 : in.i64();
      return new AttachSession(sessionId, secret, leaderOnly, options, settingSequence);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(sessionId).i64(secret).flag(leaderOnly);
      options.write(out);
      // absent in versions before Protocol.TIME_ZONE_VERSION
      if (settingSequence != 0) {
        out.i64(settingSequence);
      }
    }
  }

  /**
   * What the node that serves a session has to know about the session, besides the replicated
   * state.
   *
   * @param lockWaitMillis how long acquire_lock waits if the call does not say
   */
  record SessionOptions(ReadConsistency readConsistency, long lockWaitMillis) {
    public SessionOptions {
      requireNonNull(readConsistency, "readConsistency");
    }

    static SessionOptions read(WireReader in) {
      return new SessionOptions(ReadConsistency.read(in), in.i64());
    }

    void write(WireWriter out) {
      readConsistency.write(out);
      out.i64(lockWaitMillis);
    }
  }

  /** Ends the session, its own lease, and what the lease holds. Reply: {@link Reply.Ok}. */
  record CloseSession() implements Request {
    static final int TYPE = 0x04;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {}
  }

  /** Asks what a statement takes and returns. Reply: {@link Reply.Prepared}. */
  record Prepare(String sql) implements Request {
    static final int TYPE = 0x05;

    public Prepare {
      requireNonNull(sql, "sql");
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.string(sql);
    }
  }

  /**
   * Runs a statement. Reply: {@link Reply.Result}, {@link Reply.BatchResult} or {@link
   * Reply.Failure}.
   *
   * @param sequence number of the operation within its session, from 1, rising. A statement that is
   *     sent again with the same number takes effect only once
   * @param ownLeaseTrusted false if the client cannot prove that the session's own lease is alive
   * @param mode whether it belongs to a transaction of several statements
   * @param batch true to run once per parameter set and report on each
   * @param maxRows most rows of the result, 0 for all
   * @param pageRows most rows of the first page, 0 for as many as fit
   * @param parameterSets the values of each set, as {@code dev.tollgate.value} encodes them: a
   *     count u16, then the values; exactly one set unless batch
   */
  record Execute(
      long sequence,
      boolean ownLeaseTrusted,
      TransactionMode mode,
      boolean batch,
      String sql,
      KeyRequest keys,
      long maxRows,
      int pageRows,
      List<byte[]> parameterSets)
      implements Request {
    static final int TYPE = 0x06;

    public Execute {
      requireNonNull(mode, "mode");
      requireNonNull(sql, "sql");
      requireNonNull(keys, "keys");
      parameterSets = List.copyOf(parameterSets);
    }

    static Execute read(WireReader in) {
      long sequence = in.i64();
      boolean ownLeaseTrusted = in.flag();
      TransactionMode mode = TransactionMode.read(in);
      boolean batch = in.flag();
      String sql = in.string();
      KeyRequest keys = KeyRequest.read(in);
      long maxRows = in.i64();
      int pageRows = in.i32();
      List<byte[]> sets = new ArrayList<>();
      for (int i = in.count(4); i > 0; i--) {
        sets.add(in.bytes());
      }
      if (sequence <= 0 || maxRows < 0 || pageRows < 0 || (!batch && sets.size() != 1)) {
        throw new WireFormatException("execute " + sequence + " with " + sets.size() + " sets");
      }
      return new Execute(
          sequence, ownLeaseTrusted, mode, batch, sql, keys, maxRows, pageRows, sets);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(sequence).flag(ownLeaseTrusted);
      mode.write(out);
      out.flag(batch).string(sql);
      keys.write(out);
      out.i64(maxRows).i32(pageRows).i32(parameterSets.size());
      parameterSets.forEach(out::bytes);
    }
  }

  /** Asks for the next rows of a result that did not fit. Reply: {@link Reply.Result}. */
  record Fetch(long cursorId, int pageRows) implements Request {
    static final int TYPE = 0x07;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(cursorId).i32(pageRows);
    }
  }

  /** Gives up the rest of a result. Gets no reply. */
  record CloseCursor(long cursorId) implements Request {
    static final int TYPE = 0x08;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(cursorId);
    }
  }

  /**
   * Asks for metadata of the database. Reply: {@link Reply.Result}.
   *
   * @param code number of the method in H2's DatabaseMetaServer
   * @param arguments a parameter set
   */
  record Metadata(int code, byte[] arguments) implements Request {
    static final int TYPE = 0x09;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i32(code).raw(arguments, 0, arguments.length);
    }
  }

  /**
   * Keeps sessions, with their own leases, and created leases alive. Reply: {@link
   * Reply.HeartbeatAck}, once the node has proven its leadership.
   */
  record Heartbeat(List<Long> sessions, List<Long> leases) implements Request {
    static final int TYPE = 0x0a;

    public Heartbeat {
      sessions = List.copyOf(sessions);
      leases = List.copyOf(leases);
      if (sessions.size() > Protocol.MAX_HEARTBEAT_IDS
          || leases.size() > Protocol.MAX_HEARTBEAT_IDS) {
        throw new WireFormatException("heartbeat of " + sessions.size() + " + " + leases.size());
      }
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
   * Cancels the operation that a session has under way, from any connection. Reply: {@link
   * Reply.Ok}, whether or not there was something to cancel; {@link Reply.Failure} or {@link
   * Reply.NotLeader} if the node does not know the session.
   */
  record Cancel(long sessionId, long secret, long sequence) implements Request {
    static final int TYPE = 0x0b;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(sessionId).i64(secret).i64(sequence);
    }
  }

  /** Asks for a sign of life. Reply: {@link Reply.Ok}, without a log entry. */
  record Ping() implements Request {
    static final int TYPE = 0x0c;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {}
  }

  /**
   * Ends the session's own lease and what the lease holds. The session goes on, and gets another
   * lease when it needs one. Reply: {@link Reply.Ok}. The client sends the request again if the
   * reply is lost. That is idempotent, because nothing else of the session happens in between.
   */
  record ReleaseOwnLease() implements Request {
    static final int TYPE = 0x0d;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {}
  }

  /**
   * Has the node take a snapshot of what it has applied. The node keeps the file open for this
   * connection until the connection ends or opens another snapshot. Reply: {@link
   * Reply.SnapshotOpened}.
   *
   * @param leaderOnly true if only the leader may take the snapshot, which then covers all that was
   *     committed before; another node replies {@link Reply.NotLeader}
   */
  record OpenSnapshot(boolean leaderOnly) implements Request {
    static final int TYPE = 0x0e;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.flag(leaderOnly);
    }
  }

  /**
   * Asks for bytes of the snapshot that this connection has open. Reply: {@link
   * Reply.SnapshotPart}.
   *
   * @param length at most {@link Protocol#MAX_SNAPSHOT_PART_BYTES}
   */
  record ReadSnapshot(long offset, int length) implements Request {
    static final int TYPE = 0x0f;

    static ReadSnapshot read(WireReader in) {
      ReadSnapshot request = new ReadSnapshot(in.i64(), in.i32());
      if (request.offset < 0
          || request.length <= 0
          || request.length > Protocol.MAX_SNAPSHOT_PART_BYTES) {
        throw new WireFormatException(
            request.length + " bytes of a snapshot from " + request.offset);
      }
      return request;
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(offset).i32(length);
    }
  }

  /**
   * Asks the node what it knows about itself and the others, without a session and without a
   * quorum. Reply: {@link Reply.NodeStatus}. Exists from {@link Protocol#NODE_STATUS_VERSION} on.
   */
  record AskNodeStatus() implements Request {
    static final int TYPE = 0x10;

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {}
  }

  /**
   * Waits until the exclusive holder of a lock is another than the client knows. Reply: {@link
   * Reply.Holder}, at once if that is so already. Needs no session. Exists from {@link
   * Protocol#HOLDER_VERSION} on.
   *
   * @param knownToken of the holder that the client knows, 0 if it knows that there is none, -1 if
   *     it knows nothing
   */
  record AwaitHolder(String lock, long knownToken) implements Request {
    static final int TYPE = 0x11;

    public AwaitHolder {
      requireNonNull(lock, "lock");
    }

    static AwaitHolder read(WireReader in) {
      AwaitHolder request = new AwaitHolder(in.string(), in.i64());
      if (request.knownToken < -1) {
        throw new WireFormatException("token " + request.knownToken);
      }
      return request;
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.string(lock).i64(knownToken);
    }
  }

  /**
   * Has the node tell this connection from now on which locks these leases lose, and answers with
   * those of these locks that they do not hold. Reply: {@link Reply.LocksLost}. Needs no session.
   * Exists from {@link Protocol#LOCK_WATCH_VERSION} on.
   *
   * @param leases the lease of each lock
   * @param tokens the token under which each lock is held, which no other hold ever has
   */
  record WatchLocks(List<Long> leases, List<Long> tokens) implements Request {
    static final int TYPE = 0x16;

    public WatchLocks {
      leases = List.copyOf(leases);
      tokens = List.copyOf(tokens);
      if (leases.size() != tokens.size() || leases.size() > Protocol.MAX_WATCHED_LOCKS) {
        throw new WireFormatException(
            "watch of " + leases.size() + " leases and " + tokens.size() + " tokens");
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
   * Waits until the node knows a leader of a later term than the client does. Reply: {@link
   * Reply.Leader}, at once if that is so already. Needs no session, and is for any node. Exists
   * from {@link Protocol#LEADER_VERSION} on.
   *
   * @param knownTerm the term of the leader that the client knows, 0 if it knows none. A term has
   *     at most one leader, so the term alone says which one
   */
  record AwaitLeader(long knownTerm) implements Request {
    static final int TYPE = 0x12;

    static AwaitLeader read(WireReader in) {
      AwaitLeader request = new AwaitLeader(in.i64());
      if (request.knownTerm < 0) {
        throw new WireFormatException("term " + request.knownTerm);
      }
      return request;
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(knownTerm);
    }
  }

  /**
   * Runs several statements that change rows, in order, as one operation of the session. Reply:
   * {@link Reply.BatchResult} with a result for each statement that ran and one more for the
   * commit, or {@link Reply.Failure} if none ran. Exists from {@link Protocol#SERIES_VERSION} on.
   *
   * @param sequence as in {@link Execute}, one number for the whole series
   * @param ownLeaseTrusted as in {@link Execute}
   * @param mode as in {@link Execute}, for all statements
   * @param ending what ends the series before its last statement, and what follows that
   * @param statements 1 to {@link Protocol#MAX_SERIES_STATEMENTS}
   */
  record ExecuteSeries(
      long sequence,
      boolean ownLeaseTrusted,
      TransactionMode mode,
      SeriesEnding ending,
      List<SeriesStatement> statements)
      implements Request {
    static final int TYPE = 0x13;

    public ExecuteSeries {
      requireNonNull(mode, "mode");
      requireNonNull(ending, "ending");
      statements = List.copyOf(statements);
    }

    static ExecuteSeries read(WireReader in) {
      long sequence = in.i64();
      boolean ownLeaseTrusted = in.flag();
      TransactionMode mode = TransactionMode.read(in);
      SeriesEnding ending = SeriesEnding.read(in);
      List<SeriesStatement> statements = new ArrayList<>();
      for (int i = in.count(8); i > 0; i--) {
        statements.add(new SeriesStatement(in.string(), in.bytes()));
      }
      boolean outside = ending == SeriesEnding.COMMIT && mode == TransactionMode.AUTOCOMMIT;
      if (sequence <= 0 || statements.isEmpty() || outside) {
        throw new WireFormatException(
            "series " + sequence + " of " + statements.size() + " statements, " + ending);
      }
      return new ExecuteSeries(sequence, ownLeaseTrusted, mode, ending, statements);
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.i64(sequence).flag(ownLeaseTrusted);
      mode.write(out);
      ending.write(out);
      out.i32(statements.size());
      for (SeriesStatement statement : statements) {
        out.string(statement.sql()).bytes(statement.parameterSet());
      }
    }
  }

  /**
   * A statement of a series.
   *
   * @param parameterSet as in {@link Execute}
   */
  record SeriesStatement(String sql, byte[] parameterSet) {
    public SeriesStatement {
      requireNonNull(sql, "sql");
      requireNonNull(parameterSet, "parameterSet");
    }
  }

  /**
   * Begins to authenticate, with a mechanism of {@link Reply.LoginRequired}. Reply: {@link
   * Reply.LoginChallenge}, {@link Reply.LoggedIn}, or {@link Reply.Failure} and the end of the
   * connection. Exists from {@link Protocol#LOGIN_VERSION} on.
   *
   * @param data the first message of the mechanism
   */
  record BeginLogin(String mechanism, byte[] data) implements Request {
    static final int TYPE = 0x14;

    public BeginLogin {
      requireNonNull(mechanism, "mechanism");
      requireNonNull(data, "data");
    }

    @Override
    public int type() {
      return TYPE;
    }

    @Override
    public void write(WireWriter out) {
      out.string(mechanism).bytes(data);
    }

    /** Without the data, which may prove a password. */
    @Override
    public String toString() {
      return "BeginLogin[mechanism=" + mechanism + "]";
    }
  }

  /**
   * Answers {@link Reply.LoginChallenge}. Reply: {@link Reply.LoggedIn}, or {@link Reply.Failure}
   * and the end of the connection. Exists from {@link Protocol#LOGIN_VERSION} on.
   *
   * @param data the next message of the mechanism
   */
  record ContinueLogin(byte[] data) implements Request {
    static final int TYPE = 0x15;

    public ContinueLogin {
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

    /** Without the data, which may prove a password. */
    @Override
    public String toString() {
      return "ContinueLogin[]";
    }
  }
}
