package dev.tollgate.wire;

/** The constants of the protocol; docs/protocol.md is their specification. */
public final class Protocol {
  /** First four bytes of a hello, "TLGT"; a client of another protocol is detected at once. */
  public static final int MAGIC = 0x544c4754;

  /** The newest version of the protocol that this code speaks; it speaks all from 1 on. */
  public static final int VERSION = 9;

  /** From this version on Welcome has the id of the cluster. */
  static final int CLUSTER_ID_VERSION = 2;

  /** From this version on a node can be asked what it knows about itself and the others. */
  public static final int NODE_STATUS_VERSION = 3;

  /** From this version on a node tells who holds a lock. */
  public static final int HOLDER_VERSION = 4;

  /** From this version on a node runs a series of statements that one request brings. */
  public static final int SERIES_VERSION = 5;

  /** From this version on a node says in which term it is, and tells who leads in a later one. */
  public static final int LEADER_VERSION = 5;

  /** From this version on a client can authenticate itself. */
  public static final int LOGIN_VERSION = 6;

  /** From this version on a client says how many connections were lost under a request. */
  public static final int LOSSES_VERSION = 7;

  /** From this version on a node tells that a lease has lost a lock. */
  public static final int LOCK_WATCH_VERSION = 8;

  /** From this version on a session has a time zone. */
  public static final int TIME_ZONE_VERSION = 9;

  /** The name of the time zone of a session whose client names none. */
  public static final String UTC = "UTC";

  /** The mechanism by which the certificate of the client's TLS connection names the user. */
  public static final String EXTERNAL = "EXTERNAL";

  /** The mechanism by which a token of an identity provider names the user (RFC 7628). */
  public static final String OAUTHBEARER = "OAUTHBEARER";

  /** The mechanism by which the password itself is sent, for a directory (RFC 4616). */
  public static final String PLAIN = "PLAIN";

  /** Bytes of a frame's header after its length: type, flags, request id, deadline. */
  public static final int HEADER_BYTES = 1 + 1 + 8 + 4;

  /** Most bytes of a frame, without its length field. */
  public static final int MAX_FRAME_BYTES = 16 << 20;

  /** Most bytes of the first frames of a connection, from a client that is not known yet. */
  public static final int MAX_HELLO_BYTES = 4096;

  /** The same, where the node has offered {@link #OAUTHBEARER}: tokens are long. */
  public static final int MAX_TOKEN_FRAME_BYTES = 16 << 10;

  /** Most sessions and leases in one heartbeat; a client with more sends several. */
  public static final int MAX_HEARTBEAT_IDS = 100_000;

  /** Most locks in one request to watch them; a client with more sends several, one by one. */
  public static final int MAX_WATCHED_LOCKS = 4_000;

  /**
   * Most parameter sets of one batch, between which nothing else is applied. A client with more
   * sets sends several batches.
   */
  public static final int MAX_BATCH_SETS = 2_000;

  /**
   * Most values of one request: those of all its parameter sets, each array and row, and each
   * element of these. A node holds a value in up to 160 bytes, even if it has one byte in the
   * request.
   */
  public static final int MAX_VALUES = 250_000;

  /** Most statements of one series, between which nothing else is applied. */
  public static final int MAX_SERIES_STATEMENTS = 500;

  /** A page of rows ends once it has this many bytes. */
  public static final int PAGE_BYTES = 256 << 10;

  /** Most bytes of a snapshot in one reply. */
  public static final int MAX_SNAPSHOT_PART_BYTES = 1 << 20;

  /** The interval at which a node reports that a frame is still arriving. */
  public static final int SIGN_OF_LIFE_MILLIS = 500;

  /** The port of a node if the address gives none. */
  public static final int DEFAULT_PORT = 7400;

  private Protocol() {}
}
