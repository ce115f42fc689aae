package dev.tollgate.log.peer;

import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A message between two nodes: a call, or the answer to one. As bytes: the length of what follows
 * (u32), the kind (u8), the number of the call (i32), how many answers the sender has read from
 * this connection (i32), what the wall clock of the sender says in an answer (i64), and the body.
 */
final class Frame {
  /** The largest frame before the nodes know each other. */
  static final int MAX_HELLO_BYTES = 4 << 10;

  /** Both sides begin with this: a name, and the version of the protocol. */
  static final byte[] PREFACE = {'T', 'G', 'P', 'E', 'E', 'R', 0, 3};

  private static final int LENGTH_BYTES = Integer.BYTES;
  private static final int WALL_AT = LENGTH_BYTES + 1 + 2 * Integer.BYTES;
  private static final int HEADER_BYTES = 1 + 2 * Integer.BYTES + Long.BYTES;

  /** The most characters of a text in an answer. */
  private static final int MAX_TEXT = 500;

  /** What a frame is. The codes are on the wire. */
  enum Kind {
    /**
     * Whether the caller wants to add this node (flag), its credentials, and a number that it has
     * drawn for this connection.
     */
    HELLO(1),
    /**
     * New credentials of the caller, for the calls after it, with its proof for them, if any; the
     * proof of this node for them, if any.
     */
    IDENTITY(2),
    /** AppendEntriesRequestProto; AppendEntriesReplyProto. */
    APPEND(3),
    /** RequestVoteRequestProto; RequestVoteReplyProto. */
    VOTE(4),
    /** StartLeaderElectionRequestProto; StartLeaderElectionReplyProto. */
    ELECTION(5),
    /** InstallSnapshotRequestProto; InstallSnapshotReplyProto. */
    SNAPSHOT(6),
    /** Nothing; the term that the node is in (i64). */
    TERM(7),
    /** RaftClientRequestProto, for the leader; RaftClientReplyProto. */
    FORWARD(8),
    /**
     * A log index (i64), for the leader; the newest snapshot that covers that entry: its term, its
     * log index and its size (i64 each).
     */
    STATE(9),
    /**
     * The term and the log index of a snapshot, and an offset (i64 each); the bytes there, none at
     * the end.
     */
    STATE_PART(10),
    /**
     * The term of the leader, and the log index of an entry that this node has acknowledged in that
     * term (i64 each); whether this node lacks the entry (flag).
     */
    LOST(11),
    /**
     * The answer to HELLO: a number that this node has drawn for this connection, its incarnation,
     * and its proof, if any.
     */
    CHALLENGE(12),
    /** The answer to CHALLENGE: the proof of the caller, if any. */
    PROOF(13),
    /** The call was carried out; its kind says what the answer contains. */
    DONE(64),
    /** The call failed: a text. It may be tried again. */
    FAILED(65),
    /** The guard refuses the caller: the name of a reason, and a text. */
    REFUSED(66);

    private static final Kind[] BY_CODE = new Kind[67];

    static {
      for (Kind kind : values()) {
        BY_CODE[kind.code] = kind;
      }
    }

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    static Kind of(int code) throws ProtocolException {
      Kind kind = code < BY_CODE.length ? BY_CODE[code] : null;
      if (kind == null) {
        throw new ProtocolException("a frame of kind " + code);
      }
      return kind;
    }
  }

  private final Kind kind;
  private final int call;
  private final int answersRead;
  private final long wallMicros;

  /** With the header. */
  private final byte[] bytes;

  private Frame(Kind kind, int call, int answersRead, long wallMicros, byte[] bytes) {
    this.kind = kind;
    this.call = call;
    this.answersRead = answersRead;
    this.wallMicros = wallMicros;
    this.bytes = bytes;
  }

  Kind kind() {
    return kind;
  }

  /** Returns the number that the caller has chosen; the answer has the same. */
  int call() {
    return call;
  }

  /** Returns how many answers the sender has read; 0 in an answer. */
  int answersRead() {
    return answersRead;
  }

  /** Returns what the clock of the sender says, microseconds since 1970; 0 in a call. */
  long wallMicros() {
    return wallMicros;
  }

  /** Writes what the clock of this node says into the bytes of an answer. */
  static void stamp(byte[] answer, long wallMicros) {
    ByteBuffer.wrap(answer).putLong(WALL_AT, wallMicros);
  }

  /** Returns the bytes of a frame with a message of Ratis. */
  static byte[] of(Kind kind, int call, int answersRead, MessageLite message) {
    byte[] bytes = new byte[LENGTH_BYTES + HEADER_BYTES + message.getSerializedSize()];
    int begin = header(bytes, kind, call, answersRead);
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(bytes, begin, bytes.length - begin);
      message.writeTo(out);
      out.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException("an array takes all that is written", e);
    }
    return bytes;
  }

  /** Returns the bytes of a frame with this body. */
  static byte[] of(Kind kind, int call, int answersRead, WireWriter body) {
    byte[] bytes = new byte[LENGTH_BYTES + HEADER_BYTES + body.size()];
    int begin = header(bytes, kind, call, answersRead);
    System.arraycopy(body.array(), 0, bytes, begin, body.size());
    return bytes;
  }

  /** Returns the bytes of an answer with a text, which may be cut. */
  static byte[] failed(int call, String text) {
    return of(Kind.FAILED, call, 0, new WireWriter(MAX_TEXT).string(cut(text)));
  }

  static byte[] refused(int call, PeerGuard.Refusal refusal) {
    return of(
        Kind.REFUSED,
        call,
        0,
        new WireWriter(MAX_TEXT).string(refusal.reason().name()).string(cut(refusal.message())));
  }

  private static String cut(String text) {
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT);
  }

  private static int header(byte[] bytes, Kind kind, int call, int answersRead) {
    return ByteBuffer.wrap(bytes)
        .putInt(bytes.length - LENGTH_BYTES)
        .put((byte) kind.code)
        .putInt(call)
        .putInt(answersRead)
        .putLong(0)
        .position();
  }

  /**
   * Waits for the next frame.
   *
   * @param maxBytes of the frame without its length
   * @throws ProtocolException if what comes is no frame
   * @throws java.io.EOFException if the connection ends
   */
  static Frame read(DataInputStream in, int maxBytes) throws IOException {
    int length = in.readInt();
    if (length < HEADER_BYTES || length > maxBytes) {
      throw new ProtocolException("a frame of " + length + " bytes: at most " + maxBytes + " may");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    ByteBuffer header = ByteBuffer.wrap(bytes);
    return new Frame(
        Kind.of(Byte.toUnsignedInt(header.get())),
        header.getInt(),
        header.getInt(),
        header.getLong(),
        bytes);
  }

  /** Returns the number of its bytes. */
  int size() {
    return bytes.length;
  }

  /** Returns a reader of the body. */
  WireReader body() {
    return new WireReader(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES);
  }

  /** Returns the body for a parser of Ratis' messages; what is parsed keeps these bytes. */
  CodedInputStream message() {
    ByteString body =
        UnsafeByteOperations.unsafeWrap(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES);
    CodedInputStream in = body.newCodedInput();
    in.enableAliasing(true);
    return in;
  }
}
