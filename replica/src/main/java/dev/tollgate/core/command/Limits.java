package dev.tollgate.core.command;

/** Every bound of the replicated state, in one place. Clients see them in docs/sql.md. */
public final class Limits {
  /** Characters of a lock name. */
  public static final int LOCK_NAME_CHARS = 255;

  /** Characters of the name of a time zone. */
  public static final int TIME_ZONE_CHARS = 64;

  /** Characters of a lease's owner, and of each part of a client's description. */
  public static final int DESCRIPTION_CHARS = 255;

  /**
   * Shortest ttl of a lease. Below it, a heartbeat every third of the ttl costs more than the lock
   * is worth.
   */
  public static final long LEASE_TTL_MIN_MILLIS = 100;

  /**
   * Longest ttl of a lease, 24 hours: a longer lease would outlive the operator who has to clear
   * it.
   */
  public static final long LEASE_TTL_MAX_MILLIS = 24 * 60 * 60 * 1000L;

  /** Shortest time for which a silent session is kept. */
  public static final long SESSION_TTL_MIN_MILLIS = 1_000;

  /** Longest time for which a silent session is kept. */
  public static final long SESSION_TTL_MAX_MILLIS = 24 * 60 * 60 * 1000L;

  /**
   * Entries after which a replica remembers its digest. A leader puts in its next entry the digest
   * of what it has applied, usually after the entry before.
   */
  public static final int RECENT_DIGESTS = 1 << 10;

  /**
   * How many times in ten minutes a node takes the state of the leader in place of its own before
   * it stops: it would differ forever, and every time the leader has to take a snapshot.
   */
  public static final int STATES_TAKEN = 3;

  /**
   * For how long a node that has caught up may lack a committed entry. A node that lacks one for
   * longer stands for no election: clients would wait until it had applied the entry.
   */
  public static final long CAUGHT_UP_MILLIS = 5_000;

  /**
   * For how many of the longest election timeouts a node that lacks committed entries stands for no
   * election while no node leads. Then no other node can be elected, so this one leads until
   * another one has its entries.
   */
  public static final int LEADERLESS_ELECTION_TIMEOUTS = 2;

  /**
   * For how many of the shortest election timeouts a leader may apply what is committed, while
   * another node has applied all of it. Then it hands leadership over to that node.
   */
  public static final int LATE_LEADER_ELECTION_TIMEOUTS = 1;

  /**
   * By how much the term of a message may be ahead of the term of the node that gets it. A cluster
   * that holds ten elections a second takes 13 years for so many terms, and needs 2^31 of such
   * steps until no term is left.
   */
  public static final long TERMS_AHEAD = 1L << 32;

  /**
   * How long a node stands at a command that it could not carry out before it stops. A majority
   * that stands at the same command skips it long before.
   */
  public static final long STANDING_MILLIS = 5 * 60 * 1000L;

  /**
   * For how long a definition waits for a copy of the state that is to be completed even if
   * definitions have to wait. Then the definition ends the copy as well.
   */
  public static final long COPIES_MILLIS = 30_000;

  /**
   * For how long definitions wait for queries that no definition has ended before; they share this
   * time, which comes back in {@link #DEFINITION_PATIENCE_RECOVERY} times what was waited.
   */
  public static final long DEFINITION_PATIENCE_MILLIS = 500;

  /**
   * For how long definitions wait, beyond that, for queries that run again because a definition has
   * ended them. Definitions share this time too, and it comes back likewise, to be used when all of
   * it is there. So definitions keep the apply thread waiting for queries for a sixth of the time
   * at most.
   */
  public static final long DEFINITION_REPEATED_PATIENCE_MILLIS = 1_000;

  /** In how many times the time that was waited the patience of definitions comes back. */
  public static final int DEFINITION_PATIENCE_RECOVERY = 10;

  /**
   * For how long a query that definitions end is run again, from the first time that one has ended
   * it. The next definition that ends the query then has it fail.
   */
  public static final long ENDED_QUERY_MILLIS = 30_000;

  /**
   * For how long the apply thread waits for another thread of its node. Then the node stops:
   * nothing says that the wait would ever end, and a new process has no such threads.
   */
  public static final long APPLY_WAIT_MILLIS = 60_000;

  /**
   * For how long an entry may be under way before the node says so: in its log, and by not being
   * ready.
   */
  public static final long APPLY_LATE_MILLIS = 10_000;

  /**
   * For how long an entry may be under way before the node says that it does not live. An ALTER
   * TABLE of a large table may take minutes, and would begin again if the node were started again.
   */
  public static final long APPLY_STALLED_MILLIS = 10 * 60 * 1000L;

  /** How long a leader that stands waits for the reports of a majority before it steps down. */
  public static final long REPORTS_MILLIS = 2_000;

  /**
   * For how long a node whose state is not whole asks nobody for a vote, from when it began to be
   * so, or stepped down: another node is to be elected first.
   */
  public static final long UNELECTED_MILLIS = 3_000;

  /**
   * For how long a state of the leader waits for a log that does not grow. The log has to reach the
   * last entry that the state covers; then the node asks for the state of the leader again.
   */
  public static final long STATE_AHEAD_MILLIS = 5_000;

  /**
   * For how many election timeouts, but no less than {@link #DISK_MILLIS}, the disk of a node may
   * sync nothing of what was written. After that the node does not vote and is not elected. The
   * time of the last vote takes the place of an election timeout if it was longer.
   */
  public static final int DISK_ELECTION_TIMEOUTS = 3;

  /**
   * For how many election timeouts a majority of the others may have what the disk of a leader has
   * not taken, without any progress. Then this disk hangs, and the leader steps down: the disks of
   * the others show what can be done in that time.
   */
  public static final int LEADER_DISK_ELECTION_TIMEOUTS = 2;

  /** A disk that is busy with other work may need that long for a sync. */
  public static final int DISK_MILLIS = 500;

  /**
   * By how much the shortest wait for votes grows at most, because the disk of this node or those
   * of the others take long for a vote. The longest one grows by twice that.
   */
  public static final int SLOW_DISK_ELECTION_MILLIS = 3_000;

  /** Open sessions; each takes 4 KiB of heap with its connection. */
  public static final int SESSIONS = 100_000;

  /** Open sessions of one user. A session waits for one thing at a time. */
  public static final int SESSIONS_PER_USER = 50_000;

  /** Live leases; each takes 400 bytes of heap. */
  public static final int LEASES = 1_000_000;

  /** Live leases that sessions of one user have created. */
  public static final int LEASES_PER_USER = 500_000;

  /** Held locks, counted once for each lease that holds one; each takes 300 bytes of heap. */
  public static final int HELD_LOCKS = 5_000_000;

  /** Held locks of the leases of one user, counted once for each lease that holds one. */
  public static final int HELD_LOCKS_PER_USER = 200_000;

  /** Leases that may hold one lock in shared mode together: who takes it by force ends them all. */
  public static final int HOLDERS_PER_LOCK = 20_000;

  /** Of these, the leases of one user. */
  public static final int HOLDERS_PER_LOCK_AND_USER = 10_000;

  /** Requests that may wait for one lock. */
  public static final int WAITERS_PER_LOCK = 20_000;

  /** Of these, those of one lease: all are examined when the lease gets or loses the lock. */
  public static final int WAITERS_PER_LOCK_AND_LEASE = 100;

  /**
   * Statements that may wait for transactions to end: all are examined whenever a transaction ends.
   */
  public static final int WAITING_STATEMENTS = 10_000;

  /** Statements of one user that may wait for transactions to end, or for a lock. */
  public static final int WAITING_STATEMENTS_PER_USER = 5_000;

  /** Bytes of the texts and parameters of waiting statements, 64 MiB. */
  public static final long WAITING_STATEMENT_BYTES = 64L << 20;

  /** The same of the statements of one user, 32 MiB: the largest request has 16 MiB. */
  public static final long WAITING_STATEMENT_BYTES_PER_USER = 32L << 20;

  /**
   * Connections of administrators for which a node has places beside those that all clients may
   * have: someone has to look who takes these.
   */
  public static final int ADMINISTRATOR_CONNECTIONS = 10;

  /** Requests that may wait at a node until the holder of a lock changes. */
  public static final int HOLDER_WATCHES = 10_000;

  /** The same of one user. */
  public static final int HOLDER_WATCHES_PER_USER = 5_000;

  /** Requests that watch locks and wait at a node for a thread, each with up to 4,000 locks. */
  public static final int QUEUED_LOCK_WATCHES = 256;

  /** Locks of such a request that are looked up between two entries: others may be applied then. */
  public static final int LOCKS_PER_LOOK = 500;

  /** Tokens of logins that a node checks at a time, or that wait for a thread to be checked. */
  public static final int TOKEN_CHECKS = 256;

  /** Of these, those from one address. */
  public static final int TOKEN_CHECKS_PER_ADDRESS = 64;

  /** Tokens that wait at a node until the keys of their issuer have been fetched. */
  public static final int TOKENS_AWAITING_KEYS = 128;

  /** Of these, those from one address. */
  public static final int TOKENS_AWAITING_KEYS_PER_ADDRESS = 32;

  /** Tokens that were right and that a node remembers, to know them again; the oldest goes. */
  public static final int REMEMBERED_TOKENS = 10_000;

  /** Bytes of the keys of an identity provider. */
  public static final int TOKEN_KEYS_BYTES = 256 << 10;

  /** The latest time in a token, in seconds since 1970: the end of the year 9999. */
  public static final long TOKEN_TIME_SECONDS = 253_402_300_799L;

  /** Keys of an identity provider. */
  public static final int TOKEN_KEYS = 100;

  /**
   * Passwords of logins that a node has a directory (LDAP) check at a time; no further one waits.
   */
  public static final int DIRECTORY_CHECKS = 64;

  /** Of these, those from one address. */
  public static final int DIRECTORY_CHECKS_PER_ADDRESS = 16;

  /** Of these, those of one user there. */
  public static final int DIRECTORY_CHECKS_PER_USER = 4;

  /** Of these, those over HTTP: each holds a thread of the admin address. */
  public static final int DIRECTORY_CHECKS_OVER_HTTP = 8;

  /** Of those over HTTP, those from one address. */
  public static final int DIRECTORY_CHECKS_OVER_HTTP_PER_ADDRESS = 4;

  /** Of those over HTTP, those of one user from one address. */
  public static final int DIRECTORY_CHECKS_OVER_HTTP_PER_USER = 2;

  /** Servers of a directory that a node asks in turn. */
  public static final int DIRECTORY_SERVERS = 4;

  /** Bytes of the answers that all sessions keep for clients that resend a request, 64 MiB. */
  public static final long KEPT_ANSWER_BYTES = 64L << 20;

  /**
   * Events of one kind that an address or a user repeats at will, such as failed logins, and that
   * have lines of their own in the audit file in a minute.
   */
  public static final int AUDITED_REPEATS = 5;

  /** The same of all addresses or users together. */
  public static final int AUDITED_REPEATS_IN_ALL = 60;

  /** Addresses or users whose further events of one kind are counted apart in a minute. */
  public static final int AUDITED_REPEATERS = 50;

  /** Characters of the reason of a refusal that auditors are told. */
  public static final int AUDITED_REASON_CHARS = 250;

  /**
   * Audit events of one stream that wait for their file: some seconds of the fastest cluster, in
   * some tens of mebibytes.
   */
  public static final int AUDIT_EVENTS = 65_536;

  /**
   * Log lines in a minute about other nodes that are refused, and as many about connections to the
   * port of nodes that do not keep to the protocol.
   */
  public static final int LOGGED_REFUSALS = 100;

  /**
   * Seconds within which a majority of the members has to say that this node was removed, has
   * another directory, or is of another cluster, for this node to end.
   */
  public static final int VERDICT_SECONDS = 60;

  /**
   * Addresses of members that a node knows, two of each: where it calls it, and whence it calls.
   */
  public static final int MEMBER_ADDRESSES = 128;

  /** Seconds for which the address of a node that is being added counts as that of a member. */
  public static final int JOINING_ADDRESS_SECONDS = 600;

  /** Log lines about connections to another node that end at once, one after the other. */
  public static final int LOGGED_SHORT_CONNECTIONS = 10;

  /** Lines of a file about logins, without those that are empty. */
  public static final int LOGIN_FILE_LINES = 10_000;

  /** Bytes of a file about logins. */
  public static final int LOGIN_FILE_BYTES = 4 << 20;

  /** Rules in the file of --login-rules. */
  public static final int LOGIN_RULES = 1_000;

  /** Audit lines that are sent to a syslog server before it has to confirm them. */
  public static final int SYSLOG_UNCONFIRMED_LINES = 10_000;

  /** Bytes of audit lines that are read at a time to be sent; a line more may be. */
  public static final int SYSLOG_PIECE_BYTES = 256 << 10;

  /**
   * How often a syslog server may leave the end of a connection unanswered before the lines count
   * as sent all the same.
   */
  public static final int SYSLOG_UNANSWERED = 3;

  /** Characters of a definition that auditors are told, unless it grants or revokes. */
  public static final int AUDITED_DEFINITION_CHARS = 500;

  /** Characters of GRANT and REVOKE, which auditors are told whole. */
  public static final int GRANT_CHARS = 2_000;

  /** Bytes up to which an answer is kept for as long as its session. */
  public static final long SMALL_ANSWER_BYTES = 1 << 10;

  /** Names of locks, lost with a lease or taken by force, that a session keeps for its client. */
  public static final int LOST_LOCKS = 1_000;

  /** Characters of the name of a user. */
  public static final int USER_NAME_CHARS = 128;

  /** Users; each takes 600 bytes of heap. */
  public static final int USERS = 10_000;

  /** Passwords of a user that are valid at a time, so that one can be rotated. */
  public static final int PASSWORDS_PER_USER = 2;

  /** The work limit of a user whose statements may do as much as any, in percent. */
  public static final int FULL_WORK = 100;

  /** The work limit of a user that was created without one, in percent. */
  public static final int ORDINARY_WORK = 10;

  /** Characters of a verifier of a password. */
  public static final int VERIFIER_CHARS = 512;

  /** Granted rights on locks and sequences. */
  public static final int RIGHTS = 10_000;

  /** Locks that have a definition of their own: CREATE LOCK. */
  public static final int LOCK_DEFINITIONS = 10_000;

  /** The most permits of a lock: leases that may hold it at a time. */
  public static final int LOCK_PERMITS = 10_000;

  /** Locks that one request may ask for together. */
  public static final int LOCKS_AT_ONCE = 100;

  /**
   * Calls of lock functions in one execution of a statement, of which each may be an audit line.
   */
  public static final int LOCK_CALLS_PER_STATEMENT = 1_000;

  /** The longest time for which a lock may be kept from others after its release. */
  public static final long LOCK_KEEP_MAX_MILLIS = 24 * 60 * 60 * 1000L;

  /** Longest wait for a lock, one hour. */
  public static final long LOCK_WAIT_MAX_MILLIS = 60 * 60 * 1000L;

  /**
   * Characters beyond which a statement is planned, tried and parsed alone on a node: its trees may
   * take some hundred times as many bytes.
   */
  public static final int LONG_STATEMENT_CHARS = 16_384;

  /** Characters of one SQL statement. */
  public static final int STATEMENT_CHARS = 1 << 20;

  /**
   * Bytes that the rows of a SCRIPT take in memory, 64 MiB. The answer stays in the node's memory
   * until the client has read it, and may be two and a half times as long.
   */
  public static final long SCRIPT_BYTES = 64L << 20;

  /** Characters of the expression that names the lock of a row. */
  public static final int ROW_LOCK_CHARS = 4_000;

  /**
   * Bytes of the result of one set of a batch, 4 MiB. A set runs only if the results of the sets
   * before it together have no more: the answers of all sets travel in one frame.
   */
  public static final int BATCH_RESULT_BYTES = 4 << 20;

  /** Statements of one series: nothing else is applied between them. */
  public static final int SERIES_STATEMENTS = 500;

  /** Characters of the error message of a failed set of a batch. */
  public static final int BATCH_MESSAGE_CHARS = 1_000;

  /** Fencing tokens that one session may present with SET FENCING TOKEN at a time. */
  public static final int TOKENS_PER_SESSION = 1_000;

  /**
   * Requests, locks and holds that the searches for deadlocks of one command examine. 200 open
   * transactions that wait for each other in a circle take fewer; a search that would take more
   * finds nothing, and the wait ends by its own timeout.
   */
  public static final int DEADLOCK_STEPS = 500_000;

  /** Transactions that may be open at a time: H2 has room for 255, and queries need some of it. */
  public static final int OPEN_TRANSACTIONS = 200;

  /** Transactions that sessions of one user may have open at a time. */
  public static final int TRANSACTIONS_PER_USER = 100;

  /** Longest time that a transaction may be open unless the cluster sets another, ten minutes. */
  public static final long TRANSACTION_MILLIS = 10 * 60 * 1000L;

  /** Longest pause of a client in a transaction unless the cluster sets another, one minute. */
  public static final long TRANSACTION_IDLE_MILLIS = 60 * 1000L;

  /** Shortest time to which the cluster may limit transactions and pauses within them. */
  public static final long TRANSACTION_LIMIT_MIN_MILLIS = 1_000;

  /** Longest time to which the cluster may limit transactions and these pauses, 24 hours. */
  public static final long TRANSACTION_LIMIT_MAX_MILLIS = 24 * 60 * 60 * 1000L;

  /** How long open transactions have to end by themselves when a snapshot is overdue. */
  public static final long SNAPSHOT_PATIENCE_MILLIS = 5_000;

  /** How long a process has to come back whose connections have ended, with transactions open. */
  public static final long RETURN_PATIENCE_MILLIS = 1_000;

  /**
   * How long a process has at least to show itself to a new leader, with transactions open. A
   * driver may need 3 s to notice that a leader is silent, and as long for each of two nodes that
   * it tries in vain.
   */
  public static final long SHOW_PATIENCE_MILLIS = 10_000;

  /** How long after that no process may have shown itself for the first time: others may follow. */
  public static final long SHOW_PAUSE_MILLIS = 3_000;

  /** Executions of statements in one transaction. */
  public static final int STATEMENTS_PER_TRANSACTION = 100_000;

  /**
   * Row changes that a transaction may hold when its next statement begins, and that one request
   * may make, one for each index that contains the row. Undoing a million changes took two to six
   * seconds, in which nothing else is applied, and half a gigabyte of heap.
   */
  public static final long CHANGES_PER_TRANSACTION = 500_000;

  /** Bytes of the rows that a transaction may have written when its next statement begins. */
  public static final long TRANSACTION_WRITTEN_BYTES = 256L << 20;

  /** How long a statement waits for rows unless the session sets another time: as long as in H2. */
  public static final long LOCK_TIMEOUT_MILLIS = 2_000;

  /**
   * Rows that any execution of a statement of the log may examine: those scanned, joined, grouped
   * and written together. Every replica applies the statement, and applies nothing else meanwhile.
   * So many rows take less than a tenth of a second, even if they are the first of a process. What
   * ALTER TABLE computes for existing rows counts (docs/adr/0053). Copying a table and building an
   * index do not count.
   */
  public static final long STATEMENT_ROWS_BASE = 100_000;

  /** Further rows that an execution may examine for each row of the tables to which it refers. */
  public static final long STATEMENT_ROWS_PER_ROW = 10;

  /** Rows that an execution may examine however large its tables are. */
  public static final long STATEMENT_ROWS = 5_000_000;

  /**
   * Changes that an execution may make for each row of the tables to which it refers. A written row
   * is one change for each of its indexes. Each further change counts as {@link #ROWS_PER_CHANGE}
   * rows.
   */
  public static final long STATEMENT_CHANGES_PER_ROW = 20;

  /** Rows that can be examined in the time that it takes to write one row and to undo the write. */
  public static final long ROWS_PER_CHANGE = 16;

  /**
   * Stack of the apply thread, 512 MiB of addresses; only the used part takes memory. The recursion
   * of statements is bounded so that a quarter of the stack is more than enough.
   */
  public static final long APPLY_STACK_BYTES = 512L << 20;

  /**
   * Rows through which actions of foreign keys may lead, one after the other: H2 descends for each,
   * at 2 to 4 KiB of stack.
   */
  public static final int REFERENTIAL_DEPTH = 1_000;

  /**
   * Keys of foreign keys that an open transaction remembers, at some 150 bytes each. A further key
   * counts as all keys of its foreign key until the transaction ends.
   */
  public static final int KEYS_PER_TRANSACTION = 10_000;

  /** Arrays, rows and collections of geometries nested in one value. */
  public static final int VALUE_DEPTH = 32;

  /**
   * Digits of a text that becomes an exact number, and the distance of its exponent from zero. The
   * same limit holds for numbers in the text of a statement.
   */
  public static final int NUMBER_LENGTH = 1_000;

  /**
   * Weight of all subqueries in DEFAULT, ON UPDATE, CHECK and GENERATED: the characters of each
   * expression times the tables that it names. H2 makes them again after a definition that touches
   * what they read, at some microsecond each.
   */
  public static final long SUBQUERIES_WEIGHT = 200_000;

  /**
   * Stack of the threads on which the leader tries what writes read, a quarter of that of the apply
   * thread: what fits here fits there.
   */
  public static final long REHEARSAL_STACK_BYTES = APPLY_STACK_BYTES / 4;

  /**
   * Characters of the longest write whose read the leader tries. A longer one is a list of values,
   * as a rule, and planning it once more takes more memory than what it does.
   */
  public static final int REHEARSED_CHARS = 100_000;

  /** Shapes of writes that the leader remembers as tried. */
  public static final int REHEARSED_SHAPES = 16_384;

  /** Memory of the shapes that the leader remembers as tried, with the sizes of their values. */
  public static final long REHEARSED_SHAPES_BYTES = 16 << 20;

  /** Time for which a shape counts as tried, because its tables may grow meanwhile. */
  public static final long REHEARSED_MILLIS = 600_000;

  /** Fields of a ROW type, with those of the rows within it. */
  public static final int TYPE_PARTS = 1_000;

  /**
   * Uses of views by one view, each counted as often as the view that contains the use. Each use
   * takes a tenth of a microsecond, several times in each statement that uses the view.
   */
  public static final int VIEW_WEIGHT = 20_000;

  /**
   * Compilations of views after a definition: each view once, and again for each path that leads
   * down from it to another view. A compilation takes about 30 microseconds.
   */
  public static final int VIEW_COMPILATIONS = 20_000;

  /** Characters of the views in all {@link #VIEW_COMPILATIONS}. */
  public static final int VIEW_COMPILATION_CHARACTERS = 8 << 20;

  /** Roles that a role has, each counted as often as the roles through which it has them. */
  public static final int ROLE_WEIGHT = 10_000;

  /** Domains in one chain, in which each narrows the next. */
  public static final int DOMAIN_DEPTH = 100;

  /** Uses in one view of the queries that WITH names; all of these queries may use views. */
  public static final int USES_IN_A_VIEW = 50;

  /** Bytes of values that any execution of a statement of the log may make and write, 32 MiB. */
  public static final long STATEMENT_WRITTEN_BYTES_BASE = 32L << 20;

  /** Further bytes that it may write for each row of the tables to which it refers, 16 KiB. */
  public static final long STATEMENT_WRITTEN_BYTES_PER_ROW = 16 << 10;

  /** Bytes that an execution may write however large its tables are, 128 MiB. */
  public static final long STATEMENT_WRITTEN_BYTES = 128L << 20;

  /**
   * Steps that any execution of a statement of the log may take: turns of H2's loops, and what
   * calls of the Java runtime take by the size of their arguments. So many steps take a tenth to
   * half a second.
   */
  public static final long STATEMENT_STEPS_BASE = 25_000_000;

  /** Steps that an execution may take however large its tables are: less than a second. */
  public static final long STATEMENT_STEPS = 64_000_000;

  /** Further steps that it may take for each row of the tables to which it refers. */
  public static final long STATEMENT_STEPS_PER_ROW = 4 << 10;

  /** Constraints that one definition may make: the time to name them grows with the square. */
  public static final int CONSTRAINTS_OF_A_DEFINITION = 500;

  /** Characters of a result of REPEAT, SPACE, LPAD, RPAD and REPLACE, as of any string in H2. */
  public static final int STRING_CHARS = 1 << 20;

  /** Characters of the checksum of a replica's state: SHA-256 in hexadecimal. */
  public static final int CHECKSUM_CHARS = 64;

  /** Parts of a replica's state that have a checksum of their own; further tables share one. */
  public static final int CHECKSUM_PARTS = 1_000;

  /** Parts of an environment, each with a fingerprint. */
  public static final int ENVIRONMENT_PARTS = 100;

  /** Characters of each text of an environment. */
  public static final int ENVIRONMENT_CHARS = 255;

  /** Names of removed nodes that a cluster remembers; beyond them it forgets the oldest. */
  public static final int REMOVED_NODES = 1_000;

  /** Commands of the log that a cluster may skip. */
  public static final int SKIPPED_COMMANDS = 1_000;

  /**
   * Tables whose refused writes a node counts apart; it counts those of further tables together.
   */
  public static final int TALLIED_TABLES = 100;

  /** Cancellations that a node keeps for statements that have not come; the oldest goes first. */
  public static final int KEPT_CANCELLATIONS = 10_000;

  /** The same of the sessions of one user. */
  public static final int KEPT_CANCELLATIONS_PER_USER = 5_000;

  /** The highest feature level that a cluster can have. */
  public static final int FEATURE_LEVEL_MAX = 10_000;

  private Limits() {}
}
