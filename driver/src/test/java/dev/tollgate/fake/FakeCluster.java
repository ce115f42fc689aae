package dev.tollgate.fake;

import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** What the nodes of a fake cluster share: sessions, the database, and who leads. */
public final class FakeCluster implements AutoCloseable {
  /** The user of all sessions, whoever has logged in. */
  public static final String USER = "NODE_USER";

  private static final AtomicLong NUMBERS = new AtomicLong();

  static {
    // by itself it would not be found where this class has a class loader of its own
    org.h2.Driver.load();
  }

  private final String databaseUrl;
  private final Connection keepsDatabase;
  final List<FakeNode> nodes = new CopyOnWriteArrayList<>();
  final Map<Long, FakeSession> sessions = new ConcurrentHashMap<>();
  final List<Request.Execute> received = new CopyOnWriteArrayList<>();

  /** What clients said of lost connections under each Execute, Prepare and Metadata. */
  final List<Integer> losses = new CopyOnWriteArrayList<>();

  final List<Request.Execute> executed = new CopyOnWriteArrayList<>();
  final List<Request.ExecuteSeries> receivedSeries = new CopyOnWriteArrayList<>();
  final List<Request.ExecuteSeries> executedSeries = new CopyOnWriteArrayList<>();
  final List<Request.Heartbeat> heartbeats = new CopyOnWriteArrayList<>();
  final List<Request> others = new CopyOnWriteArrayList<>();
  final AtomicInteger watchesRefused = new AtomicInteger();
  final List<Long> lostLeases = new CopyOnWriteArrayList<>();
  private final AtomicLong sessionIds = new AtomicLong();
  private volatile FakeNode leader;
  private final AtomicLong term = new AtomicLong(1);
  volatile String clusterId = "A";

  /** The users; while there are none, nobody has to log in. */
  private final Map<String, List<PasswordVerifier>> users = new ConcurrentHashMap<>();

  private final List<String> logins = new CopyOnWriteArrayList<>();

  private FakeCluster() throws SQLException {
    databaseUrl = "jdbc:h2:mem:fake" + NUMBERS.incrementAndGet() + ";USER=" + USER;
    keepsDatabase = DriverManager.getConnection(databaseUrl);
    try (Statement statement = keepsDatabase.createStatement()) {
      String functions = FakeFunctions.class.getName();
      statement.execute("CREATE ALIAS ACQUIRE_LOCK FOR \"" + functions + ".acquireLock\"");
      statement.execute("CREATE ALIAS SLOW FOR \"" + functions + ".slow\"");
    }
  }

  /** Starts nodes on free ports; the first one leads. */
  public static FakeCluster start(int nodes) throws IOException, SQLException {
    FakeCluster cluster = new FakeCluster();
    for (int i = 0; i < nodes; i++) {
      cluster.nodes.add(new FakeNode(cluster, i));
    }
    cluster.leader = nodes == 0 ? null : cluster.nodes.get(0);
    return cluster;
  }

  /** A cluster that is one node without a port. */
  static FakeCluster embedded() throws SQLException {
    return new FakeCluster();
  }

  /** From now on clients have to log in, and this is one of the users. */
  public void addUser(String name, PasswordVerifier... passwords) {
    users.put(name, List.of(passwords));
  }

  boolean requiresLogin() {
    return !users.isEmpty();
  }

  List<PasswordVerifier> passwordsOf(String user) {
    return users.getOrDefault(user, List.of());
  }

  void note(String login) {
    logins.add(login);
  }

  /** Who has logged in, was rejected, or asked for something without a login, with the reason. */
  public List<String> logins() {
    return List.copyOf(logins);
  }

  public FakeNode node(int index) {
    return nodes.get(index);
  }

  /** The URL that names all nodes, with this after the question mark. */
  public String url(String properties) {
    String hosts = nodes.stream().map(FakeNode::address).collect(Collectors.joining(","));
    return "jdbc:tollgate://" + hosts + "/?" + properties;
  }

  /** Makes a node the leader of the next term, or ends that of this term if null. */
  public void lead(FakeNode node) {
    leadUntold(node);
    nodes.forEach(FakeNode::tellLeader);
  }

  /** As {@link #lead}, and no client that waits for news is told. */
  public void leadUntold(FakeNode node) {
    if (node != null) {
      term.incrementAndGet();
    }
    leader = node;
  }

  /** The term of the last leader. */
  public long term() {
    return term.get();
  }

  /** Who leads, as a node tells it; null if none does. */
  Reply.Leader servingLeader() {
    FakeNode known = leader;
    return known == null ? null : new Reply.Leader(term.get(), known.id(), view());
  }

  /** From now on the nodes say that they belong to another cluster; null if they do not say. */
  public void become(String clusterId) {
    this.clusterId = clusterId;
  }

  boolean leads(FakeNode node) {
    return node == null || leader == node;
  }

  Reply.ClusterView view() {
    FakeNode known = leader;
    return new Reply.ClusterView(
        known == null ? null : known.address(), nodes.stream().map(FakeNode::address).toList());
  }

  FakeSession open(Request.OpenSession opening) throws SQLException {
    long id = sessionIds.incrementAndGet();
    FakeSession session = new FakeSession(id, 7_000 + id, opening, databaseUrl);
    sessions.put(id, session);
    return session;
  }

  /** Ends all sessions, as if their time were over, and tells whoever listens. */
  public void loseSessions() {
    List<Long> ids = List.copyOf(sessions.keySet());
    sessions.clear();
    nodes.forEach(node -> node.tellLost(ids, List.of()));
  }

  /** Ends all sessions and tells nobody. */
  public void forgetSessions() {
    sessions.clear();
  }

  /** Ends a created lease, and tells whoever listens. */
  public void loseLease(long leaseId) {
    lostLeases.add(leaseId);
    nodes.forEach(node -> node.tellLost(List.of(), List.of(leaseId)));
  }

  public int openSessions() {
    return sessions.size();
  }

  public int openCursors() {
    return sessions.values().stream().mapToInt(FakeSession::openCursors).sum();
  }

  /** How many connections clients had lost under each Execute, Prepare and Metadata. */
  public List<Integer> losses() {
    return losses;
  }

  /** Every Execute that reached a node. */
  public List<Request.Execute> received() {
    return received;
  }

  /** Every Execute that was carried out. */
  public List<Request.Execute> executed() {
    return executed;
  }

  /** Every ExecuteSeries that reached a node. */
  public List<Request.ExecuteSeries> receivedSeries() {
    return receivedSeries;
  }

  /** Every ExecuteSeries that was carried out. */
  public List<Request.ExecuteSeries> executedSeries() {
    return executedSeries;
  }

  public List<Request.Heartbeat> heartbeats() {
    return heartbeats;
  }

  /** The next requests to watch locks find no room. */
  public void refuseWatches(int count) {
    watchesRefused.set(count);
  }

  /** The leader tells that a lease does not hold a lock any more. */
  public void loseLock(long lease, long token) {
    leader.tell(new Reply.LocksLost(List.of(lease), List.of(token)));
  }

  /** Requests of a kind that is not kept elsewhere, in order. */
  public <T extends Request> List<T> others(Class<T> type) {
    return others.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Runs a query on the database itself and returns the first value. */
  public Object peek(String sql) throws SQLException {
    try (Statement statement = keepsDatabase.createStatement();
        var rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getObject(1) : null;
    }
  }

  @Override
  public void close() throws SQLException {
    nodes.forEach(FakeNode::close);
    sessions.values().forEach(FakeSession::close);
    keepsDatabase.close();
  }
}
