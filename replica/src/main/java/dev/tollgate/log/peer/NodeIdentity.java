package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a data directory, in a file beside the log: node, incarnation, cluster, and
 * whether the cluster has removed the node. The incarnation is drawn when the file is created, so
 * an emptied directory is another incarnation. Thread-safe.
 *
 * <p>The file also keeps what the replicated state says of the other nodes. A node that has just
 * started has applied nothing, and yet must know which votes may elect it.
 */
public final class NodeIdentity {
  public static final String FILE = "identity";

  private static final String NODE = "node";
  private static final String INCARNATION = "incarnation";
  private static final String LOG_INDEX = "log-index";
  private static final String ENTRY = "had-entry";
  private static final String REMOVED = "this-node-was-removed";

  private final Path data;
  private final String nodeId;
  private final UniqueId incarnation;
  private volatile ClusterIdentity known = ClusterIdentity.NONE;
  private volatile ClusterIdentity written = ClusterIdentity.NONE;
  private final CompletableFuture<Void> named = new CompletableFuture<>();
  private long knownIndex;
  private long notedIndex;
  private boolean removed;
  private volatile @Nullable String adminUrl;

  private NodeIdentity(Path data, String nodeId, UniqueId incarnation) {
    this.data = data;
    this.nodeId = nodeId;
    this.incarnation = incarnation;
  }

  /**
   * Reads the file, or creates it for a node that has no log yet.
   *
   * @param log where the directory has the log, once the node has been in a cluster
   * @throws RemovedException if the cluster has removed this node
   * @throws StrangerException if the directory is another node's, or has lost its log
   */
  public static NodeIdentity open(Path data, String nodeId, Path log) throws IOException {
    Path file = data.resolve(FILE);
    if (!Files.exists(file)) {
      if (hasEntries(log)) {
        throw StrangerException.withoutIdentity(nodeId, file + " is missing");
      }
      NodeIdentity fresh = new NodeIdentity(data, nodeId, draw());
      PrivateFiles.createDirectories(data);
      fresh.write();
      return fresh;
    }
    NodeIdentity known;
    try {
      known = read(data, nodeId, file);
    } catch (DamagedFileException e) {
      throw StrangerException.withoutIdentity(nodeId, String.valueOf(e.getMessage()));
    }
    if (known.removed) {
      throw new RemovedException(nodeId);
    }
    if (known.clusterId() != null && !Files.exists(log)) {
      throw StrangerException.withoutLog(nodeId, data);
    }
    return known;
  }

  /** True if the log has more than the snapshot of a directory that was restored from a backup. */
  private static boolean hasEntries(Path log) throws IOException {
    Path current = log.resolve("current");
    return Files.isDirectory(current) && !Snapshots.segments(current).isEmpty();
  }

  /**
   * Returns the name of the node that owns this directory, or null if the directory does not say.
   */
  public static @Nullable String owner(Path data) throws IOException {
    Path file = data.resolve(FILE);
    return Files.exists(file) ? properties(file).getProperty(NODE) : null;
  }

  private static Properties properties(Path file) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(WholeFile.read(file)));
    return properties;
  }

  private static NodeIdentity read(Path data, String nodeId, Path file) throws IOException {
    Properties properties = properties(file);
    String owner = properties.getProperty(NODE);
    UniqueId incarnation = IdentityProperties.id(file, properties.getProperty(INCARNATION));
    if (owner == null || incarnation == null) {
      throw new IOException(file + " is damaged: it does not say whose directory this is");
    }
    if (!owner.equals(nodeId)) {
      throw StrangerException.ofAnotherNode(nodeId, data, owner);
    }
    NodeIdentity known = new NodeIdentity(data, nodeId, incarnation);
    known.known = IdentityProperties.read(file, properties);
    known.wrote(known.known);
    known.knownIndex = Long.parseLong(properties.getProperty(LOG_INDEX, "0"));
    known.notedIndex = Long.parseLong(properties.getProperty(ENTRY, "0"));
    known.removed = Boolean.parseBoolean(properties.getProperty(REMOVED));
    return known;
  }

  public static UniqueId draw() {
    UUID id = UUID.randomUUID();
    return new UniqueId(id.getMostSignificantBits(), id.getLeastSignificantBits());
  }

  public String nodeId() {
    return nodeId;
  }

  /** Where this node serves its admin address; null if it serves none. Not in the file. */
  @Nullable String adminUrl() {
    return adminUrl;
  }

  /**
   * Has this node tell others from now on where it serves its admin address, if they can use it.
   */
  public void serveAdmin(String url) {
    adminUrl = AdminUrls.isValid(url) ? url : null;
  }

  public UniqueId incarnation() {
    return incarnation;
  }

  /** Completes once the file has the key of the cluster, so that a later start has it too. */
  public CompletableFuture<Void> named() {
    return named.copy();
  }

  /** Null until this node has applied the entry that names the cluster. */
  public @Nullable UniqueId clusterId() {
    return known.clusterId();
  }

  /** True once the replicated state names this directory, and the file says so. */
  public boolean isKnown() {
    return incarnation.equals(written.incarnations().get(nodeId));
  }

  /** What the replicated state last said of the cluster and its nodes. */
  public ClusterIdentity known() {
    return known;
  }

  /**
   * Stores what the replicated state says, unless it is older than what is known.
   *
   * @param logIndex the entry after which the state says so
   * @throws StrangerException if the directory belongs to another cluster
   */
  public synchronized void learn(ClusterIdentity state, long logIndex) throws IOException {
    UniqueId own = known.clusterId();
    UniqueId other = state.clusterId();
    if (own != null && other != null && !own.equals(other)) {
      throw StrangerException.ofAnotherCluster(nodeId, data, own, other);
    }
    if (logIndex > knownIndex && !state.equals(known)) {
      known = state;
      knownIndex = logIndex;
      write();
      wrote(state);
    }
  }

  private void wrote(ClusterIdentity state) {
    written = state;
    if (state.key() != null) {
      named.complete(null);
    }
  }

  /**
   * Returns the last entry that this node is known to have had: it had applied the entry after
   * which the state said so, and acknowledged the one of {@link #noteEntry}. 0 if there is none.
   */
  public synchronized long hadIndex() {
    return Math.max(knownIndex, notedIndex);
  }

  /** Records that this node has had an entry. */
  public synchronized void noteEntry(long logIndex) throws IOException {
    if (logIndex > notedIndex) {
      notedIndex = logIndex;
      write();
    }
  }

  /** Records that the cluster has removed this node. */
  public synchronized void markRemoved() throws IOException {
    if (!removed) {
      removed = true;
      write();
    }
  }

  private void write() throws IOException {
    WholeFile.write(data.resolve(FILE), text());
  }

  private String text() throws IOException {
    Properties properties = new Properties();
    properties.setProperty(NODE, nodeId);
    properties.setProperty(INCARNATION, incarnation.toString());
    IdentityProperties.write(properties, known);
    properties.setProperty(LOG_INDEX, Long.toString(knownIndex));
    if (notedIndex > 0) {
      properties.setProperty(ENTRY, Long.toString(notedIndex));
    }
    if (removed) {
      properties.setProperty(REMOVED, "true");
    }
    StringWriter text = new StringWriter();
    properties.store(
        text, "Whose data directory this is. Never copy it to another node, and show it to nobody");
    return text.toString();
  }
}
